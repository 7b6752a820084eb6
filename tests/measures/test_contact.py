"""Time in contact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ellipk

import armsim
from armsim.integrate import METHODS
from tests.dynamics.test_contact import DAMPING, MASS, STIFF, G, block, rebound, scene


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(4)
def test_time_in_contact_is_that_of_the_located_instants(method):
    """A bounce of a linear spring and damper: until the gap is 0 again, after the force is."""
    surface = {"stiffness": STIFF, "damping": DAMPING}
    run = armsim.simulate(
        scene(block(), surface, method, q=[0.01], qd=[-1.0], dt=1e-4),
        measure=["contact_time", "2*contact_time_tool_floor"],
    )
    time, restitution = rebound()
    left = -(DAMPING / STIFF) * restitution  # the depth at which the force ends
    whole = time - left / restitution  # from there it flies
    exact = METHODS[method].locates
    assert run.measures["contact_time_tool_floor"] == pytest.approx(whole, abs=1e-9 if exact else 3e-4)
    assert run.measures["2*contact_time_tool_floor"] == 2 * run.measures["contact_time_tool_floor"]


def test_a_pendulum_is_at_a_soft_wall_for_an_elliptic_integral():
    length, inertia, stiffness = 0.5, 0.3, 2e4
    body = {"inertia": {"mass": 1, "center": [0, 0, 0], "about": "origin", "xx": 1, "yy": 1, "zz": inertia}}
    joint = {"name": "R", "type": "revolute", "origin": {"axis": [0, 0, 1]}, "bodies": [body]}
    robot = {**block(), "joints": [joint], "tool": {"xyz": [length, 0, 0]}}
    wall = {"plane": {"normal": [1, 0, 0]}}
    asked = scene(robot, {"stiffness": stiffness}, "rk4", q=[math.pi / 2 - 0.1], qd=[1.0], shape=wall, duration=0.25)
    modulus = inertia / (stiffness * length**2)
    run = armsim.simulate(asked, measure=["contact_time_tool_floor"])
    assert run.measures["contact_time_tool_floor"] == pytest.approx(2 * math.sqrt(modulus) * ellipk(modulus), abs=1e-9)


@pytest.mark.slow
def test_asking_for_it_changes_no_step_and_lanes_have_the_bits_of_single_runs(tmp_path):
    surface = {"stiffness": STIFF, "damping": DAMPING, "friction": {"static": 0.5, "kinetic": 0.4}}
    asked = scene(block("xz", (0, 0, -G)), surface, "rk54", 0.1, [0.0, 0.005], [0.3, -1.0])
    path, values = "world.floor.stiffness", [STIFF, 2 * STIFF, 5 * STIFF]
    name = "contact_time_tool_floor"
    runs = [armsim.simulate(asked, {path: value}, measure=[name]) for value in values]
    assert [run.q.tolist() for run in runs] == [armsim.simulate(asked, {path: value}).q.tolist() for value in values]
    many = armsim.simulate_many(asked, {path: values}, measure=[name])
    assert many[name].tolist() == [run.measures[name] for run in runs]
    assert len({*many[name]}) == 3
    runs[0].save(tmp_path / "run")
    loaded = armsim.load_run(tmp_path / "run")
    assert loaded.measures == runs[0].measures
    assert len(loaded.state) == len(loaded.plant.slots)


def test_contacts_that_are_left_out_of_steps_are_not_in_contact():
    surface = {"stiffness": STIFF, "damping": DAMPING}
    asked = scene(block("xz", (0, 0, -G), MASS), surface, "rk4", 1.0, [0.0, 2.0], [0.0, 0.0], 1e-3)
    fall = math.sqrt(2 * 2.0 / G)
    run = armsim.simulate(asked, measure=["contact_time", "integral(step(-gap_tool_floor))"])
    bounce = run.measures["contact_time_tool_floor"]
    assert 0 < bounce < 1 - fall
    assert bounce == pytest.approx(run.measures["integral(step(-gap_tool_floor))"], abs=2e-3)
    assert np.isfinite(run.state).all()


def test_without_contacts_there_is_no_such_time(told):
    with pytest.raises(armsim.UsageError) as caught:
        armsim.simulate("two_link_hold", measure=["contact_time"])
    told(str(caught.value))
    with pytest.raises(armsim.UsageError) as caught:
        armsim.simulate("press", measure=["contact_time_tool_tabel"])
    told(str(caught.value))
