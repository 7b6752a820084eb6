"""The fastest motion of an arm with its motors: closed forms, toppra, dense inverse dynamics."""

from __future__ import annotations

import json
import math
import random
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize

import armsim
from armsim import FileFaults, UsageError
from armsim.actuation.drive import drive_torques, motor_demands
from armsim.arm.robot import Robot
from armsim.document.base import plain
from armsim.fastest.jerk_limits import CONTROLS, Arcs, JerkLimits
from armsim.fastest.timing import ACCURACY, HELD, INNER, fastest_timing, used
from armsim.loading import read_scenario
from armsim.loading.check import check
from armsim.loading.scenario import resolved_scenario
from armsim.references.path_timing import PathTiming
from tests.surveys import fastest as surveyed

MASS = 2.0
FULL = {"Kp": 0.1, "Ra": 0.5, "gear": 60, "rotor_inertia": 4e-5, "viscous": 1e-4, "coulomb": 0.02, "efficiency": 0.85}


def slider(reference, joint=None, gravity=0.0, **control):
    body = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": MASS}}], **(joint or {})}
    robot = {"format": "armsim/robot/1", "name": "slider", "gravity": [0, 0, -gravity], "joints": [body]}
    return scenario(robot, {"via": [[0.6]], "fastest": True, **reference}, **control)


def scenario(robot, reference, q=None, **control):
    law = {"law": "computed_torque", "output": "torque", "kp": 100, "kd": 20, "reference": reference, **control}
    data = {"format": "armsim/scenario/1", "robot": robot, "duration": 2, "integrator": {"method": "rk4", "dt": 1e-3}}
    return data | {"control": law} | ({"initial": {"q": q}} if q else {})


def planar(limits, **motor):
    """Two links of 0.5 m in the vertical plane, with motors of all kinds of friction."""
    joints = [
        {"name": name, "type": "revolute", "mdh": {"a": a, "alpha": alpha},
         "bodies": [{"rod": {"axis": "x", "length": 0.5, "mass": mass, "center": [0.25, 0, 0]}}],
         "friction": {"viscous": 0.3, "coulomb": 0.4}, "motor": {**FULL, **motor, "limits": limits}}
        for name, a, alpha, mass in (("shoulder", 0, "pi/2", 3.0), ("elbow", 0.5, 0, 2.0))
    ]  # fmt: skip
    tool = {"xyz": [0.5, 0, 0]}
    return {"format": "armsim/robot/1", "name": "planar", "gravity": [0, 0, -9.81], "joints": joints, "tool": tool}


def pendulum(motor=None):
    """A mass at 0.5 m from a horizontal axis."""
    joint = {"name": "x", "type": "revolute", "mdh": {"alpha": "pi/2"},
             "bodies": [{"point": {"mass": MASS, "center": [0.5, 0, 0]}}]}  # fmt: skip
    joint |= {"friction": {"viscous": 0.3, "coulomb": 0.4}, "motor": motor} if motor else {}
    return {"format": "armsim/robot/1", "name": "pendulum", "gravity": [0, 0, -9.81], "joints": [joint]}


def end_of(given):
    return armsim.reference(given).end


def most_used(given, parts=5):
    """The greatest share of every limit of the motors within the pieces of a reference, by inverse dynamics."""
    read = read_scenario(given)
    motion, arm, used = read.command.reference, read.arm.heaviest, {}
    knots = [motion.origin.y[1], *motion.knots]
    for a, b in pairwise(knots):
        for k in range(parts):
            now = motion.at(a + (k + 0.5) / parts * (b - a))
            tau = drive_torques(arm, now.q, now.qd, now.qdd)
            volts, amperes = motor_demands(arm, now.qd, tau)
            for joint, T, v, V, i in zip(arm.joints, tau, now.qd, volts, amperes, strict=True):
                of = joint.motor.limits
                for name, x, most in (("torque", T / joint.motor.gear, of.torque), ("speed", v * joint.motor.gear, of.speed),
                                      ("voltage", V, of.voltage), ("current", i, of.current)):  # fmt: skip
                    if most is not None:
                        used[name] = max(used.get(name, 0.0), abs(x) / most)
    return used


def test_a_bounded_force_moves_a_mass_by_two_parabolas():
    assert end_of(slider({}, limit=30)) == pytest.approx(2 * math.sqrt(0.6 * MASS / 30), rel=2e-6)


def test_bounds_of_speed_and_acceleration_make_it_the_trapezoid_of_point_to_point_motions():
    limits = {"speed": 0.9, "acceleration": 4}
    exact = armsim.reference(slider(limits | {"fastest": False})).end
    assert end_of(slider(limits)) == pytest.approx(exact, rel=1e-5)
    assert end_of(slider(limits | {"margin": "20 %"})) == pytest.approx(0.6 / 0.72 + 0.72 / 3.2, rel=1e-5)


