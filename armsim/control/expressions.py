"""A law of one's own: an expression for every joint's command."""

from __future__ import annotations

from collections.abc import Mapping

from armsim.control.law import FeedbackLaw, Kept, Now
from armsim.dynamics.external import motion_by_name
from armsim.expr import Evaluable, Scalar, Scalars
from armsim.model import Arm
from armsim.records import record


@record
class Expressions(FeedbackLaw):
    """u = expressions of time, measurement, errors, reference and parameters.

    Of the joint itself: q, qd, e, ed, integral (∫e dt), q_ref, qd_ref, qdd_ref; of joint R2: q_R2, and so on; of frames x_tool,
    vx_tool and the like, as the controller's model has them at the measured motion.

    Attributes:
        formulas: One per joint.
        model: The arm as the controller knows it.
        parameters: Numbers by name.
    """

    formulas: tuple[Evaluable, ...]
    model: Arm
    parameters: Mapping[str, Scalar]

    name = "expression"

    def begin(self) -> Kept:
        """Integrals at zero, if an expression has one."""
        integrates = bool(self.names & {"integral", *(f"integral_{joint}" for joint in self.model.joint_names)})
        return Kept([0.0] * self.model.n if integrates else [])

    @property
    def names(self) -> frozenset[str]:
        """What the expressions name."""
        return frozenset[str]().union(*(formula.names for formula in self.formulas))

    def command(self, now: Now, kept: Kept) -> Scalars:
        """The commands before saturation, n scalars."""
        seen, desired = now.seen, now.desired
        of_joints: dict[str, Scalars] = {"q": seen.q, "qd": seen.qd, "e": now.e, "ed": now.ed}
        of_joints |= {"q_ref": desired.q, "qd_ref": desired.qd, "qdd_ref": desired.qdd}
        if kept.integrals:
            of_joints["integral"] = kept.integrals
        joints, motion = self.model.joint_names, motion_by_name(self.model, now.t, seen.q, seen.qd, self.names)
        known = {f"{name}_{joint}": x for name, xs in of_joints.items() for joint, x in zip(joints, xs, strict=True)}
        shared = {**self.parameters, **motion, **known}
        own = ({name: xs[i] for name, xs in of_joints.items()} for i in range(self.model.n))
        return [formula.evaluate({**shared, **mine}) for formula, mine in zip(self.formulas, own, strict=True)]

    def rates(self, now: Now, kept: Kept, excess: Scalars) -> Kept:
        """The errors."""
        return Kept(now.e if kept.integrals else [])
