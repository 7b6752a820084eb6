"""All solutions: against closed forms of books, published arms, and brute force from many starts."""

from __future__ import annotations

import math
import os
from dataclasses import replace

import numpy as np
import pytest

from armsim.dynamics import frame_pose, own_poses
from armsim.errors import UsageError
from armsim.inverse_kinematics import Pointing, PoseGoal
from armsim.inverse_kinematics.closed_form import closed_form
from armsim.inverse_kinematics.elimination import eliminate
from armsim.inverse_kinematics.kinematic_loop import kinematic_loop
from armsim.inverse_kinematics.solutions import candidates, solutions
from armsim.loading import read_robot
from armsim.model import Arm
from armsim.spatial import Matrix, Pose, Vector, Z, rotation_x
from tests.axes import arm_of_axes, matrix, multistart, random_axes, same

TOLERANCE = 1e-10  # m and rad, of `near.TOLERANCE`
FOUND = 1e-6  # rad or m: of a known configuration among the solutions, which may be badly conditioned
SIX = ["puma560", "puma560_akb", "manutec_r3", "ur5", "ur5e", "ur10", "ur20"]
KINDS = ["pose", "axis", "position"]


def goal_at(arm: Arm, q, kind: str = "pose") -> PoseGoal:
    """Where joint positions put the tool."""
    pose = frame_pose(arm, [float(x) for x in q], arm.tool)
    wanted = {"pose": pose.rotation, "axis": Pointing(Z, pose.rotation @ Z), "position": None}[kind]
    return PoseGoal(arm.tool, pose.position, wanted)


def turning(arm: Arm) -> np.ndarray:
    return np.array([joint.kind.turns for joint in arm.joints])


def check(arm: Arm, goal: PoseGoal, found) -> None:
    """Each meets the goal, and no two are the same."""
    for one in found:
        shift, turn = goal.missing(frame_pose(arm, one.q.tolist(), goal.frame))
        assert max(math.hypot(*shift), math.hypot(*turn)) < TOLERANCE
    for i, one in enumerate(found):
        assert not any(same(one.q, other.q, turning(arm), FOUND) for other in found[:i])


def has(arm: Arm, found, q) -> bool:
    return any(same(one.q, q, turning(arm), FOUND) for one in found)


def missed(arm: Arm, found, known) -> int:
    """How many of the known ones are not among those found."""
    return sum(not has(arm, found, q) for q in known)


def open_limits(arm: Arm) -> Arm:
    return arm.map_links(lambda link: replace(link, limit=None))


@pytest.fixture(scope="module")
def shipped() -> dict[str, Arm]:
    return {name: read_robot(name)[0] for name in SIX}


def test_two_links_in_a_plane_have_the_two_solutions_of_the_book():
    """Craig, section 4.4, by the law of cosines."""
    axes = ("R", (0, 0, 1), (0, 0, 0)), ("R", (0, 0, 1), (0.5, 0, 0))
    arm = arm_of_axes(*axes, tool=Pose(position=Vector(0.8, 0.0, 0.0)))
    x, y = 0.4, 0.5
    c = (x * x + y * y - 0.25 - 0.09) / 0.3
    expected = []
    for s in (math.sqrt(1.0 - c * c), -math.sqrt(1.0 - c * c)):
        expected.append([math.atan2(y, x) - math.atan2(0.3 * s, 0.5 + 0.3 * c), math.atan2(s, c)])
    found = solutions(arm, PoseGoal(arm.tool, Vector(x, y, 0.0)))
    assert len(found) == 2
    assert missed(arm, found, expected) == 0
    assert {one.branch for one in found} == {"elbow left", "elbow right"}
    assert solutions(arm, PoseGoal(arm.tool, Vector(x, y, 0.01))) == []  # not in the plane
    assert solutions(arm, PoseGoal(arm.tool, Vector(0.8, 0.1, 0.0))) == []  # out of reach


@pytest.mark.parametrize("name", ["puma560", "ur5e"])
def test_puma_and_ur5e_have_eight_solutions_with_eight_names(shipped, name):
    arm = open_limits(shipped[name])
    rng = np.random.default_rng(2)
    for _ in range(3):
        q = np.array([0.3, -0.9, 1.4, 0.5, 0.8, -0.4]) + rng.uniform(-0.3, 0.3, 6)
        goal = goal_at(arm, q)
        found = solutions(arm, goal)
        check(arm, goal, found)
        assert len(found) == 8
        assert has(arm, found, q)
        assert len({one.branch for one in found}) == 8
        assert not any(one.singular for one in found)