def test_a_motor_under_its_voltage_speeds_up_and_brakes_by_exponential_arcs():
    # M v' = Kp (±V - Kp v) / Ra
    Kp, Ra, V = 4.0, 2.0, 12.0
    k, a = Kp * Kp / Ra / MASS, Kp * V / Ra / MASS

    def way(t):
        v = -a / k * math.expm1(-k * t)
        braking = math.log1p(k * v / a) / k
        return (a * t - v) / k + (v - a * braking) / k - 0.6, t + braking

    exact = way(brentq(lambda t: way(t)[0], 1e-3, 10))[1]
    given = slider({}, {"motor": {"Kp": Kp, "Ra": Ra, "limits": {"voltage": V}}})
    assert end_of(given) == pytest.approx(exact, rel=1e-4)
    given["control"] |= {"output": "voltage", "limit": 9}  # whichever is lower
    assert end_of(given) > exact * 1.1
    for most, name in ((9, "command"), (15, "voltage")):
        given["control"]["limit"] = most
        (stage,) = armsim.reference(given).stages
        assert {it.quantity for it in stage.bindings} == {name}


@pytest.mark.parametrize("volts", [24.0, 30.0])
@pytest.mark.handful(1)
def test_two_links_switch_once_where_the_arcs_of_full_drive_and_full_brakes_meet(volts, monkeypatch):
    # Bobrow, Dubowsky and Gibson 1985: u as great as any motor lets it from the start, and as small back from the end;
    # the dynamics of two rods by Lagrange's equations, motors with back-EMF, viscous and dry friction
    L, (m1, m2), g, start, end = 0.5, (3.0, 2.0), 9.81, np.array([0.2, 0.5]), np.array([0.9, -0.7])
    way = math.dist(start, end)
    slope = (end - start) / way
    N, Kp, Ra = FULL["gear"], FULL["Kp"], FULL["Ra"]
    drag, dry = 0.3 + FULL["viscous"] * N**2, (0.4 + FULL["coulomb"] * N) * np.sign(slope)

    def bounds(s, w):
        q1, q2 = start + s * slope
        m12 = m2 * L * L * (1 / 3 + math.cos(q2) / 2)
        m11 = m1 * L * L / 3 + m2 * L * L * (4 / 3 + math.cos(q2)) + FULL["rotor_inertia"] * N**2
        M = np.array([[m11, m12], [m12, m2 * L * L / 3 + FULL["rotor_inertia"] * N**2]])
        v, h = slope * w, m2 * L * L / 2 * math.sin(q2)
        weight2 = m2 * g * L / 2 * math.cos(q1 + q2)
        weight = np.array([(m1 / 2 + m2) * g * L * math.cos(q1) + weight2, weight2])
        rest = np.array([-h * (2 * v[0] * v[1] + v[1] ** 2), h * v[0] ** 2]) + weight + drag * v + dry
        a, emf = M @ slope, Kp * N * v
        ends = [(sign * volts - emf) * Kp * N / Ra - rest for sign in (-1, 1)]
        least, most = np.sort([x / a for x in ends], axis=0)
        return least.max(), most.min()

    def arc(begin, pick, sign):
        def across(t, x):  # the whole way, or until the bounds meet
            return min(way - abs(x[0] - begin), np.diff(bounds(*x))[0])

        across.terminal = True
        return solve_ivp(
            lambda t, x: [sign * x[1], sign * bounds(*x)[pick]], [0, 5], [begin, 0.0], rtol=1e-11, atol=1e-13,
            dense_output=True, events=across,
        )  # fmt: skip

    up, down = arc(0.0, 1, 1.0), arc(way, 0, -1.0)

    def back(t):
        return brentq(lambda x: down.sol(x)[0] - up.sol(t)[0], 0.0, down.t[-1])

    first = brentq(lambda t: up.sol(t)[0] - down.y[0, -1], 0.0, up.t[-1])  # down goes no further back
    switch = brentq(lambda t: up.sol(t)[1] - down.sol(back(t))[1], first + 1e-9, up.t[-1])
    exact = switch + back(switch)
    given = scenario(
        planar({"voltage": volts}, efficiency=1), {"via": [end.tolist()], "fastest": True}, q=start.tolist()
    )
    assert end_of(given) == pytest.approx(exact, rel=ACCURACY)
    monkeypatch.setattr(fastest_timing, "__defaults__", (1e-7,))
    monkeypatch.setattr("armsim.fastest.timing.MOST_POINTS", 40000)
    # limits are kept by a share of 2e-6
    assert end_of(given) == pytest.approx(exact * (1 + 1e-6), rel=1e-6)


def test_rows_of_a_file_keep_their_path_speeds_where_they_are_written_in_full(tmp_path):
    (tmp_path / "moves.csv").write_text("t_s,q_x_m\n0,0\n1,0.2\n2,0.3\n3,0.6\n")
    given = slider({"csv": str(tmp_path / "moves.csv"), "path_speeds": [0, 0.5]}, limit=30)
    given["control"]["reference"].pop("via")
    assert plain(resolved_scenario(read_scenario(given)).control.reference.path_speeds) == [0.0, 0.5]


def test_lifting_takes_what_gravity_leaves_and_what_cannot_be_lifted_is_told():
    # up with F - m g, brake with F + m g
    F, g = 30.0, 9.81
    up, down = F / MASS - g, F / MASS + g
    assert end_of(slider({}, gravity=g, limit=F)) == pytest.approx(
        math.sqrt(2 * 0.6 * (1 / up + 1 / down)), rel=2e-5
    )  # the instant of switching is within an interval
    with pytest.raises(FileFaults, match="times the limit of its command to stand still"):
        armsim.reference(slider({}, gravity=g, limit=15))


