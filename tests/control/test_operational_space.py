"""Control of a tool's errors: against the linear equation that it promises, equations by hand, and inverses by numpy."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import armsim
from armsim.actuation.motor import demand
from armsim.control import Constant, Desired, Kept, Now, OperationalSpace, Posture, Seen
from armsim.control.operational_space import LEAST_MOBILITY, Mobility
from armsim.document import plain
from armsim.dynamics import (
    forward_dynamics,
    frame_acceleration,
    frame_jacobian,
    frame_pose,
    frame_velocity,
    mass_matrix,
)
from armsim.errors import FileFaults
from armsim.inverse_kinematics import PoseGoal
from armsim.loading import load_scenario_file, read_robot, scenario_of
from armsim.loading.check import scenario_doubts
from armsim.loading.open_paths import unit_at
from armsim.loading.scenario import resolved_scenario
from armsim.loading.settle import numbers_at

RNG = np.random.default_rng(7)
ALL = tuple(range(6))
Q = [0.3, -1.2, 1.4, -0.9, -1.3, 0.4]  # of a ur5e: elbow bent, wrist bent


def uniform(n, bound=1.0):
    return [float(x) for x in RNG.uniform(-bound, bound, n)]


def moving(n):
    """Somebody's motion, and a motion to follow."""
    seen = Seen(uniform(n), uniform(n))
    return Now(0.0, seen, Desired([x + y for x, y in zip(seen.q, uniform(n, 0.2))], uniform(n), uniform(n)))


def law(arm, name="computed_torque", axes=ALL, kp=100.0, kd=20.0, posture=(0.0, 0.0), hold=None, frame=None):
    many, n = len(axes), arm.n
    own = Posture(hold, (posture[0],) * n, (posture[1],) * n)
    return OperationalSpace(name, "torque", arm, frame or arm.tool, axes, (kp,) * many, (kd,) * many, own)


def rows(arm, q, axes=ALL):
    J = np.array(frame_jacobian(arm, q, arm.tool))
    return np.vstack([J[3:], J[:3]])[list(axes)]


def linear_first(pair):
    angular, linear = pair
    return np.array([*linear, *angular])


def tool(run, at):
    """Position of the tool at a row."""
    return np.array([run[name][at] for name in ("x_m", "y_m", "z_m")])


def settle(kp, kd, t):
    """The solution of dd(x) + kd d(x) + kp x = 0 from 1 at rest, overdamped."""
    root = math.sqrt(kd * kd / 4 - kp)
    a, b = -kd / 2 + root, -kd / 2 - root
    return (b * np.exp(a * t) - a * np.exp(b * t)) / (b - a)


@pytest.mark.parametrize("name", ["panda", "iiwa14", "puma560", "torso"])
def test_a_frames_acceleration_is_the_derivative_of_its_velocity_along_the_motion(name):
    # central differences of step 1e-5: error 1e-10 of third derivatives, rounding 1e-16 / 1e-5
    arm = read_robot(name)[0]
    q, qd, qdd, h = uniform(arm.n), uniform(arm.n), uniform(arm.n), 1e-5
    for frame in arm.frames:
        found = linear_first(frame_acceleration(arm, q, qd, qdd, frame))
        ends = []
        for t in (-h, h):
            at = [x + v * t + a * t * t / 2 for x, v, a in zip(q, qd, qdd, strict=True)]
            ends.append(linear_first(frame_velocity(arm, at, [v + a * t for v, a in zip(qd, qdd, strict=True)], frame)))
        assert np.allclose(found, (ends[1] - ends[0]) / (2 * h), rtol=0, atol=3e-9)


