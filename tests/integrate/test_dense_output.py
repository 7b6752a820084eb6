"""Dense output: rows between the ends of adaptive steps, against the truth, exact solutions and the steps themselves."""

from __future__ import annotations

import ctypes
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.compile.single import SingleKernel
from armsim.control import OpenLoop
from armsim.expr import cos, sin, trace
from armsim.integrate import METHODS, OPEN, Ahead, Motion, System, Tolerance
from armsim.integrate.extension import interpolated
from armsim.integrate.rk54 import trial as rk54_trial
from armsim.integrate.rodas import trial as rodas_trial
from armsim.model import Arm, Coulomb, Joint, Limit
from armsim.plant import Plant
from armsim.spatial import Inertia, Pose, Vector

ADAPTIVE = ["rk54", "rodas"]
SIX_DECADES = [10.0**-k for k in range(4, 11, 2)]
HOLD = {"duration": 10, "initial.q": [0, -1.1, 0.3, 0, 0]} | {
    f"control.{key}": value
    for key, value in {
        "target": [0.3, -0.8, 0, 0.5, -0.4],
        "kp": [100, 100, 100, 20, 20],
        "kd": [1, 1, 1, 0.1, 0.1],
    }.items()
}


def pendulum(t, y):
    """A driven pendulum with friction, one further state and one quadrature."""
    (q,), (v,), (z,), _ = y
    return Motion([v], [-9.0 * sin(q) - 0.1 * v + cos(2 * t) + 0.2 * z], [q - z * v], [v * v])


def followed(method: str, system: System, y: Motion, times, rtol: float, landing: float):
    """Motions at times, and the ends of the steps: times and motions."""
    taken = METHODS[method].adaptive
    ahead = Ahead.landed(landing, y, METHODS[method].coefficients, 0)
    memory, found, ends = [0.0] * 4, [y], {}
    for t, after in itertools.pairwise(times):
        y, memory, ahead = taken.follow(system, t, after - t, memory, Tolerance(rtol, rtol), ahead.of_instant(t, y))
        found.append(y)
        ends[ahead.done or landing] = ahead.end
    return found, ends


def slide(mass: float = 2.0, pull: float = 0.0, **joint) -> Arm:
    """A mass that slides along a line; `pull` [m/s²] is gravity along it."""
    return Arm("slide", Vector(0.0, 0.0, pull), Pose(), (Joint("P1", "prismatic", inertia=Inertia(mass), **joint),))


def rows(plant: Plant, q: float, v: float, steps: int, duration: float) -> np.ndarray:
    """Position, velocity and acceleration at equal times; the only landing is the last."""
    plant = replace(plant, ahead=True)

    def cycle(t, *x):
        return [plant.motion(t, x)[1][0], *plant.step(t, x, duration / steps)]

    call = SingleKernel(trace(cycle, ["t", *plant.slots], "cycle")).call
    given = (ctypes.c_double * (1 + len(plant.slots)))(0.0, *plant.initial_state([q], [v], duration))
    after, found = (ctypes.c_double * len(given))(), []
    for k in range(steps + 1):
        given[0] = k * duration / steps
        call(ctypes.addressof(given), ctypes.addressof(after))
        found.append([given[1], given[2], after[0]])
        given[1:] = after[1:]
    return np.array(found)


# ---- the extensions ----


@pytest.mark.parametrize(("trial", "order"), [(rk54_trial, 4), (rodas_trial, 3)])
@pytest.mark.handful(1)
def test_an_extension_between_the_ends_of_a_step_has_its_published_order(trial, order):
    system, y, t = System(pendulum), Motion([0.5], [0.3], [0.1], [0.2]), 0.2
    errors = []
    for h in (0.04, 0.02, 0.01):
        end, _, inner = trial(system, t, y, h)
        d = Motion(*(list(np.subtract(a, b)) for a, b in zip(end, y, strict=True)))
        worst = 0.0
        for share in (0.2, 0.5, 0.7):
            true = y
            for k in range(200):
                true = METHODS["rk4"].step(system, t + share * h * k / 200, true, share * h / 200)
            at = interpolated(end, [d, *inner], share)
            worst = max(worst, *(abs(a - b) for p, s in zip(at, true, strict=True) for a, b in zip(p, s, strict=True)))
        errors.append(worst)
    # of a single step: one order more
    assert np.abs(np.log2(np.divide(errors[:-1], errors[1:])) - (order + 1)).max() < 0.3