@pytest.mark.parametrize(("module", "rounds", "most"), [("timing", 2, {}), ("jerk_limits", 1, {"jerk": [300, 300]})])
@pytest.mark.slow  # arms are compiled
def test_a_search_that_ends_with_a_limit_exceeded_is_refused_in_words(module, rounds, most, monkeypatch):
    monkeypatch.setattr(f"armsim.fastest.{module}.ROUNDS", rounds)
    reference = {"via": [[1, 0.5], [0.3, -0.4]], "profile": "spline", "fastest": True, **most}
    with pytest.raises(FileFaults, match=r"ended with the limit of \w+ of \w+ exceeded by \S+ of it"):
        read_scenario(scenario(planar({"voltage": 40, "torque": 1}), reference, q=[0.2, 0.1]))


def test_a_joint_that_turns_back_alone_passes_with_the_acceleration_of_either_side():
    # at the end of its swing qd = 0 and qdd = q'' w²: no limit bounds the path acceleration there, and the next ones all do
    via = [[0.5], [0.2], [0.9]]
    given = slider(
        {"via": via, "profile": "spline", "acceleration": 5, "speed": 2}, {"friction": {"coulomb": 3}}, limit=15
    )
    assert 1 - 3e-6 < max(surveyed.used(given).values()) < 1
    read = read_scenario(given).command.reference
    (stage,) = read.stages
    assert stage.timing.w[1:-1].min() > 0
    # between turning points the swings are double integrators with friction: from rest to rest each
    turns = [0.0, *(x for _, x in sorted((t, float(read.at(t).q[0])) for t in turning_times(read))), 0.9]
    swings = [abs(b - a) for a, b in pairwise(turns)]
    most = min(5.0, (15 - 3) / MASS), min(5.0, (15 + 3) / MASS)
    expected = sum(swing(way, *most) for way in swings)
    assert read.knots[-1] == pytest.approx(expected, rel=1e-4)


KEPT = 1 - 4 * HELD  # share of every limit that is used


@pytest.mark.parametrize("jerk", [10, 40, 1e5])
@pytest.mark.handful(1)
def test_bounds_of_speed_acceleration_and_jerk_make_it_the_seven_segments_of_point_to_point_motions(jerk):
    limits = {"speed": 0.9, "acceleration": 4, "jerk": jerk}
    profile = {key: KEPT * x for key, x in limits.items()} | {"fastest": False}
    assert end_of(slider(limits)) == pytest.approx(end_of(slider(profile)), rel=1e-6)


def jerks(motion, parts=9):
    """The third derivative at and between the points of a table of polynomials, shape (m, n)."""
    begins = np.array(motion.origin.y)[1:-1]
    t = np.outer(np.diff(np.append(begins, motion.knots[-1])), np.linspace(0, 1, parts)).ravel()
    c = [[np.repeat(np.array(table.y)[1:-1], parts) for table in joint] for joint in motion.coefficients]
    return np.array([sum(x * k * (k - 1) * (k - 2) * t ** (k - 3) for k, x in enumerate(of) if k > 2) for of in c]).T


@pytest.mark.slow
def test_bounded_jerk_makes_a_motor_slower_by_less_the_more_there_is_and_neither_is_exceeded():
    limits = {"motor": {"Kp": 4.0, "Ra": 2.0, "limits": {"voltage": 12.0}}}
    free, ends = end_of(slider({}, limits)), []
    for jerk in (1e3, 1e6):
        given = slider({"jerk": jerk}, limits)
        motion = read_scenario(given).command.reference
        ends.append(motion.knots[-1])
        assert 1 - 1e-5 < np.abs(jerks(motion)).max() / jerk < 1
        assert 1 - 1e-4 < surveyed.used(given)["motor's voltage"] < 1
        assert np.abs([motion.at(t).qdd[0] for t in (0.0, motion.knots[-1] * (1 - 1e-12))]).max() < 1e-6
    assert ends[0] > ends[1] > free * (1 - 1e-5)
    # both ends begin without acceleration: half the time that it takes to rise is lost at each
    assert ends[1] == pytest.approx(free + 12 * 4 / 2 / MASS / 1e6, rel=ACCURACY)


def test_the_summary_of_a_run_along_bounded_jerk_tells_how_much_of_it_the_motion_takes():
    def shares(**limits):
        (joint,) = armsim.simulate(slider({"acceleration": 8, "margin": "10 %", **limits})).summary()["joints"]
        return joint.get("shares", {})

    bounded = shares(jerk=30)["jerk"]
    assert bounded["share"] == pytest.approx(0.9, rel=1e-5)
    assert 0.0 <= bounded["time"] < 1.5
    assert "jerk" not in shares()


@pytest.mark.parametrize(("unit", "via", "needed"), [("rad", 0.3, "0.5"), ("deg", 17.0, "28.648")])
def test_a_run_that_does_not_begin_with_the_speed_of_its_path_is_doubtful(unit, via, needed, tmp_path):
    given = scenario(pendulum({"Kp": 1.0, "Ra": 1.0, "limits": {"voltage": 40.0}}), {"via": [[via]], "fastest": True})
    given["units"] = {"angle": unit}

    def doubts(speeds, **initial):
        given["control"]["reference"]["path_speeds"], given["initial"] = speeds, {"q": [0], **initial}
        (tmp_path / "s.json").write_text(json.dumps(given))
        return [it.mend for it in check(tmp_path / "s.json").warnings if "begins with" in it.expected]

    assert doubts([0.5, 0]) == doubts([0.5, 0], qd=[0.3]) == [f"write `initial: {{qd: [{needed}]}}`"]
    assert doubts([0.5, 0], qd=[float(needed)]) == doubts([0, 0.5]) == []


