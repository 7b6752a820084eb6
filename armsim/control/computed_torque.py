"""Computed torque control, also called inverse dynamics control."""

from __future__ import annotations

from armsim.actuation import Output
from armsim.control.drive import against_viscous, commands_for
from armsim.control.law import FeedbackLaw, Kept, Now, pulled
from armsim.dynamics import rnea
from armsim.expr import Scalar, Scalars
from armsim.model import Arm
from armsim.records import record


@record
class ComputedTorque(FeedbackLaw):
    """tau = M(q) (qdd_ref + kd ed + kp e) + C(q, qd) qd + g(q) + viscous friction, by the controller's model of the arm.

    With an exact model every joint's error obeys dd(e) + kd d(e) + kp e = 0 (Luh, Walker and Paul 1980; Siciliano et al.,
    *Robotics*, section 8.5.2). Dry friction, losses of gears, stops and external forces are not compensated.

    Attributes:
        output: What the commands are; torques are converted by the model's motors.
        kp: Gains of the error [1/s²].
        kd: Gains of its derivative [1/s].
        model: The arm as the controller knows it.
    """

    output: Output
    kp: tuple[Scalar, ...]
    kd: tuple[Scalar, ...]
    model: Arm

    name = "computed_torque"

    def command(self, now: Now, kept: Kept) -> Scalars:
        """The commands before saturation, n scalars."""
        q, qd = now.seen.q, now.seen.qd
        qdd = pulled(self.kp, self.kd, now.e, now.ed, now.desired.qdd)
        tau = against_viscous(self.model, rnea(self.model.at(now.laden), q, qd, qdd), qd)
        return commands_for(self.model, self.output, tau, qd)