@pytest.mark.parametrize("name", SIX)
@pytest.mark.handful(2)
def test_shipped_arms_have_what_brute_force_finds(shipped, name):
    arm = open_limits(shipped[name])
    rng = np.random.default_rng(3)
    q = rng.uniform(-math.pi, math.pi, 6)
    goal = goal_at(arm, q)
    found = solutions(arm, goal)
    check(arm, goal, found)
    assert has(arm, found, q)
    known = multistart(arm, Pose(goal.orientation, goal.position), rng, 300)
    assert len(known) > 1
    assert missed(arm, found, known) == 0


@pytest.mark.parametrize("name", SIX)
@pytest.mark.handful(4)
def test_closed_forms_and_elimination_agree(shipped, name):
    arm = open_limits(shipped[name])
    q = np.random.default_rng(4).uniform(-math.pi, math.pi, 6)
    goal = goal_at(arm, q)
    loop = kinematic_loop(arm, goal)
    assert closed_form(loop) is not None
    with np.errstate(all="ignore"):
        rough = eliminate(loop, *loop.motions(goal))[0]
    for one in solutions(arm, goal):
        assert any(same(one.q, x, turning(arm), 1e-3) for x in rough if np.isfinite(x).all())


def test_manseur_and_doty_arm_has_sixteen_solutions():
    """R. Manseur and K. L. Doty, "A robot manipulator with 16 real inverse kinematic solution sets", IJRR 8(5), 1989.

    Table and pose to six digits, as they are quoted; brute force confirms the count.
    """
    degree = math.radians(1.0)
    table = [(0, 0.3, 90), (0, 1, 1), (0.2, 0, 90), (0, 1.5, 1), (0, 0, 90), (0, 0, 1)]  # d, a, alpha
    links, before = [], Pose()
    for d, a, alpha in table:
        links.append((before.rotation @ Z, before.position))
        before = before @ Pose(rotation_x(alpha * degree), Vector(float(a), 0.0, float(d)))
    arm = arm_of_axes(*(("R", tuple(axis), tuple(point)) for axis, point in links), tool=before)
    P = np.array([[-0.760117, -0.641689, 0.102262], [0.133333, 0.0, 0.991071], [-0.635959, 0.766965, 0.085558]])
    U, _, V = np.linalg.svd(P)
    pose = Pose(matrix(U @ V), Vector(-1.140175, 0.0, 0.0))
    goal = PoseGoal(arm.tool, pose.position, pose.rotation)
    found = solutions(arm, goal)
    check(arm, goal, found)
    assert len(found) == 16
    assert {one.branch for one in found} == {str(i) for i in range(1, 17)}
    assert missed(arm, found, multistart(arm, pose, np.random.default_rng(5), 400)) == 0


def survey(rng: np.random.Generator, axes, starts: int = 400) -> tuple[int, int]:
    """How many solutions brute force finds of an arm, and how many of them are missed."""
    arm = arm_of_axes(*axes)
    q = rng.uniform(-2.5, 2.5, 6)
    goal = goal_at(arm, q)
    found = solutions(arm, goal)
    check(arm, goal, found)
    assert has(arm, found, q)
    known = multistart(arm, Pose(goal.orientation, goal.position), rng, starts)
    return len(known), missed(arm, found, known)


def related(rng: np.random.Generator, relations: str, kinds: str = "RRRRRR"):
    """Axes of which each stands to the one before as a letter says: general, intersecting, parallel, or at right angles."""
    axes = random_axes(rng, kinds)
    for i, relation in enumerate(relations):
        _, w, r = axes[i]
        kind, u, s = axes[i + 1]
        u = w if relation == "p" else np.cross(w, u) if relation in "or" else u
        s = r + rng.standard_normal() * w if relation in "io" else s
        axes[i + 1] = (kind, u, s)
    return axes


@pytest.mark.slow
def test_a_general_arm_has_what_brute_force_finds():
    assert survey(np.random.default_rng(6), random_axes(np.random.default_rng(7), "RRRRRR"))[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(os.environ.get("ARMSIM_ARMS", 6))))