@pytest.mark.slow
def test_jerk_is_told_where_it_binds_and_where_it_does_not_let_the_path_be_followed():
    (stage,) = read_scenario(slider({"jerk": 30, "acceleration": 8})).command.reference.stages
    spent = {
        label: sum(it.to_s - it.from_s for it in stage.bindings if (it.joint, it.quantity) == label)
        for label in stage.labels
    }
    assert spent["x", "jerk"] == pytest.approx(stage.times[-1], rel=1e-3)  # but for three changes of sign
    with pytest.raises(FileFaults, match=r"no speed that the limit of jerk of x lets go on"):
        read_scenario(slider({"jerk": 0.5, "acceleration": 8, "path_speeds": [2, 0]}))


def test_the_derivatives_of_limits_and_equations_about_an_arc_are_those_of_differences():
    # rows and derivatives of the path are the same everywhere, as programs take them to be within a step
    rng = np.random.default_rng(4)
    A, slope, second, third = rng.normal(size=(5, 4)), *rng.normal(size=(3, 2))
    path = SimpleNamespace(
        piece=lambda s: np.zeros(len(s), int),
        at=lambda s, k: tuple(np.broadcast_to(x, (len(s), 2)) for x in (0.0 * slope, slope, second)),
        third=lambda s, k: np.broadcast_to(third, (len(s), 2)),
    )
    rows = SimpleNamespace(path=path, along=lambda s, *of: np.broadcast_to(A, (len(s), *A.shape)))
    limits = JerkLimits(rows, np.array([3.0, 0.7]))
    w, u, h = 0.4, np.array([0.9, -0.3]), 0.5
    about = np.array([w, u[0], w + h * u.mean(), u[1], h])
    length = h * (about[0] + about[2]) / 2 + h * h * (u[0] - u[1]) / 12

    def values(x):
        arc = Arcs(np.array([0.0, length]), x[[0, 2]], x[[1, 3]], x[[4]])
        return [*limits.equations(arc), *limits.excess(arc, *CONTROLS)]

    missed, by_missed, excess, by_excess = values(about)
    assert np.abs(missed).max() < 1e-15
    s = np.poly1d([np.diff(u)[0] / h / 6, u[0] / 2, w, 0])
    jerks = [np.polyder(np.poly1d(q)(s), 3)(0) for q in zip(third / 6, second / 2, slope, np.zeros(2))]
    assert excess[0, 0, 5:7] + 1 == pytest.approx(jerks / limits.jerk, rel=1e-12)
    for k, step in enumerate(1e-5 * np.eye(5)):
        more, less = values(about + step), values(about - step)
        assert by_missed[..., k] == pytest.approx((more[0] - less[0]) / 2e-5, rel=1e-7, abs=1e-8)
        assert by_excess[..., k] == pytest.approx((more[2] - less[2]) / 2e-5, rel=1e-7, abs=1e-8)


@pytest.mark.slow  # arms are compiled
@pytest.mark.parametrize("seed", [1, 2, 3, 7, 9, 14, 18, 21])
def test_random_arms_exceed_neither_their_jerk_nor_another_limit(seed):
    given = surveyed.case(seed)
    reference = given["control"]["reference"]
    free = read_scenario(given).command.reference
    qdd = np.abs(surveyed.sampled(free)[2])
    reference["jerk"] = (10 / free.knots[-1] * np.quantile(qdd, 0.9, axis=0)).tolist()
    motion = read_scenario(given).command.reference
    left = 1 - reference.get("margin", 0)
    assert motion.knots[-1] > free.knots[-1]
    assert 0.99 < (np.abs(jerks(motion)) / reference["jerk"]).max() / left < 1 + surveyed.HELD
    assert max(surveyed.used(given).values()) / left < 1 + surveyed.HELD


@pytest.mark.slow  # the arm's kinematics are compiled
def test_the_jerk_of_a_tool_is_that_of_its_way():
    reference = {"line": [-0.45, 0.1, 0.3], "speed": 0.5, "acceleration": 4, "jerk": 30}
    q = [0, -1.4, 1.9, -2.1, -1.57, 0]
    profile = end_of(scenario("ur5e", reference, q=q))
    assert end_of(scenario("ur5e", reference | {"fastest": True}, q=q)) == pytest.approx(profile, rel=1e-5)


def turning_times(motion):
    """When the only joint of a motion turns back."""
    t = np.linspace(0, motion.knots[-1], 4001)
    v = np.array([motion.at(float(x)).qd[0] for x in t])
    inside = [k for k in range(1, len(t) - 1) if v[k] * v[k + 1] < 0]
    return [brentq(lambda x: motion.at(x).qd[0], t[k], t[k + 1]) for k in inside]


def swing(way, up, down):
    """The least time of a way from rest to rest."""
    return math.sqrt(2 * way * (1 / up + 1 / down))


