"""Contacts with the world: normal forces and friction against closed forms and laws of mechanics."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ellipk

import armsim
from armsim.arm.motor_curve import motors
from armsim.arm.overview import scenario_overview
from armsim.dynamics import contacts_of, joint_forces, link_wrenches, stick_slopes, told_to
from armsim.integrate import METHODS
from armsim.loading import read_scenario
from armsim.loading.check import scenario_doubts
from armsim.loading.robot_file import read_robot
from armsim.plant import make_plant
from armsim.simulation.loop_plan import plant_of_run
from armsim.spatial import Vector, cross
from armsim.stability.wording import check_step
from tests.surveys import contacts

G, MASS = 9.81, 2.0
STIFF, DAMPING = 1e4, 40.0
DIRECTIONS = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}
TIGHT = {"rtol": 1e-10, "atol": 1e-13}
OMEGA, DECAY = math.sqrt(STIFF / MASS), DAMPING / (2 * MASS)
DAMPED = math.sqrt(OMEGA**2 - DECAY**2)


def block(axes="z", gravity=(0.0, 0.0, 0.0), mass=MASS):
    """A mass on rails along axes of the world."""
    rail = {"type": "prismatic", "bodies": []}
    joints = [{**rail, "name": axis, "origin": {"axis": DIRECTIONS[axis]}} for axis in axes]
    joints[-1]["bodies"] = [{"point": {"mass": mass}}]
    head = {"format": "armsim/robot/1", "name": "block", "convention": "origin"}
    return {**head, "gravity": [*gravity], "joints": joints}


def scene(robot, surface, method="rk54", duration=0.1, q=None, qd=None, dt=1e-4, shape=None, **keys):
    """The robot's tool and a floor."""
    adaptive = METHODS[method].adaptive is not None
    still = [0.0] * len(robot["joints"])
    return {
        "format": "armsim/scenario/1",
        "robot": robot,
        "duration": duration,
        "integrator": {"method": method, **(TIGHT if adaptive else {"dt": dt})},
        "initial": {"q": q or still, "qd": qd or still},
        "world": {"floor": {**(shape or {"plane": {}}), **surface}},
        "contacts": [{"frame": "tool", "with": "floor"}],
        **keys,
    }


def rebound():
    """Time in contact of a linear spring and damper that never pulls, and restitution.

    The force vanishes where tan(ωt) = -c / ((k - c δ) / ω) with δ = c / 2 m; there the velocity is exp(-δ t) times the first one.
    """
    t = (math.pi - math.atan2(DAMPING * DAMPED, STIFF - DAMPING * DECAY)) / DAMPED
    return t, math.exp(-DECAY * t)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_linear_spring_and_damper_throws_a_body_back_with_its_restitution(method):
    run = armsim.simulate(
        scene(block(), {"stiffness": STIFF, "damping": DAMPING}, method, q=[0.01], qd=[-1.0], dt=2e-5)
    )
    time, restitution = rebound()
    order = METHODS[method].order
    exact = METHODS[method].locates
    assert run.state[1] == pytest.approx(restitution, rel=1e-8 if exact else 4e-3 if order == 1 else 1e-3)
    assert run.q[-1, 0] == pytest.approx(
        restitution * (0.1 - 0.01 - time - DAMPING / STIFF), abs=1e-9 if exact else 4e-4
    )
    audit = run.summary()["audit"]
    assert audit["others"]["contacts"] == pytest.approx(-MASS / 2 * (1 - restitution**2), rel=1e-7 if exact else 1e-2)
    assert audit["relative"] < (1e-8 if exact else 5e-3)


def test_the_force_never_pulls_and_is_the_law_in_every_row():
    surface = {"stiffness": STIFF, "damping": DAMPING}
    run = armsim.simulate(scene(block(), surface, q=[0.01], qd=[-1.0], log={"every": 1e-4}))
    gap, force, v = run["gap_tool_floor_m"], run["normal_force_tool_floor_N"], run.qd[:, 0]
    assert gap.tolist() == run.q[:, 0].tolist()
    law = np.where(gap < 0, np.maximum(-STIFF * gap - DAMPING * v, 0.0), 0.0)
    assert force == pytest.approx(law, abs=1e-9)
    assert force.max() > 50.0
    assert ((gap < 0) & (force == 0.0)).any()  # it has let go before the surface is back
    assert not np.any(run["friction_tool_floor_N"])


@pytest.mark.parametrize("speed", [0.2, 1.0])
def test_hunt_and_crossleys_law_loses_the_energy_of_its_integral(speed):
    dissipation = 0.4
    surface = {"law": "hunt_crossley", "stiffness": STIFF, "dissipation": dissipation}
    run = armsim.simulate(scene(block(), surface, q=[0.01], qd=[-speed], duration=0.2))
    back = run.state[1]

    def spent(v):
        """The integral of v dv / (1 + d v) from 0: the same on both ways, as x dx is."""
        return v / dissipation - math.log1p(dissipation * v) / dissipation**2

    assert spent(-back) == pytest.approx(spent(speed), rel=1e-8)
    assert back / speed == pytest.approx(1 - 2 / 3 * dissipation * speed, abs=(dissipation * speed) ** 2)


def test_a_pendulum_meets_a_soft_wall_when_it_should():
    """Without gravity and damping: it turns with 1 rad/s, meets the wall x = 0 of 90 degrees, and comes back."""
    length, inertia, stiffness = 0.5, 0.3, 2e4
    body = {"inertia": {"mass": 1, "center": [0, 0, 0], "about": "origin", "xx": 1, "yy": 1, "zz": inertia}}
    joint = {"name": "R", "type": "revolute", "origin": {"axis": [0, 0, 1]}, "bodies": [body]}
    robot = {**block(), "joints": [joint], "tool": {"xyz": [length, 0, 0]}}
    wall = {"plane": {"normal": [1, 0, 0]}}
    before, duration = 0.1, 0.25
    asked = scene(robot, {"stiffness": stiffness}, q=[math.pi / 2 - before], qd=[1.0], shape=wall, duration=duration)
    run = armsim.simulate(asked)
    # behind the wall J a'' = -k l² sin a cos a: a quarter of a pendulum's swing, an elliptic integral
    modulus = inertia / (stiffness * length**2)
    contact = 2 * math.sqrt(modulus) * ellipk(modulus)
    assert run.qd[-1, 0] == pytest.approx(-1.0, rel=1e-9)
    assert run.q[-1, 0] == pytest.approx(math.pi / 2 - (duration - before - contact), abs=1e-9)
    told = run.measure("integral(step(-gap_tool_floor))")
    assert told == pytest.approx(contact, rel=0.02)  # by the trapezoid rule over the moments