def test_general_arms_have_what_brute_force_finds(seed):
    rng = np.random.default_rng(seed)
    assert survey(rng, random_axes(rng, "RRRRRR"), 1500)[1] == 0


SLOW = [pytest.param(x, marks=pytest.mark.slow) for x in ("pgipg", "rrrrr", "ipipi", "igpgi")]


@pytest.mark.parametrize("relations", ["ooroi", *SLOW])
def test_arms_of_special_geometry_without_closed_form_have_what_brute_force_finds(relations):
    rng = np.random.default_rng(7)
    known, lost = survey(rng, related(rng, relations))
    assert known > 0
    assert lost == 0


PRISMATIC = [pytest.param(x, marks=pytest.mark.slow) for x in ("PRRRRR", "RPRPRR", "PPPRRR", "RRPRRR")]


@pytest.mark.parametrize("kinds", ["RPRPRP", *PRISMATIC])
def test_arms_with_prismatic_joints_have_what_brute_force_finds(kinds):
    rng = np.random.default_rng(8)
    assert survey(rng, random_axes(rng, kinds))[1] == 0


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.handful(2)
def test_three_joints_in_a_row_are_a_closed_form_wherever_they_are(first, parallel):
    """If two of the other three, in a row too, meet."""
    rng = np.random.default_rng(10)
    axes = random_axes(rng, "RRRRRR")
    i = 4 if first < 2 else 0
    axes[i + 1] = (*axes[i + 1][:2], axes[i][2])
    for k in range(first, first + 3):
        axes[k] = ("R", axes[first][1], axes[k][2]) if parallel else (*axes[k][:2], axes[first][2])
    arm = arm_of_axes(*axes)
    goal = goal_at(arm, rng.uniform(-2.5, 2.5, 6))
    assert closed_form(kinematic_loop(arm, goal)) is not None
    found = solutions(arm, goal)
    check(arm, goal, found)
    assert missed(arm, found, multistart(arm, Pose(goal.orientation, goal.position), rng, 300)) == 0


CARTESIAN = [("P", (1, 0, 0), (0, 0, 0)), ("P", (0, 1, 0), (0, 0, 0)), ("P", (0, 0, 1), (0, 0, 0))]
WRIST = [("R", (0, 0, 1), (0.6, 0.1, 0.5)), ("R", (0, 1, 0), (0.6, 0.1, 0.5)), ("R", (1, 0, 0), (0.6, 0.1, 0.5))]
POLAR = [("R", (0, 0, 1), (0, 0, 0)), ("R", (0, 1, 0), (0, 0, 0.4)), ("P", (1, 0, 0), (0, 0.1, 0.4))]
COLUMN = [("R", (0, 0, 1), (0, 0, 0)), ("P", (0, 0, 1), (0, 0, 0)), ("P", (1, 0, 0), (0, 0, 0))]
SCARA = [
    ("R", (0, 0, 1), (0, 0, 0)),
    ("R", (0, 0, 1), (0.3, 0, 0)),
    ("P", (0, 0, 1), (0.6, 0, 0)),
    ("R", (0, 0, 1), (0.6, 0, 0)),
]
FLAT = [("R", (0, 1, 0), (0.3 * i, 0, 0)) for i in range(3)]


@pytest.mark.parametrize(
    ("axes", "kind", "count"),
    [
        (CARTESIAN, "position", {1}),
        (CARTESIAN, "pose", {1}),
        (CARTESIAN + WRIST, "pose", {2}),
        (POLAR, "position", {2, 4}),
        (POLAR + WRIST, "pose", {4, 8}),
        (COLUMN, "position", {2}),
        (COLUMN + WRIST, "pose", {4}),
        (SCARA, "pose", {2}),
        (FLAT, "pose", {2}),
        (WRIST, "pose", {2}),
        (FLAT[:2], "position", {2}),
        (FLAT[:2], "pose", {1}),
        (FLAT[:1], "position", {1}),
        (CARTESIAN[:1], "pose", {1}),
    ],
)
@pytest.mark.handful(4)
def test_textbook_arms_have_as_many_solutions_as_geometry_says(axes, kind, count):
    arm = arm_of_axes(*axes)
    rng = np.random.default_rng(11)
    for _ in range(3):
        q = rng.uniform(0.3, 1.2, arm.n)
        goal = goal_at(arm, q, kind)
        found = solutions(arm, goal)
        check(arm, goal, found)
        assert len(found) in count
        assert has(arm, found, q)
        if closed_form(kinematic_loop(arm, goal)):  # before they are polished, too
            assert any(same(x, q, turning(arm), 1e-9) for x in candidates(arm, goal)[0] if np.isfinite(x).all())