def test_friction_that_a_motor_cannot_overcome_is_told_as_such():
    with pytest.raises(FileFaults, match=r"x needs 1\.2\d* times the limit of its command to move on slowly"):
        armsim.reference(slider({}, {"friction": {"coulomb": 36}}, limit=30))


def test_a_hump_beyond_the_motor_is_passed_by_momentum_or_refused_with_the_run_up_that_it_needs():
    # m g L cos q against 0.9 m g L: between ±acos 0.9
    reference = {"via": [[1.2]], "fastest": True}
    given = scenario(pendulum(), reference, q=[-1.2], limit=0.9 * MASS * 9.81 * 0.5)
    motion = read_scenario(given).command.reference
    (it,) = motion.stages[0].unstoppable
    assert (it.joint, it.quantity) == ("x", "command")
    assert [motion.at(t).q[0] for t in (it.from_s, it.to_s)] == pytest.approx(
        [-math.acos(0.9), math.acos(0.9)], abs=0.04
    )  # its grid
    reference["speed"] = 0.1
    with pytest.raises(FileFaults, match=r"x needs 1\.111 times the limit of its command to stand still: 50 %"):
        armsim.reference(given)


@pytest.mark.slow  # arms are compiled
@pytest.mark.parametrize("seed", [4, 28, 57, 1019, 1059, 1082, 1169, 1224, 1399])
def test_random_paths_of_random_arms_exceed_no_limit(seed):
    given = surveyed.case(seed)
    left = 1 - given["control"]["reference"].get("margin", 0)
    assert 0.99 < max(surveyed.used(given).values()) / left < 1 + surveyed.HELD


@pytest.mark.slow  # the arm is compiled
def test_a_joint_that_turns_back_next_to_a_knot_of_its_spline_exceeds_no_limit():
    # before it turns back, nearer to the knot than points of a grid are to each other, its friction acts the other way
    *_, (_, given, robot, plan) = surveyed.each_path(range(165, 166), 2)
    assert 0.99 < max(surveyed.shares(given, robot, *surveyed.sampled(plan())).values()) < 1


@pytest.mark.slow  # arms are compiled
@pytest.mark.parametrize("seed", range(50))
def test_no_profile_beside_that_of_a_random_arm_is_faster_and_within_its_limits(seed):
    # squared path speeds times 1 + bumps anywhere, and all of them alike: those that are faster exceed a limit
    given, rng = surveyed.case(seed), np.random.default_rng(seed)
    try:
        read = read_scenario(given)
    except FileFaults:
        return
    robot = Robot(read.arm.heaviest)
    left, faster = 1 - given["control"]["reference"].get("margin", 0), 0
    for stage in read.command.reference.stages:
        path, (s, w, begin, end, h, *_) = stage.path, stage.timing
        length, middle, u = s[-1] - s[0], (s[1:] + s[:-1]) / 2, (begin + end) / 2
        x = w[:-1] ** 2 + np.diff(s) * (3 * begin + end) / 4
        motion = path.at(middle, path.piece(middle))
        for k in range(60):
            grown, slope = np.ones((2, len(middle)))
            slope *= 0.0
            for _ in range(0 if k < 6 else rng.integers(1, 4)):
                width, at, size = (
                    length * rng.uniform(0.02, 0.5),
                    rng.uniform(s[0], s[-1]),
                    rng.normal() * 10 ** rng.uniform(-3, 0),
                )
                near = np.clip((middle - at) / width, -1, 1)
                grown += size * (1 - near**2) ** 2
                slope -= size * 4 * near * (1 - near**2) / width
            grown += 10.0 ** -(k / 2 + 0.5) * (k < 6)
            if grown.min() <= 0 or (h / np.sqrt(grown)).sum() > h.sum() * (1 - 2e-4):
                continue
            faster += 1
            square, acceleration = x * grown, u * grown + x * slope / 2
            q, first, second = motion
            qd, qdd = first * np.sqrt(square)[:, None], first * acceleration[:, None] + second * square[:, None]
            assert max(surveyed.shares(given, robot, q, qd, qdd).values()) > left
    assert faster > 10


POINTS = [[1.0, 0.4], [0.3, -0.9], [1.2, 0.6]]
CASES = [
    {"voltage": 24, "current": 9},
    {"voltage": 30, "torque": 1.1, "speed": 140},
    {"current": 8, "speed": 90},
]


@pytest.mark.slow  # seconds on many points
@pytest.mark.parametrize("limits", CASES)
def test_its_time_is_known_to_the_accuracy_that_is_promised(limits, monkeypatch):
    given = scenario(planar(limits), {"via": POINTS, "profile": "spline", "fastest": True}, q=[0.1, 0.7])
    found = end_of(given)
    monkeypatch.setattr(fastest_timing, "__defaults__", (ACCURACY / 20,))
    monkeypatch.setattr("armsim.fastest.timing.MOST_POINTS", 20000)
    assert found == pytest.approx(end_of(given), rel=ACCURACY)
    assert end_of(given) < found


def test_a_path_beyond_the_range_of_a_joint_is_refused_with_the_joint_and_the_place():
    given = slider({}, {"limits": {"upper": 0.5, "stiffness": 1e4, "damping": 10}}, limit=30)
    with pytest.raises(FileFaults, match=r"x leaves its range at 0\.5 m and gets to 0\.6 m: 83\.\d+ % along it"):
        armsim.reference(given)


