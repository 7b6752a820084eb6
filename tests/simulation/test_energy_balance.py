"""The energy audit of a run: works against closed forms, and what is left over against the method's order."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.actuation import COUNTED, WORKS
from armsim.integrate import METHODS
from armsim.loading import read_scenario
from armsim.plant import make_plant
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan

FIXED = [name for name, method in METHODS.items() if method.adaptive is None]
ADAPTIVE = [name for name in METHODS if name not in FIXED]
DRIVEN = {
    "duration": 0.8,
    "log.every": 0.1,
    "inputs": {"torque": ["20*sin(3*t)", "5*cos(7*t)"]},
    "robot.joints[shoulder].friction.viscous": 1.0,
    "robot.joints[elbow].friction.viscous": 0.5,
    "external": [{"link": "elbow", "point": [0.8, 0, 0], "force": [3, -2, 1], "moment": [0, 0, 0.5]}],
}


def audit(scenario, overrides=None, engine="llvm"):
    run = armsim.simulate(scenario, overrides or {}, engine)
    assert run.status == "complete"
    return run.summary()["audit"]


def by(method, dt=None):
    return {"integrator": {"method": method, **({} if METHODS[method].adaptive else {"dt": dt})}}


def slide(gravity=0.0, mass=2.0, **joint):
    """A mass on one upward axis."""
    link = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": mass}}], **joint}
    return {"format": "armsim/robot/1", "name": "slide", "gravity": [0, 0, -gravity], "joints": [link]}


def scenario(robot, duration, **keys):
    return {"format": "armsim/scenario/1", "robot": robot, "duration": duration, **keys}


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.handful(2)
def test_the_residual_falls_with_the_methods_order(method):
    steps = [1e-3 / 2**k for k in range(4)]
    residuals = [abs(audit("two_link_swing", {**DRIVEN, **by(method, dt)})["residual"]) for dt in steps]
    order = np.polyfit(np.log(steps), np.log(residuals), 1)[0]
    assert order == pytest.approx(METHODS[method].order, abs=0.1)


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.slow
def test_the_residual_of_an_adaptive_method_falls_with_its_tolerance(method):
    # 3 to 13 J of work; 200 steps at least, whose errors add up
    for rtol in (1e-7, 1e-8, 1e-9):
        found = audit("two_link_swing", {**DRIVEN, "integrator": {"method": method, "rtol": rtol}})
        assert 1e-3 * rtol < abs(found["residual"]) < 10 * rtol


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(4)
def test_a_swing_that_nothing_drives_has_only_residual(method):
    run = armsim.simulate("two_link_swing", {"duration": 1, **by(method, 1e-3)})
    found = run.summary()["audit"]
    assert [found[of] for of in WORKS] == [0] * len(WORKS)
    energy = run["kinetic_energy_J"] + run["potential_energy_J"]
    assert found["residual"] == found["change"] == energy[-1] - energy[0]
    assert found["relative"] == pytest.approx(abs(found["change"]) / run["kinetic_energy_J"].max(), rel=0.05)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_constant_force_does_force_times_distance(method):
    # Euler methods take the velocity at a step's start: half a step's worth is missing, 1/2 F a dt t
    pushed = scenario(
        slide(), 1, inputs={"torque": [3]}, external=[{"link": "x", "force": [0, 0, 5]}], **by(method, 1e-3)
    )
    found = audit(pushed)
    distance = 0.5 * (8 / 2) * 1**2
    slack = 0.5 * 8 * 4 * 1e-3 if METHODS[method].order == 1 else 1e-12
    assert found["motors"] == pytest.approx(3 * distance, abs=slack)
    assert found["external"] == pytest.approx(5 * distance, abs=slack)
    assert (found["friction"], found["stops"]) == (0, 0)
    assert found["change"] == pytest.approx(8 * distance, rel=2e-3 if METHODS[method].order == 1 else 1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_friction_takes_the_energy_of_what_it_stops(method):
    # a sliding block: 6 N from 3 m/s, at rest after 1 s and 1.5 m
    stopped = scenario(slide(friction={"coulomb": 6}), 2, initial={"qd": [3]}, **by(method, 1e-3))
    run = armsim.simulate(stopped)
    found = run.summary()["audit"]
    assert run["qd_x_m_s"][-1] == 0
    assert found["friction"] < 0
    # of order 1: half a step's velocity in all steps; else the step within which it turns round, F a dt²/2
    slack = 6 * 3 * 1e-3 if METHODS[method].order == 1 else 6 * 3 * 1e-6 / 2 * 1.01
    assert found["friction"] == pytest.approx(-0.5 * 2 * 3**2, abs=slack)
    assert found["change"] == pytest.approx(-0.5 * 2 * 3**2, abs=1e-12)


def test_damping_taken_at_the_new_velocity_does_its_work_with_that_force():
    # m (v' - v) = -h d v', so v' = v / (1 + h d / m) = v / 3; at constant mass that force times the mean of v and v' is all
    # that kinetic energy loses, however long the step
    damped = scenario(slide(friction={"viscous": 40}), 0.5, initial={"qd": [3]}, log={"every": 0.1})
    found = audit({**damped, **by("velocity_implicit", 0.1)})
    assert found["friction"] == pytest.approx(-0.5 * 2 * 3**2 * (1 - 3**-10), rel=1e-14)
    assert found["residual"] == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("method", ["velocity_verlet", "rk4", *ADAPTIVE])
@pytest.mark.handful(2)
def test_a_mass_that_drops_on_a_stop_leaves_its_energy_there(method):
    m, g, k, h = 2.0, 9.81, 5e3, 0.4
    stop = {"lower": 0, "stiffness": k, "damping": 0}
    deepest = (m * g + math.sqrt((m * g) ** 2 + 2 * k * m * g * h)) / k
    w, v = math.sqrt(k / m), math.sqrt(2 * g * h)
    duration = v / g + (math.pi - math.atan2(v, g / w)) / w  # x = g/w² (1 - cos wt) + v/w sin wt, until xd = 0
    dropped = scenario(slide(g, m, limits=stop), duration, initial={"q": [h]}, log={"every": duration})
    found = audit({**dropped, **by(method, duration / 4096)})
    # a step of fixed length overlooks the instant of contact: k v² dt²/8 at most
    slack = k * v**2 * (duration / 4096) ** 2 if METHODS[method].adaptive is None else 1e-5
    assert found["stops"] == pytest.approx(-k * deepest**2 / 2, abs=slack)
    assert found["stops"] == pytest.approx(found["change"], abs=slack)
    assert (found["motors"], found["friction"]) == (0, 0)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_the_force_of_a_stop_that_begins_with_a_jump_does_no_work_in_the_step_before(method):
    # the step before ends within rounding of the stop, on either side: once 1.4 % of the energy by rodas
    hard = {"lower": 0, "stiffness": 5e3, "damping": 300}
    fall = scenario(slide(9.81, limits=hard), 0.5, initial={"q": [0.1]}, log={"every": 0.5})
    assert audit({**fall, **by(method)})["relative"] < 1e-6


CASES = {
    "sampled": ("arm5_hold", {"duration": 0.3, "control.period": 1e-3}),
    "integral": ("arm5_hold_pi", {"duration": 0.3}),
    "inductance": ("arm5_sine", {"duration": 0.3, **{f"robot.joints[{i}].motor.inductance": 0.01 for i in range(5)}}),
    "friction": ("puma560_hold", {"duration": 0.3}),
    "stops": ("arm5_fall", {"duration": 0.3, "robot.joints[R2].limits": {"lower": -1.2, "stiffness": 1e3, "damping": 10}}),
    "pushed": ("two_link_hold", {"external[0]": {"link": "elbow", "point": [0.1, 0.2, 0.3], "force": [1, 5, 2],
               "moment": [1, 2, 3], "axes": "local", "from": 0.1, "to": 0.2}, "duration": 0.3}),
}  # fmt: skip


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.handful(1)
def test_works_account_for_the_energy_whatever_acts(name, method):
    shipped, changes = CASES[name]
    found = audit(shipped, {"log.every": 0.1, **changes, "integrator": {"method": method, "rtol": 1e-9}})
    assert max(abs(found[of]) for of in WORKS) > 1e-3
    assert found["relative"] < 1e-7
    assert found["note"] is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_counting_work_changes_no_bit_of_the_motion(method, drive):
    rough = {f"robot.joints[{name}].friction": {"coulomb": 2, "viscous": 0.5} for name in ("shoulder", "elbow")}
    asked = read_scenario("two_link_hold", {"duration": 0.05, "integrator": {"method": method, "dt": 1e-3}, **rough})
    plain = make_plant(asked)
    n = len(plain.slots)
    counted = replace(plain, audit=True)
    runs = [
        drive(
            NativeEngine(LoopPlan.of(plant, asked.dt)),
            plant,
            asked.initial_q,
            asked.initial_qd,
            50,
            (asked.clock.num, asked.clock.den),
        )
        for plant in (plain, counted)
    ]
    assert runs[0].state.tolist() == runs[1].state[:n].tolist()
    assert runs[0].rows.tolist() == runs[1].rows.tolist()
    assert len(counted.slots) == n + len(COUNTED)


@pytest.mark.slow
def test_both_engines_count_the_same_work():
    asked = {**DRIVEN, "duration": 0.1}
    assert audit("two_link_swing", asked) == audit("two_link_swing", asked, "python")


def test_a_large_residual_is_explained():
    note = "the residual is energy that the integrator made or lost, and it is large: take "
    rough = audit("two_link_swing", {"integrator": {"method": "explicit_euler", "dt": 1e-3}})
    assert rough["relative"] > 0.05
    assert rough["note"] == note + "a shorter step than 0.001 s, or a method of higher order"
    loose = audit("two_link_swing", {"integrator": {"method": "rk54", "rtol": 0.05}, "duration": 20, "log.every": 1})
    assert loose["relative"] > 0.05
    assert loose["note"] == note + "a smaller rtol than 0.05"


@pytest.mark.slow
def test_dynamechs_motor_has_a_residual_that_no_step_takes_away():
    motors = {f"robot.joints[{i}].motor.{key}": value for i in range(3) for key, value in [("coulomb", 1)]}
    motors |= {f"robot.joints[{i}].motor.model": "dynamechs" for i in range(5)}
    fine, finer = (
        audit("arm5_sine", {**motors, "integrator": {"method": "explicit_euler", "dt": dt}}) for dt in (5e-5, 2.5e-5)
    )
    assert abs(finer["residual"]) > 0.9 * abs(fine["residual"]) > 1e-3
    assert fine["note"].startswith("DynaMechs' motor makes and loses energy by its own faults")


def wheel(speed, method, rtol):
    """A heavy wheel that a constant force at its rim hardly slows or hastens, so that steps are long."""
    wheel = {"mass": 1.0, "center": [0, 0, 0], "about": "com", "xx": 1.0, "yy": 1.0, "zz": 1e4}
    robot = {
        "format": "armsim/robot/1",
        "name": "wheel",
        "gravity": [0, 0, 0],
        "joints": [{"name": "R1", "type": "revolute", "mdh": {}, "bodies": [{"inertia": wheel}]}],
    }
    push = {"link": "R1", "point": [0.2, 0, 0], "force": [5, 0, 0], "axes": "world"}
    asked = scenario(robot, 1, initial={"qd": [speed]}, external=[push], log={"every": 1})
    run = armsim.simulate({**asked, "integrator": {"method": method, "rtol": rtol}})
    assert run.steps_chosen[0] < 0.4 * speed  # of more than 2 rad each
    return run.summary()["audit"], 5 * 0.2 * (math.cos(run.q[-1][0]) - 1.0)  # force times way


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
@pytest.mark.handful(2)
def test_work_is_as_precise_as_was_asked_for_where_steps_pass_whole_turns_of_its_power(method, rtol):
    # once 18 to 25 J at an rtol of 1e-3 and half the work at 1e-6: it shared the motion's steps, and their control did not see it
    found, exact = wheel(30.0, method, rtol)
    off = abs(found["external"] - exact)
    assert off < 2 * rtol
    assert off < 2 * found["error"] < 10 * rtol
    assert found["note"] is None


@pytest.mark.parametrize("method", ADAPTIVE)
def test_work_whose_power_no_panel_resolves_is_told_of(method):
    found, _ = wheel(1000.0, method, 1e-3)
    assert found["note"].startswith("the works may be off by ")
    assert found["note"].endswith("powers vary faster than the steps show, take a smaller rtol")


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.handful(3)
def test_fixed_steps_do_not_estimate_the_error_of_work(method):
    assert audit("two_link_swing", {**DRIVEN, "duration": 0.1, **by(method, 1e-3)})["error"] is None


def test_an_arm_at_rest_has_no_residual():
    found = audit(scenario(slide(), 1))
    assert (found["residual"], found["relative"], found["note"]) == (0, 0, None)