@pytest.mark.parametrize("method", ADAPTIVE)
def test_an_extension_ends_in_the_bits_of_its_step(method):
    y = Motion([0.5], [0.3], [0.1], [0.2])
    end, _, inner = {"rk54": rk54_trial, "rodas": rodas_trial}[method](System(pendulum), 0.2, y, 0.1)
    d = Motion(*([a - b for a, b in zip(p, s, strict=True)] for p, s in zip(end, y, strict=True)))
    assert interpolated(end, [d, *inner], 1.0) == end
    assert np.allclose(np.concatenate(interpolated(end, [d, *inner], 0.0)), np.concatenate(y), rtol=0, atol=1e-15)


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.slow
def test_rows_are_as_precise_as_the_steps_they_lie_in_over_six_decades(method):
    system, start, duration, count = System(pendulum), Motion([0.5], [0.3], [0.1], [0.0]), 5.0, 1000
    times = [k * duration / count for k in range(count + 1)]
    true, at = start, [start]
    for k in range(count):
        for j in range(6):
            true = METHODS["rk4"].step(system, (6 * k + j) * duration / count / 6, true, duration / count / 6)  # 1e-13
        at.append(true)
    exact = np.array([np.concatenate(y) for y in at])
    for rtol in SIX_DECADES:
        found, ends = followed(method, system, start, times, rtol, duration)
        errors = np.abs(np.array([np.concatenate(y) for y in found]) - exact)[:, :3]
        places = [(round(t / duration * count), t, y) for t, y in ends.items()]
        near = [errors[place].max() for place, *_ in places]  # rows next to the steps' ends
        assert errors.max() < 10 * rtol
        assert errors.max() < 4 * max(near)


@pytest.mark.slow
def test_rows_of_the_hold_follow_its_truth_over_six_decades(reference):
    truth = reference("hold_truth").block("q")
    every = 10 / (len(truth) - 1)
    opened = ["integrator.rtol", "integrator.atol"]  # for one kernel
    integrator = {"method": "rodas", "rtol": 1e-4, "atol": 1e-4}
    sim = armsim.prepare("arm5_hold", opened, {**HOLD, "integrator": integrator, "log.every": every})
    for rtol in SIX_DECADES:
        assert np.abs(sim(dict.fromkeys(opened, rtol)).q - truth).max() < rtol


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.slow
def test_ten_thousand_rows_take_no_more_steps_than_one(method):
    """And are within 3e-7 rad of the same at 1e-11 at every one."""
    taken = {}
    for every in (0.001, 10):
        setting = {"integrator": {"method": method, "rtol": 1e-6, "atol": 1e-6}, "log.every": every}
        taken[every] = armsim.simulate("arm5_hold", {**HOLD, **setting})
    assert taken[0.001].steps_chosen == taken[10].steps_chosen
    precise = {"integrator": {"method": method, "rtol": 1e-11, "atol": 1e-11}, "log.every": 0.001}
    assert np.abs(taken[0.001].q - armsim.simulate("arm5_hold", {**HOLD, **precise}).q).max() < 3e-7


def test_rows_at_a_millisecond_of_the_swing_follow_its_truth(arms, reference, drive):
    from armsim.simulation.engine import NativeEngine
    from armsim.simulation.loop_plan import LoopPlan

    table = reference("swing_truth")
    places = np.flatnonzero(table.columns["t_s"] <= 1.5)
    arm = arms.bare(arms.shipped("arm5"))
    for rtol in SIX_DECADES:
        plant = Plant(arm, None, method="rk54", tolerance=Tolerance(rtol, rtol), ahead=True)
        engine = NativeEngine(LoopPlan.of(plant, 1e-3))
        found = drive(engine, plant, table.block("q")[0], [0.0] * 5, 1501, (1, 1000), landing=1.5).rows[:, :5]
        instants = np.rint(table.columns["t_s"][places] * 1000).astype(int)
        assert np.allclose(instants / 1000, table.columns["t_s"][places], rtol=0, atol=1e-12)
        # an error of the first moments has grown a hundredfold by then
        assert np.abs(found[instants] - table.block("q")[places]).max() < 1000 * rtol


# ---- the same bits ----