@pytest.mark.parametrize("kind", ["pose", "axis"])
@pytest.mark.handful(1)
def test_five_joints_meet_an_axis_in_several_ways_and_a_pose_in_one(kind):
    arm = open_limits(read_robot("arm5")[0])
    rng = np.random.default_rng(12)
    for _ in range(3):
        q = rng.uniform(-1.0, 1.0, 5)
        goal = goal_at(arm, q, kind)
        found = solutions(arm, goal)
        check(arm, goal, found)
        assert has(arm, found, q)
        assert (len(found) == 1) == (kind == "pose")


def test_a_frame_of_a_tree_leaves_the_other_branch_at_its_initial_position():
    arm = open_limits(read_robot("torso")[0])
    q = [0.3, *arm.initial[1:5], 0.5, 0.4, -0.3, 0.6]  # waist, left arm, right arm with the tool
    goal = goal_at(arm, q, "axis")
    found = solutions(arm, goal)
    check(arm, goal, found)
    assert has(arm, found, q)
    assert all(tuple(one.q[1:5]) == arm.initial[1:5] for one in found)


def test_solutions_lie_within_limits_or_are_none():
    arm = read_robot("puma560")[0]
    rng = np.random.default_rng(13)
    for _ in range(4):
        q = [rng.uniform(joint.limit.lower, joint.limit.upper) for joint in arm.joints]
        goal = goal_at(arm, q)
        found, free = solutions(arm, goal), solutions(arm, goal, limits=False)
        assert has(arm, found, q)
        assert len(found) < len(free) == 8
        for one in found:
            assert all(joint.limit.holds(x) for joint, x in zip(arm.joints, one.q, strict=True))


def test_every_turn_within_a_range_is_listed_if_asked_for():
    arm = read_robot("ur5e")[0]  # five joints from -2 pi to 2 pi, the elbow from -pi to pi
    goal = goal_at(arm, [0.3, -0.9, 1.4, 0.5, 0.8, -0.4])
    found = solutions(arm, goal, every_turn=True)
    assert len(found) == 8 * 2**5
    assert len({tuple(one.q.round(6)) for one in found}) == len(found)
    for one in found:
        assert all(joint.limit.holds(x) for joint, x in zip(arm.joints, one.q, strict=True))


def test_turns_nearest_to_a_start_are_taken_and_the_nearest_solution_comes_first():
    arm = open_limits(read_robot("ur5e")[0])
    q = np.array([7.0, -9.0, 1.4, 20.0, 0.8, -6.5])
    found = solutions(arm, goal_at(arm, q), near=q.tolist())
    assert abs(found[0].q - q).max() < FOUND
    assert all(abs(one.q - q).max() <= math.pi + 1e-9 for one in found)


def test_names_follow_the_geometry():
    arm = open_limits(read_robot("puma560")[0])
    by_name = {one.branch: one.q for one in solutions(arm, goal_at(arm, [0.2, 0.8, -2.2, 0.3, 0.9, 0.1]))}
    assert {"shoulder", "elbow", "wrist"} == {part.split()[0] for name in by_name for part in name.split(", ")}
    for name, q in by_name.items():
        twin = name.replace("wrist flipped", "wrist not flipped")
        if twin != name:  # a wrist of right angles is flipped by a half turn of joint 4, and joint 5 the other way
            assert abs(by_name[twin][4] + q[4]) < 1e-9
            assert math.cos(by_name[twin][3] - q[3]) == pytest.approx(-1.0)
        assert (math.sin(q[4]) < 0.0) == ("wrist flipped" not in name)


def test_an_elbow_is_up_where_it_lies_above_the_line_from_shoulder_to_wrist():
    arm = open_limits(read_robot("puma560")[0])
    for q in ([0.2, 0.8, -2.2, 0.3, 0.9, 0.1], [0.2, 2.0, 1.0, 0.3, 0.9, 0.1]):
        for one in solutions(arm, goal_at(arm, q)):
            poses = own_poses(arm, one.q.tolist())
            axis, s, e, w = (
                np.array(list(x)) for x in (poses[1].rotation @ Z, *(poses[i].position for i in (1, 2, 3)))
            )
            e, w = (x - s - axis * (axis @ (x - s)) for x in (e, w))
            assert ("elbow up" in one.branch) == bool((e - w * (e @ w) / (w @ w))[2] > 0.0)