@pytest.mark.slow
def test_a_sliding_block_stops_where_coulombs_friction_stops_it():
    mu, v, k = 0.4, 1.0, 1e5
    friction = {"static": mu, "stiffness": k, "damping": 400}
    sink = -MASS * G / STIFF
    asked = scene(
        block("xz", (0, 0, -G)), {"stiffness": STIFF, "friction": friction}, q=[0.0, sink], qd=[v, 0.0], duration=0.5
    )
    run = armsim.simulate(asked)
    stretch = mu * MASS * G / k  # by which the spring takes it back in the end
    assert run.q[-1, 0] == pytest.approx(v**2 / (2 * mu * G) - stretch, abs=1e-8)
    slipping = run["slip_tool_floor_m_s"] > 0
    assert run["friction_tool_floor_N"][slipping] == pytest.approx(mu * MASS * G, rel=1e-9)
    stopped = np.argmin(slipping)
    assert run.t[stopped] == pytest.approx(v / (mu * G), abs=6e-3)  # it creeps into the stick within some c / k = 4 ms
    assert not slipping[stopped:].any()
    audit = run.summary()["audit"]
    assert audit["others"]["contacts"] == pytest.approx(-MASS / 2 * v**2, rel=1e-7)
    assert audit["relative"] < 1e-8


def incline(angle, mu, **keys):
    """A block on a plane, which gravity pulls along x as on an incline."""
    robot = block("xyz", (G * math.sin(angle), 0, -G * math.cos(angle)))
    friction = {**mu, "stiffness": 1e5, "damping": 400}
    surface = {"stiffness": 1e5, "damping": 400, "friction": friction}
    sink = -MASS * G * math.cos(angle) / 1e5
    return scene(robot, surface, q=[0.0, 0.0, sink], **keys)


@pytest.mark.parametrize("method", ["rk54", "rodas", "rk4"])
@pytest.mark.slow
def test_a_block_below_the_angle_of_friction_stays_for_a_hundred_seconds(method):
    asked = incline(math.atan(0.3), {"static": 0.4, "kinetic": 0.2}, method=method, dt=1e-3, duration=100)
    run = armsim.simulate({**asked, "log": {"every": 10}})
    x = run.q[:, 0]
    assert x[1] == pytest.approx(MASS * G * math.sin(math.atan(0.3)) / 1e5, rel=1e-6)
    assert np.abs(x[1:] - x[1]).max() < 1e-12
    assert not run["slip_tool_floor_m_s"].any()


@pytest.mark.parametrize("method", ["rk54", "rodas", "rk4", "semi_implicit_euler"])
@pytest.mark.handful(1)
def test_a_block_above_the_angle_of_friction_slides_with_what_the_cone_leaves(method):
    angle = math.atan(0.5)
    asked = incline(angle, {"static": 0.4, "kinetic": 0.3}, method=method, dt=1e-4, duration=1)
    run = armsim.simulate({**asked, "log": {"every": 0.5}})
    a = G * (math.sin(angle) - 0.3 * math.cos(angle))
    # exact once the coefficient is the kinetic one, a few c / k after it gave way
    assert run.qd[2, 0] - run.qd[1, 0] == pytest.approx(a * 0.5, rel=1e-7 if METHODS[method].order > 1 else 1e-4)
    assert run["friction_tool_floor_N"][2] == pytest.approx(0.3 * MASS * G * math.cos(angle), rel=1e-6)


def test_friction_gives_way_at_the_static_coefficient_and_slides_at_the_kinetic_one():
    """Pulled by a force that grows slowly; the direction is that of the pull, obliquely to the axes."""
    pull = {"frame": "tool", "force": ["3*t", "4*t", 0]}
    asked = incline(0.0, {"static": 0.5, "kinetic": 0.2}, duration=2.5)
    run = armsim.simulate({**asked, "external": [pull], "log": {"every": 1e-3}})
    slipping = run["slip_tool_floor_m_s"] > 0
    force = run["friction_tool_floor_N"]
    assert run.t[np.argmax(slipping)] == pytest.approx(0.5 * MASS * G / 5, abs=2e-3)
    assert force[~slipping].max() == pytest.approx(0.5 * MASS * G, rel=1e-3)
    assert force[-1] == pytest.approx(0.2 * MASS * G, rel=1e-6)
    assert run.qd[-1, 1] / run.qd[-1, 0] == pytest.approx(4 / 3, rel=1e-9)
    assert slipping[np.argmax(slipping) :].all()


def test_runs_in_lanes_and_in_python_have_the_bits_of_single_ones():
    surface = {"stiffness": STIFF, "damping": DAMPING, "friction": {"static": 0.5, "kinetic": 0.4}}
    asked = scene(block("xz", (0, 0, -G)), surface, "rk4", 0.02, [0.0, 0.005], [0.3, -1.0], 1e-3)
    path, values = "world.floor.friction.kinetic", [0.1, 0.2, 0.3, 0.4, 0.45]
    damping, stiffness = "world.floor.damping", "world.floor.stiffness"
    many = armsim.simulate_many(asked, {path: values, damping: [40.0] * 5, stiffness: [STIFF] * 5})
    single = [armsim.simulate(asked, {path: value}) for value in values]
    assert many.q.tolist() == [run.q[-1].tolist() for run in single]
    python = armsim.simulate(asked, {path: values[1]}, engine="python")
    assert python.state == single[1].state


# -- shipped scenarios