@pytest.mark.parametrize(("name", "axes"), [("ur5e", ALL), ("iiwa14", ALL), ("panda", (0, 1, 2)), ("puma560", (2, 1))])
def test_with_an_exact_model_the_tool_accelerates_as_its_errors_ask(name, axes):
    arm = read_robot(name)[0]
    law_of_tool, now = law(arm, axes=axes, posture=(30.0, 7.0)), moving(arm.n)
    seen, desired = now.seen, now.desired
    tau = law_of_tool.command(now, Kept())
    viscous = [x + y for x, y in zip(tau, against(arm, seen.qd), strict=True)]
    qdd = forward_dynamics(arm, seen.q, seen.qd, viscous)
    goal = frame_pose(arm, desired.q, arm.tool)
    shift, turn = PoseGoal(arm.tool, goal.position, goal.rotation).missing(frame_pose(arm, seen.q, arm.tool))
    v_ref, v = (linear_first(frame_velocity(arm, at.q, at.qd, arm.tool)) for at in (desired, seen))
    wanted = linear_first(frame_acceleration(arm, desired.q, desired.qd, desired.qdd, arm.tool))
    wanted = wanted + 20.0 * (v_ref - v) + 100.0 * linear_first((turn, shift))
    found = linear_first(frame_acceleration(arm, seen.q, seen.qd, qdd, arm.tool))
    assert Mobility(arm, seen.q, arm.tool, axes).manipulability > 1.0
    assert np.allclose(found[list(axes)], wanted[list(axes)], rtol=0, atol=1e-10 * np.abs(wanted).max())


def against(arm, qd):
    from armsim.actuation import viscous_friction

    return [viscous_friction(joint, speed) for joint, speed in zip(arm.joints, qd, strict=True)]


@pytest.mark.parametrize("name", ["computed_torque", "pd"])
def test_a_posture_moves_the_joints_and_leaves_the_accelerations_of_the_tool_alone(name):
    arm = read_robot("iiwa14")[0]
    now, hold = moving(7), Constant(tuple(uniform(7)))
    J, M = rows(arm, now.seen.q), np.array(mass_matrix(arm, now.seen.q))
    free, held = (law(arm, name, posture=gains, hold=hold).command(now, Kept()) for gains in ((0.0, 0.0), (50.0, 9.0)))
    change = np.linalg.solve(M, np.array(held) - np.array(free))
    assert np.abs(change).max() > 1.0
    assert np.abs(J @ change).max() < 1e-11 * np.abs(change).max()


def test_without_gains_of_a_posture_an_exact_model_still_follows_the_joints_reference():
    # seven joints on the reference: the feedforward of the motion left over is the reference's own
    arm = read_robot("iiwa14")[0]
    q, qd, qdd = uniform(7), uniform(7), uniform(7)
    tau = law(arm).command(Now(0.0, Seen(q, qd), Desired(q, qd, qdd)), Kept())
    assert np.allclose(forward_dynamics(arm, q, qd, tau), qdd, rtol=0, atol=1e-10)


def scenario(control, robot="ur5e", q=None, duration=0.4, **more):
    start = {} if q is None else {"initial": {"q": q}}
    run = {"format": "armsim/scenario/1", "name": "tool", "robot": robot, "duration": duration, **start}
    run |= {"integrator": {"method": "rk4", "dt": 1e-3}, **more}
    return {**run, "control": {"output": "torque", "space": "tool", **control}}


# of both tests, which are one kernel: they differ by where they start
GAINS = {"law": "computed_torque", "kp": [91, 51, 75, 5, 5, 5], "kd": [20, 20, 20, 5, 5, 5], "target": Q}