@pytest.mark.slow  # seconds on many points
@pytest.mark.parametrize("limits", CASES)
def test_limits_of_full_motors_hold_between_the_points_of_the_grid_and_one_of_them_binds(limits):
    given = scenario(planar(limits), {"via": POINTS, "profile": "spline", "fastest": True}, q=[0.1, 0.7])
    used = most_used(given)
    assert max(used.values()) < 1 + 5e-7
    assert max(used.values()) > 0.999
    planned = armsim.reference(given)
    assert planned.exceeded == ()
    (stage,) = planned.stages
    bound = sum(it.to_s - it.from_s for it in stage.bindings)
    assert bound > 0.9 * planned.end


@pytest.mark.parametrize("starts", [True, False])
@pytest.mark.parametrize("accelerations", [(0.5, 0.5), (0.5, 0.45)])
def test_a_limit_with_friction_that_is_passed_just_beside_rest_is_seen_between_the_places(starts, accelerations):
    # 0.05 w - w² is greatest at w = 0.025, a 200th of the way to the first place at which limits are looked at
    u = np.array(accelerations)
    length, way = 1.0, np.sqrt(u.sum())
    timing = PathTiming(np.array([0.0, length]), np.array([0.0, way]), u[:1], u[1:], *[np.ones(1)] * 4)
    if not starts:
        timing = timing._replace(w=timing.w[::-1], begin=-u[1:], end=-u[:1])
    row = np.broadcast_to([0.0, -1.0, 0.05, 0.0], (1, 1, len(INNER), 4))
    _, _, most = used(timing, np.ascontiguousarray(row))
    assert most[0, 0] == pytest.approx(0.025**2, rel=1e-9)


@pytest.mark.slow  # derivatives are compiled
def test_the_path_of_one_joint_takes_as_long_as_the_plan_of_least_time():
    # every motion of one joint is along the same path; the plan's voltage is constant in each of its intervals
    given = scenario(pendulum({**FULL, "limits": {"voltage": 24}}), {"via": [[0.9]], "fastest": True}, q=[-0.6])
    given["control"]["output"] = "voltage"
    planned = armsim.plan(given | {"plan": {"minimise": "time", "to": {"q": [0.9]}, "intervals": 80}})
    assert planned.status == "solved"
    assert end_of(given) == pytest.approx(planned.time, rel=ACCURACY)


@pytest.mark.slow  # an optimisation
def test_a_direct_method_tends_to_the_same_time_from_above():
    # squared path speeds at points, limits by inverse dynamics in the middle between them
    given = scenario(planar(CASES[0]), {"via": POINTS, "profile": "spline", "fastest": True}, q=[0.1, 0.7])
    read = read_scenario(given)
    (stage,) = read.command.reference.stages
    path, robot = stage.path, Robot(read.arm)
    s = path.grid(40)
    d, N = np.diff(s), len(s) - 1
    middle, k = (s[1:] + s[:-1]) / 2, np.arange(N)
    q, slope, second = path.at(middle, path.piece(middle))

    def unused(a, b):
        x, u = (a + b) / 2, (b - a) / (2 * d)
        qd, qdd = slope * np.sqrt(x)[:, None], slope * u[:, None] + second * x[:, None]
        volts, amperes = robot.motor_demand(qd, robot.inverse_dynamics(q, qd, qdd))
        taken = np.concatenate([volts / CASES[0]["voltage"], amperes / CASES[0]["current"]], axis=1).T
        return np.concatenate([1 - taken, 1 + taken])

    def ends(x):
        whole = np.concatenate([[0.0], x, [0.0]])
        return whole[:-1], whole[1:]

    def derivatives(x, e=1e-6):
        (a, b), found = ends(x), np.zeros((8, N, N + 1))
        found[:, k, k], found[:, k, k + 1] = ((unused(*it) - unused(a, b)) / e for it in ((a + e, b), (a, b + e)))
        return found[..., 1:-1].reshape(8 * N, N - 1)

    def time(x):
        a, b = (np.sqrt(np.maximum(it, 1e-16)) for it in ends(x))
        h, by = 2 * d / (a + b), np.zeros(N + 1)
        by[:-1] -= h / (a + b) / (2 * a)
        by[1:] -= h / (a + b) / (2 * b)
        return h.sum(), by[1:-1]

    start = np.interp(s[1:-1], stage.timing.s, stage.timing.w**2) / 2
    limits = {"type": "ineq", "fun": lambda x: unused(*ends(x)).ravel(), "jac": derivatives}
    options = {"maxiter": 300, "ftol": 1e-9}
    found = minimize(
        time, start, jac=True, method="SLSQP", bounds=[(1e-6, None)] * len(start), constraints=limits, options=options
    )
    assert found.success
    assert 0 < found.fun / read.command.reference.knots[-1] - 1 < 2.5e-3  # 4.5e-3 of half as many points


