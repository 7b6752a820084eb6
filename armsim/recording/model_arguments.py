"""What a forward model is made of, checked."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from armsim.actuation import OUTPUTS, Output
from armsim.arm.robot import Robot
from armsim.errors import UsageError
from armsim.loading.voltage import voltage_refusal
from armsim.model import Arm

Source = str | PathLike[str] | Mapping[str, Any]


def source_of(robot: Source | Robot | Arm) -> Source:
    """A robot whose numbers can be left open.

    Raises:
        UsageError: It is an arm, which has been built.
    """
    if isinstance(robot, (Arm, Robot)):
        mend = "give the file that it was read from"
        raise UsageError.of("open", "a robot file, a name or plain data", f"an {type(robot).__name__}", mend)
    return robot


def check_output(output: Output, arm: Arm) -> Output:
    """The kind of inputs, checked.

    Raises:
        UsageError: It is no such kind; or it is voltage or current, and a joint has no motor.
    """
    if output not in OUTPUTS:
        raise UsageError.of("output", "voltage, current or torque", repr(output), "write for example output='voltage'")
    refusal = voltage_refusal(arm) if output != "torque" else None
    if refusal is not None:
        raise UsageError.of(
            "output",
            refusal.expected,
            refusal.found,
            f"{refusal.mend} in the robot file, or write output='torque'",
        )
    return output
