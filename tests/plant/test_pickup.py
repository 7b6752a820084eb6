"""Payloads that are picked up and put down, against closed forms and laws of mechanics."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.errors import FileFaults, UsageError
from armsim.figures.drawn_run import drawn
from armsim.integrate import METHODS
from armsim.loading import read_scenario
from armsim.loading.check import scenario_doubts

J, L, M = 0.5, 0.7, 0.3  # of the rod about its joint, from there to the tool, of the payload
LENGTHS, MASSES = (0.5, 0.4), (1.2, 0.8)
EXACT = {"rtol": 1e-10, "atol": 1e-12}
ORDERS = {name: method.order for name, method in METHODS.items() if method.adaptive is None}


def hinge(**joint):
    """A body on a hinge about z, the tool at L."""
    body = {"inertia": {"mass": 1, "center": [0, 0, 0], "about": "origin", "xx": J, "yy": J, "zz": J}}
    dh = {"a": 0, "alpha": 0, "d": 0, "theta": 0}
    return {
        "format": "armsim/robot/1",
        "name": "hinge",
        "gravity": [0, -9.81, 0],
        "joints": [{"name": "R1", "type": "revolute", "mdh": dh, "bodies": [body], **joint}],
        "tool": {"xyz": [L, 0, 0]},
    }


def two_link(gravity=9.81, **joint):
    """Two rods that turn about z, the tool at the end of the second, the frame `elbow` at that of the first."""
    joints = []
    for name, a, length, mass in zip(("R1", "R2"), (0, LENGTHS[0]), LENGTHS, MASSES, strict=True):
        rod = {"axis": "x", "length": length, "mass": mass, "center": [length / 2, 0, 0]}
        dh = {"a": a, "alpha": 0, "d": 0, "theta": 0}
        joints.append({"name": name, "type": "revolute", "mdh": dh, "bodies": [{"rod": rod}], **joint})
    elbow = {"link": "R1", "xyz": [LENGTHS[0], 0, 0]}
    return {
        "format": "armsim/robot/1",
        "name": "two_link",
        "gravity": [0, -gravity, 0],
        "joints": joints,
        "tool": {"xyz": [LENGTHS[1], 0, 0]},
        "frames": {"elbow": elbow},
    }


def scenario(robot, payload, method="rk4", dt: float | None = 1e-3, q=(0.2, -0.7), qd=(2.0, -1.0), **keys):
    adaptive = METHODS[method].adaptive is not None
    integrator = {"method": method, **(EXACT if adaptive else {"dt": dt})}
    n = len(robot["joints"])
    head = {"format": "armsim/scenario/1", "robot": robot, "duration": 1.0, "integrator": integrator}
    return {**head, "initial": {"q": [*q[:n]], "qd": [*qd[:n]]}, "payload": payload, "log": {"every": 0.01}, **keys}


def box(start=None, end=None, mass=M, **more):
    times = {key: t for key, t in (("from", start), ("to", end)) if t is not None}
    return {"name": "box", "mass": mass, **times, **more}


BOTH = [box(0.25, 0.7, 0.6), {"name": "ring", "frame": "elbow", "mass": 0.4, "from": 0.25, "to": 0.5}]
SOON = [box(0.05, 0.15, 0.6), {"name": "ring", "frame": "elbow", "mass": 0.4, "from": 0.05, "to": 0.1}]


def by_hand(q, elbow, tool):
    """Mass matrix of the two links with point masses at elbow and tool, and that of each point mass alone."""
    (a, b), (m1, m2) = LENGTHS, MASSES
    c = math.cos(q[1])

    def point(mass, reach):
        return mass * np.array([[a * a + reach * reach + 2 * a * reach * c, reach * (reach + a * c)],
                                [reach * (reach + a * c), reach * reach]])  # fmt: skip

    rods = point(m2, b / 2) + m2 * b * b / 12 * np.ones((2, 2)) + [[m1 * a * a / 3, 0], [0, 0]]
    return rods, point(elbow, 0.0), point(tool, b)


def bits(run, rows=None):
    return {name: column[:rows].tolist() for name, column in run.items()}


def work(run, name):
    return run.summary()["audit"]["others"][name]


# -- the impact


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_hinge_that_picks_up_a_mass_keeps_its_angular_momentum(method):
    robot = {**hinge(), "gravity": [0, 0, 0]}
    run = armsim.simulate(scenario(robot, [box(0.3, 0.6)], method), measure=["work_impact_box", "work_payload_box"])
    v = 2.0 * J / (J + M * L**2)
    row = run.t.tolist().index(0.3)
    assert run.qd[row - 1, 0] == 2.0
    assert run.qd[row:, 0] == pytest.approx(v, abs=1e-14)  # in the row of the instant, and after it is put down
    assert run.measures["work_impact_box"] == pytest.approx(-J * 2.0**2 / 2 * M * L**2 / (J + M * L**2), rel=1e-14)
    assert run.measures["work_payload_box"] == pytest.approx(-M * L**2 * v**2 / 2, rel=1e-13)
    assert abs(run.summary()["audit"]["residual"]) < 1e-14


def test_the_rotor_of_a_geared_motor_takes_part_in_the_impact():
    motor = {"Kp": 0.05, "Ra": 1.0, "gear": 50, "rotor_inertia": 4e-5}
    run = armsim.simulate(scenario({**hinge(motor=motor), "gravity": [0, 0, 0]}, [box(0.3)]))
    whole = J + 50**2 * 4e-5
    assert run.qd[-1, 0] == pytest.approx(2.0 * whole / (whole + M * L**2), rel=1e-14)
    assert work(run, "impact_box") == pytest.approx(-whole * 2.0 * M * L**2 / (whole + M * L**2), rel=1e-14)


def test_what_is_picked_up_at_once_is_one_impact_of_mass_matrices():
    run = armsim.simulate(scenario(two_link(), BOTH, log={"every": 1e-3}))
    row = run.t.tolist().index(0.25)
    q, before = run.q[row], run.qd[row - 1] + 1e-3 * run.qdd[row - 1]
    links, elbow, tool = by_hand(q, 0.4, 0.6)
    after = np.linalg.solve(links + elbow + tool, links @ before)
    assert run.qd[row] == pytest.approx(after, abs=2e-4)  # as `before` is known to first order
    after, before = run.qd[row], np.linalg.solve(links, (links + elbow + tool) @ run.qd[row])
    assert work(run, "impact_box") == pytest.approx(-after @ tool @ before / 2, rel=1e-13)
    assert work(run, "impact_ring") == pytest.approx(-after @ elbow @ before / 2, rel=1e-13)
    lost = before @ links @ before / 2 - after @ (links + elbow + tool) @ after / 2
    assert work(run, "impact_box") + work(run, "impact_ring") == pytest.approx(-lost, rel=1e-12)


def test_a_payload_brings_its_height_and_takes_height_and_motion_away():
    run = armsim.simulate(scenario(two_link(), BOTH))
    rows = [run.t.tolist().index(t) for t in (0.25, 0.5)]
    y = [LENGTHS[0] * math.sin(run.q[row, 0]) for row in rows]
    speed = LENGTHS[0] * run.qd[rows[1], 0]
    assert work(run, "payload_ring") == pytest.approx(0.4 * 9.81 * (y[0] - y[1]) - 0.4 * speed**2 / 2, rel=1e-12)


def test_angular_momentum_about_the_base_is_kept_until_something_is_put_down():
    run = armsim.simulate(scenario(two_link(gravity=0), BOTH))

    def momentum(row):
        t = run.t[row]
        parts = by_hand(run.q[row], 0.4 * (0.25 <= t < 0.5), 0.6 * (0.25 <= t < 0.7))
        return (sum(parts) @ run.qd[row])[0]

    found = np.array([momentum(row) for row in range(len(run.t))])
    until = run.t < 0.5
    assert found[until] == pytest.approx(found[0], abs=1e-12)
    k = run.t.tolist().index(0.5)
    taken = 0.4 * LENGTHS[0] ** 2 * run.qd[k, 0]
    assert found[k:] == pytest.approx(np.where(run.t[k:] < 0.7, found[0] - taken, found[-1]), abs=1e-12)


def test_one_that_is_put_down_when_another_is_picked_up_has_no_part_in_the_impact():
    payload = [box(None, 0.3), {**box(0.3, None), "name": "next"}]
    run = armsim.simulate(scenario({**hinge(), "gravity": [0, 0, 0]}, payload))
    assert run.qd[-1, 0] == pytest.approx(2.0 * J / (J + M * L**2), rel=1e-14)
    assert work(run, "payload_box") == pytest.approx(-M * L**2 * 2.0**2 / 2, rel=1e-14)
    assert "impact_box" not in run.summary()["audit"]["others"]


def test_a_joint_that_friction_holds_moves_after_an_impact():
    robot = two_link(gravity=0, friction={"coulomb": 30.0})
    keys = {"control": {"law": "none"}, "inputs": {"torque": ["where(t < 0.25, 40, 0)", "0"]}}
    run = armsim.simulate(scenario(robot, [box(0.25)], qd=(0.0, 0.0), q=(0.0, 1.0), **keys))
    row = run.t.tolist().index(0.25)
    assert not run.qd[:row, 1].any()  # it was held while the first joint moved
    assert abs(run.qd[row, 1]) > 1e-3
    assert run.qd[-1].tolist() == [0.0, 0.0]
    assert abs(run.summary()["audit"]["residual"]) < 1e-7  # of some 10 J, by rk4


def test_what_is_picked_up_at_the_start_is_carried_from_the_beginning():
    runs = [armsim.simulate(scenario(two_link(), [box(start, 0.7)])) for start in (0, None)]
    assert bits(runs[0]) == bits(runs[1])
    assert work(runs[0], "payload_box") == work(runs[1], "payload_box")


# -- the balance, and the order of methods

DRIVEN = {"control": {"law": "pd", "output": "voltage", "kp": [100, 80], "kd": [5, 4], "target": [0.5, 0.2]}}
ACTING = {
    "free": (two_link(), {}),
    "dry friction": (two_link(friction={"viscous": 0.05, "coulomb": 0.3}), {}),
    "stops": (two_link(limits={"lower": -0.9, "upper": 0.4, "stiffness": 2000, "damping": 5}), {}),
    "gears": (two_link(motor={"Kp": 0.05, "Ra": 1.0, "gear": 20, "rotor_inertia": 1e-5}), DRIVEN),
}


@pytest.mark.parametrize("acting", ACTING)
@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.handful(3)
def test_the_balance_closes_with_the_order_of_the_method(method, acting):
    robot, keys = ACTING[acting]
    found = [armsim.simulate(scenario(robot, BOTH, method, dt, **keys), force_step=True) for dt in (1e-3, 2.5e-4)]
    coarse, fine = (abs(run.summary()["audit"]["residual"]) for run in found)
    # semi-implicit methods see events at the ends of steps alone
    order = min(ORDERS[method], 3 if acting == "free" else 2)
    assert fine < 1e-12 or coarse / fine > 4 ** (order - 0.3)


@pytest.mark.parametrize("acting", ACTING)
@pytest.mark.handful(1)
def test_the_balance_of_an_adaptive_method_closes_to_its_tolerance(acting):
    robot, keys = ACTING[acting]
    run = armsim.simulate(scenario(robot, BOTH, "rk54", **keys))
    assert abs(run.summary()["audit"]["residual"]) < 1e-8


def test_rk4_keeps_its_order_across_a_pick_up():
    exact = armsim.simulate(scenario(two_link(), BOTH, dt=1e-4)).q[-1]
    errors = [abs(armsim.simulate(scenario(two_link(), BOTH, dt=dt)).q[-1] - exact).max() for dt in (1e-3, 5e-4)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.2)


@pytest.mark.parametrize("method", ["rk54", "rodas", "implicit_midpoint"])
@pytest.mark.handful(2)
def test_methods_agree_across_pick_up_and_put_down(method):
    exact = armsim.simulate(scenario(two_link(), BOTH, dt=1e-4)).q
    assert armsim.simulate(scenario(two_link(), BOTH, method, dt=1e-4)).q == pytest.approx(exact, abs=1e-6)


# -- bits


def test_a_payload_that_is_always_carried_has_the_bits_of_one_without_times():
    lasting = armsim.simulate(scenario(two_link(), [box(0, 1.0)]))
    plain = armsim.simulate(scenario(two_link(), [box()]))
    alone = armsim.simulate(scenario(two_link(), {"mass": M}))
    assert bits(plain) == bits(alone)
    assert bits(lasting, -1) == bits(plain, -1)  # in the last one it is put down


@pytest.mark.parametrize(
    "method", ["rk4", "rk54", pytest.param("rodas", marks=pytest.mark.slow), "implicit_midpoint", "semi_implicit_euler"]
)
@pytest.mark.handful(1)
def test_lanes_and_floats_have_the_bits_of_machine_code(method):
    robot, keys = ACTING["dry friction"]
    asked = scenario(robot, SOON, method, 5e-3, duration=0.2, **keys)
    asked["integrator"] |= {"rtol": 1e-4, "atol": 1e-6} if METHODS[method].adaptive else {}
    masses, names = [0.0, 0.2, 0.6], ["work_impact_box", "work_payload_ring", "work_friction"]
    many = armsim.simulate_many(asked, {"payload[box].mass": masses}, measure=names)
    for k, mass in enumerate(masses):
        one = armsim.simulate(asked, {"payload[box].mass": mass}, measure=names)
        assert [many[name][k] for name in names] == [one.measures[name] for name in names]
    asked["duration"] = 0.06  # the box is there, and the ring
    assert armsim.simulate(asked, engine="python").state == armsim.simulate(asked).state


def test_a_shorter_run_is_the_beginning_of_a_longer_one():
    whole = armsim.simulate(scenario(two_link(), BOTH))
    for t in (0.25, 0.3, 0.7):
        part = armsim.simulate(scenario(two_link(), BOTH, duration=t))
        assert bits(part) == bits(whole, part.count)


def test_a_recording_of_a_pick_up_is_replayed_to_the_bit():
    assert armsim.replay(armsim.record(scenario(two_link(), BOTH))).comparison.equal


def test_its_resolved_scenario_is_the_same_scenario():
    ring = {"name": "ring", "frame": "elbow", "body": {"sphere": {"radius": 0.05, "density": 900}}, "to": 0.5}
    read = read_scenario(scenario(two_link(), [box(0.25), ring]))
    assert read_scenario(read.scenario_data).arm == read.arm


# -- what knows of them


@pytest.mark.parametrize("law", ["feedforward", "computed_torque"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_controller_that_knows_the_arm_knows_what_it_carries(method, law):
    gains = {"kp": [100, 100], "kd": [20, 20], "target": [0.4, 0.5], "output": "torque"}
    kind = {"law": "pd", "feedforward": "gravity"} if law == "feedforward" else {"law": law}
    still = scenario(two_link(), BOTH, method, q=(0.4, 0.5), qd=(0, 0), control={**gains, **kind})
    run = armsim.simulate(still)
    assert run.q == pytest.approx(np.tile([0.4, 0.5], (len(run.t), 1)), abs=1e-9)
    holding = run["tau_motor_R1_Nm"]
    assert len(set(np.round(holding, 6))) == 3  # the links; with both; with the box


def test_the_torques_of_a_reference_are_those_with_what_is_carried_then():
    via = {"via": [[0, 0], [0.5, 0.4]], "times": [0.4, 1.0], "profile": "minimum_jerk"}
    control = {"law": "pd", "output": "torque", "kp": [1, 1], "kd": [1, 1], "reference": via}
    read = read_scenario(scenario(two_link(), BOTH, q=(0, 0), qd=(0, 0), control=control))
    plan = armsim.reference(read)
    for t in (0.24, 0.25, 0.6, 0.9):
        k = np.abs(plan.t - t).argmin()
        arm = armsim.Robot(read.arm.at(t))
        assert plan.tau[k] == pytest.approx(arm.inverse_dynamics(plan.q[k], plan.qd[k], plan.qdd[k]), abs=1e-12)


def test_a_sample_at_the_instant_sees_the_velocity_after_the_impact():
    control = {"law": "pd", "output": "torque", "period": 0.05, "kp": [0], "kd": [1.0], "target": [0]}
    run = armsim.simulate(scenario({**hinge(), "gravity": [0, 0, 0]}, [box(0.3)], control=control))
    row = run.t.tolist().index(0.3)
    assert run["tau_motor_R1_Nm"][row] == -run.qd[row, 0]


def test_a_step_that_is_too_long_for_the_arm_without_its_payload_is_refused(told):
    gains = {"law": "pd", "output": "torque", "kp": [40], "kd": [150.0], "target": [0.5]}
    asked = scenario(hinge(), [box(None, 0.3, 5.0)], "explicit_euler", 1e-2, control=gains)
    with pytest.raises(UsageError) as error:
        armsim.simulate(asked)
    told(str(error.value))
    armsim.simulate({**asked, "payload": [box(mass=5.0)]})


def test_an_arm_that_moves_no_mass_without_its_payload_is_refused(told):
    robot = hinge(bodies=[])
    with pytest.raises(FileFaults) as error:
        read_scenario(scenario(robot, [box(0.3)]))
    told(str(error.value))
    read_scenario(scenario(robot, [box()]))


def test_a_payload_that_a_run_does_not_carry_is_told_of(told):
    (doubt,) = scenario_doubts(read_scenario(scenario(two_link(), [box(1.0)])))
    told(str(doubt))
    assert not scenario_doubts(read_scenario(scenario(two_link(), [box(0.99)])))


def test_a_forward_model_has_no_times(told):
    arm = read_scenario(scenario(two_link(), BOTH)).arm
    with pytest.raises(UsageError) as error:
        armsim.ForwardModel(arm, dt=1e-3, output="torque")
    told(str(error.value))
    armsim.ForwardModel(arm.at(0.3), dt=1e-3, output="torque")


def test_dynamechs_motors_have_no_payloads_with_times(told):
    motor = {"model": "dynamechs", "Kp": 0.05, "Ra": 1.0, "gear": 1, "rotor_inertia": 1e-5}
    inputs = {"inputs": {"voltage": ["1"]}}
    with pytest.raises(UsageError) as error:
        armsim.simulate(scenario(hinge(motor=motor), [box(0.3)], "explicit_euler", **inputs))
    told(str(error.value))


def test_a_payload_is_drawn_while_it_is_carried():
    run = armsim.simulate(scenario(two_link(), BOTH))
    arm = drawn(run).known_arm()
    times = (0.0, 0.25, 0.49, 0.5, 0.7)
    assert [sum(part.at(t) for part in arm.parts if part.shape == "sphere") for t in times] == [0, 2, 2, 1, 0]
    assert sum(part.at(None) for part in arm.parts if part.shape == "sphere") == 2
    assert arm.center_of_mass(arm.frames([0.0, 0.0]))[0] == sum(MASSES)