@pytest.mark.slow  # optimisations
@pytest.mark.parametrize("seed", [1, 2])
def test_a_direct_method_under_bounded_jerk_tends_to_the_same_time_from_above(seed):
    # path jerk that is constant on equal parts of the time, limits at the ends of each: 20 take 1.6 and 3.4 % longer
    limits = {"speed": [1.5, 2.0], "acceleration": [6.0, 9.0], "jerk": [60.0, 90.0]}
    points = np.random.default_rng(seed).uniform(-1.2, 1.2, (4, 2)).tolist()
    given = scenario(planar({}), {"via": points[1:], "profile": "spline", "fastest": True, **limits}, q=points[0])
    (stage,) = read_scenario(given).command.reference.stages
    path, best, timing = stage.path, stage.times[-1], stage.timing
    way = path.breaks[-1]

    def states(x):
        j, h = 1e3 * x[:-1] * way / best**3, x[-1] * best / (len(x) - 1)
        u = np.append(0.0, np.cumsum(h * j))
        w = np.append(0.0, np.cumsum(h * (u[:-1] + h * j / 2)))
        return np.append(0.0, np.cumsum(h * (w[:-1] + h * (u[:-1] / 2 + h * j / 6)))), w, u, j

    def unused(x):
        s, w, u, j = states(x)
        k = path.piece(s)
        _, slope, second = path.at(s, k)
        w, u = w[:, None], u[:, None]
        beside = 3 * second * w * u + path.third(s, k) * w**3
        taken = [slope * w / limits["speed"], (slope * u + second * w**2) / limits["acceleration"]]
        taken += [(slope[it] * j[:, None] + beside[it]) / limits["jerk"] for it in (slice(0, -1), slice(1, None))]
        taken = np.concatenate(taken).ravel()
        return np.concatenate([1 - taken, 1 + taken, w.ravel() * best / way])

    def missed(x):
        s, w, u, _ = states(x)
        return np.array([s[-1] - way, w[-1] * best, u[-1] * best**2]) / way

    def slower(parts):
        u = np.interp(np.linspace(0.0, best, parts + 1), stage.times, np.append(timing.begin, timing.end[-1]))
        start = np.append(np.diff(u) * parts * best**2 / way / 1e3 / 1.2**3, 1.2)
        last, kept = np.eye(parts + 1)[-1], [{"type": "ineq", "fun": unused}, {"type": "eq", "fun": missed}]
        found = minimize(
            lambda x: (x[-1], last),
            start,
            jac=True,
            method="SLSQP",
            constraints=kept,
            options={"maxiter": 200, "ftol": 1e-7},
        )
        assert found.success
        assert min(unused(found.x).min(), -np.abs(missed(found.x)).max()) > -1e-6
        return found.fun - 1.0

    assert 0.0 < slower(20) < min(0.035, slower(10) / 1.8)


@pytest.mark.slow  # seconds on many points
def test_no_slower_timing_of_the_same_path_that_limits_admit_is_faster():
    # the path by any other profile that keeps to the voltage: scaled quintic, trapezoids of many shapes
    limits = {"voltage": 24, "current": 9}
    start, end = [0.2, 0.5], [0.9, -0.7]
    best = end_of(scenario(planar(limits), {"via": [end], "fastest": True}, q=start))
    rng = random.Random(4)
    for _ in range(12):
        speed, acceleration = rng.uniform(1, 6), rng.uniform(5, 60)
        profile = rng.choice(["trapezoid", "quintic", "cubic"])
        reference = {"via": [end], "speed": speed, "acceleration": acceleration, "profile": profile}
        other = armsim.reference(scenario(planar(limits), reference, q=start))
        assert other.exceeded or other.end > best


@pytest.mark.slow  # seconds on many points
def test_a_margin_is_left_of_every_limit():
    given = scenario(
        planar({"voltage": 24, "current": 9}), {"via": [[0.9, -0.7]], "fastest": True, "margin": 0.2}, q=[0.2, 0.5]
    )
    used = most_used(given)
    assert 0.799 < max(used.values()) < 0.8 + 5e-7


@pytest.mark.slow  # seconds on many points
def test_several_points_are_each_a_stop_and_a_spline_passes_them():
    points = [[0.9, -0.7], [0.2, 0.1]]
    robot = planar({"voltage": 24})
    stops, passes = (
        read_scenario(
            scenario(robot, {"via": points, "fastest": True, "start": 0.1, **more}, q=[0.2, 0.5])
        ).command.reference
        for more in ({}, {"profile": "spline"})
    )
    assert [len(x.stages) for x in (stops, passes)] == [2, 1]
    assert stops.at(0.1).q == pytest.approx([0.2, 0.5])
    between = float(stops.stages[1].begin)
    assert stops.at(between).q == pytest.approx(points[0], abs=1e-12)
    assert stops.at(between).qd == pytest.approx([0, 0], abs=1e-9)
    assert passes.knots[-1] != stops.knots[-1]
    nearest = min(math.dist(passes.at(t).q, points[0]) for t in np.linspace(0.1, passes.knots[-1], 3000))
    assert nearest < 2e-3
    assert stops.at(9.0).q == pytest.approx(points[1], abs=1e-12)


