"""Feedforward: the commands that a model of the arm needs, added to feedback."""

from __future__ import annotations

from typing import Literal

from armsim.actuation import Output, drive_torques
from armsim.control.drive import commands_for, currents_for
from armsim.control.law import Now
from armsim.dynamics import gravity_torque
from armsim.expr import Scalar, Scalars
from armsim.model import Arm
from armsim.records import record


@record
class Feedforward:
    """The commands of a model of the arm.

    Attributes:
        kind: "gravity": the torques that hold the arm where it is measured to be (Takegaki and Arimoto 1981). "inverse_dynamics":
            those that move it along the reference, friction and back-EMF included.
        model: The arm as the controller knows it.
        output: What the commands are; torques are converted by the model's motors.
    """

    kind: Literal["gravity", "inverse_dynamics"]
    model: Arm
    output: Output

    def commands(self, now: Now) -> tuple[Scalars, dict[int, Scalar]]:
        """The commands, n scalars; and the currents of electric motors that go with them [A], by joint."""
        if self.kind == "gravity":
            tau, qd = gravity_torque(self.model.at(now.laden), now.seen.q), [0.0] * self.model.n
        else:
            desired, qd = now.desired, now.desired.qd
            tau = drive_torques(self.model.at(now.laden), desired.q, qd, desired.qdd)
        return commands_for(self.model, self.output, tau, qd), currents_for(self.model, tau)
