"""The loads on a joint are those of the joint without a command, whatever drives it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from armsim.actuation import driven, joint_torque, unpowered
from armsim.model import Joint, Limit, Motor, MotorLimits

DC = Motor(Kp=0.05, Ke=0.06, Ra=0.8, gear=40.0, viscous=3e-5)
KNOWN_TORQUE = Motor(gear=40.0, viscous=3e-5)
WITHIN = MotorLimits(voltage=24.0, current=6.0, torque=0.2, speed=90.0)
DRIVES = {
    "a voltage": (DC, "voltage"),
    "a voltage within limits": (replace(DC, limits=WITHIN), "voltage"),
    "a torque by a DC motor": (DC, "torque"),
    "a torque by a DC motor within limits": (replace(DC, limits=WITHIN), "torque"),
    "a torque": (KNOWN_TORQUE, "torque"),
    "a torque within limits": (replace(KNOWN_TORQUE, limits=MotorLimits(torque=0.2)), "torque"),
    "an ideal drive": (None, "torque"),
}


@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("i", [None, 0.4], ids=["algebraic current", "current as a state"])
def test_a_drive_changes_no_load_but_its_own(drive, i, monkeypatch):
    motor, output = DRIVES[drive]
    joint = Joint("J1", "revolute", viscous=0.2, limit=Limit(-1.0, 1.0, 300.0, 2.0), motor=motor)
    free = unpowered(joint, 1.2, 0.5)
    assert free.motor == 0.0
    assert free.viscous < 0.0
    assert free.limit < 0.0
    # and so with whatever load is added to a joint without a command
    added = replace(free, dry=0.7)
    monkeypatch.setattr(joint_torque, "unpowered", lambda *_: added)
    found = driven(joint, output, 3.0, 1.2, 0.5, i)
    drives_own = {name: getattr(found, name) for name in ("motor", "voltage", "current", "supply")}
    assert found.motor > 0.0
    assert found == replace(added, **drives_own)
    assert found.total == found.motor + added.total