@pytest.mark.slow
def test_press_comes_to_rest_at_twenty_newtons():
    run = armsim.simulate("press")
    force = run["normal_force_tool_table_N"]
    assert force[-1] == pytest.approx(20.0, rel=1e-5)  # what the via point's digits give
    assert run["z_m"][-1] == pytest.approx(0.2, abs=1e-7)
    assert run.measure("max(normal_force_tool_table)") >= force.max()


@pytest.mark.slow
def test_grip_balances_the_forces_of_its_fingers():
    run = armsim.simulate("grip", {"log.every": 0.05})
    left, right = run["normal_force_left_N"], run["normal_force_right_N"]
    assert left[-1] > 10.0
    assert left == pytest.approx(right, rel=1e-9)
    assert run.q[-1, :5] == pytest.approx(run.q[0, :5], abs=1e-9)  # the arm need not hold against it
    # virtual work of the screw: both fingers move by one millimetre where it does
    motor = run["tau_motor_F1_N"][-1] + run["tau_friction_F1_N"][-1]
    assert -motor == pytest.approx(left[-1] + right[-1], rel=1e-3)


@pytest.mark.slow
def test_wipe_slips_both_ways_on_the_cone():
    run = armsim.simulate("wipe")
    slip, force, normal = (
        run[f"{of}_tool_table_{unit}"] for of, unit in (("slip", "m_s"), ("friction", "N"), ("normal_force", "N"))
    )
    moving = slip > 0.03
    assert moving.sum() > 300
    assert force[moving] == pytest.approx(0.3 * normal[moving], rel=1e-6)
    assert run["x_m"].max() - run["x_m"][0] > 0.13
    assert normal.min() > 0.0


@pytest.mark.slow
def test_drop_comes_to_rest_and_accounts_for_all_its_energy():
    run = armsim.simulate("drop")
    assert np.abs(run.qd[-1]).max() < 1e-6
    assert run["gap_tool_floor_m"].min() > -0.01
    assert not run["slip_tool_floor_m_s"][-10:].any()
    audit = run.summary()["audit"]
    assert audit["others"]["contacts"] < -5.0
    assert audit["relative"] < 1e-6


# -- spheres, other shapes, inverse dynamics


def test_a_sphere_rolls_without_slip_down_an_incline():
    """A wheel on a rail: x and z slide, the wheel turns about y; its acceleration is g sin / (1 + J / m r²)."""
    r, inertia, angle = 0.1, 0.008, 0.3
    robot = block("xz", (G * math.sin(angle), 0, -G * math.cos(angle)))
    tensor = {"xx": 0.01, "yy": inertia, "zz": 0.01}
    body = {"inertia": {"mass": MASS, "center": [0, 0, 0], "about": "com", **tensor}}
    robot["joints"][1]["bodies"] = []
    robot["joints"].append({"name": "wheel", "type": "revolute", "origin": {"axis": [0, 1, 0]}, "bodies": [body]})
    friction = {"static": 0.5, "stiffness": 1e6, "damping": 2000}
    surface = {"stiffness": 1e5, "damping": 500, "friction": friction}
    contact = [{"name": "rim", "link": "wheel", "sphere": {"radius": r}, "with": "floor"}]
    sink = -MASS * G * math.cos(angle) / 1e5
    run = armsim.simulate(scene(robot, surface, q=[0.0, r + sink, 0.0], contacts=contact, duration=1.0))
    a = G * math.sin(angle) / (1 + inertia / (MASS * r**2))
    assert run.q[-1, 0] == pytest.approx(a / 2, rel=1e-4)
    assert run.qd[-1, 2] * r == pytest.approx(run.qd[-1, 0], rel=1e-6)
    assert not run["slip_rim_m_s"].any()
    assert run["gap_rim_m"] == pytest.approx(sink, abs=1e-9)


@pytest.mark.parametrize(
    "shape",
    [
        {"box": {"size": [1, 1, 0.4]}, "xyz": [0, 0, -0.2]},
        {"sphere": {"radius": 2}, "xyz": [0, 0, -2]},
        {"cylinder": {"radius": 1, "height": 0.4}, "xyz": [0, 0, -0.2]},
    ],
)
@pytest.mark.handful(1)
def test_a_point_bounces_on_every_shape_as_on_a_plane(shape):
    run = armsim.simulate(scene(block(), {"stiffness": STIFF, "damping": DAMPING}, shape=shape, q=[0.01], qd=[-1.0]))
    assert run.state[1] == pytest.approx(rebound()[1], rel=1e-8)


@pytest.mark.slow
def test_a_block_slides_down_terrain_as_down_the_plane_that_it_is(tmp_path):
    """A bilinear grid of one slope, whose cells the block crosses without noticing."""
    slope, mu = 0.5, 0.3
    places = [-0.5, 0.0, 0.25, 0.5, 1.0, 2.0, 4.0]
    rows = [f"{x},{y},{-slope * x}" for y in places for x in places]
    (tmp_path / "terrain.csv").write_text("\n".join(["x_m,y_m,z_m", *rows]) + "\n")
    surface = {"stiffness": 1e5, "damping": 600, "friction": {"static": mu, "stiffness": 1e5, "damping": 600}}
    robot, found = block("xz", (0, 0, -G)), []
    for shape in ({"heightfield": {"csv": str(tmp_path / "terrain.csv")}}, {"plane": {"normal": [slope, 0, 1]}}):
        run = armsim.simulate(scene(robot, surface, shape=shape, q=[0.1, -slope * 0.1 - 1e-4], duration=0.8))
        found.append(run)
    assert found[0].q == pytest.approx(found[1].q, abs=1e-8)
    cosine = 1 / math.hypot(1, slope)
    along = found[0].qd[-1, 0] / cosine
    assert found[0].q[-1, 0] > 0.5
    assert along == pytest.approx(G * cosine * (slope - mu) * 0.8, rel=5e-3)  # less what the start's bounce takes