def test_a_shoulder_is_right_where_the_wrist_lies_along_the_common_normal():
    axes = ("R", (0, 0, 1), (0, 0, 0)), ("R", (0, -1, 0), (0, 0, 0.4)), ("R", (0, -1, 0), (0.3, 0, 0.4))
    arm = arm_of_axes(*axes, tool=Pose(position=Vector(0.6, 0.0, 0.4)))  # z × -y is x, and to there it reaches
    found = solutions(arm, goal_at(arm, [0.2, 0.3, 0.4], "position"))
    assert len(found) == 4
    for one in found:
        ahead = 0.3 * math.cos(one.q[1]) + 0.3 * math.cos(one.q[1] + one.q[2])
        assert one.branch.startswith("shoulder right" if ahead > 0.0 else "shoulder left")


def test_a_wrist_above_the_shoulder_is_singular_and_solved_with_the_shoulder_at_any_angle():
    column = [("R", (0, 0, 1), (0, 0, 0)), ("R", (0, 1, 0), (0, 0, 0.4)), ("R", (0, 1, 0), (0, 0, 0.7))]
    wrist = [("R", (0, 0, 1), (0, 0, 1.0)), ("R", (0, 1, 0), (0, 0, 1.0)), ("R", (0, 0, 1), (0, 0, 1.0))]
    arm = arm_of_axes(*column, *wrist)
    goal = goal_at(arm, [0.3, 0.7, -1.4, 0.4, 0.8, 0.2])  # upper arm and forearm are as long
    found = solutions(arm, goal)
    check(arm, goal, found)
    assert len(found) >= 2
    assert all(one.singular for one in found)


@pytest.mark.parametrize(
    ("name", "q"),
    [("puma560", [0.2, 0.8, -2.2, 0.3, 0.0, 0.1]), ("ur5e", [0.3, -0.9, 1.4, 0.5, 0.0, -0.4])],
)
def test_an_aligned_wrist_is_singular_and_has_one_configuration_for_infinitely_many(name, q):
    arm = open_limits(read_robot(name)[0])
    goal = goal_at(arm, q)
    found = solutions(arm, goal)
    check(arm, goal, found)
    aligned = [one for one in found if abs(math.sin(one.q[4])) < 1e-6]
    assert aligned
    assert all(one.singular for one in aligned)


def test_a_stretched_arm_is_one_singular_solution():
    arm = arm_of_axes(*FLAT[:2], tool=Pose(position=Vector(0.7, 0.0, 0.0)))
    found = solutions(arm, goal_at(arm, [0.4, 0.0], "position"))
    assert [one.singular for one in found] == [True]


def test_goals_that_leave_infinitely_many_solutions_are_refused():
    arm = read_robot("puma560")[0]
    with pytest.raises(UsageError, match="infinitely many"):
        solutions(arm, goal_at(arm, arm.initial, "position"))


def test_screws_and_joints_that_mimic_are_refused_by_name():
    arm = arm_of_axes(*SCARA)
    screw = replace(arm, links=(*arm.links[:2], replace(arm.links[2], type="screw", pitch=0.01), arm.links[3]))
    with pytest.raises(UsageError, match=r"J3(.|\n)*screw"):
        solutions(screw, goal_at(screw, [0.1] * 4))


def test_many_goals_at_once_are_each_as_by_itself(shipped):
    arm = shipped["ur5e"]
    qs = np.random.default_rng(14).uniform(-2.0, 2.0, (5, 6))
    goals = [goal_at(arm, q) for q in qs]
    position = Vector(*np.array([list(goal.position) for goal in goals]).T)
    rows = np.array([[list(row) for row in goal.orientation] for goal in goals])
    together = candidates(arm, PoseGoal(arm.tool, position, Matrix(*(Vector(*rows[:, i].T) for i in range(3)))))
    for q, goal, some in zip(qs, goals, together, strict=True):
        assert np.array_equal(some, candidates(arm, goal)[0], equal_nan=True) or np.allclose(
            some, candidates(arm, goal)[0], atol=1e-9, equal_nan=True
        )
        assert any(same(x, q, turning(arm), 1e-7) for x in some if np.isfinite(x).all())
