"""`armsim advance`"""

from __future__ import annotations

import math
from collections.abc import Sequence

import click

from armsim.cli.options import (
    SETTINGS,
    deg_option,
    joint_option,
    joint_values,
    json_option,
    number_value,
    plot_option,
    print_json,
    q_option,
    qd_option,
    quiet_option,
    robot_argument,
    verbose_option,
)
from armsim.errors import UsageError
from armsim.reports.state import outside_notes, state_table
from armsim.reports.table import shown_joints
from armsim.terminal.streams import echo


@click.command(
    "advance",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim advance arm5 --for 0.1             let go at its initial pose
  armsim advance two_link --deg --q 30,-45 --qd 10,0 --torque 20,5 --for 0.5
  armsim advance rr --for 2 --plot fall.png
  armsim advance rr --q 0,pi/2 --torque 47,15.7 --for 1/30 --rtol 1e-10
""",
)
@robot_argument
@q_option
@qd_option
@joint_option("torque", "What the drives give the joints [N·m or N]. [default: 0]")
@click.option("--for", "duration", metavar="S", help="How long [s]; exactly so long is the motion.")
@click.option("--rtol", metavar="X", default="1e-5", show_default=True, help="Relative error in a step.")
@click.option("--method", metavar="METHOD", default="auto", help="One that chooses its steps. [default: rk54]")
@plot_option("Draw the motion into a picture.")
@deg_option
@json_option
@quiet_option
@verbose_option
def command(
    robot: str,
    q: str | None,
    qd: str | None,
    torque: str | None,
    duration: str | None,
    rtol: str,
    method: str,
    plot: str | None,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Print where ROBOT is after some time under constant torques of its drives, how fast it moves, and its accelerations.

    ROBOT is a robot file or the name of a shipped one. Gravity, rotor inertia, friction and stops act as well. The motion is
    integrated by as many steps as the error asks for. Numbers may be formulas such as -pi/2.
    """
    from armsim.arm.robot import load_robot

    if duration is None:
        raise UsageError.of("--for", "how long the motion is to last [s]", "nothing", "write for example --for 0.1")
    model = load_robot(robot)
    arm = model.arm
    pose, rates = joint_values("q", q, arm, degrees), joint_values("qd", qd, arm, degrees)
    tau = joint_values("torque", torque, arm)
    seconds = number_value("for", duration)
    if not 0.0 <= seconds < math.inf:
        raise UsageError.of(
            f"--for {duration}",
            "a time of 0 s or more; motions cannot be run backwards",
            f"{seconds:g}",
            "write for example --for 0.1",
        )
    error = number_value("rtol", rtol)
    end = model.advance(pose, rates, tau, seconds, error, method=method)
    if plot is not None:
        from armsim.figures.motion import moments, plot_motion

        times = moments(seconds)
        motion = model.advance(pose, rates, tau, times, error, method=method)
        plot_motion(plot, model, times, motion, tau, degrees)

    def at(**states: Sequence[float]) -> dict[str, list[float]]:
        return {key: shown_joints(values, arm.joints, degrees) for key, values in states.items()}

    before, after = at(q=pose, qd=rates), at(q=end.q.tolist(), qd=end.qd.tolist(), qdd=end.qdd.tolist())
    answer = {
        "robot": arm.name,
        "joints": model.joints,
        "duration": seconds,
        "torque": tau,
        "start": before,
        "end": after,
    }
    if as_json:
        print_json(answer)
    elif not quiet:
        drive = "no torque of its drives" if torque is None else "these torques"
        where = ", from its initial pose" if q is None else ""
        notes = "".join(f"\n{note}" for note in outside_notes(arm, end.q.tolist(), end.qd.tolist(), degrees))
        columns = {"torque": ("torque", tau), "q before": ("q", before["q"]), "qd before": ("qd", before["qd"])}
        columns |= {"q": ("q", after["q"]), "qd": ("qd", after["qd"]), "acceleration": ("qdd", after["qdd"])}
        types = [(joint.name, joint.type) for joint in arm.joints]
        shown_table = state_table(types, columns, degrees, 10 if verbose else 5)
        drawn = "" if plot is None else f"\ndrawn  {plot}"
        echo(f"{arm.name}: after {seconds:g} s under {drive}{where}\n\n{shown_table}{notes}{drawn}")
    return 0