def test_inverse_dynamics_counts_the_contacts_of_a_robot_file():
    world = {"floor": {"plane": {}, "stiffness": STIFF, "damping": DAMPING}}
    robot = armsim.load_robot(
        {**block(gravity=(0, 0, -G)), "world": world, "contacts": [{"frame": "tool", "with": "floor"}]}
    )
    tau = robot.inverse_dynamics([[0.1], [-0.001], [-0.001]], [[0.0], [0.0], [-0.1]], [[0.0]] * 3)
    assert tau[:, 0] == pytest.approx([MASS * G, MASS * G - 10.0, MASS * G - 14.0])
    assert robot.forward_dynamics([-0.001], [-0.1], [0.0]) == pytest.approx([14.0 / MASS - G])


def test_the_share_that_holding_takes_of_a_motor_counts_the_contacts_at_the_initial_pose():
    motor = {"Kp": 10, "Ra": 1, "limits": {"voltage": 24}}
    robot = block(gravity=(0, 0, -G))
    robot["joints"][0] |= {"initial": -0.001, "motor": motor}
    world = {"floor": {"plane": {}, "stiffness": STIFF, "damping": DAMPING}}
    arm, _ = read_robot({**robot, "world": world, "contacts": [{"frame": "tool", "with": "floor"}]})
    (found,) = motors(arm, None)
    assert found.holding.torque == pytest.approx(MASS * G - 10.0)


def test_the_effective_mass_and_the_bounce_of_a_contact_are_told():
    data = scene(block(gravity=(0, 0, -G)), {"stiffness": STIFF, "damping": DAMPING}, q=[0.1])
    (fact,) = scenario_overview(data).robot.contacts
    assert (fact.name, fact.gap, fact.mass) == ("tool_floor", 0.1, pytest.approx(MASS))
    assert fact.frequency == pytest.approx(OMEGA / (2 * math.pi))
    assert fact.damping_ratio == pytest.approx(DECAY / OMEGA)


def advised(data, dt):
    """The advice on a scene by semi-implicit Euler's method."""
    integrator = {"method": "semi_implicit_euler", "dt": float(f"{dt:.4g}")}
    asked = {**data, "integrator": integrator, "duration": 10 * integrator["dt"], "log": {"every": integrator["dt"]}}
    scenario = read_scenario(asked)
    return check_step(scenario, make_plant(scenario))


@pytest.mark.parametrize("kind", ["alone", "at once", "damper", "anchor"])
def test_a_step_that_closed_contacts_would_not_take_is_told_with_the_longest_that_they_take(kind):
    """Symplectic Euler takes h (h k + 2 c) < 4 m of a spring and a damper, and of what decays by a rate of its own h λ < 2."""
    ball = {"name": "ball", "link": "z", "sphere": {"radius": 0.01}, "with": "floor"}
    point, limit = {"frame": "tool", "with": "floor"}, 2 / OMEGA
    surface, contacts = {"stiffness": STIFF}, [point]
    if kind == "at once":
        contacts, limit = [point, ball], limit / math.sqrt(2)
    elif kind == "damper":
        c = 2000.0
        surface["friction"] = {"static": 0.5, "stiffness": STIFF, "damping": c}
        limit = (math.sqrt(c * c + 4 * STIFF * MASS) - c) / STIFF
    elif kind == "anchor":
        surface["friction"] = {"static": 0.5, "stiffness": STIFF, "damping": 2.0}
        limit = 2 * 2.0 / STIFF
    data = scene(block("xz", gravity=(0, 0, -G)), surface, q=[0.0, 0.1], contacts=contacts)
    well, advice = (advised(data, share * limit) for share in (0.99, 1.01))
    name = "all contacts" if kind == "at once" else "tool_floor"
    assert not well.touching
    assert advice.touching == {name: pytest.approx(limit, rel=1e-3)}
    (told,) = advice.said("semi_implicit_euler", 1.01 * limit)
    assert f"with {name} closed" in told
    assert float(re.findall(r"up to dt = (\S+) s", told)[-1]) == pytest.approx(limit, rel=0.01)


@pytest.mark.slow
def test_two_fingers_that_grip_at_once_are_warned_of_by_the_step_that_holds():
    """Each of them alone would let rk4 take 1 ms."""
    for dt, residual in ((1e-3, 1.0), (8e-4, 1e-3)):
        changes = {"integrator": {"method": "rk4", "dt": dt}, "duration": 0.84, "log.every": 0.012}
        advice = check_step(scenario := read_scenario("grip", changes), make_plant(scenario))
        assert [*advice.touching] == ["all contacts"] * (dt > 9e-4)
        assert (armsim.simulate("grip", changes).summary()["audit"]["relative"] > residual) is (dt > 9e-4)


@pytest.mark.parametrize("method", ["rk4", "rodas"])
def test_a_run_is_loaded_and_repeated_with_its_contacts(tmp_path, method):
    surface = {"stiffness": STIFF, "damping": DAMPING, "friction": {"static": 0.5, "kinetic": 0.4}}
    asked = scene(block("xz", (0, 0, -G)), surface, method, 0.2, [0.0, 0.005], [0.3, -1.0], 1e-3)
    run = armsim.simulate({**asked, "log": {"every": 0.01}})
    run.save(tmp_path / "run")
    loaded = armsim.load_run(tmp_path / "run")
    for column in ("gap_tool_floor_m", "normal_force_tool_floor_N", "friction_tool_floor_N", "slip_tool_floor_m_s"):
        assert loaded[column].tolist() == run[column].tolist()
    again = armsim.simulate(tmp_path / "run" / "run.yaml")
    assert again.state == run.state


def test_steps_without_contacts_while_all_are_far_change_nothing():
    """The same throw begun far from the floor and, a step before it touches, near it."""
    surface = {"stiffness": STIFF, "damping": DAMPING, "friction": {"static": 0.5, "kinetic": 0.4}}
    far = scene(block("xz"), surface, "rk4", 0.1, [0.0, 0.05], [0.3, -1.0], 1e-3)
    run = armsim.simulate({**far, "log": {"every": 1e-3}})
    k = int(np.argmax(run["gap_tool_floor_m"] < 3e-3))
    q, qd = run.q[k].tolist(), run.qd[k].tolist()
    near = armsim.simulate(
        {**far, "duration": round((100 - k) * 1e-3, 6), "initial": {"q": q, "qd": qd}, "log": {"every": 1e-3}}
    )
    assert near.q == pytest.approx(run.q[k:], abs=1e-12)
    assert near.qd == pytest.approx(run.qd[k:], abs=1e-10)


