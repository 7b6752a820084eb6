"""The commands that a motion takes, as a function of numbers of the robot file that are left open."""

from __future__ import annotations

import numpy as np

from armsim.actuation import OUTPUTS, Output, drive_torques, motor_demands, sticks
from armsim.arm.row_evaluator import RowEvaluator
from armsim.arrays import Array, Mask
from armsim.errors import UsageError
from armsim.expr import leaves, with_jacobian
from armsim.loading.open_paths import STAND_IN
from armsim.loading.open_robot import OpenRobot
from armsim.model import Arm
from armsim.spatial import Scalar


def commands(arm: Arm, of: Output, q, qd, qdd) -> list[Scalar]:
    """Drive torques [N·m or N], currents [A] or terminal voltages [V] that a motion takes, n scalars; of steady currents."""
    tau = drive_torques(arm, q, qd, qdd)
    if of == "torque":
        return tau
    voltage, current = motor_demands(arm, qd, tau)
    return list(current if of == "current" else voltage)


class CommandModel(RowEvaluator):
    """Inverse dynamics of m states by p open numbers, with exact derivatives.

    Torques are linear in masses, moments of inertia, friction, rotor inertia and stiffness; currents in these over the torque
    constant at the joint, gear Kp; voltages in Ra / (gear Kp) times the torque, and in the back-EMF constant. Centres, lengths,
    gears and efficiencies enter otherwise; Newton's iteration takes them.

    Args:
        robot: The robot file with its open numbers.
        of: What is commanded, or measured: "torque" of every drive, "current" or "voltage" of every motor.

    Raises:
        UsageError: There are no open numbers, `of` is none of these, or a joint has no motor that has it.
    """

    def __init__(self, robot: OpenRobot, of: Output = "torque") -> None:
        super().__init__(robot.arm, "llvm", None)
        self.robot, self.of = robot, of
        if not robot.paths:
            raise UsageError.of("open", "paths of numbers", "none", 'give for example "joints[*].friction.viscous"')
        if of not in OUTPUTS:
            raise UsageError(f"measured: expected one of {', '.join(OUTPUTS)}, found {of!r}")
        lacking = [joint.name for joint in robot.structure.joints if joint.electric_motor is None]
        if of != "torque" and lacking:
            expected = f"a motor with Kp and Ra on every joint, to know its {of}"
            raise UsageError.of(f"measured {of}", expected, f"none on {', '.join(lacking)}", "give the torques instead")

    @property
    def start(self) -> Array:
        """The file's numbers, shape (p,); `STAND_IN` where it has none."""
        written = np.array(self.robot.written, dtype=float)
        return np.where(np.isnan(written), STAND_IN, written)

    @property
    def sticking(self) -> Mask:
        """Which joints have dry friction, shape (n,)."""
        return np.array([sticks(joint) for joint in self.robot.structure.joints])

    def by_numbers(self, values: Array, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
        """Commands, shape (m, n), and their derivatives by the open numbers, shape (m, n, p)."""
        n, p = self.arm.n, len(values)

        def body(*x):
            q, qd, qdd, values = x[:n], x[n : 2 * n], x[2 * n : 3 * n], x[3 * n :]
            model = with_jacobian(lambda *v: commands(self.robot.of(v), self.of, q, qd, qdd), range(p), "commands")
            return leaves(model(*values))

        flat = self._evaluate("commands by numbers", body, [q, qd, qdd, values])
        return flat[:, :n], flat[:, n:].reshape(-1, n, p)

    def by_motion(self, values: Array, q: Array, qd: Array, qdd: Array) -> Array:
        """Derivatives of commands by positions, velocities and accelerations, shape (m, n, 3, n)."""
        n = self.arm.n

        def body(*x):
            arm = self.robot.of(x[3 * n :])
            model = with_jacobian(lambda *s: commands(arm, self.of, *s), range(3), "commands")
            return leaves(model(*(list(x[i * n : (i + 1) * n]) for i in range(3))))

        flat = self._evaluate("commands by motion", body, [q, qd, qdd, values])
        return flat[:, n:].reshape(-1, n, 3, n)
