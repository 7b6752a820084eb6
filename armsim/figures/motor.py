"""The torque-speed curve of a joint's motor, drawn."""

from __future__ import annotations

import os
from dataclasses import astuple
from os import PathLike

from armsim.arm.motor_curve import MotorCurve
from armsim.errors import UsageError, spelled
from armsim.figures.picture import check_picture, save
from armsim.figures.style import BLUE, GREEN, GREY, VERMILION, new_figure, plain
from armsim.model import JOINT_TYPES

INCHES = (8.0, 8.0)


def plot_motor(path: str | PathLike[str], found: MotorCurve, title: str, degrees: bool = False) -> None:
    """Draw a motor's curves into a file: torque, current and power over speed, and the torque and current that hold the pose.

    Args:
        path: The picture; its suffix gives the format.
        found: With enough points for smooth curves, speeds in the unit that is shown.
        title: Above it.
        degrees: Whether that is degrees a second.

    Raises:
        UsageError: There is no curve, or it cannot be drawn or written.
    """
    check_picture(path)
    points, end, best, holding = found.curve, found.no_load, found.most_power, found.holding
    if end is None or best is None or holding.of_stall is None:
        raise UsageError.of(
            spelled(f"--plot {os.fspath(path)}", os.fspath(path)),
            "a curve from stall to no load",
            "none for this motor",
            f"leave {spelled('--plot', 'the picture')} out, and see what it says",
        )
    kind = JOINT_TYPES[found.type]
    force, rate = kind.force, kind.unit(degrees, "/s")
    speed, torque, current, power, electrical, _ = zip(*map(astuple, points), strict=True)
    figure = new_figure(*INCHES, f"{title}: its motor at {found.voltage:g} V, seen from the joint")
    top, middle, bottom = axes = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 3))

    held = abs(holding.torque)
    top.plot(speed, torque, color=BLUE, linewidth=2.2, label="left for the arm")
    if end.limited:  # its limit of speed, not zero torque, ends the curve
        drop = [torque[-1], 0.0]
        top.plot([speed[-1]] * 2, drop, color=BLUE, linewidth=2.2, linestyle=":", label="limit of speed")
    taken = f"holding the initial pose: {held:.3g} {force}, {100 * holding.of_stall:.3g} % of stall"
    top.axhline(held, color=VERMILION, linestyle="--", label=taken)
    top.plot([best.speed], [best.torque], "o", color=BLUE)
    top.set_ylabel(f"torque [{force}]" if kind.turns else f"force [{force}]")
    top.set_ylim(0.0, 1.08 * max(*torque, held))
    top.legend(loc="best", framealpha=0.9)

    middle.plot(speed, current, color=VERMILION, linewidth=2.2)
    middle.axhline(abs(holding.current), color=VERMILION, linestyle="--")
    middle.set_ylabel("current [A]")
    middle.set_ylim(0.0, 1.08 * max(*current, abs(holding.current)))

    bottom.plot(speed, electrical, color=GREY, linewidth=1.4, linestyle="-.", label="electrical power")
    bottom.plot(speed, power, color=GREEN, linewidth=2.2, label="power to the arm")
    at_best = f"{best.power:.3g} W at {best.speed:.3g} {rate}"
    bottom.plot([best.speed], [best.power], "o", color=GREEN, label=at_best)
    bottom.set_ylabel("power [W]")
    bottom.set_ylim(0.0, 1.08 * max(electrical))
    bottom.set_xlim(0.0, 1.02 * speed[-1])
    bottom.set_xlabel(f"speed of the joint [{rate}]")
    bottom.legend(loc="best", framealpha=0.9)
    for axis in axes:
        plain(axis, x=True)
    save(figure, path)