@pytest.mark.slow  # the arm's kinematics are compiled
def test_a_tool_on_a_line_takes_the_trapezoid_of_its_own_limits():
    reference = {"line": [-0.45, 0.1, 0.3], "speed": 0.5, "acceleration": 4, "fastest": True}
    given = scenario("ur5e", reference, q=[0, -1.4, 1.9, -2.1, -1.57, 0])
    planned = armsim.reference(given)
    start = np.array(read_scenario(given).command.reference.spans[0].at(0.0)[0])
    length = math.dist(start, [-0.45, 0.1, 0.3])
    assert planned.end == pytest.approx(length / 0.5 + 0.5 / 4, rel=3e-4)
    assert planned.tool.deviation.value < 1e-9
    assert planned.tool.speed.value == pytest.approx(0.5, rel=1e-5)
    assert {it.joint for stage in planned.stages for it in stage.bindings} == {"tool"}


@pytest.mark.slow  # seconds on many points
def test_rows_of_a_file_are_a_path_whatever_their_times(tmp_path):
    t = np.linspace(0, 1, 30)
    q = np.column_stack([np.sin(2 * t), 0.5 * t * t])
    ends = []
    for name, times in (("even", t), ("uneven", t**1.5)):
        rows = "\n".join(f"{x!r},{a!r},{b!r}" for x, (a, b) in zip(times.tolist(), q.tolist(), strict=True))
        (tmp_path / f"{name}.csv").write_text(f"t_s,q_shoulder_rad,q_elbow_rad\n{rows}\n")
        reference = {"csv": str(tmp_path / f"{name}.csv"), "fastest": True}
        ends.append(end_of(scenario(planar({"voltage": 24}), reference, q=[0, 0])))
    assert ends[0] == ends[1]


@pytest.mark.slow  # seconds on many points
def test_what_decides_it_cannot_be_left_open():
    given = scenario(planar({"voltage": 24}), {"via": [[0.9, -0.7]], "fastest": True}, q=[0.2, 0.5])
    with pytest.raises(UsageError, match="structure"):
        armsim.simulate_many(given, {"robot.joints[0].motor.limits.voltage": [20, 24]})
    runs = armsim.simulate_many(given, {"control.kp[0]": [90.0, 110.0]})
    assert runs.complete.all()


@pytest.mark.parametrize(
    "more", [{"times": [1.0]}, {"ends": "natural"}, {"profile": "quintic"}, {"fastest": False, "margin": 0.1}]
)
def test_keys_that_it_has_no_use_for_are_told(more):
    given = slider({"speed": 1, "acceleration": 3, **more}, limit=30)
    with pytest.raises(FileFaults) as told:
        read_scenario(given)
    assert next(key for key in more if key != "fastest") in told.value.faults[0].path


@pytest.mark.slow  # toppra evaluates inverse dynamics in Python
def test_toppra_takes_as_long_where_limits_are_convex_and_exceeds_them_between_its_points():
    toppra = pytest.importorskip("toppra")
    toppra.setup_logging("ERROR")
    rng = np.random.default_rng(5)
    beyond = []
    for _ in range(3):
        points = rng.uniform(-1, 1, (4, 2))
        given = scenario("two_link", {"via": points[1:].tolist(), "profile": "spline", "fastest": True},
                         q=points[0].tolist(), limit=[60, 25])  # fmt: skip
        read = read_scenario(given)
        motion, arm, bound = read.command.reference, read.arm, np.array([60.0, 25.0])
        s = np.append(0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
        path = toppra.SplineInterpolator(s, points, "natural")
        limit = toppra.constraint.JointTorqueConstraint(
            lambda q, v, a, arm=arm: np.array(drive_torques(arm, q, v, a)), np.column_stack([-bound, bound]), np.zeros(2),
            discretization_scheme=toppra.constraint.DiscretizationType.Interpolation,
        )  # fmt: skip
        grid = s[-1] * np.sin(np.linspace(0, math.pi / 2, 1201)) ** 2
        theirs = toppra.algorithm.TOPPRA([limit], path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
        other = theirs.compute_trajectory()
        assert motion.knots[-1] == pytest.approx(other.duration, rel=1e-3)  # theirs converges in the first order
        assert motion.knots[-1] < other.duration * (1 + 1e-4)

        def used(at, end, arm=arm, bound=bound):
            taken = [np.abs(drive_torques(arm, *at(t))) / bound for t in np.linspace(0, end, 2001)[1:-1]]
            return np.max(taken)

        ours = used(lambda t, m=motion: (m.at(t).q, m.at(t).qd, m.at(t).qdd), motion.knots[-1])
        assert ours < 1 + 5e-7
        beyond.append(used(lambda t, o=other: [o(t, k) for k in range(3)], other.duration))
    assert max(beyond) > 1 + 2e-6


@pytest.mark.slow  # toppra on thousands of points
@pytest.mark.parametrize(("robot", "seed"), [("panda", 0), ("puma560", 3), ("puma560", 5)])
def test_random_splines_of_shipped_arms_without_friction_take_as_long_as_toppra_tends_to(robot, seed):
    # that of puma560 by seed 3 is bounded by the speed at a point without inertia: a limit lowered there costs time far around
    pytest.importorskip("toppra")
    from tests.surveys.toppra import Comparison

    compared = Comparison(robot)
    points = compared.points(seed)
    time, excess, _ = compared.ours(points)
    assert time == pytest.approx(2 * compared.theirs(points, 4000)[0] - compared.theirs(points, 2000)[0], rel=1e-4)
    assert excess < 0