@pytest.mark.parametrize("method", ["rk54", "rodas"])
@pytest.mark.slow
def test_candidates_that_stay_far_leave_no_trace_in_an_adaptive_run(method):
    """Nor do their anchors and coefficients: neither the steps that are chosen nor a bit of the motion."""
    friction = {"static": 0.5, "kinetic": 0.4}
    balls = [{"name": f"b{i}", "link": "R2", "sphere": {"radius": 0.02 * i}, "with": "floor"} for i in (1, 2, 3)]
    floor = {"plane": {"point": [0, 0, -3]}, "stiffness": STIFF, "damping": DAMPING, "friction": friction}
    asked = {"integrator": {"method": method}, "duration": 0.3, "log.every": 0.01}
    bare = armsim.simulate("rr_config5", asked)
    run = armsim.simulate("rr_config5", {**asked, "world": {"floor": floor}, "contacts": balls})
    assert run.steps_chosen == bare.steps_chosen
    assert run.q.tobytes() == bare.q.tobytes()
    assert run.qd.tobytes() == bare.qd.tobytes()


def test_the_stick_relaxes_in_flights_of_an_adaptive_method():
    """By its time constant, beside the place of a body that flies on; in rows within a step, too."""
    friction = {"static": 0.5, "kinetic": 0.3, "stiffness": STIFF, "damping": DAMPING}
    asked = read_scenario(scene(block("xz"), {"stiffness": STIFF, "friction": friction}, "rk54"))
    plant = replace(make_plant(asked), ahead=True)
    x = plant.parts(plant.initial_state([0.0, 1.0], [0.3, 0.0], 1.0))
    names = [name for name in plant.slots if name.startswith(("anchor", "coefficient"))]
    x.contacts = dict(zip(names, [0.02, 0.0, 0.3], strict=True))
    x = plant.parts(plant.step(0.0, x.flat(), 2e-3))
    kept = math.exp(-x.ahead.done * STIFF / DAMPING)
    assert x.ahead.done > 2e-3
    end = [0.3 * x.ahead.done + 0.02 * kept, 0.0, 0.5 - 0.2 * kept]
    assert [*x.ahead.end.z.contacts.values()] == pytest.approx(end, rel=1e-12)
    state = plant.initial_state([0.0, 1.0], [0.3, 0.0], 1.0)
    for k in range(20):
        state = plant.step(k * 2e-3, state, 2e-3)
        x = plant.parts(state)
        assert [*x.contacts.values()] == pytest.approx([x.q[0], 0.0, 0.5], abs=1e-12)
    assert x.ahead.done > x.q[0] / 0.3 + 1e-3


# -- DynaMechs' terrain contact


def dynamechs(p, v, duration, dt, surface, mu):
    """A point mass on DynaMechs' terrain, by Runge and Kutta's method: position at the end.

    The normal force is that of a spring and a damper and never pulls; the tangential one that of a spring and a damper from the
    anchor, cut to the cone beyond it. The anchor stays while the contact sticks, and is the point after a step that slips.
    """
    k, c, kt, ct = surface
    anchor = np.array(p)

    def force(p, v):
        normal = max(0.0, -k * p[2] - c * v[2]) if p[2] < 0 else 0.0
        tangential = (-kt * (p - anchor) - ct * v) * [1, 1, 0]
        size = math.hypot(*tangential)
        slips = size > mu * normal
        return np.array([0, 0, normal]) + tangential * (mu * normal / size if slips else 1.0), slips

    def rate(y):
        return np.concatenate([y[3:], force(y[:3], y[3:])[0] / MASS - [0, 0, G]])

    y = np.array([*p, *v], dtype=float)
    for _ in range(round(duration / dt)):
        k1 = rate(y)
        k2 = rate(y + dt / 2 * k1)
        k3 = rate(y + dt / 2 * k2)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + dt * k3))
        anchor = np.array(y[:3]) if force(y[:3], y[3:])[1] else anchor
    return y


@pytest.mark.parametrize(
    ("velocity", "mu", "duration", "within"),
    [
        ([0.03, -0.02, 0.01], 2.0, 0.02, 1e-12),  # sticks
        ([0.6, -0.8, 0.0], 0.4, 0.1, 1e-11),  # slips
        ([0.6, -0.8, 0.0], 0.4, 0.5, 1e-3),  # has stopped: its anchor is less stretched, by 0.4 m g / k at most
    ],
)
@pytest.mark.handful(2)
def test_a_point_mass_moves_as_on_dynamechs_terrain(velocity, mu, duration, within):
    surface = (STIFF, DAMPING, STIFF, 400.0)
    friction = {"static": mu, "stiffness": STIFF, "damping": 400.0}
    start = [0.0, 0.0, -1.1 * MASS * G / STIFF]
    asked = scene(
        block("xyz", (0, 0, -G)),
        {"stiffness": STIFF, "damping": DAMPING, "friction": friction},
        "rk4",
        duration,
        start,
        velocity,
        5e-4,
    )
    run = armsim.simulate(asked)
    assert run.q[-1] == pytest.approx(dynamechs(start, velocity, duration, 5e-4, surface, mu)[:3], abs=within)
    assert math.hypot(*run.q[-1, :2]) > 1e-5


