"""Screw joints through whole runs: beside slides whose motors are geared by 2 pi / pitch, and against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.arm.inverse import demand_table, motion_of
from armsim.integrate import METHODS

G = 9.81
PITCH = 0.02  # m a turn
SLIDES = PITCH / (2 * math.pi)
MASS, SPIN = 8.0, 2e-4  # of the spindle and what stands on it; its inertia about the axis
MOTOR = {"Kp": 0.05, "Ra": 0.6, "rotor_inertia": 3e-5, "gear": 2.0, "viscous": 1e-5, "coulomb": 2e-3}
INPUT = "1.5+5*sin(8*t)*max(0,min(1,20*(0.9-t)))"  # V; then about what holds it


def lift(**joint) -> dict:
    """A vertical screw with a motor, friction on both sides and stops."""
    about_com = {"mass": MASS, "center": [0, 0, 0.2], "about": "com", "xx": 0.1, "yy": 0.1, "zz": SPIN}
    screw = {
        "name": "x",
        "type": "screw",
        "pitch": PITCH,
        "mdh": {},
        "limits": {"lower": -3, "upper": 8, "stiffness": 0.8, "damping": 0.01},
        "friction": {"viscous": 1e-4, "coulomb": {"positive": 0.02, "negative": 0.03}},
        "bodies": [{"inertia": about_com}],
        "motor": MOTOR,
    }
    return {"format": "armsim/robot/1", "name": "lift", "joints": [{**screw, **joint}]}


def slide() -> dict:
    """The same, seen by its height: a slide with the spindle's inertia as a rotor before a gear of 2 pi / pitch."""
    gear = MOTOR["gear"]
    rotor = MOTOR["rotor_inertia"] + SPIN / gear**2
    return lift(
        type="prismatic",
        pitch=None,
        limits={
            "lower": -3 * SLIDES,
            "upper": 8 * SLIDES,
            "stiffness": 0.8 / SLIDES**2,
            "damping": 0.01 / SLIDES**2,
        },
        friction={"viscous": 1e-4 / SLIDES**2, "coulomb": {"positive": 0.02 / SLIDES, "negative": 0.03 / SLIDES}},
        motor={**MOTOR, "gear": gear / SLIDES, "rotor_inertia": rotor},
    )


def scenario(robot: dict, method: str = "rk4", dt: float = 5e-4, duration: float = 1.0, **keys) -> dict:
    own = {"rtol": 1e-9} if METHODS[method].adaptive else {"dt": dt}
    head = {"format": "armsim/scenario/1", "robot": robot, "duration": duration, "log": {"every": 0.01}}
    return {**head, "integrator": {"method": method, **own}, **keys}


def test_the_driven_lift_of_these_tests_reaches_both_stops_and_sticks():
    run = armsim.simulate(scenario(lift(), inputs={"voltage": [INPUT]}))
    assert run.q.min() < -3
    assert run.q.max() > 8
    assert np.any(run.qd[-5:] == 0.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_driven_screw_with_stops_and_friction_is_a_slide_behind_its_gear(method):
    # the same motion in two coordinates, every number of which is another: rounding, and what stiff stops make of it; an
    # adaptive method measures its error in another unit, so its steps differ
    given = {"inputs": {"voltage": [INPUT]}, "method": method}
    turned, slid = (armsim.simulate(scenario(robot, **given), force_step=True) for robot in (lift(), slide()))
    tolerance = 1e-6 if METHODS[method].adaptive else 1e-10
    assert np.abs(turned.q[:, 0] - slid.q[:, 0] / SLIDES).max() < tolerance * 10
    assert np.abs(turned["z_m"] - slid["z_m"]).max() < tolerance * 10 * SLIDES
    if METHODS[method].adaptive is None:
        for key, scale in (("tau_motor_x", SLIDES), ("tau_friction_x", SLIDES), ("tau_limit_x", SLIDES)):
            assert np.abs(turned[f"{key}_Nm"] - slid[f"{key}_N"] * scale).max() < 1e-8, key
        assert np.abs(turned["current_x_A"] - slid["current_x_A"]).max() < 1e-8


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "rk54", "rodas"])
@pytest.mark.handful(1)
def test_both_engines_give_the_same_bits_of_a_driven_screw_with_stops_and_friction(method):
    second = {
        **{"name": "y", "type": "screw", "pitch": -0.05, "mdh": {"a": 0.1, "alpha": 1, "d": 0.2, "theta": 0.4}},
        **{
            "friction": {"coulomb": 0.02},
            "bodies": [{"point": {"mass": 1, "center": [0.1, 0.2, 0.3]}}],
            "motor": MOTOR,
        },
    }
    robot = lift(limits={"lower": -3, "upper": 0.4, "stiffness": 0.8, "damping": 0.01})
    robot["joints"].append(second)
    start = {"q": [0.35, 0], "qd": [30, 0]}
    given = scenario(robot, method, duration=0.02, inputs={"voltage": [INPUT, "3*cos(20*t)"]}, initial=start)
    native, text = (armsim.simulate(given, engine=engine, force_step=True) for engine in ("llvm", "python"))
    assert native.q[:, 0].max() > 0.5  # in its stop
    assert native.q.tolist() == text.q.tolist()
    assert native.qd.tolist() == text.qd.tolist()
    for key in ("tau_x_Nm", "tau_y_Nm", "kinetic_energy_J"):
        assert native[key].tolist() == text[key].tolist()


