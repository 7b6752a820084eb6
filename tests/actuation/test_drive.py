"""What a motion asks of the drives, gear losses, friction and stops counted, against closed forms and the way back."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armsim import Robot
from armsim.loading import read_robot

ETA = 0.7
STOPS = {"lower": -1.5, "upper": 1.5, "stiffness": 200, "damping": 3}


def geared(gear: float, **motor):
    return {"Kp": 0.05, "Ke": 0.06, "Ra": 0.8, "gear": gear, **motor}


def robot(*joints: dict) -> Robot:
    """An arm that moves in a vertical plane, a heavy rod on each joint."""
    rod = {"rod": {"axis": "x", "length": 0.5, "mass": 3, "center": [0.25, 0, 0]}}
    listed = [
        {"name": f"J{i}", "type": "revolute", "mdh": {"a": 0.5 if i else 0}, "bodies": [rod], **joint}
        for i, joint in enumerate(joints)
    ]
    arm, _ = read_robot({"format": "armsim/robot/1", "name": "plane", "gravity": [0, -9.81, 0], "joints": listed})
    return Robot(arm, "python")


@pytest.mark.parametrize("gear", [40.0, -40.0])
def test_a_drive_gives_1_over_its_efficiency_of_what_it_pushes_and_less_of_what_drives_it_back(gear):
    lossy, whole = (robot({"motor": geared(gear, efficiency=eta)}) for eta in (ETA, 1.0))
    for q in (0.3, math.pi - 0.3):  # gravity pulls one way, then the other
        needed = float(whole.inverse_dynamics([q])[0])
        for qd in (0.2, -0.2):
            given = float(lossy.inverse_dynamics([q], [qd])[0])
            share = ETA if needed * qd > 0 else 2 - ETA  # of what the motor gives the joint gets so much
            assert given == pytest.approx(needed / share, rel=1e-14)
            # the gear only ever takes power
            assert (given - needed) * qd > 0
        assert lossy.inverse_dynamics([q]) == pytest.approx([needed], rel=1e-14)  # at rest friction may help


@pytest.mark.parametrize("gears", [(40.0, 25.0), (-40.0, 25.0), (-40.0, -25.0)])
@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"motor": {"efficiency": ETA}},
        {"motor": {"efficiency": ETA, "coulomb": {"positive": 0.02, "negative": 0.05}}},
        {"motor": {"rotor_inertia": 3e-5, "viscous": 4e-4}, "friction": {"viscous": 0.7}},
        {"motor": {"efficiency": ETA}, "friction": {"viscous": 0.7, "coulomb": {"positive": 2, "negative": 1}}},
        {"motor": {"efficiency": ETA, "rotor_inertia": 3e-5}, "limits": STOPS},
        {"friction": {"coulomb": {"positive": 2, "negative": 1}}, "limits": STOPS},
    ],
    ids=lambda parts: "-".join(key for part in parts.values() for key in part) or "plain",
)
@pytest.mark.handful(4)
def test_accelerations_under_the_torques_of_a_motion_are_those_of_the_motion(parts, gears):
    arm = robot(*({**parts, "motor": geared(gear, **parts.get("motor", {}))} for gear in gears))
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-2, 2, (60, 2)), rng.uniform(-3, 3, (60, 2)), rng.uniform(-30, 30, (60, 2))
    torque = arm.inverse_dynamics(q, qd, qdd)
    pushing = torque * qd > 0
    assert (pushing.sum(axis=0) > 10).all()
    assert ((~pushing).sum(axis=0) > 10).all()
    # a mass matrix of condition 100 at most, and torques up to ten times the accelerations'
    assert np.abs(arm.forward_dynamics(q, qd, torque) - qdd).max() < 1e-11


@pytest.mark.parametrize("gear", [40.0, -40.0])
def test_what_a_drive_gives_beyond_the_motion_is_what_friction_stops_and_rotor_take(gear):
    sides = {"positive": 0.02, "negative": 0.05}
    bare = robot({})
    joint = {"friction": {"viscous": 0.7, "coulomb": {"positive": 2.0, "negative": 1.0}}, "limits": STOPS}
    whole = robot({**joint, "motor": geared(gear, rotor_inertia=3e-5, viscous=4e-4, coulomb=sides)})
    for q, qd, qdd in ((0.4, 1.5, 20.0), (0.4, -1.5, 20.0), (1.6, 1.5, -20.0), (-1.6, -1.5, 20.0)):
        dry = 2.0 + 40 * 0.02 if qd > 0 else -(1.0 + 40 * 0.05)
        depth = max(abs(q) - 1.5, 0.0)
        stop = -math.copysign(200 * depth + 3 * abs(qd), q) if depth else 0.0  # it moves outwards in all of these
        more = whole.inverse_dynamics([q], [qd], [qdd]) - bare.inverse_dynamics([q], [qd], [qdd])
        assert more[0] == pytest.approx(dry + (0.7 + 1600 * 4e-4) * qd + 1600 * 3e-5 * qdd - stop, rel=1e-12)