def test_the_summary_tells_first_touch_and_the_largest_force(tmp_path):
    """A spring without damper: it meets the floor at 10 ms and is stopped there after a quarter of a period."""
    asked = scene(block(), {"stiffness": STIFF}, q=[0.01], qd=[-1.0], log={"every": 1e-4})
    run = armsim.simulate(asked)
    (told,) = run.summary()["contacts"]
    assert told["touched"] == pytest.approx(0.01, abs=2e-4)
    assert told["most"] == pytest.approx(math.sqrt(STIFF * MASS), rel=1e-4)
    assert told["at"] == pytest.approx(0.01 + math.pi / (2 * OMEGA), abs=2e-4)
    assert told["end"] == 0.0
    run.save(tmp_path / "run")
    assert armsim.load_run(tmp_path / "run").summary()["contacts"] == [told]
    assert "contacts" not in armsim.simulate({**asked, "contacts": []}).summary()
    (never,) = armsim.simulate({**asked, "duration": 0.001}).summary()["contacts"]
    assert never["touched"] is None


# -- restitution and sag


@pytest.mark.parametrize("restitution", [0.15, 0.5, 0.95])
@pytest.mark.handful(1)
def test_a_body_leaves_with_the_restitution_that_is_asked_for(restitution):
    """The effective mass is the whole block; the law is linear, so that without gravity's part the depth does not matter."""
    robot = block("xz", (0, 0, -1e-6))
    run = armsim.simulate(scene(robot, {"sag": 1e-11, "restitution": restitution}, q=[0.0, 0.01], qd=[0.0, -0.7]))
    assert run.qd[-1, 1] == pytest.approx(0.7 * restitution, rel=1e-6)


def test_the_arms_weight_at_the_place_sinks_in_by_the_sag():
    surface = {"sag": 2e-4, "restitution": 0.5, "friction": {"static": 0.4}}
    asked = scene(block("xz", (0, 0, -G)), surface, q=[0.0, 0.001], duration=0.5)
    run = armsim.simulate(asked)
    assert run["gap_tool_floor_m"][-1] == pytest.approx(-2e-4, rel=1e-6)
    friction = read_scenario(asked).arm.contacts[0].surface.friction
    assert friction.stiffness == pytest.approx(MASS * G / 2e-4)


@pytest.mark.slow
def test_sag_and_restitution_are_those_of_the_pose_at_the_start_of_the_scenario(tmp_path):
    """A robot with its own floor and contact: the scenario's pose decides; saved runs give the same bits."""
    world = {"floor": {"plane": {"point": [0, 0, -1]}, "sag": 1e-4, "restitution": 0.6}}
    bare = {"format": "armsim/scenario/1", "robot": "arm5", "duration": 1, "integrator": {"method": "rk4", "dt": 1e-3}}
    robot = {
        **read_scenario(bare).scenario_data["robot"],
        "world": world,
        "contacts": [{"frame": "tool", "with": "floor"}],
    }
    q = [0.3, -0.4, 0.5, 0.2, 0.1]
    asked = {
        "format": "armsim/scenario/1",
        "robot": robot,
        "duration": 0.02,
        "integrator": {"method": "rk4", "dt": 1e-3},
    }
    asked |= {"initial": {"q": q, "qd": [0.0] * 5}}
    scenario = read_scenario(asked)
    (surface,) = (contact.surface for contact in scenario.arm.contacts)
    (facts,) = scenario_overview(asked).robot.contacts
    assert surface.stiffness == pytest.approx(facts.mass * G / 1e-4, rel=1e-3)
    theta = math.asin(facts.damping_ratio)
    assert math.exp(-(math.pi - 2 * theta) * math.tan(theta)) == pytest.approx(0.6)
    run = armsim.simulate(asked)
    run.save(tmp_path / "run")
    assert armsim.simulate(tmp_path / "run" / "run.yaml").state == run.state
    many = armsim.simulate_many(asked, {"robot.world.floor.sag": [1e-4, 2e-4], "initial.q[R2]": [-0.4, -0.3]})
    single = [
        armsim.simulate(asked, {"robot.world.floor.sag": sag, "initial.q[R2]": of})
        for sag, of in ((1e-4, -0.4), (2e-4, -0.3))
    ]
    assert many.q.tolist() == [of.q[-1].tolist() for of in single]


def test_a_place_that_cannot_move_along_the_normal_has_no_sag():
    with pytest.raises(armsim.UsageError, match=r"world\.floor\.sag"):
        read_scenario(scene(block("xy", (0, 0, -G)), {"sag": 1e-4}))
    with pytest.raises(armsim.UsageError, match="gravity"):
        read_scenario(scene(block("z"), {"sag": 1e-4}))


# -- capsules


def plate(edge, angle=0.0):
    """A plate on rails along x and z that turns about y, on a capsule from -0.1 m to its edge; gravity tilted by an angle."""
    robot = block("xz", (G * math.sin(angle), 0, -G * math.cos(angle)))
    tensor = {"xx": 0.01, "yy": 0.02, "zz": 0.02}
    body = {"inertia": {"mass": MASS, "center": [0, 0, 0.15], "about": "com", **tensor}}
    robot["joints"][1]["bodies"] = []
    robot["joints"].append({"name": "turn", "type": "revolute", "origin": {"axis": [0, 1, 0]}, "bodies": [body]})
    friction = {"static": 5.0, "stiffness": 1e6, "damping": 2000}
    surface = {"stiffness": 1e6, "damping": 2000, "friction": friction}
    capsule = {"from": [-0.1, 0, 0], "to": [edge, 0, 0], "radius": 0.02}
    contact = {"name": "base", "link": "turn", "capsule": capsule, "with": "floor"}
    return scene(robot, surface, "rodas", q=[0.0, 0.02, 0.0], contacts=[contact], duration=1.0)


@pytest.mark.slow
def test_a_capsule_rests_on_its_ends_by_the_law_of_the_lever():
    edge = 0.3
    run = armsim.simulate({**plate(edge), "integrator": {"method": "rodas", "rtol": 1e-8}})
    a, b = (run[f"normal_force_base_{end}_N"][-1] for end in "ab")
    assert a == pytest.approx(MASS * G * edge / (edge + 0.1), rel=1e-4)  # as much as it tilts by what it sinks in
    assert b == pytest.approx(MASS * G * 0.1 / (edge + 0.1), rel=1e-4)
    assert run.summary()["audit"]["relative"] < 1e-6


