"""Paths of tools: closed forms of inverse kinematics, distances from the path, what refuses them and where."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armsim
from armsim import FileFaults, UsageError
from armsim.dynamics import frame_jacobian, frame_pose
from armsim.loading import read_scenario
from armsim.loading.tool_motion import TOLERANCE

PUMA = [0.1, 0.8, -3.0, 0.3, 0.6, 0.2]
FOLDED = [0.1, 0.5, 0.3, -1.5, 0.2, 0.7, 0.1]  # of the iiwa14
CORNERS = {
    "path": [
        {"line": [0.6, 0.3, 0.2]},
        {"arc": [0.4, 0.5, 0.2], "through": [0.55, 0.45, 0.2], "rpy": [1, 1, 1]},
        {"line": [0.4, 0.4, 0.5]},
    ],
    "speed": 0.3,
    "acceleration": 1,
    "blend": 0.03,
}


def scenario(robot, q, reference, **more):
    control = {"law": "computed_torque", "output": "torque", "kp": 100, "kd": 20, "reference": reference}
    data = {"format": "armsim/scenario/1", "robot": robot, "duration": 1, "integrator": {"method": "rk4", "dt": 1e-3}}
    return read_scenario(data | {"initial": {"q": q}, "control": control} | more)


def motion(*given, **more):
    return scenario(*given, **more).command.reference


def at(reference, t):
    now = reference.at(float(t))
    return np.array([now.q, now.qd, now.qdd])


def beside(made, many=9):
    """The greatest distance of the tool from its path [m], and of its axes from theirs, also between knots."""
    reference, arm = made.command.reference, made.arm
    far, turned = 0.0, np.zeros(3)
    for span in reference.spans:
        for t in np.linspace(span.begin, span.end, many):
            position, rotation, _, _ = span.at(float(t))
            pose = frame_pose(arm, reference.at(float(t)).q, arm.frame(reference.frame))
            far = max(far, math.dist(position, [*pose.position]))
            axes = np.array([[*row] for row in pose.rotation])
            turned = np.maximum(turned, np.abs(axes - rotation.as_matrix()).max(axis=0))
    return far, turned


def planar_line(l1=1.0, l2=0.8, q=(-1.0, 0.8)):
    """The reference of two_link along a line within 2 s, with the exact motion of its joints by the cosine law."""
    start = np.array([l1 * math.cos(q[0]) + l2 * math.cos(sum(q)), l1 * math.sin(q[0]) + l2 * math.sin(sum(q))])
    end = np.array([0.5, 0.6])

    def exact(t):
        x, sd, sdd = t / 2, 30 * (t / 2) ** 2 * (1 - t / 2) ** 2 / 2, 60 * (t / 2) * (1 - t / 2) * (1 - t) / 4
        p = start + (end - start) * (10 * x**3 - 15 * x**4 + 6 * x**5)
        b = math.acos((p @ p - l1**2 - l2**2) / (2 * l1 * l2))
        a = math.atan2(p[1], p[0]) - math.atan2(l2 * math.sin(b), l1 + l2 * math.cos(b))
        arm1, arm2 = l1 * np.array([-math.sin(a), math.cos(a)]), l2 * np.array([-math.sin(a + b), math.cos(a + b)])
        J = np.column_stack([arm1 + arm2, arm2])
        v = np.linalg.solve(J, (end - start) * sd)
        turn1, turn2 = l1 * np.array([math.cos(a), math.sin(a)]), l2 * np.array([math.cos(a + b), math.sin(a + b)])
        bias = -turn1 * v[0] ** 2 - turn2 * (v[0] + v[1]) ** 2
        return np.array([[a, b], v, np.linalg.solve(J, (end - start) * sdd - bias)])

    return motion("two_link", [*q], {"line": [*end, 0], "orientation": "free", "times": [2]}), exact


def test_along_a_line_two_links_move_by_the_cosine_law():
    reference, exact = planar_line()
    for t in reference.knots[:-1]:
        assert at(reference, t) == pytest.approx(exact(t), abs=1e-12)
    for t in np.linspace(0, 2, 101):
        assert at(reference, t)[0] == pytest.approx(exact(t)[0], abs=3e-10)  # TOLERANCE over the least singular value
    assert at(reference, 5.0).tolist() == [at(reference, 2.0)[0].tolist(), [0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("robot", "q", "reference"),
    [
        ("puma560", PUMA, CORNERS),
        ("ur5e", [0.1, -1.2, 1.5, -1.0, -1.2, 0.3], {"line": [-0.5, -0.3, 0.3], "rpy": [2, 0.3, 1], "times": [2]}),
        ("arm5", [0.2, -0.6, 0.3, 0.4, -0.4], {"line": [0.5, 0.15, 0.15], "orientation": "z", "times": [1]}),
        ("arm5", [0.2, -0.6, 0.3, 0.4, -0.4], {"line": [0.5, 0.15, 0.15], "orientation": "free", "times": [1]}),
        ("iiwa14", FOLDED, {"line": [0.4, 0.3, 0.5], "speed": 0.3, "acceleration": 1}),
        ("iiwa14", FOLDED, {"line": [0.4, 0.3, 0.5], "rpy": [1, 0.5, 0], "orientation": "x", "times": [1]}),
        (
            "torso",
            [0, 0.3, 0.3, 0.2, 1, 0, 0, 0, 0],
            {"line": [0.26, 0.45, 0.87], "frame": "left_hand", "orientation": "free", "times": [1]},
        ),
    ],
    ids=["puma560", "ur5e", "arm5 axis", "arm5", "iiwa14", "iiwa14 axis", "frame"],
)
@pytest.mark.handful(1)
def test_the_tool_stays_on_its_path_between_knots(robot, q, reference):
    made = scenario(robot, q, reference)
    far, turned = beside(made)
    follows = reference.get("orientation", "full")
    columns = {"full": [0, 1, 2], "free": []}.get(follows, ["xyz".find(follows)])
    assert far < TOLERANCE
    assert max(turned[columns], default=0.0) < TOLERANCE


@pytest.mark.parametrize("orientation", ["full", "y", "free"])
@pytest.mark.handful(1)
def test_redundant_joints_move_at_the_least_speeds_and_their_accelerations_are_the_derivative(orientation):
    turn = {} if orientation == "free" else {"rpy": [1, 0.5, 0]}
    made = scenario("iiwa14", FOLDED, {"line": [0.4, 0.3, 0.5], "orientation": orientation, "times": [1], **turn})
    reference, arm, h = made.command.reference, made.arm, 1e-4
    for t in reference.knots[1:-1:4]:
        q, qd, qdd = at(reference, t)
        J = np.roll(frame_jacobian(arm, q.tolist(), arm.tool), 3, axis=0)
        (span,) = reference.spans
        _, R, v, _ = span.at(t)
        d = R.as_matrix()[:, 1]
        P = np.eye(6)
        P[3:, 3:] = {"full": np.eye(3), "y": np.eye(3) - np.outer(d, d), "free": np.zeros((3, 3))}[orientation]
        assert qd == pytest.approx(np.linalg.pinv(P @ J, rcond=1e-9) @ P @ v, abs=1e-9)
        change = (at(reference, t + h)[1] - at(reference, t - h)[1]) / (2 * h)
        assert qdd == pytest.approx(change, abs=1e-4 * max(abs(qdd)))  # of second order in h


@pytest.mark.parametrize(
    "move", [{"line": [0.5, 0.3, 0.4]}, {"arc": [0.5, 0.3, 0.4], "through": [0.65, 0.2, 0.6]}], ids=["line", "arc"]
)
def test_a_trapezoid_leads_the_tool_at_a_constant_speed(move):
    made = scenario("puma560", PUMA, {**move, "speed": 0.25, "acceleration": 2})
    reference, end = made.command.reference, made.command.reference.knots[-1]
    for t in np.linspace(0.13, end - 0.13, 40):
        q, qd, _ = at(reference, t)
        assert math.hypot(*np.array(frame_jacobian(made.arm, q.tolist(), made.arm.tool))[3:] @ qd) == pytest.approx(
            0.25, abs=1e-8
        )


def test_an_arc_is_the_circle_through_three_points():
    start = [*frame_pose(armsim.load_robot("puma560").arm, PUMA, armsim.load_robot("puma560").arm.tool).position]
    reference = motion("puma560", PUMA, {"arc": [0.5, 0.3, 0.4], "through": [0.65, 0.2, 0.6], "times": [1]})
    curve = reference.spans[0].leg.curve
    points = np.array([curve.at(s)[0] for s in np.linspace(0, curve.length, 50)])
    assert points[0] == pytest.approx(start, abs=1e-14)
    assert points[-1] == pytest.approx([0.5, 0.3, 0.4], abs=1e-14)
    assert np.linalg.norm(points - curve.center, axis=1) == pytest.approx(math.hypot(*curve.radius), abs=1e-14)
    assert math.dist(curve.center, [0.65, 0.2, 0.6]) == pytest.approx(math.hypot(*curve.radius), abs=1e-14)
    assert min(np.linalg.norm(points - [0.65, 0.2, 0.6], axis=1)) < curve.length / 49  # it is passed on the way


def test_corners_are_cut_smoothly_and_passed_without_a_stop():
    reference = motion("puma560", PUMA, CORNERS | {"jerk": 30})
    inner = reference.knots[1:-1]
    jumps = [abs(at(reference, np.nextafter(t, 0)) - at(reference, t)).max() for t in inner]
    assert max(jumps) < 1e-8
    speeds = [math.hypot(*at(reference, t)[1]) for t in np.linspace(*np.array([0.1, 0.9]) * inner[-1], 200)]
    assert min(speeds) > 0.01
    ends = [span.leg.curve.at(0.0)[0] for span in reference.spans if span.leg.curve.length < 0.06]  # of corners
    assert {round(math.dist(p, q), 12) for p, q in zip(ends, ([0.6, 0.3, 0.2], [0.4, 0.5, 0.2]))} >= {0.03}


def test_moves_without_a_blend_stop_at_corners_and_pass_where_they_are_tangent():
    down = {"line": [0.6, 0.3, 0.3]}
    path = [{"line": [0.6, 0.3, 0.2]}, {"line": [0.6, 0.35, 0.2]}, {"line": [0.6, 0.4, 0.2]}, down]
    reference = motion("puma560", PUMA, {"path": path, "speed": 0.3, "acceleration": 1})
    still = [t for t in reference.knots if abs(at(reference, t)[1]).max() < 1e-9]
    assert len(still) == 4  # at the beginning, at the two corners, and in the end


def test_joint_moves_and_lines_follow_one_another():
    path = [
        {"joints": [0.3, 0.8, -2.8, 0.3, 0.6, 0.2], "duration": 0.5},
        {"line": [0.6, 0.3, 0.2]},
        {"joints": PUMA, "duration": 1},
    ]
    made = scenario("puma560", PUMA, {"path": path, "speed": 0.5, "acceleration": 2})
    reference = made.command.reference
    assert at(reference, 0.5)[0] == pytest.approx(path[0]["joints"])
    assert at(reference, 0.5)[1] == pytest.approx([0] * 6, abs=1e-12)
    assert at(reference, 99)[0] == pytest.approx(PUMA, abs=0)
    assert at(reference, 0.25)[0] == pytest.approx((np.array(PUMA) + path[0]["joints"]) / 2)
    assert beside(made)[0] < TOLERANCE


def test_times_lead_from_rest_to_rest():
    path = [{"line": [0.6, 0.3, 0.2]}, {"joints": PUMA}]
    reference = motion("puma560", PUMA, {"path": path, "times": [1, 2.5]})
    assert at(reference, 1.0)[1] == pytest.approx([0] * 6, abs=1e-12)
    assert at(reference, 2.5)[0] == pytest.approx(PUMA, abs=0)


def test_a_turn_on_the_spot_is_a_slerp_at_the_given_speed():
    path = {"rpy": [1.5, 0.6, 1.5]}
    made = scenario("puma560", PUMA, {"path": path, "speed": 1, "acceleration": 4, "angular_speed": 0.5})
    reference = made.command.reference
    (leg,) = {id(span.leg): span.leg for span in reference.spans}.values()
    q, qd, _ = at(reference, reference.knots[-1] / 2)
    w = np.array(frame_jacobian(made.arm, q.tolist(), made.arm.tool))[:3] @ qd
    assert w == pytest.approx(0.5 * leg.turn / math.hypot(*leg.turn), abs=1e-8)
    rpy = frame_pose(made.arm, at(reference, 99)[0].tolist(), made.arm.tool).frame().rpy
    assert rpy == pytest.approx(path["rpy"], abs=1e-10)


@pytest.mark.slow
def test_a_quaternion_is_the_rotation_of_the_same_rpy():
    half = [math.cos(0.35), math.sin(0.35), 0, 0]
    by = [{"rpy": [0.7, 0, 0]}, {"quaternion": half}, {"quaternion": [-3 * x for x in half]}]
    ends = [at(motion("iiwa14", FOLDED, {"line": [0.4, 0.3, 0.5], "times": [1], **turn}), 2)[0] for turn in by]
    assert ends[1] == pytest.approx(ends[0], abs=1e-9)
    assert ends[2] == pytest.approx(ends[0], abs=1e-9)


def test_sliding_joints_follow_a_line_as_it_is():
    axes = ([1, 0, 0], [0, 1, 0], [0, 0, 1])
    body = [{"point": {"mass": 1, "center": [0, 0, 0]}}]
    joints = [
        {"name": f"P{i}", "type": "prismatic", "origin": {"axis": axis}, "bodies": body} for i, axis in enumerate(axes)
    ]
    robot = {"format": "armsim/robot/1", "name": "gantry", "convention": "origin", "joints": joints}
    reference = motion(robot, [0.1, 0.2, 0.3], {"line": [0.4, -0.2, 0.5], "orientation": "free", "times": [1]})
    x = 10 * 0.3**3 - 15 * 0.3**4 + 6 * 0.3**5
    assert at(reference, 0.3)[0] == pytest.approx([0.1 + 0.3 * x, 0.2 - 0.4 * x, 0.3 + 0.2 * x], abs=1e-10)
    assert at(motion(robot, [0.1, 0.2, 0.3], {"line": [0.4, -0.2, 0.5], "times": [1]}), 0.3).tolist() == pytest.approx(
        at(reference, 0.3), abs=1e-10
    )


def test_degrees_and_what_is_written_out_lead_to_the_same_bits():
    q = [5.0, 45.0, -170.0, 15.0, 30.0, 10.0]
    path = [{"line": [0.6, 0.3, 0.2], "rpy": [90, 60, 90]}, {"joints": q, "duration": 1}]
    reference = {"path": path, "speed": 0.3, "acceleration": 1, "angular_speed": 40}
    made = scenario("puma560", q, reference, units={"angle": "deg"})
    again = read_scenario(made.scenario_data)
    tables = [[c.y for c in joint] for joint in made.command.reference.coefficients]
    assert [[c.y for c in joint] for joint in again.command.reference.coefficients] == tables
    turned = [
        {"line": [0.6, 0.3, 0.2], "rpy": [math.pi / 2, math.pi / 3, math.pi / 2]},
        {"joints": np.radians(q).tolist(), "duration": 1},
    ]
    radians = reference | {"path": turned, "angular_speed": math.radians(40)}
    other = motion("puma560", np.radians(q).tolist(), radians)
    for t in (0.5, 1.7):
        assert at(other, t) == pytest.approx(at(made.command.reference, t), abs=1e-9)


def refusal(told, *given):
    with pytest.raises(FileFaults) as info:
        motion(*given)
    told(str(info.value))
    return info.value.faults[0]


def place(fault):
    """The metres along a move, and the point, of a refusal."""
    way, rest = fault.found.split(": ")[1].split(" m along it")
    return float(way), [float(x) for x in rest[rest.index("[") + 1 : rest.index("]")].split(",")]


def test_a_line_is_refused_where_it_leaves_the_reach(told):
    fault = refusal(told, "two_link", [-1, 0.8], {"line": [2.5, 0.3, 0], "orientation": "free", "times": [2]})
    way, point = place(fault)
    assert "reach" in fault.found
    assert math.hypot(*point) == pytest.approx(1.8, abs=1e-5)  # both links stretched
    start = [math.cos(-1) + 0.8 * math.cos(-0.2), math.sin(-1) + 0.8 * math.sin(-0.2)]
    assert way == pytest.approx(math.dist(start, point[:2]), abs=1e-5)


def test_a_line_is_refused_where_it_enters_the_hole_around_the_base(told):
    fault = refusal(told, "two_link", [-1, 2.5], {"line": [-0.2, 0.1, 0], "orientation": "free", "times": [2]})
    assert "reach" in fault.found
    assert math.hypot(*place(fault)[1]) == pytest.approx(0.2, abs=1e-5)  # the difference of the links


def test_a_turn_through_the_singular_wrist_of_a_puma_is_refused_there(told):
    q = [0.2, 0.8, -3.0, 0.0, -0.3, 0.0]
    arm = armsim.load_robot("puma560").arm
    there = frame_pose(arm, [*q[:4], 0.3, 0.0], arm.tool).frame().rpy
    fault = refusal(told, "puma560", q, {"path": {"rpy": there}, "times": [1]})
    assert "singular" in fault.found
    assert "t = 0.5 s" in fault.found  # halfway, where J5 is 0


def test_a_line_is_refused_where_a_joint_leaves_its_range(told):
    robot = armsim.load_robot("two_link").document.as_data()
    robot["joints"] = [dict(joint) for joint in robot["joints"]]
    robot["joints"][1] = dict(robot["joints"][1]) | {"limits": {"lower": 0, "upper": 100}}
    fault = refusal(told, robot, [-1, 0.8], {"line": [0.1, -0.5, 0], "orientation": "free", "times": [2]})
    assert "elbow at the end of its range" in fault.found
    assert math.hypot(*place(fault)[1]) ** 2 == pytest.approx(1.64 + 1.6 * math.cos(math.radians(100)), abs=1e-5)


@pytest.mark.parametrize(
    "reference",
    [
        {"arc": [0.6, 0.3, 0.2], "through": [0.6, 0.3, 0.2], "times": [1]},
        {"arc": [0.6, 0.3, 0.2], "times": [1]},
        {"line": [0.6, 0.3, 0.2], "arc": [0.6, 0.3, 0.2], "times": [1]},
        {"line": [0.6, 0.3, 0.2]},
        {"line": [0.6, 0.3, 0.2], "times": [0]},
        {"line": [0.6, 0.3, 0.2], "speed": [1] * 6, "acceleration": 1},
        {"line": [0.6, 0.3, 0.2], "speed": 1, "acceleration": 1, "profile": "spline"},
        {"line": [0.6, 0.3, 0.2], "times": [1], "orientation": "free", "rpy": [0, 0, 0]},
        {"line": [0.6, 0.3, 0.2], "times": [1], "rpy": [0, 0, 0], "quaternion": [1, 0, 0, 0]},
        {"via": [PUMA], "times": [1], "frame": "tool"},
        {"path": [{"line": [0.6, 0.3, 0.2]}, {"line": [0.6, 0.4, 0.2]}, {"line": [0.4, 0.4, 0.5]}], "blend": 0.06, "speed": 1,
         "acceleration": 1},
        {"path": [{"rpy": [1, 1, 1]}], "speed": 1, "acceleration": 1},
        {"path": {"joints": [0] * 6}, "speed": 1, "acceleration": 1},
        {"path": [{"joints": PUMA, "line": [1, 1, 1]}, {"through": [1, 1, 1]}, {}], "times": [1, 2, 3]},
        {"path": [{"line": [0.6, 0.3, 0.2], "duration": 1}], "speed": 1, "acceleration": 1},
        {"xyz": [0.6, 0.3, 0.2], "times": [1]},
        {"line": [0.6, 0.3, 0.2], "sped": 1, "acceleration": 1},
    ],
)  # fmt: skip
def test_what_is_no_path_is_refused(reference, told):
    refusal(told, "puma560", PUMA, reference)


def test_five_joints_cannot_keep_an_orientation_and_are_told_to_let_it_go(told):
    fault = refusal(told, "arm5", [0.2, -0.6, 0.3, 0.4, -0.4], {"line": [0.3, 0.3, 0.2], "times": [1]})
    assert "at most 5 of its 6 conditions" in fault.found
    assert "`orientation: z`" in fault.mend


def test_a_wrist_that_is_aligned_at_the_start_is_told_to_begin_elsewhere(told):
    fault = refusal(told, "ur5e", [0, -1.2, 1.5, -1.0, 0, 0], {"line": [-0.5, -0.3, 0.3], "times": [2]})
    assert "singular" in fault.found
    assert "initial.q" in fault.mend


def test_a_path_that_takes_too_many_knots_is_refused(told, monkeypatch):
    for module in ("tool_motion", "tool_reference"):
        monkeypatch.setattr(f"armsim.loading.{module}.MOST_TRIES", 10)
    assert "more than 10 tries" in refusal(told, "puma560", PUMA, CORNERS).found


def test_a_joint_that_leaves_its_range_between_knots_is_refused(told):
    line = {"line": [1.1, 0.5, 0], "orientation": "free", "times": [2]}
    turn = motion("two_link", [-1.2, 1.5], line)
    inner = [a + u * (b - a) for a, b in pairwise(turn.knots) for u in (0.25, 0.5, 0.75)]
    between, most = (max(at(turn, t)[0][1] for t in times) for times in (inner, turn.knots))
    assert between > most
    robot = armsim.load_robot("two_link").document.as_data()
    robot["joints"] = [dict(joint) for joint in robot["joints"]]
    upper = math.degrees((between + most) / 2)
    robot["joints"][1] = dict(robot["joints"][1]) | {"initial": 90, "limits": {"lower": 0, "upper": upper}}
    assert "elbow at the end of its range" in refusal(told, robot, [-1.2, 1.5], line).found


@pytest.mark.slow
def test_a_move_that_turns_more_than_it_leads_along_does_not_slow_its_neighbours():
    q = [0.1, -1.2, 1.5, -1.0, -1.2, 0.3]
    arm = armsim.load_robot("ur5e").arm
    pose = frame_pose(arm, q, arm.tool)
    x, y, z = (float(x) for x in pose.position)
    first, last = [x, y - 0.1, z], [x, y - 0.1, z - 0.03]
    rpy = [
        float(a)
        for a in (Rotation.from_rotvec([0, 0, 0.5]) * Rotation.from_matrix([[*r] for r in pose.rotation])).as_euler(
            "xyz"
        )
    ]
    path = {"path": [{"line": first}, {"line": last, "rpy": rpy}], "speed": 0.3, "acceleration": 1, "angular_speed": 1}
    cut = motion("ur5e", q, path | {"blend": 0.01})
    assert cut.knots[-1] == pytest.approx(motion("ur5e", q, path).knots[-1])  # it stops between them
    assert cut.knots[-1] < 3
    path["path"][1]["line"] = [x, y - 0.1, z - 0.3]
    gentle = motion("ur5e", q, path | {"blend": 0.01})
    speeds = [math.hypot(*at(gentle, t)[1]) for t in np.linspace(*np.array([0.2, 0.8]) * gentle.knots[-1], 99)]
    assert min(speeds) > 0.01  # it passes


def test_computed_torque_follows_a_path_within_the_integrators_error():
    line = {"line": [-0.5, -0.3, 0.3], "times": [0.5]}
    run = armsim.simulate(scenario("ur5e", [0.1, -1.2, 1.5, -1.0, -1.2, 0.3], line))
    headings = [name for name in run if name.startswith("q_ref_")]
    error = max(abs(run[name] - run[name.replace("q_ref_", "q_")]).max() for name in headings)
    assert error < 1e-8  # of rk4 at 1 ms


@pytest.mark.slow
def test_numbers_that_shape_a_path_cannot_be_left_open_and_gains_can(told):
    made = {"line": [0.6, 0.3, 0.2], "speed": 0.5, "acceleration": 1}
    file = scenario("puma560", PUMA, made, duration=0.01).scenario_data
    file |= {"parameters": {"y": 0.3}}
    file["control"]["reference"]["line"] = [0.6, "y", 0.2]
    for path in (
        "control.reference.speed",
        "initial.q[0]",
        "control.reference.line[0]",
        "parameters.y",
        "robot.tool.xyz",
    ):
        with pytest.raises(UsageError) as info:
            armsim.simulate_many(file, {path: [0.1, 0.2]})
        told(str(info.value))
    runs = armsim.simulate_many(file, {"control.kp[0]": [90.0, 100.0]})
    assert repr(runs) == "Runs(scenario: 2 runs, 2 complete)"


@pytest.mark.slow
def test_a_reference_tells_what_the_tool_does():
    planned = armsim.reference(scenario("puma560", PUMA, {"line": [0.6, 0.3, 0.2], "speed": 0.25, "acceleration": 2}))
    tool = planned.tool
    assert tool.speed.value == pytest.approx(0.25, abs=1e-8)
    assert tool.deviation.value < TOLERANCE
    q, _, _ = at(planned.scenario.command.reference, tool.manipulability.t_s)
    J = np.array(frame_jacobian(planned.scenario.arm, q.tolist(), planned.scenario.arm.tool))
    assert tool.manipulability.value == pytest.approx(abs(np.linalg.det(J)), rel=1e-9)
    assert tool.joint == "J2"
