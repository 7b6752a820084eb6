"""`armsim advance`"""

from __future__ import annotations

import math

import click

from armsim.cli.options import (
    Display,
    JointState,
    Overrides,
    angle_options,
    grouped,
    joint_option,
    joint_values,
    number,
    number_value,
    robot_argument,
    set_option,
    state_options,
)
from armsim.cli.pictures import plot_option
from armsim.errors import UsageError
from armsim.records import record
from armsim.reports.state import outside_notes, state_table


@record
class Integration:
    """How a motion is integrated.

    Attributes:
        duration: How long the motion is [s], as text.
        rtol: Relative error in a step.
        method: The integrator.
    """

    duration: str | None
    rtol: float
    method: str

    def seconds(self) -> float:
        """How long the motion is [s].

        Raises:
            UsageError: It is not said, or no time.
        """
        mend = "write for example --for 0.1"
        if self.duration is None:
            raise UsageError.of("--for", "how long the motion is to last [s]", "nothing", mend)
        seconds = number_value("for", self.duration)
        if not 0.0 <= seconds < math.inf:
            expected = "a time of 0 s or more; motions cannot be run backwards"
            raise UsageError.of(f"--for {self.duration}", expected, f"{seconds:g}", mend)
        return seconds


@click.command(
    "advance",
    epilog="""\b
Examples:
  armsim advance arm5 --for 0.1             let go at its initial pose
  armsim advance two_link --deg --q 30,-45 --qd 10,0 --torque 20,5 --for 0.5
  armsim advance rr --for 2 --plot fall.png
  armsim advance rr --q 0,pi/2 --torque 47,15.7 --for 1/30 --rtol 1e-10
""",
)
@robot_argument
@state_options
@joint_option("torque", "What the drives give the joints [N·m or N]. [default: 0]")
@grouped(
    "integration",
    Integration,
    click.option("--for", "duration", metavar="S", help="How long [s]; exactly so long is the motion."),
    click.option(
        "--rtol", callback=number, metavar="X", default="1e-5", show_default=True, help="Relative error in a step."
    ),
    click.option("--method", metavar="METHOD", default="auto", help="One that chooses its steps. [default: rk54]"),
)
@plot_option("Draw the motion into a picture.")
@set_option
@angle_options
def command(
    robot: str,
    overrides: Overrides,
    state: JointState,
    integration: Integration,
    plot: str | None,
    display: Display,
) -> int:
    """Print where ROBOT is after some time under constant torques of its drives, how fast it moves, and its accelerations.

    ROBOT is a robot file or the name of a shipped one. Gravity, rotor inertia, friction and stops act as well. The motion is
    integrated by as many steps as the error asks for. Numbers may be formulas such as -pi/2.
    """
    from armsim.arm.robot import load_robot
    from armsim.model.angles import MotionInstant, in_unit

    seconds = integration.seconds()
    model = load_robot(robot, overrides)
    arm = model.arm
    pose, rates = state.values(arm, display.degrees)
    tau = joint_values("torque", state.torque, arm)
    end = model.advance(pose, rates, tau, seconds, integration.rtol, method=integration.method)
    if plot is not None:
        from armsim.figures.motion import moments, motion_figure
        from armsim.figures.picture import save

        times = moments(seconds)
        motion = model.advance(pose, rates, tau, times, integration.rtol, method=integration.method)
        save(motion_figure(model, times, motion, tau, display.degrees), plot)

    motions = MotionInstant(pose, rates), MotionInstant(*(x.tolist() for x in end))
    before, after = in_unit(motions, arm.joints, display.degrees)
    drive = "no torque of its drives" if state.torque is None else "these torques"
    where = ", from its initial pose" if state.q is None else ""
    notes = outside_notes(arm, end.q.tolist(), end.qd.tolist(), display.degrees)
    columns = {"torque": ("torque", tau), "q before": ("q", before.q), "qd before": ("qd", before.qd)}
    columns |= {"q": ("q", after.q), "qd": ("qd", after.qd), "acceleration": ("qdd", after.qdd)}
    about = {"robot": arm.name, "joints": model.joints, "duration": seconds, "torque": tau}
    display.print(
        lambda: {**about, "start": before, "end": after},
        lambda: [
            f"{arm.name}: after {seconds:g} s under {drive}{where}",
            "",
            *state_table(arm.joints, columns, display.degrees, display.digits, notes),
        ],
        plot,
    )
    return 0
