"""Armature currents that adaptive methods integrate with the rest, against the exponentials of the coil."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim

ADAPTIVE = ["rk54", "rodas"]
K, RA, L = 0.05, 0.8, 2e-3
RTOL = 1e-9
FAR = 1e-6  # relative; some hundred steps of RTOL each, and one that a limit's kink cuts


def wheel(volts, method: str, gear: float = -40.0, inertia: float = 0.7, friction=None, initial=0.0, **motor):
    """The run of one wheel under a voltage, without gravity."""
    tensor = {"mass": 1, "center": [0, 0, 0], "about": "com", "xx": inertia, "yy": inertia, "zz": inertia}
    motor = {"Kp": K, "Ra": RA, "inductance": L, "gear": gear, **motor}
    joint = {"name": "J", "type": "revolute", "mdh": {}, "bodies": [{"inertia": tensor}], "motor": motor}
    joint |= {"friction": friction} if friction else {}
    scenario = {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "wheel", "gravity": [0, 0, 0], "joints": [joint]},
        "duration": 0.02,
        "integrator": {"method": method, "dt": 2e-4, "rtol": RTOL},
        "initial": {"qd": [initial]},
        "inputs": {"voltage": [volts]},
        "log": {"every": 2e-4},
    }
    return armsim.simulate(scenario)


@pytest.mark.parametrize(
    ("limits", "method", "sign"),
    [
        (limits, method, (-1.0) ** (i + j))
        for i, limits in enumerate([{"current": 3.0}, {"torque": 3.0 * K}, {"current": 3.0, "torque": 4.0 * K}])
        for j, method in enumerate(ADAPTIVE)
    ],
)
@pytest.mark.handful(1)
def test_a_current_rises_along_its_exponential_and_is_held_at_the_amplifiers_limit(limits, method, sign):
    """Every two of limits, methods and signs together."""
    run = wheel(sign * 24.0, method, friction={"coulomb": 100.0}, limits=limits)  # friction locks the rotor
    expected = np.minimum(24.0 / RA * -np.expm1(-run.t * RA / L), 3.0)
    assert sign * run["current_J_A"] == pytest.approx(expected, rel=FAR, abs=FAR)
    held = run.t > 2e-3
    assert sign * run["voltage_J_V"][held] == pytest.approx(3.0 * RA, rel=FAR)
    assert sign * run["voltage_J_V"][0] == 24.0
    assert (run.q == 0).all()


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("gear", [40.0, -40.0])
@pytest.mark.handful(1)
def test_beyond_its_greatest_speed_a_coil_takes_no_current_that_drives_and_any_that_brakes(gear, method):
    heavy = {"inertia": 1e9, "initial": 95.0 / gear, "limits": {"speed": 80.0}}  # nothing slows it, nor its shaft
    driven, braked = (wheel(volts, method, gear, **heavy) for volts in (24.0, -24.0))
    assert np.abs(driven["current_J_A"]).max() == 0.0
    assert driven["voltage_J_V"] == pytest.approx(95.0 * K, rel=1e-12)  # a voltmeter shows the back-EMF
    settled = (-24.0 - 95.0 * K) / RA
    assert braked["current_J_A"] == pytest.approx(settled * -np.expm1(-braked.t * RA / L), rel=FAR, abs=FAR)


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("gear", [40.0, -40.0])
@pytest.mark.handful(1)
def test_motor_and_coil_follow_their_two_exponentials(gear, method):
    # J v' = k i, L i' = V - R i - k v with k = gear K: it swings, so the signs of torque and back-EMF both count
    J, V, k = 0.02, 6.0, gear * K
    decay = RA / (2 * L)
    w = math.sqrt(k * k / (J * L) - decay**2)
    run = wheel(V, method, gear, inertia=J)
    fading = np.exp(-decay * run.t)
    exact = V / k * (1 - fading * (np.cos(w * run.t) + decay / w * np.sin(w * run.t)))
    assert run.qd[:, 0] == pytest.approx(exact, abs=FAR * V / abs(k))
    assert run["current_J_A"] == pytest.approx(V / (w * L) * fading * np.sin(w * run.t), abs=FAR * V / RA)
