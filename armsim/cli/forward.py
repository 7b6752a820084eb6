"""`armsim forward`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    Display,
    JointState,
    Overrides,
    angle_options,
    joint_option,
    joint_values,
    read_robot,
    robot_argument,
    set_option,
    state_options,
)
from armsim.errors import UsageError


@click.command(
    "forward",
    epilog="""\b
Examples:
  armsim forward arm5                    let go at its initial pose
  armsim forward rr --q 0,pi/2 --torque 47,15.7
  armsim forward arm5 --voltage 0,-0.81,-0.31,0,-0.06
  armsim forward two_link --deg --q 30,-45 --qd 10,0 --torque 20,5
""",
)
@robot_argument
@state_options
@joint_option("torque", "What the drives give the joints [N·m or N]. [default: 0]")
@joint_option("voltage", "Motor voltages [V], in place of torques; every joint needs a motor.")
@set_option
@angle_options
def command(
    robot: str,
    overrides: Overrides,
    state: JointState,
    voltage: str | None,
    display: Display,
) -> int:
    """Print the joint accelerations of ROBOT under torques of its drives, or under voltages of its motors.

    ROBOT is a robot file or the name of a shipped one. Gravity, rotor inertia, viscous friction and stops act as well.
    Without --torque and --voltage nothing drives the joints: no current flows. Torques are taken as they are given; a line says
    where a motor would have to exceed its limits for them. Numbers may be formulas such as -pi/2.
    """
    from armsim.arm.forward import forward
    from armsim.arm.overload import overloads
    from armsim.model.angles import MotionInstant, in_unit
    from armsim.reports.state import outside_notes, overload_notes, rigid_notes, state_table

    if state.torque is not None and voltage is not None:
        raise UsageError.of("--torque and --voltage", "one of them", "both", "leave one of them out")
    arm = read_robot(robot, overrides)
    pose, rates = state.values(arm, display.degrees)
    tau = None if state.torque is None else joint_values("torque", state.torque, arm)
    volts = None if voltage is None else joint_values("voltage", voltage, arm)
    found = forward(arm, pose, rates, tau, volts)
    exceeded = [] if tau is None else overloads(arm, rates, tau, found.voltage, found.current)
    motion = in_unit(MotionInstant(pose, rates, found.qdd), arm.joints, display.degrees)
    answer = {"q": motion.q, "qd": motion.qd, **found._asdict(), "qdd": motion.qdd}
    drive = "these voltages" if volts is not None else "these torques" if tau is not None else "no torque of its drives"
    where = ", at its initial pose" if state.q is None else ""
    remarks = [*rigid_notes(arm), *outside_notes(arm, pose, rates, display.degrees), *overload_notes(exceeded)]
    columns = {key: (key, answer[key]) for key in ("q", "qd", "voltage", "current", "torque")}
    columns["acceleration"] = ("qdd", answer["qdd"])
    display.print(
        lambda: {"robot": arm.name, "joints": arm.joint_names, **answer, "exceeded": exceeded},
        lambda: [
            f"{arm.name}: accelerations under {drive}{where}",
            "",
            *state_table(arm.joints, columns, display.degrees, display.digits, remarks),
        ],
    )
    return 0