@pytest.mark.parametrize(
    ("scenario", "setting"),
    [
        ("arm5_fall", {"integrator": {"method": "rk54"}, "duration": 0.5}),
        ("arm5_hold", {"integrator": {"method": "rodas"}, "duration": 1}),
        ("arm5_fall", {"integrator": {"method": "rodas"}, "duration": 0.5}),
        ("puma560_hold", {"integrator": {"method": "rodas"}, "duration": 0.5}),
        ("arm5_hold_pi", {"integrator": {"method": "rodas"}, "control.period": 0.01, "duration": 0.5}),
    ],
)  # fmt: skip
@pytest.mark.handful(1)
def test_a_run_ends_in_the_same_bits_with_and_without_rows(scenario, setting):
    ends = []
    for every in (0.5, 0.05, 0.001):
        run = armsim.simulate(scenario, {**setting, "log.every": every})
        ends.append((run.state[: run.plant.slots.index("step_length")], run.state[-1:], run.steps_chosen))
        works = [x for slot, x in zip(run.plant.slots, run.state, strict=True) if slot.startswith("work")]
        ends[-1] = (*ends[-1][::2], works)
    assert ends[0] == ends[1] == ends[2]


# ---- friction and stops at every row ----


@pytest.mark.parametrize("method", ADAPTIVE)
def test_rows_of_a_sliding_joint_that_comes_to_rest_are_those_of_the_closed_form(method):
    v0, mass, friction = 1.3, 2.0, 3.0
    stop = mass * v0 / friction
    plant = Plant(slide(mass, coulomb=Coulomb(friction, 5.0)), None, method=method)
    found, t = rows(plant, 0.0, v0, 1000, 2.0), np.arange(1001) * 2.0 / 1000
    moving = np.minimum(t, stop)
    assert np.abs(found[:, 0] - (v0 * moving - friction / mass * moving**2 / 2)).max() < 1e-11
    assert np.abs(found[:, 1] - np.maximum(v0 - friction / mass * t, 0.0)).max() < 1e-11
    assert (found[t > stop + 1e-9, 1] == 0.0).all()
    assert (found[:, 2] == np.where(t < stop, -friction / mass, 0.0)).all()


@pytest.mark.parametrize("method", ADAPTIVE)
def test_rows_of_a_held_joint_are_exactly_at_rest_until_it_is_set_free(method):
    # 4 t N against 3 N: free from t = 0.75, and then v = 4 t²/2 - 3 t over the mass
    plant = Plant(slide(2.0, coulomb=Coulomb(3.0, 3.0)), OpenLoop("torque", (lambda t: 4.0 * t,)), method=method)
    found, t = rows(plant, 0.0, 0.0, 1000, 2.0), np.arange(1001) * 2.0 / 1000
    held, s = t <= 0.75, np.maximum(t - 0.75, 0.0)
    assert (found[held] == 0.0).all()
    for column, exact in enumerate((2 * s**3 / 3 / 2.0, 2 * s**2 / 2.0, 2.0 * s)):
        assert np.abs(found[:, column] - exact).max() < 1e-9


@pytest.mark.parametrize("method", ADAPTIVE)
def test_rows_of_a_mass_that_bounces_are_those_of_its_parabolas_and_half_swings(method):
    # free flight from a height, half a swing m x'' = -k x - m g with the stop, and so on without a loss
    m, g, k, height = 2.0, 9.81, 800.0, 0.3
    limit = Limit(0.0, math.inf, stiffness=k, damping=0.0)
    plant = Plant(slide(m, -g, limit=limit), None, method=method, tolerance=Tolerance(1e-9, 1e-9))
    fall, w, rest = math.sqrt(2 * height / g), math.sqrt(k / m), -m * g / k
    speed = g * fall
    contact = 2 * math.atan2(speed / w, rest) / w  # x = rest - rest cos(wt) - speed/w sin(wt) is 0 again

    def exact(t: float) -> tuple[float, float, float]:
        t = (t + fall) % (2 * fall + contact) - fall  # from an apex on: flight over ±fall, then the stop
        if t < fall:
            return height - g * t * t / 2, -g * t, -g
        s = t - fall
        x = rest - rest * math.cos(w * s) - speed / w * math.sin(w * s)
        return x, rest * w * math.sin(w * s) - speed * math.cos(w * s), -g - k / m * x

    found = rows(plant, height, 0.0, 3000, 3.0)
    true = np.array([exact(n / 1000) for n in range(3001)])
    assert found[:, 0].min() < -0.05
    for column, allowed in enumerate((1e-7, 1e-6, 5e-5)):  # k / m = 400 times the first
        assert np.abs(found[:, column] - true[:, column]).max() < allowed