@pytest.mark.parametrize(("share", "tips"), [(0.97, False), (1.03, True)])
@pytest.mark.slow
def test_a_plate_tips_over_its_lower_end_where_the_weight_passes_it(share, tips):
    """The weight passes the lower end's place of contact where tan(angle) is its distance by the height of the mass."""
    edge, height = 0.1, 0.15 + 0.02
    asked = plate(edge, math.atan(share * edge / height))
    run = armsim.simulate({**asked, "integrator": {"method": "rodas", "rtol": 1e-7}})
    assert bool(run.q[-1, 2] > 0.1) is tips
    assert bool(run["normal_force_base_a_N"][-1] == 0.0) is tips


@pytest.mark.slow
def test_ends_of_a_capsule_are_two_spheres_and_saved_so(tmp_path):
    two = plate(0.3)
    one = {key: value for key, value in two["contacts"][0].items() if key != "capsule"}
    ends = [
        {**one, "name": f"base_{k}", "sphere": {"center": [x, 0, 0], "radius": 0.02}} for k, x in zip("ab", (-0.1, 0.3))
    ]
    runs = [armsim.simulate({**two, "contacts": it, "duration": 0.05}) for it in (two["contacts"], ends)]
    assert runs[0].state == runs[1].state
    runs[0].save(tmp_path / "run")
    assert armsim.load_run(tmp_path / "run")["gap_base_b_m"].tolist() == runs[1]["gap_base_b_m"].tolist()
    assert armsim.simulate(tmp_path / "run" / "run.yaml").state == runs[0].state


def test_a_step_across_a_ball_is_none_without_contacts():
    """The gaps at both of its ends are positive, and do not tell it."""
    ball = {"sphere": {"radius": 0.03}, "xyz": [0.06, 0, 0]}
    asked = scene(block("x"), {"stiffness": 1e3}, "implicit_midpoint", 0.02, [0.0], [10.0], 0.01, ball)
    plant = plant_of_run(read_scenario(asked))
    x = plant.parts(plant.initial_state([0.0], [10.0]))
    seen = replace(x, clearance=plant.loads.contacts.seen([0.0]))
    assert seen.clearance.gap == pytest.approx(0.03)
    assert plant.step(0.0, seen.flat(), 0.01)[1] < 9.99
    seen = replace(x, q=[0.2], clearance=plant.loads.contacts.seen([0.2]))
    assert plant.step(0.0, seen.flat(), 0.01)[:2] == [pytest.approx(0.3), 10.0]


def test_the_stick_relaxes_alike_in_steps_with_and_without_contacts():
    """Apart from the floor stretch and coefficient settle with the time constant of the stick."""
    friction = {"static": 0.5, "kinetic": 0.3, "stiffness": STIFF, "damping": DAMPING}
    asked = read_scenario(scene(block("xz", (0, 0, 0)), {"stiffness": STIFF, "friction": friction}, "rk4"))
    plant = plant_of_run(asked)
    x = plant.parts(plant.initial_state([0.0, 1.0], [0.3, 0.0]))
    names = [name for name in plant.slots if name.startswith(("anchor", "coefficient"))]
    x.contacts = dict(zip(names, [0.02, 0.0, 0.3], strict=True))
    seen = replace(x, clearance=plant.loads.contacts.seen(x.q))
    skipped = plant.parts(plant.step(1e-3, plant.step(0.0, seen.flat(), 1e-3), 1e-3))
    assert skipped.contacts == x.contacts
    exact = math.exp(-2e-3 * STIFF / DAMPING)
    found = plant.relaxed(skipped)
    assert [*found.values()] == pytest.approx([6e-4 + 0.02 * exact, 0.0, 0.5 - 0.2 * exact], rel=1e-12)
    stepped = plant._stepped(1e-3, plant._stepped(0.0, x, 1e-3), 1e-3)
    order_four = 2 * (1e-3 * STIFF / DAMPING) ** 5 / 120  # rk4's error of two steps, of the stretch
    assert [*stepped.contacts.values()] == pytest.approx([*found.values()], rel=1.5 * order_four)


def test_steps_over_terrain_see_a_steep_hill_from_afar(tmp_path):
    """The way to the plane below does not tell how near the flank of a hill is."""
    heights = [(x, y, 1.0 if x == 1.0 else 0.0) for y in (-1.0, 1.0) for x in (-1.0, 0.9, 1.0, 1.1, 3.0)]
    rows = "\n".join(f"{x},{y},{z}" for x, y, z in heights)
    (tmp_path / "hill.csv").write_text(f"x_m,y_m,z_m\n{rows}\n")
    hill = {"heightfield": {"csv": str(tmp_path / "hill.csv")}}
    asked = scene(
        block("x"), {"stiffness": 1e5}, "semi_implicit_euler", 0.5, [0.0], [3.0], 1e-4, {**hill, "xyz": [0, 0, -0.5]}
    )
    run = armsim.simulate(asked)
    assert run.summary()["contacts"][0]["touched"] == pytest.approx(0.95 / 3.0, abs=1e-3)


def valley(tmp_path):
    """A V of terrain."""
    rows = "\n".join(f"{x},{y},{0.5 * abs(x)}" for y in (-1, 1) for x in (-1, 0, 1))
    (tmp_path / "valley.csv").write_text(f"x_m,y_m,z_m\n{rows}\n")
    return {"heightfield": {"csv": str(tmp_path / "valley.csv")}}


@pytest.mark.parametrize("friction", [None, {"static": 0.3, "damping": 600}])
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
@pytest.mark.handful(1)
def test_a_point_comes_to_rest_in_the_crease_of_a_valley_by_a_fixed_step(tmp_path, method, friction):
    """By rk54 it takes 45 million steps with friction, and thousands without: of that it is warned."""
    surface = {"stiffness": 1e5, "damping": 600, **({"friction": friction} if friction else {})}
    asked = scene(block("xz", (0, 0, -G)), surface, method, 1.5, [0.2, 0.11], shape=valley(tmp_path))
    run = armsim.simulate({**asked, "log": {"every": 0.1}})
    assert run.summary()["audit"]["relative"] < 1e-4
    assert np.abs(run.q[-1, 0]) < 1e-5
    assert np.abs(run.qd[-1]).max() < 1e-3