@pytest.mark.slow
def test_errors_of_position_decay_by_the_linear_equation_of_the_gains():
    start = [x + y for x, y in zip(Q, [0.1, -0.12, 0.06, 0.1, -0.1, 0.2], strict=True)]
    run = armsim.simulate(scenario(GAINS, q=start))
    arm = read_robot("ur5e")[0]
    goal = np.array([*frame_pose(arm, Q, arm.tool).position])
    first = goal - tool(run, 0)
    assert np.abs(first).min() > 0.01
    for k in range(0, len(run.t), 40):
        left = [settle(p, d, run.t[k]) for p, d in zip(GAINS["kp"][:3], GAINS["kd"][:3], strict=True)]
        # rk4 on rates up to 17 1/s: (0.017)^4 / 120 a step's rate
        assert np.allclose(goal - tool(run, k), first * left, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_an_orientation_nearly_half_a_turn_away_comes_back_about_its_axis_by_the_linear_equation():
    turn = math.pi - 1e-3
    run = armsim.simulate(scenario(GAINS, q=[*Q[:5], Q[5] - turn]))  # below the joint's speed limit
    assert np.allclose(run.q[:, :5], Q[:5], rtol=0, atol=1e-8)
    assert np.allclose(Q[5] - run.q[:, 5], turn * settle(5, 5, run.t), rtol=0, atol=1e-8)


def test_cartesian_pd_of_two_links_follows_equations_written_by_hand():
    # rods of 1 and 0.8 m, 2 and 1.5 kg, 0.5 kg at the tip, in a vertical plane; angles from the horizontal
    (l1, l2, m1, m2, mp, g), (kx, ky, dx, dy) = (1.0, 0.8, 2.0, 1.5, 0.5, 9.81), (300.0, 200.0, 40.0, 30.0)
    start, goal = [-0.4, 1.3], [0.3, 0.9]

    def position(a, b):
        return np.array([l1 * math.cos(a) + l2 * math.cos(a + b), l1 * math.sin(a) + l2 * math.sin(a + b)])

    def rates(t, y):
        a, b, va, vb = y
        s1, s12, c1, c12 = math.sin(a), math.sin(a + b), math.cos(a), math.cos(a + b)
        J = np.array([[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12]])
        i1, i2, h = m1 * l1**2 / 3, m2 * l2**2 / 3 + mp * l2**2, (m2 / 2 + mp) * l1 * l2
        M = np.array([[i1 + (m2 + mp) * l1**2 + i2 + 2 * h * math.cos(b), i2 + h * math.cos(b)], [0, i2]])
        M[1, 0] = M[0, 1]
        c = h * math.sin(b) * np.array([-vb * (2 * va + vb), va * va])
        weight = g * np.array([(m1 / 2 + m2 + mp) * l1 * c1 + (m2 / 2 + mp) * l2 * c12, (m2 / 2 + mp) * l2 * c12])
        v = J @ [va, vb]
        force = np.array([kx, ky]) * (position(*goal) - position(a, b)) - np.array([dx, dy]) * v
        return [va, vb, *np.linalg.solve(M, J.T @ force - c - weight)]

    control = {"law": "pd", "axes": ["x", "y"], "kp": [kx, ky], "kd": [dx, dy], "target": goal}
    run = armsim.simulate(scenario(control, "two_link", start, 1.0))
    exact = solve_ivp(rates, (0, 1), [*start, 0, 0], t_eval=run.t, rtol=1e-11, atol=1e-12, method="DOP853")
    assert np.allclose(run.q, exact.y[:2].T, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_the_shipped_iiwa_swings_its_elbow_and_holds_its_flange():
    run = armsim.simulate("iiwa14_tool")
    assert abs(run.q[-1, 2] - run.q[0, 2]) > 0.9
    assert max(np.abs(tool(run, k) - tool(run, 0)).max() for k in range(len(run.t))) < 1e-9


def test_mobility_is_inverted_exactly_away_from_singularities_and_damped_near_them():
    arm = read_robot("ur5e")[0]
    there = Mobility(arm, Q, arm.tool, ALL)
    J, M, a = rows(arm, Q), np.array(mass_matrix(arm, Q)), uniform(6)
    assert there.manipulability > 1.0
    assert np.allclose(there.force(a), np.linalg.solve(J @ np.linalg.solve(M, J.T), a), rtol=1e-9)
    # towards the stretched elbow: manipulability falls below 1, and forces stay below those of an inverse by far
    bent = [0.3, 0.2, 0.1, 0.03, 0.01, 1e-3, 0.0]
    near = [Mobility(arm, [Q[0], Q[1], b, *Q[3:]], arm.tool, ALL) for b in bent]
    assert all(x.manipulability > y.manipulability for x, y in pairwise(near))
    assert near[0].manipulability > 1.0 > 0.5 >= near[-1].manipulability > 0.1
    outward = [math.cos(Q[1]) * math.cos(Q[0]), math.cos(Q[1]) * math.sin(Q[0]), -math.sin(Q[1]), 0.0, 0.0, 0.0]
    forces = [math.sqrt(sum(f * f for f in x.force(outward))) for x in near]
    J = rows(arm, [Q[0], Q[1], 1e-3, *Q[3:]])
    assert np.linalg.norm(np.linalg.solve(J @ np.linalg.solve(M, J.T), outward)) > 1e6
    assert max(forces) < 1e4


def test_damping_begins_smoothly_and_where_it_is_said():
    # a mobility of one number beside D: of one axis, damping begins where it is below ε D
    arm = read_robot("two_link")[0]
    bent = np.geomspace(0.3, 1e-3, 60)
    found = []
    for b in bent:
        x = Mobility(arm, [0.0, float(b)], arm.tool, (0,))
        J = np.array(frame_jacobian(arm, [0.0, float(b)], arm.tool))[3]
        M = np.array(mass_matrix(arm, [0.0, float(b)]))
        squares = np.array(frame_jacobian(arm, [0.0, float(b)], arm.tool))[3:]
        squares = (squares * squares).sum(axis=0)
        D = squares.sum() ** 2 / (3 * squares @ np.diag(M))
        bare = J @ np.linalg.solve(M, J)
        relative = bare / D
        assert x.manipulability == pytest.approx((relative + LEAST_MOBILITY) / (2 * LEAST_MOBILITY), rel=1e-9)
        lack = max(1 - x.manipulability, 0)
        (force,) = x.force([1.0])
        assert force == pytest.approx(1 / (bare + 4 * LEAST_MOBILITY * lack**2 * D), rel=1e-9)
        found.append(relative < LEAST_MOBILITY)
    assert 10 < sum(found) < 50  # both sides are met


def test_a_stretched_arm_stays_bounded_and_bends_towards_its_target():
    control = {"law": "computed_torque", "axes": ["x", "y"], "kp": 100, "kd": 20, "target": [0.3, 1.0]}
    posture = {"posture": {"kp": 1, "kd": 2}}
    run = armsim.simulate(scenario({**control, **posture}, "two_link", [0.0, 0.0], 4.0))
    assert run.status == "complete"
    assert np.allclose(run.q[-1], [0.3, 1.0], atol=1e-2)
    assert np.abs(run["tau_shoulder_Nm"]).max() < 2000


def test_axes_that_a_tool_cannot_take_cost_it_nothing_along_the_others():
    # a planar arm with all six axes: four of them have no mobility at all
    arm = read_robot("two_link")[0]
    tau = law(arm).command(moving(2), Kept())
    assert all(map(math.isfinite, tau))


def test_machine_code_and_floats_give_the_same_bits_sampled_late_by_encoders_and_voltages():
    control = {"law": "pd", "axes": ["x", "y", "z"], "kp": 300, "kd": 3, "feedforward": "gravity", "output": "voltage"}
    control |= {"period": 2e-3, "delay": 2e-3, "limit": 24, "encoder": {"counts": 4096}, "posture": {"kp": 5, "kd": 1}}
    late = scenario(control, "arm5", duration=0.02, integrator={"method": "semi_implicit_euler", "dt": 5e-4})
    fast, slow = (armsim.simulate(late, engine=engine) for engine in ("llvm", "python"))
    assert np.array_equal(fast.q, slow.q)
    assert np.abs(fast.q[-1] - fast.q[0]).max() > 1e-6


@pytest.mark.slow
def test_implicit_methods_take_its_exact_derivatives():
    control = {"law": "computed_torque", "axes": ["x", "y"], "kp": 91, "kd": 20, "target": [0.3, 1.0]}
    given = scenario(control, "two_link", [0.1, 1.2])
    exact = armsim.simulate(given)
    rodas = armsim.simulate(given, {"integrator": {"method": "rodas", "rtol": 1e-9, "atol": 1e-10}})
    assert np.allclose(rodas.q[-1], exact.q[-1], rtol=0, atol=1e-7)


@pytest.mark.slow
def test_poles_of_the_closed_loop_are_those_of_the_gains():
    gains = {"control.kp": 91, "control.posture": {"kp": 10, "kd": 7}}  # -7 and -13 six times; -2 and -5 once
    closed = armsim.linearize("iiwa14_tool", overrides=gains).closed_loop
    assert np.sort(np.linalg.eigvals(closed.A).real) == pytest.approx([-13] * 6 + [-7] * 6 + [-5, -2], rel=1e-6)


def test_gains_are_named_by_axes_and_have_the_units_of_axes():
    control = {"law": "pd", "kp": 300, "kd": 30, "posture": {"kp": 5, "kd": 1}}
    file = load_scenario_file(scenario(control), {"control.kp[rx]": "80 mN*m/rad", "control.kp[1]": "5 N/mm"})
    law_of_tool = scenario_of(scenario(control), {"control.kp[rx]": 0.08, "control.kp[1]": 5000}).command.law
    assert law_of_tool.kp == (300.0, 5000.0, 300.0, 0.08, 300.0, 300.0)
    assert [x.value for x in file.document.control.kp] == pytest.approx(law_of_tool.kp)
    assert [unit_at(file, f"control.kp[{axis}]") for axis in ("x", "rz")] == ["N/m", "N·m/rad"]
    assert numbers_at(file.whole, "control.kd[z]") == ["control.kd[2]"]
    assert numbers_at(file.whole, "control.posture.kp[J4]") == ["control.posture.kp[3]"]


@pytest.mark.parametrize(
    ("control", "place"),
    [
        ({"law": "pid", "kp": 1, "ki": 1, "kd": 1}, "control.space"),
        ({"law": "pd", "kp": [1, 2], "kd": 1}, "control.kp"),
        ({"law": "pd", "kp": 1, "kd": 1, "axes": ["x", "x"]}, "control.axes"),
        ({"law": "pd", "kp": 1, "kd": 1, "axes": ["roll"]}, "control.axes[0]"),
        ({"law": "pd", "kp": 1, "kd": 1, "frame": "hand"}, "control.frame"),
        ({"law": "pd", "kp": 1, "kd": 1, "derivative": "measurement"}, "control.derivative"),
        ({"law": "pd", "kp": 1, "kd": 1, "space": "joints", "axes": ["x"]}, "control.axes"),
        ({"law": "pd", "kp": 1, "kd": 1, "posture": {"kp": 3}}, "control.posture.kd"),
        ({"law": "pd", "kp": 1, "kd": 1, "frame": "camera", "model": "ur5"}, "control.model"),
    ],
)
def test_a_file_that_mixes_joints_and_tool_is_told_where_and_how_to_mend_it(control, place, told):
    camera = {"robot.frames": {"camera": {"link": "J6", "xyz": [0, 0, 0.1]}}} if "model" in control else {}
    with pytest.raises(FileFaults) as error:
        load_scenario_file(scenario(control), camera)
    assert [fault.path for fault in error.value.faults] == [place]
    told(str(error.value))


@pytest.mark.parametrize(
    ("control", "robot", "q"),
    [
        ({"law": "pd", "kp": 1, "kd": 1}, "iiwa14", None),
        ({"law": "computed_torque", "kp": 1, "kd": 1}, "two_link", [0.2, 0.7]),
        ({"law": "computed_torque", "axes": ["x", "y"], "kp": 1, "kd": 1}, "two_link", [0.0, 0.0]),
        ({"law": "computed_torque", "axes": ["x", "y"], "kp": 1, "kd": 1}, "two_link", [0.2, 0.7]),
    ],
)
def test_doubts_name_axes_that_the_tool_cannot_take_and_motions_that_nothing_brings_to_rest(control, robot, q, told):
    told("\n".join(map(str, scenario_doubts(scenario_of(scenario(control, robot, q))))))


def test_a_scenario_written_out_in_full_has_the_same_law():
    read = scenario_of("iiwa14_tool")  # in degrees
    again = scenario_of(plain(resolved_scenario(read)))
    assert again.command.law.posture == read.command.law.posture
    assert (again.command.law.kp, again.command.law.axes) == (read.command.law.kp, read.command.law.axes)


@pytest.mark.parametrize(("name", "brakes"), [("pd", True), ("computed_torque", False)])
def test_back_emf_brakes_under_pd_and_is_compensated_by_computed_torque(name, brakes):
    arm, now = read_robot("arm5")[0], moving(5)
    torques = law(arm, name, axes=(0, 1, 2))
    voltages = replace(torques, output="voltage").command(now, Kept())
    for i, (joint, tau) in enumerate(zip(arm.joints, torques.command(now, Kept()), strict=True)):
        voltage, _ = demand(joint.electric_motor, tau, 0.0 if brakes else now.seen.qd[i])
        assert voltages[i] == pytest.approx(voltage, rel=1e-14)