# ---- events within a step ----


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_joint_that_stops_and_sets_out_again_within_what_would_be_a_step_is_held_meanwhile(method):
    # v = (t - 1)² - 1e-4, which both methods integrate exactly, is zero at 0.99; friction holds until the push outgrows it at 1
    push = OpenLoop("torque", (lambda t: 3.0 + 2.0 * 2.0 * (t - 1.0),))
    plant = Plant(slide(2.0, coulomb=Coulomb(3.0, 3.0)), push, method=method)
    found, t = rows(plant, 0.0, 1.0 - 1e-4, 2000, 2.0), np.arange(2001) / 1000
    held = (t > 0.99 + 1e-9) & (t <= 1.0)
    assert held.sum() > 5
    assert (found[held, 1] == 0.0).all()
    assert np.abs(found[:, 1] - np.where(t < 1, np.maximum((t - 1) ** 2 - 1e-4, 0.0), (t - 1) ** 2)).max() < 1e-9


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_stop_that_is_met_and_left_within_what_would_be_a_step_pushes_back(method):
    # thrown at the stop against gravity, the mass would dip 1 mm into it for 28 ms; its spring throws it back after 21 ms
    m, g, k, v0 = 2.0, 9.81, 8e3, 3.0
    height = v0 * v0 / (2 * g) - 1e-3
    limit = Limit(-math.inf, height, stiffness=k, damping=0.0)
    plant = Plant(slide(m, -g, limit=limit), None, method=method)
    speed, w, rest = math.sqrt(2 * g * 1e-3), math.sqrt(k / m), -m * g / k
    met = (v0 - speed) / g
    left = met + 2 * math.atan(speed / w / -rest) / w  # x = rest (1 - cos) + speed/w sin is 0 again
    found, t = rows(plant, 0.0, v0, 500, 0.5), np.arange(501) / 1000
    back = t > left
    assert back.sum() > 100
    assert np.abs(found[back, 1] - (-speed - g * (t[back] - left))).max() < 1e-5
    assert left - met < 0.9 * 2 * speed / g


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_push_that_outgrows_friction_within_what_would_be_a_step_sets_the_joint_free(method):
    # 3.01 - (t - 1)² N against 3 N: free from 0.9 on, and v = (s²/10 - s³/3) / 2 for s = t - 0.9, at rest again after 0.3 s
    push = OpenLoop("torque", (lambda t: 3.01 - (t - 1.0) * (t - 1.0),))
    plant = Plant(slide(2.0, coulomb=Coulomb(3.0, 3.0)), push, method=method)
    found, t = rows(plant, 0.0, 0.0, 200, 2.0), np.arange(201) / 100
    s = np.clip(t - 0.9, 0.0, 0.3)
    assert np.abs(found[:, 1] - (s**2 / 10 - s**3 / 3) / 2).max() < 1e-8
    assert (found[t < 0.9, 1] == 0.0).all()
    assert (found[t > 1.2 + 1e-6, 1] == 0.0).all()


# ---- all that a row has ----

PID = {"control": {"law": "pid", "output": "voltage", "kp": [100] * 5, "ki": [50] * 5, "kd": [1] * 5}}
COILS = {f"robot.joints[{i}].motor.inductance": 2e-3 for i in range(5)}


