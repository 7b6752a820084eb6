"""Whether voltages and currents can drive an arm, and the refusal if they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from armsim.errors import UsageError
from armsim.model import Arm

if TYPE_CHECKING:
    from armsim.actuation import Output


class NoVoltage(NamedTuple):
    """Why voltages cannot drive an arm, in words.

    Attributes:
        expected: What they need.
        found: What is missing, and where.
        mend: What to give in the robot file.
    """

    expected: str
    found: str
    mend: str


def check_motors(arm: Arm, output: Output, where: str, otherwise: str = "") -> None:
    """Refuse voltages and currents for an arm without the motors that they are of.

    Args:
        arm: The arm.
        output: What drives it.
        where: What is refused.
        otherwise: How to do without such motors, behind what to give in the robot file.

    Raises:
        UsageError: They cannot drive it.
    """
    refusal = voltage_refusal(arm) if output != "torque" else None
    if refusal is not None:
        expected = refusal.expected
        if output == "current":
            expected = "an electric motor on every joint, to tell the torque of a current"
        raise UsageError.of(where, expected, refusal.found, f"{refusal.mend} in the robot file{otherwise}")


def voltage_refusal(arm: Arm) -> NoVoltage | None:
    """Why voltages cannot drive an arm; None if they can."""
    bare = [joint.name for joint in arm.joints if joint.motor is None]
    unknown = [joint.name for joint in arm.joints if joint.motor is not None and joint.electric_motor is None]
    return refusal(bare, unknown)


def refusal(bare: Sequence[str], unknown: Sequence[str]) -> NoVoltage | None:
    """Why voltages cannot drive joints; None if there are none.

    Args:
        bare: Names of joints without a motor.
        unknown: Names of joints whose motor has no torque constant and resistance.
    """
    found, mend = [], []
    if bare:
        found.append(f"no motor on {', '.join(bare)}")
        mend.append("every joint a `motor`")
    if unknown:
        found.append(f"no Kp and Ra for the motor{'s' if len(unknown) > 1 else ''} of {', '.join(unknown)}")
        mend.append("every motor its Kp and Ra")
    if not found:
        return None
    expected = "a motor on every joint, to put a voltage on" if bare else "motors whose torque per volt is known"
    return NoVoltage(expected, "; ".join(found), f"give {' and '.join(mend)}")
