"""A gear that reverses changes the signs of voltages and currents, and nothing else, whatever else the motor has."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import cycle, islice, product

import numpy as np
import pytest

import armsim
from armsim import Robot
from armsim.arm.motor_curve import motor_curve
from armsim.arm.overload import overloads_along
from armsim.arm.overview import scenario_overview
from armsim.integrate import METHODS
from armsim.loading import read_robot

PARTS = {
    "plain": {},
    "friction": {"efficiency": 0.8, "coulomb": {"positive": 0.004, "negative": 0.01}, "viscous": 2e-5},
    "brushes": {"brush_drop": {"max": 0.8, "half": 0.5}},
    "coil": {"inductance": 4e-3, "rotor_inertia": 2e-5},
    "limits": {"limits": {"voltage": 10, "current": 4, "torque": 0.15, "speed": 60}},
    "limited coil": {"inductance": 4e-3, "limits": {"voltage": 10, "current": 4, "speed": 60}},
    "supply": {"limits": {"voltage": 5}},
}
GEARS = (30.0, -20.0)
COMMANDS = {
    "inputs": {"inputs": {"voltage": ["14*cos(40*t)", "-12*sin(60*t)"]}},
    "pd": {"control": {"law": "pd", "output": "voltage", "kp": [80, -60], "kd": [4, -3], "target": [0.6, -0.5], "limit": 8}},
    "sampled pid": {"control": {"law": "pid", "output": "voltage", "kp": [80, -60], "kd": [4, -3], "ki": [300, -200],
                    "target": [0.6, -0.5], "integral_limit": 0.5, "period": 0.004}},
}  # fmt: skip


def robot(mirror: float, parts) -> dict:
    """A two-joint arm in a vertical plane; mirror -1 turns the motors' shafts the other way."""
    body = {"rod": {"axis": "x", "length": 0.4, "mass": 1.5, "center": [0.2, 0, 0]}}
    joints = [
        {
            "name": f"J{i}",
            "type": "revolute",
            "mdh": {"a": 0.4 * i},
            "bodies": [body],
            "motor": {"Kp": 0.05, "Ke": 0.06, "Ra": 0.8, "gear": mirror * gear, **parts},
        }
        for i, gear in enumerate(GEARS)
    ]
    return {"format": "armsim/robot/1", "name": "plane", "gravity": [0, -9.81, 0], "joints": joints}


def scenario(mirror: float, parts, command, method="rk4") -> dict:
    """The arm under commands whose signs are those of the gears."""
    asked = json.loads(json.dumps(command))
    if mirror < 0:
        if "inputs" in asked:
            asked["inputs"]["voltage"] = [f"-({text})" for text in asked["inputs"]["voltage"]]
        else:
            control = asked["control"]
            control |= {key: [-x for x in control[key]] for key in ("kp", "kd", "ki") if key in control}
    return {
        "format": "armsim/scenario/1",
        "robot": robot(mirror, parts),
        "duration": 0.04,
        "integrator": {"method": method, "dt": 1e-3},
        "initial": {"q": [0.2, -0.4], "qd": [0.5, -1.0]},
        "log": {"every": 1e-3},
        **asked,
    }


def runs(method: str, name: str, command: str):
    """The same motion behind gears of either sign."""
    parts = PARTS[name]
    if (
        METHODS[method].adaptive and "limits" in parts
    ):  # at a greatest speed it would look for every switch of the amplifier
        parts = {**parts, "limits": {key: x for key, x in parts["limits"].items() if key != "speed"}}
    for mirror in (1.0, -1.0):
        yield armsim.simulate(scenario(mirror, parts, COMMANDS[command], method), force_step=True)


# every second pair, and the commands in turn: every method and every part meets all of them somewhere
CASES = [(*case, command) for case, command in zip(islice(product(METHODS, PARTS), 0, None, 2), cycle(COMMANDS))]


@pytest.mark.parametrize(("method", "name", "command"), CASES)
@pytest.mark.handful(1)
def test_the_arm_moves_to_the_bit_as_behind_a_gear_that_does_not_reverse(method, name, command):
    ahead, back = runs(method, name, command)
    assert ahead.status == "complete"
    for column in ahead.columns:
        reverses = column.startswith(("voltage", "current"))
        assert np.array_equal(back[column], -ahead[column] if reverses else ahead[column]), column
    assert np.abs(ahead["current_J0_A"]).max() > 0.1


@pytest.mark.parametrize("name", PARTS)
def test_voltages_and_currents_for_a_motion_reverse_and_limits_are_exceeded_alike(name):
    ahead, back = (Robot(read_robot(robot(mirror, PARTS[name]))[0], "python") for mirror in (1.0, -1.0))
    rng = np.random.default_rng(7)
    qd, tau = rng.uniform(-3, 3, (20, 2)), rng.uniform(-9, 9, (20, 2))
    assert np.array_equal(ahead.motor_demand(qd, tau), -np.array(back.motor_demand(qd, tau)))
    exceeded = [overloads_along(x.arm, np.arange(20.0), qd, tau, *x.motor_demand(qd, tau)) for x in (ahead, back)]
    assert exceeded[0] == exceeded[1]
    assert bool(exceeded[0]) == ("limits" in PARTS[name])


@pytest.mark.parametrize("name", ["plain", "friction", "brushes", "limits"])
@pytest.mark.handful(2)
def test_a_motor_can_do_the_same_in_either_direction(name):
    ahead, back = (motor_curve(read_robot(robot(mirror, PARTS[name]))[0], "J1", 8.0) for mirror in (1.0, -1.0))
    held, other = ahead.holding, back.holding
    assert (abs(held.voltage), abs(held.current)) == (abs(other.voltage), abs(other.current))
    assert ahead == replace(back, holding=replace(other, voltage=held.voltage, current=held.current))


@pytest.mark.parametrize("name", ["plain", "coil"])
@pytest.mark.parametrize("command", ["inputs", "pd"])
def test_the_linear_equations_have_the_other_sign_in_rows_and_columns_of_voltages_and_currents(command, name):
    ahead, back = (armsim.linearize(scenario(mirror, PARTS[name], COMMANDS[command])) for mirror in (1.0, -1.0))
    sides = np.array([-1.0 if state.startswith("current") else 1.0 for state in ahead.states])
    assert np.array_equal(back.A, sides[:, None] * ahead.A * sides)
    assert np.array_equal(back.B, -sides[:, None] * ahead.B)
    if command == "pd":
        assert np.array_equal(back.closed_loop.A, sides[:, None] * ahead.closed_loop.A * sides)


def test_gains_against_the_gears_sign_are_the_same_stiffness_damping_and_droop():
    facts = [scenario_overview(scenario(mirror, {}, COMMANDS["pd"])).command.joints for mirror in (1.0, -1.0)]
    for ahead, back in zip(*facts):
        for key in ("stiffness", "damping", "back_emf", "droop"):
            assert getattr(ahead, key) == getattr(back, key), key
        assert ahead.stiffness > 0
        assert ahead.damping > ahead.back_emf > 0