@pytest.mark.parametrize(
    ("scenario", "setting"),
    [
        ("arm5_hold", {**PID, **COILS}),
        ("arm5_hold_pi", {"control.period": 0.05}),
        ("arm5_hold", {f"robot.joints[{i}].friction": {"coulomb": 0.5} for i in range(5)}),
        ("arm5_hold", {"external": [{"link": "R3", "force": [5, 0, 20], "from": 0.1, "to": 0.25}]}),
    ],
    ids=["integrals and currents", "samples", "friction", "a force that comes and goes"],
)
@pytest.mark.slow
def test_every_column_of_a_row_is_that_of_a_run_that_lands_on_it(scenario, setting):
    integrator = {"method": "rodas", "rtol": 1e-9, "atol": 1e-9}
    between, landing = (
        armsim.simulate(scenario, {**setting, "duration": 0.5, "log.every": 0.01, "integrator": {**integrator, **dt}})
        for dt in ({}, {"dt": 0.01})
    )
    assert between.steps_chosen < landing.steps_chosen
    size = np.abs(landing.table).max(axis=0)
    # accelerations and torques are the states' errors times stiffness and damping over mass
    assert (np.abs(between.table - landing.table).max(axis=0) < 1e-5 * np.maximum(size, 1.0)).all()
    work = [slot for slot in between.plant.slots if slot.startswith("work")]
    for slot in work:
        done = [dict(zip(run.plant.slots, run.state, strict=True))[slot] for run in (between, landing)]
        assert done[0] == pytest.approx(done[1], rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.slow
def test_energy_balances_at_every_row_not_only_at_the_ends_of_steps(method):
    scenario = {"integrator": {"method": method, "rtol": 1e-9, "atol": 1e-9}, "duration": 0.5, "log.every": 0.01}
    run = armsim.simulate("arm5_fall", scenario)
    plant, x = run.plant, run.plant.initial_state(run.scenario.initial_q, run.scenario.initial_qd, 0.5)
    places = [plant.slots.index(f"work_{of}") for of in ("motors", "friction", "stops", "external")]
    energy = run["kinetic_energy_J"] + run["potential_energy_J"]
    for k in range(10):
        assert energy[k] - energy[0] == pytest.approx(sum(x[i] for i in places), abs=1e-6)
        x = plant.step(k * 0.01, x, 0.01)


def test_peaks_do_not_depend_on_how_often_rows_are_logged():
    # a torque of 3 sin² between rows, where nothing of it is seen
    push = {"inputs": {"torque": ["3*sin(pi*t)**2", 0]}, "integrator": {"method": "rodas"}, "duration": 4}
    seen = [armsim.simulate("rr_config1", {**push, "log.every": every}).peaks[0] for every in (1, 2)]
    assert seen == pytest.approx([3, 3], rel=1e-4)


@pytest.mark.slow
def test_a_scenario_written_out_repeats_the_bits_of_its_run():
    given = {"integrator": {"method": "rodas"}, "duration": 0.5}
    first = armsim.simulate("arm5_hold", given)
    again = armsim.simulate(armsim.loading.read_scenario(first.scenario.scenario_data))
    assert np.array_equal(again.table, first.table)
    assert again.state == first.state


def test_a_row_within_a_step_keeps_the_steps_mode_of_friction():
    # 10 N against 3 N on 2 kg; what a mode holds or lets slide, another velocity or force of the row does not change
    push = OpenLoop("torque", (lambda t: 10.0,))
    plant = Plant(slide(2.0, coulomb=Coulomb(3.0, 3.0)), push, method="rk54", ahead=True)
    x = plant.initial_state([0.0], [0.0], 1.0)
    assert x[-1] == OPEN
    assert plant.motion(0.0, x)[1] == [3.5]
    (still, (held,)) = plant.motion(0.0, [*x[:-1], 0.0])[1:]
    assert (still, held.friction) == ([0.0], -10.0)
    x[1] = -1e-12
    assert plant.motion(0.0, [*x[:-1], 1.0])[1] == [3.5]
    assert plant.motion(0.0, [*x[:-1], -1.0])[1] == plant.motion(0.0, x)[1] == [6.5]


@pytest.mark.slow
def test_the_mode_of_a_row_ends_with_its_step():
    plant = Plant(slide(2.0, coulomb=Coulomb(3.0, 3.0)), None, method="rk54", ahead=True)
    x, modes = plant.initial_state([0.0], [1.3], 2.0), []
    for k in range(200):
        x = plant.step(k / 100, x, 1 / 100)
        modes.append(x[-1])
    stop = 2.0 * 1.3 / 3.0
    assert set(modes[: int(100 * stop) - 1]) <= {1.0, OPEN}
    assert 1.0 in modes
    assert set(modes[int(100 * stop) + 1 : -1]) == {0.0}
    assert modes[-1] == OPEN


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_force_between_two_instants_acts_at_every_row_between_them(method):
    # 1 N on 1 kg from 1 s to 2 s: 0.5 m after a second, then 1 m/s
    robot = {
        "format": "armsim/robot/1",
        "name": "slide",
        "gravity": [0, 0, 0],
        "joints": [{"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1}}]}],
    }
    run = armsim.simulate(
        {
            "format": "armsim/scenario/1",
            "robot": robot,
            "duration": 3,
            "integrator": {"method": method},
            "log": {"every": 0.05},
            "external": [{"link": "x", "force": [0, 0, 1], "from": 1, "to": 2}],
        }
    )
    s = np.clip(run.t - 1, 0, 1)
    assert np.abs(run.q[:, 0] - (s**2 / 2 + np.maximum(run.t - 2, 0))).max() < 1e-12
    assert (np.abs(run.qdd[:, 0] - ((run.t >= 1) & (run.t < 2))) < 1e-12).all()
    assert run.summary()["landings"] == 3