def test_adaptive_methods_on_terrain_are_warned_of(tmp_path, told):
    def doubts(method, shape):
        found = scenario_doubts(read_scenario(scene(block("xz"), {"stiffness": 1e5}, method, shape=shape)))
        return [str(one) for one in found if "integrator" in one.path]

    (warning,) = doubts("rk54", valley(tmp_path))
    told(warning)
    assert not doubts("rk54", {"plane": {}})
    assert not doubts("rk4", valley(tmp_path))


def test_steps_far_above_terrain_are_made_without_contacts(tmp_path):
    """The same fall begun far above a valley and, a step before it touches, near it."""
    surface = {"stiffness": STIFF, "damping": DAMPING, "friction": {"static": 0.5, "kinetic": 0.4}}
    far = scene(block("xz"), surface, "rk4", 0.1, [0.1, 0.1], [0.3, -1.0], 1e-3, valley(tmp_path))
    run = armsim.simulate({**far, "log": {"every": 1e-3}})
    plant = plant_of_run(read_scenario(far))
    assert run["gap_tool_floor_m"].min() < 0.0 < run["gap_tool_floor_m"][0]
    began = plant.parts(plant.step(1e-3, plant.step(0.0, plant.initial_state([0.1, 0.1], [0.3, -1.0]), 1e-3), 1e-3))
    assert began.clearance.since == pytest.approx(1e-3)
    assert began.clearance.gap == pytest.approx(run["gap_tool_floor_m"][1] / math.hypot(1, 0.5, 0.5), rel=1e-9)
    k = int(np.argmax(run["gap_tool_floor_m"] < 3e-3))
    begin = {"duration": round((100 - k) * 1e-3, 6), "initial": {"q": run.q[k].tolist(), "qd": run.qd[k].tolist()}}
    near = armsim.simulate({**far, **begin, "log": {"every": 1e-3}})
    assert near.q == pytest.approx(run.q[k:], abs=1e-12)


def test_the_slopes_of_a_stick_are_those_of_its_force():
    """By quotients of the joint forces of a ball on a rotating arm that has just touched, and so is not pressed."""
    friction = {"static": 1e9, "stiffness": 3e4, "damping": 70.0}
    world = {
        "floor": {"plane": {"normal": [0.2, -0.3, 1]}, "stiffness": STIFF, "damping": DAMPING, "friction": friction}
    }
    ball = {"name": "ball", "link": "R4", "sphere": {"center": [0.1, 0.05, -0.02], "radius": 0.06}, "with": "floor"}
    bare = read_scenario("arm5_hold", {"world": world, "contacts": [ball]})
    (contact,) = contacts_of(bare.arm)
    q = np.array([0.3, -0.7, 0.4, 0.2, 0.1])
    told = told_to(bare.arm, [contact], 0.0, q.tolist(), [0.0] * 5)
    depth = contact.touch(told).gap + 1e-9
    plane = contact.obstacle.shape
    contact = replace(contact, obstacle=replace(contact.obstacle, shape=replace(plane, point=plane.normal * depth)))
    anchor = contact.begin(Vector(*(told[f"{axis}_ball"] for axis in "xyz")))

    def forces(x):
        """The anchor has rolled along with the ball."""
        q_, qd = x[:5].tolist(), x[5:].tolist()
        w = Vector(
            *(told_to(bare.arm, [contact], 0.0, q.tolist(), (x[:5] - q).tolist())[f"w{axis}_ball"] for axis in "xyz")
        )
        rolled = cross(w, plane.normal * contact.radius)
        states = {name: at + contact.span[name].dot(rolled) for name, at in anchor.items()}
        return np.array(joint_forces(bare.arm, q_, link_wrenches(bare.arm, 0.0, q_, [contact], 0.0, qd, states)))

    def quotient(k):
        h = 1e-10 if k < 5 else 1e-7
        return np.array([(forces(x + step * h * np.eye(10)[k]) * step) for x, step in ((start, 1), (start, -1))])

    *slopes, pace = stick_slopes(contact, bare.arm, q.tolist())
    K, D = np.reshape(slopes, (2, 5, 5))
    start = np.concatenate([q, np.zeros(5)])
    assert pace == pytest.approx(3e4 / 70.0)
    found = np.stack([quotient(k).sum(axis=0) / (2e-10 if k < 5 else 2e-7) for k in range(10)], axis=1)
    assert np.abs(K).max() > 1e3
    assert found[:, :5] == pytest.approx(-K, abs=1e-3 * np.abs(K).max())
    assert found[:, 5:] == pytest.approx(-D, abs=1e-3 * np.abs(D).max())


def test_a_block_that_sticks_is_linearised_at_rest():
    """The state of contacts is taken from the run, whose other states are more."""
    surface = {"stiffness": 1e5, "damping": 600, "friction": {"static": 0.5, "kinetic": 0.3}}
    asked = scene(block("xz", (3.0, 0, -G)), surface, "rodas", 1.0)
    lin = armsim.linearize(asked, at=1.0)
    assert lin.about.qdd == pytest.approx([0.0, 0.0], abs=1e-6)
    assert armsim.linearize(asked).about.qdd == pytest.approx([3.0, -G])


def test_internal_wrenches_count_the_contacts_of_a_robot():
    """The floor bears what the tool has sunk in, so the base bears the less."""
    robot = {**block("xz", (0, 0, -G)), "world": {"floor": {"plane": {}, "stiffness": STIFF}}}
    arm = armsim.load_robot({**robot, "contacts": [{"frame": "tool", "with": "floor"}]})
    weight = [wrench[5] for wrench in arm.wrenches([[0.0, 1e-3], [0.0, -1e-3]], at="base")]
    assert weight == pytest.approx([MASS * G, MASS * G - STIFF * 1e-3])


SEEDS = range(4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_random_scenes_balance_their_energy(seed):
    assert contacts.faults(contacts.scene(random.Random(seed))) == []