@pytest.mark.parametrize("pitch", [0.02, -0.02])
def test_a_screw_that_nothing_holds_falls_with_constant_acceleration(pitch):
    robot = lift(pitch=pitch, limits=None, friction=None, motor=None)
    run = armsim.simulate(scenario(robot, "rk4", 0.01))
    slides = pitch / (2 * math.pi)
    rate = -MASS * G * slides / (SPIN + MASS * slides**2)
    np.testing.assert_allclose(run.q[:, 0], rate * run.t**2 / 2, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(run["z_m"], slides * rate * run.t**2 / 2, rtol=1e-13, atol=1e-14)
    fallen = MASS * G * (0.2 + run["z_m"])
    np.testing.assert_allclose(run["potential_energy_J"], fallen, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(run["kinetic_energy_J"], fallen[0] - fallen, rtol=1e-12, atol=1e-13)


def test_dry_friction_holds_a_screw_of_low_pitch_and_not_one_of_high_pitch():
    # self-locking: m g pitch / (2 pi) against 0.2 N·m, which is 0.16 m a turn
    for pitch, still in ((0.015, True), (0.0175, False)):
        robot = lift(pitch=pitch, friction={"coulomb": MASS * G * 0.016 / (2 * math.pi)}, motor=None, limits=None)
        run = armsim.simulate(scenario(robot, "rk4", 1e-3, 0.5))
        assert (run.q == 0).all() == still


def general() -> dict:
    """A turning arm with two screws, one left-handed, their masses off their axes."""
    kinds = [("revolute", None), ("screw", 0.3), ("screw", -0.8), ("revolute", None)]
    joints = []
    for i, (kind, pitch) in enumerate(kinds):
        body = {"mass": 2 - 0.3 * i, "center": [0.1, -0.05, 0.2], "about": "com", "xx": 0.03, "yy": 0.04, "zz": 0.05}
        row = {"a": 0.3 - 0.1 * i, "alpha": 1.1 - 0.6 * i, "d": 0.1 * i, "theta": 0.4 * i}
        joint = {"name": f"J{i + 1}", "type": kind, "mdh": row, "bodies": [{"inertia": {**body, "xy": 0.01}}]}
        joints.append(joint | ({} if pitch is None else {"pitch": pitch}))
    return {"format": "armsim/robot/1", "name": "general", "joints": joints, "tool": {"xyz": [0.1, 0.2, 0.1]}}


START = {"q": [0.3, -0.5, 0.8, 0.2], "qd": [1.0, 2.0, -1.5, 0.5]}


@pytest.mark.parametrize("method", ["rk54", "rodas"])
@pytest.mark.slow
def test_an_adaptive_method_keeps_the_energy_of_an_arm_with_screws(method):
    off = []
    for rtol in (1e-6, 1e-9):
        given = scenario(general(), method, duration=3.0, initial=START)
        run = armsim.simulate(given, {"integrator": {"method": method, "rtol": rtol}})
        energy = run["kinetic_energy_J"] + run["potential_energy_J"]
        assert run["kinetic_energy_J"].max() > 30  # J
        off.append(np.abs(energy - energy[0]).max())
    assert off[0] < 2e-3
    assert off[1] < 2e-6
    assert off[1] < off[0] / 100


@pytest.mark.slow
def test_the_implicit_midpoint_lets_the_energy_of_screws_swing_and_falls_by_order_two():
    steps, off = [4e-3, 2e-3, 1e-3], []
    for dt in steps:
        run = armsim.simulate(scenario(general(), "implicit_midpoint", dt, 2.0, initial=START, log={"every": 4e-3}))
        energy = run["kinetic_energy_J"] + run["potential_energy_J"]
        off.append(np.abs(energy - energy[0]).max())
    assert np.polyfit(np.log(steps), np.log(off), 1)[0] == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_the_audit_explains_the_energy_of_driven_screws_to_the_methods_order(method):
    torque = {"torque": ["20*sin(3*t)", "4*cos(5*t)", "-3*sin(4*t)", "2*cos(9*t)"]}
    pushes = [{"link": "J3", "point": [0.1, 0.2, 0.3], "force": [3, -2, 1], "moment": [0.3, 0.2, 0.5]}]
    residuals = []
    steps = [2e-3, 1e-3, 5e-4]
    for dt in steps:
        given = scenario(general(), method, dt, 0.5, inputs=torque, external=pushes, initial=START, log={"every": 0.1})
        given["robot"]["joints"][1]["friction"] = {"viscous": 0.3}
        audit = armsim.simulate(given).summary()["audit"]
        assert min(abs(audit[of]) for of in ("motors", "friction", "external")) > 0.03  # J
        residuals.append(abs(audit["residual"]))
    if METHODS[method].adaptive:
        assert max(residuals) < 1e-6
    elif METHODS[method].order < 4:  # of order 4 little is left
        assert np.polyfit(np.log(steps), np.log(residuals), 1)[0] == pytest.approx(METHODS[method].order, abs=0.15)
    else:
        assert residuals[-1] < 1e-7


def test_inverse_dynamics_of_a_run_gives_back_its_torques():
    torque = {"torque": ["20*sin(3*t)", "4*cos(5*t)", "-3*sin(4*t)", "2*cos(9*t)"]}
    run = armsim.simulate(scenario(general(), "rk4", 1e-3, inputs=torque, initial=START))
    arm = armsim.load_robot(general())
    found = arm.inverse_dynamics(run.q, run.qd, run.qdd)
    given = np.stack([20 * np.sin(3 * run.t), 4 * np.cos(5 * run.t), -3 * np.sin(4 * run.t), 2 * np.cos(9 * run.t)], 1)
    np.testing.assert_allclose(found, given, rtol=0, atol=1e-11)
    np.testing.assert_allclose(arm.forward_dynamics(run.q, run.qd, found), run.qdd, rtol=0, atol=1e-10)
    # and through the columns of a file, in degrees
    columns = {"t_s": run.t}
    for i, name in enumerate(("J1", "J2", "J3", "J4")):
        for key, values, rate in (("q", run.q, ""), ("qd", run.qd, "_s"), ("qdd", run.qdd, "_s2")):
            columns[f"{key}_{name}_deg{rate}"] = np.degrees(values[:, i])
    t, q, qd, qdd = motion_of(arm, columns)
    tau = arm.inverse_dynamics(q, qd, qdd)
    headings, rows = demand_table(arm.arm, t, tau, *arm.motor_demand(qd, tau))
    assert headings == ["t_s", *(f"tau_motor_J{i}_Nm" for i in range(1, 5))]
    np.testing.assert_allclose(rows[:, 1:], given, rtol=0, atol=1e-10)


def test_a_screw_under_pd_control_has_the_modes_of_its_inertia():
    robot = lift(limits=None, friction=None, motor=None)
    law = {"law": "pd", "output": "torque", "kp": 2.0, "kd": 0.01, "target": [3.0]}
    model = armsim.linearize(scenario(robot, control=law, initial={"q": [3.0]}))
    inertia = SPIN + MASS * SLIDES**2
    assert model.mass_matrix[0, 0] == pytest.approx(inertia, rel=1e-13)
    np.testing.assert_allclose(model.A, [[0, 1], [0, 0]], atol=1e-13)  # gravity pulls with the same torque everywhere
    np.testing.assert_allclose(model.B, [[0], [1 / inertia]], rtol=1e-13)
    z = model.outputs.index("z")
    assert model.C[z].tolist() == pytest.approx([SLIDES, 0.0], rel=1e-13)
    rates = sorted(np.roots([inertia, 0.01, 2.0]), key=lambda x: x.imag)
    found = sorted(model.closed_loop.eigenvalues, key=lambda x: x.imag)
    np.testing.assert_allclose(found, rates, rtol=1e-10)


def test_a_screw_arrives_where_constant_torque_takes_it():
    arm = armsim.load_robot(lift(limits=None, friction=None, motor=None))
    inertia = SPIN + MASS * SLIDES**2
    rate = (0.5 - MASS * G * SLIDES) / inertia
    q, qd, qdd = arm.advance([1.0], [2.0], [0.5], 0.3)
    assert (q[0], qd[0], qdd[0]) == pytest.approx((1 + 0.6 + rate * 0.045, 2 + 0.3 * rate, rate), rel=1e-9)
