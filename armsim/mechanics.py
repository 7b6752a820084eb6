"""An arm as a system that integrators advance: its equation of motion at an instant, and what its stops tell of a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from armsim.actuation import mass_matrix
from armsim.dynamics import bias
from armsim.expr import Scalar, where
from armsim.integrate import Motion, Rates, System
from armsim.model import Arm, Joint

WORKS = ("motors", "friction", "stops", "external")  # who does work on an arm: its quadratures, where they are asked for


@dataclass(slots=True)
class Forces:
    """What acts on an arm at one instant.

    Attributes:
        M: Lower triangle of the mass matrix, rotors included.
        f: All joint forces but dry friction, less the bias [N·m or N].
        lower: Least dry friction [N·m or N].
        upper: Greatest dry friction [N·m or N].
        z: Rates of the further states.
        w: Power of each of `WORKS`, dry friction left out [W]; or nothing.
    """

    M: list[list[Scalar]]
    f: list[Scalar]
    lower: list[Scalar]
    upper: list[Scalar]
    z: list[Scalar]
    w: list[Scalar]


class Mechanics(System):
    """An arm without dry friction.

    Args:
        joints: Its joints.
        forces: What acts at a time and a state.
        rates: The rates of a state.
    """

    def __init__(self, joints: Sequence[Joint], forces: Callable[[Scalar, Motion], Forces], rates: Rates) -> None:
        super().__init__(rates)
        self.joints = joints
        self.forces = forces

    def guards(self, t: Scalar, start: Motion, end: Motion) -> list[Scalar]:
        """How far every joint with stops still is from the ends of its range, on the side on which it began."""
        guards = []
        for joint, before, after in zip(self.joints, start.q, end.q, strict=True):
            limit = joint.limit
            if limit is None or limit.stiffness is None:
                continue
            if limit.lower != -inf:
                guards.append(where(before < limit.lower, limit.lower - after, after - limit.lower))
            if limit.upper != inf:
                guards.append(where(before > limit.upper, after - limit.upper, limit.upper - after))
        return guards


def equation(arm: Arm, q, qd, tau, external=None) -> tuple[list[list[Scalar]], list[Scalar]]:
    """The equation of motion M qdd = f: the lower triangle of M, rotors included, and f = tau - bias."""
    return mass_matrix(arm, q), [t - b for t, b in zip(tau, bias(arm, q, qd, external), strict=True)]
