"""The solution near a start: against closed forms, at limits and singularities, and the same in every engine."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from armsim.arm.arrays import evaluate
from armsim.compile import BatchKernel
from armsim.dynamics import frame_pose
from armsim.expr import leaves, trace
from armsim.inverse_kinematics import Pointing, PoseGoal, solve_near
from armsim.inverse_kinematics.task import rotation_vector
from armsim.loading import read_robot
from armsim.model import Limit
from armsim.spatial import Matrix, Vector, X, Y, Z, cross, perpendicular, quaternion, rotation_rpy
from tests.planar import planar
from tests.trees import tree

EXACT = 2e-14  # m and rad: some roundings of numbers up to 2
L = 0.4  # length of each rod of `planar`, so that its frames are 0.4 apart; the tool is in the last joint


def arm_of(robot, **limits):
    arm = read_robot(robot)[0]
    return arm.map_links(lambda link: replace(link, limit=limits.get(link.name)))


@pytest.fixture(scope="module")
def two_rods():
    """Two links of 0.4 m in the plane: shoulder, elbow, and a third joint that carries the tool at the end of the second."""
    return arm_of(planar({}, {}, {}) | {"tool": {"xyz": [0, 0, 0]}})


def two_link_positions(x: float, y: float) -> set[tuple[float, float]]:
    """Shoulder and elbow of both solutions (Craig, section 4.4)."""
    c = (x * x + y * y - 2 * L * L) / (2 * L * L)
    found = set()
    for s in (math.sqrt(1 - c * c), -math.sqrt(1 - c * c)):
        shoulder = math.atan2(y, x) - math.atan2(L * s, L + L * c)
        found.add((round(math.remainder(shoulder, math.tau), 12), round(math.atan2(s, c), 12)))
    return found


def test_both_solutions_of_two_rods_are_found_each_from_its_side(two_rods):
    wanted = PoseGoal(two_rods.tool, Vector(0.3, 0.5, 0.0))
    found = set()
    for elbow in (1.0, -1.0):
        answer = solve_near(two_rods, wanted, [0.5, elbow, 0.3])
        assert answer.distance < EXACT
        assert answer.q[2] == 0.3  # the last joint moves nothing that is asked for
        found.add((round(math.remainder(answer.q[0], math.tau), 12), round(answer.q[1], 12)))
    assert found == two_link_positions(0.3, 0.5)


@pytest.mark.parametrize("distance", [0.81, 1.0, 5.0])
def test_nearest_pose_to_a_place_out_of_reach_is_stretched_towards_it(two_rods, distance):
    wanted = PoseGoal(two_rods.tool, Vector(distance * 0.6, distance * 0.8, 0.0))
    answer = solve_near(two_rods, wanted, [0.4, 0.9, 0.0])
    assert answer.distance == pytest.approx(distance - 2 * L, abs=1e-12)
    assert answer.q[:2] == pytest.approx([math.atan2(0.8, 0.6), 0.0], abs=1e-6)  # the distance is flat there


def test_a_place_within_the_annulus_is_missed_by_the_difference_of_the_links():
    arm = arm_of(planar({}, {}) | {"tool": {"xyz": [0.1, 0, 0]}})
    answer = solve_near(arm, PoseGoal(arm.tool, Vector(0.05, 0.1, 0.0)), [0.3, 2.5])
    assert answer.distance == pytest.approx(L - 0.1 - math.hypot(0.05, 0.1), abs=1e-12)


def test_a_stretched_arm_reaches_its_boundary(two_rods):
    answer = solve_near(two_rods, PoseGoal(two_rods.tool, Vector(0.0, 2 * L, 0.0)), [1.0, 0.7, 0.0])
    assert answer.distance < 1e-13  # singular: the elbow is exact to the root of rounding alone
    assert answer.q[1] == pytest.approx(0.0, abs=1e-6)


def test_a_limit_is_met_and_left_where_another_solution_lies_within(two_rods):
    elbow_down = solve_near(two_rods, PoseGoal(two_rods.tool, Vector(0.3, 0.5, 0.0)), [0.5, 1.0, 0.0])
    arm = arm_of(planar({}, {}, {}), R2=Limit(-3.0, elbow_down.q[1] - 0.1))
    wanted = PoseGoal(arm.tool, Vector(0.3, 0.5, 0.0))
    stuck = solve_near(arm, wanted, [0.5, 1.0, 0.0])
    assert stuck.q[1] == elbow_down.q[1] - 0.1
    r = math.hypot(L + L * math.cos(stuck.q[1]), L * math.sin(stuck.q[1]))
    assert stuck.distance == pytest.approx(r - math.hypot(0.3, 0.5), abs=1e-12)
    assert solve_near(arm, wanted, [0.5, 1.0, 0.0], limits=False).distance < EXACT


def goals(arm, q):
    """A position, a direction and a pose that the arm has at q."""
    pose = frame_pose(arm, q, arm.tool)
    axis = Vector(0.6, 0.0, 0.8)
    for orientation in (None, Pointing(axis, pose.rotation @ axis), pose.rotation):
        yield PoseGoal(arm.tool, pose.position, orientation)


@pytest.mark.parametrize("robot", ["arm5", "ur5e", "panda", "torso", tree(4, 10), tree(7, 10), tree(13, 10)])
@pytest.mark.handful(3)
def test_a_start_nearby_leads_to_the_goal_quadratically(robot):
    arm = read_robot(robot)[0]
    rng = random.Random(2)
    for _ in range(3):
        q = [rng.uniform(-1.5, 1.5) for _ in range(arm.n)]
        for goal in goals(arm, q):
            answer = solve_near(arm, goal, [x + rng.uniform(-0.02, 0.02) for x in q], limits=False)
            assert max(answer.distance, answer.angle) < EXACT
            assert answer.rounds <= 8  # 2e-2, its square, its fourth power, ...: and damping in between


@pytest.mark.parametrize("robot", ["ur5e", tree(4, 10)])
def test_gradient_of_the_squared_residual_is_exact_far_from_the_goal(robot):
    arm = read_robot(robot)[0]
    rng = random.Random(5)
    q, other = ([rng.uniform(-2, 2) for _ in range(arm.n)] for _ in range(2))
    h = 1e-5
    for goal in goals(arm, other):
        goal = replace(goal, weights=(2.0, 0.7))
        r, J = goal.linearized(arm, q)
        for i in range(arm.n):
            ends = []
            for side in (h, -h):
                moved, _ = goal.linearized(arm, [x + side * (j == i) for j, x in enumerate(q)])
                ends.append(sum(x * x for x in moved) / 2)
            slope = -sum(x * row[i] for x, row in zip(r, J))
            assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(slope, abs=1e-8)  # error h²


@pytest.mark.parametrize("angle", [0.0, 1e-160, 1e-12, 0.3, 1.5, 3.0, math.pi - 1e-9, math.pi])
def test_rotation_vector_is_exact_from_none_to_a_half_turn(angle):
    axis = Vector(2 / 7, -3 / 7, 6 / 7)
    c, s = math.cos(angle / 2), math.sin(angle / 2)
    found = rotation_vector(c, *(s * axis))
    for x, a in zip(found, axis):
        assert x == pytest.approx(a * angle, rel=5e-16, abs=0)


def test_a_direction_that_points_the_other_way_is_half_a_turn_off(two_rods):
    for direction in (Z, X, Vector(0.6, -0.8, 0.0)):
        pose = frame_pose(two_rods, [0.0] * 3, two_rods.tool)
        goal = PoseGoal(two_rods.tool, pose.position, Pointing(-(pose.rotation.T @ direction), direction))
        _, turn = goal.missing(pose)
        assert math.sqrt(turn.dot(turn)) == pytest.approx(math.pi, abs=1e-15)
        assert turn.dot(direction) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("n", [X, Y, Z, -Z, Vector(0.48, -0.6, -0.64)])
def test_perpendicular_vectors_are_an_orthonormal_basis(n):
    a, b = perpendicular(n)
    for x, y in ((a, b), (a, n), (b, n)):
        assert x.dot(y) == pytest.approx(0, abs=1e-16)
    assert [*cross(a, b)] == pytest.approx([*n], abs=1e-16)


def test_redundant_arms_take_steps_of_least_norm():
    arm = arm_of("panda")
    q = list(arm.initial)
    pose = frame_pose(arm, q, arm.tool)
    shift = Vector(1e-6, -2e-6, 1e-6)
    goal = PoseGoal(arm.tool, pose.position + shift, pose.rotation)
    answer = solve_near(arm, goal, q)
    _, J = goal.linearized(arm, q)
    least = np.linalg.pinv(np.array(J)) @ [*shift, 0, 0, 0]
    assert np.array(answer.q) - q == pytest.approx(least, abs=1e-10)  # second order in the shift


@pytest.mark.parametrize("robot", ["ur5e", "panda", tree(13, 10)])
@pytest.mark.parametrize("lanes", [1, None])
@pytest.mark.handful(1)
def test_machine_code_gives_the_bits_of_floats(robot, lanes):
    arm = read_robot(robot)[0]

    def body(*x):
        goal = PoseGoal(arm.tool, Vector(*x[:3]), rotation_rpy(*x[3:6]))
        return leaves(solve_near(arm, goal, x[6:]))

    rng = random.Random(3)
    rows = [[rng.uniform(-0.5, 0.5) for _ in range(6 + arm.n)] for _ in range(5)]  # some are out of reach
    kernel = BatchKernel(trace(body, [f"x{i}" for i in range(6 + arm.n)]), lanes=lanes)
    assert evaluate(kernel, [np.array(rows)]).tolist() == [list(body(*row)) for row in rows]


def test_matrices_of_a_goal_are_those_of_forward_kinematics():
    R = rotation_rpy(0.3, -0.4, 2.0)
    assert isinstance(R, Matrix)
    w, *v = quaternion(R)
    turn = rotation_vector(w, *v)
    assert [*(R @ turn)] == pytest.approx([*turn], abs=1e-15)  # the axis of a rotation is left as it is
