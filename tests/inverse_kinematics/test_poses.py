"""`Robot.inverse_kinematics`: every reachable pose is solved within limits, and where there is none it says why."""

from __future__ import annotations

import math
import os
import pickle

import numpy as np
import pytest

import armsim
from armsim import NoSolution
from armsim.arm.pose_search import BLOCK, even_starts
from armsim.arm.reach import usable_range
from armsim.arm.robot import Frames
from armsim.errors import ShapeError, UsageError
from armsim.files.shipped import shipped_names
from tests.planar import planar
from tests.trees import tree

POSES = int(os.environ.get("ARMSIM_POSES", "0"))
EXACT = 1e-11  # m and rad: `TOLERANCE`
QUICK = ["arm5", "panda", "puma560_akb", "torso", "ur5e", tree(4, 10), tree(7, 10)]
CORNERS = [[2.72110798, -3.77442358, -0.77385369, 1.70272311, 0.81873082, -4.35270074]]


def random_positions(robot, count: int, seed: int = 1) -> np.ndarray:
    low, high = np.array([usable_range(joint) for joint in robot.arm.joints]).T
    return np.random.default_rng(seed).uniform(low, high, (count, len(low)))


def missing(robot, q, pose: Frames) -> tuple[np.ndarray, np.ndarray]:
    """Distances, and angles by the chord between quaternions, which is exact where angles are small."""
    there = robot.forward_kinematics(q)
    chords = [np.linalg.norm(there.quaternion + sign * pose.quaternion, axis=-1) for sign in (1, -1)]
    return np.linalg.norm(there.position - pose.position, axis=-1), 4 * np.arcsin(np.minimum(*chords) / 2)


def check_reachable(name, count: int) -> None:
    robot = armsim.load_robot(name)
    pose = robot.forward_kinematics(random_positions(robot, count))
    q = robot.inverse_kinematics(pose)
    for amount in missing(robot, q, pose):
        assert amount.max() < 10 * EXACT
    for x, joint in zip(q.T, robot.arm.joints):
        lower, upper = joint.bounds
        assert lower is None or x.min() >= lower
        assert upper is None or x.max() <= upper


@pytest.mark.parametrize("name", QUICK, ids=str)
@pytest.mark.handful(2)
def test_every_reachable_pose_is_solved_within_limits(name):
    check_reachable(name, 100)


@pytest.mark.skipif(not POSES, reason="a survey: ARMSIM_POSES=10000")
@pytest.mark.parametrize("name", shipped_names("robots"))
def test_every_reachable_pose_of_shipped_arms_is_solved(name):
    check_reachable(name, POSES)


@pytest.fixture(scope="module")
def ur5e():
    return armsim.load_robot("ur5e")


@pytest.fixture(scope="module")
def two_rods():
    """Rods of 0.4 m in the plane; the tool is at the end of the second."""
    return armsim.load_robot(planar({}, {}) | {"tool": {"xyz": [0.4, 0, 0]}})


def test_the_solution_near_a_start_is_the_one_that_the_start_is_near(ur5e):
    q = random_positions(ur5e, 50) * 0.4
    pose = ur5e.forward_kinematics(q)
    found = ur5e.inverse_kinematics(pose, near=q + 0.01)
    close = np.abs(found - q).max(axis=1) < 1e-9
    assert close.mean() > 0.9  # others are next to a singularity
    np.testing.assert_array_equal(ur5e.inverse_kinematics(pose, near=q + 0.01)[7], found[7])


def test_one_pose_gives_the_bits_of_its_row_on_every_engine_and_thread(ur5e):
    pose = ur5e.forward_kinematics(random_positions(ur5e, 40))
    many = ur5e.inverse_kinematics(pose)
    for threads, engine in ((3, "llvm"), (1, "python")):
        other = armsim.load_robot("ur5e", engine=engine, threads=threads)
        few = 3 if engine == "python" else 40
        assert other.inverse_kinematics(Frames(*(x[:few] for x in pose))).tobytes() == many[:few].tobytes()
    np.testing.assert_array_equal(ur5e.inverse_kinematics(Frames(*(x[5] for x in pose))), many[5])


def test_positions_alone_and_with_an_axis(ur5e):
    places = ur5e.forward_kinematics(random_positions(ur5e, 50) * 0.3).position
    q = ur5e.inverse_kinematics(places)
    np.testing.assert_allclose(ur5e.forward_kinematics(q).position, places, atol=EXACT)
    q = ur5e.inverse_kinematics([0.4, 0.2, 0.3], axis=("y", [0, 3, -4]))
    w, x, y, z = ur5e.forward_kinematics(q).quaternion
    np.testing.assert_allclose(
        [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], [0, 0.6, -0.8], atol=EXACT
    )


def test_joints_are_turned_by_the_fewest_turns(ur5e):
    q = random_positions(ur5e, 30)  # the ranges are two turns
    found = ur5e.inverse_kinematics(ur5e.forward_kinematics(q))
    turning = np.abs(ur5e.arm.joints[0].bounds[1]) > 4
    assert turning
    assert np.abs(found[:, 0]).max() <= math.pi + 1e-12


def test_turns_towards_a_start_stop_at_the_limits(ur5e):
    pose = ur5e.forward_kinematics(random_positions(ur5e, 50))
    found = ur5e.inverse_kinematics(pose, near=[6.2, -6.2, 0, 6.2, -6.2, 6.2])
    lower, upper = np.array([joint.bounds for joint in ur5e.arm.joints]).T
    assert (lower <= found).all()
    assert (found <= upper).all()
    np.testing.assert_allclose(ur5e.forward_kinematics(found).position, pose.position, atol=EXACT)


def test_a_pose_in_a_corner_of_the_ranges_is_solved():
    robot = armsim.load_robot("puma560_akb")
    poses = robot.forward_kinematics(CORNERS)  # at three limits at once, where steps within them stop short
    assert not np.isnan(robot.inverse_kinematics(poses)).any()


def test_all_solutions_of_a_pose_have_that_of_a_near_start_first(ur5e):
    q = np.array([0.3, -1.1, 1.4, -0.6, 1.2, 0.2])
    found = ur5e.inverse_kinematics(ur5e.forward_kinematics(q), near=q + 0.05, all=True, report=True)
    assert found.q.shape == (8, 6)
    assert len(set(found.branches)) == 8
    np.testing.assert_allclose(found.q[0], q, atol=1e-9)
    assert found.distance.max() < EXACT


def test_all_solutions_are_asked_of_one_pose_and_told_from_infinitely_many(ur5e, two_rods, told):
    for kind, robot, pose in (
        (ShapeError, ur5e, [[0.4, 0.2, 0.3]] * 2),
        (UsageError, ur5e, [0.4, 0.2, 0.3]),
        (NoSolution, two_rods, [0.6, 0.8, 0.0]),
    ):
        with pytest.raises(kind) as caught:
            robot.inverse_kinematics(pose, all=True)
        told(caught.value)


def test_other_frames_have_solutions_of_their_own():
    robot = armsim.load_robot(tree(4, 10))
    pose = robot.forward_kinematics(robot.initial, frame="left")
    q = robot.inverse_kinematics(pose.position, near=robot.initial + 0.05, frame="left")
    np.testing.assert_allclose(robot.forward_kinematics(q, frame="left").position, pose.position, atol=EXACT)
    with pytest.raises(UsageError, match="left"):
        robot.inverse_kinematics(pose, frame="lefty")


def test_joints_that_do_not_carry_the_frame_stay_where_they_are():
    robot, frame = armsim.load_robot("torso"), "left_hand"
    idle = [i for i, name in enumerate(robot.joints) if name.startswith("R")]
    near = robot.initial + 0.1
    place, (w, x, y, z) = robot.forward_kinematics(robot.initial + 0.2, frame)
    axis = ("z", [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    for start, rest in ((None, robot.initial), (near, near)):
        for every in (False, True, "turns"):
            q = np.atleast_2d(robot.inverse_kinematics(place, start, every, frame=frame, axis=axis))
            assert (q[:, idle] == rest[idle]).all()


def test_a_place_out_of_reach_is_missed_by_its_distance_from_the_circle(two_rods, told):
    with pytest.raises(NoSolution) as caught:
        two_rods.inverse_kinematics([0.6, 0.8, 0.0])
    error = caught.value
    assert (error.reason, error.singular, error.exit_code) == ("reach", True, 1)
    assert error.distance == pytest.approx(0.2, abs=1e-12)
    assert error.q == pytest.approx([math.atan2(0.8, 0.6), 0], abs=1e-5)
    told(error)
    assert pickle.loads(pickle.dumps(error)).reason == "reach"


def test_a_limit_in_the_way_is_named_with_what_is_beyond_it(told):
    file = planar({}, {}) | {"tool": {"xyz": [0.4, 0, 0]}}
    for joint, upper in zip(file["joints"], (3.0, 0.5)):
        joint["limits"] = {"lower": -0.5, "upper": upper}
    robot = armsim.load_robot(file)
    x = 0.8 * math.cos(0.4)  # the elbow is at 0.8 or -0.8, the shoulder at -0.4 or 0.4
    with pytest.raises(NoSolution) as caught:
        robot.inverse_kinematics([x, 0.0, 0.0])
    assert caught.value.reason == "limits"
    assert caught.value.beyond == {"R2": pytest.approx(0.3, abs=1e-9)}
    stuck = math.hypot(0.4 + 0.4 * math.cos(0.5), 0.4 * math.sin(0.5))
    assert caught.value.distance == pytest.approx(stuck - x, abs=1e-9)
    told(caught.value)
    free = robot.inverse_kinematics([x, 0.0, 0.0], limits=False)
    assert robot.forward_kinematics(free).position == pytest.approx([x, 0, 0], abs=EXACT)


def test_an_orientation_that_the_arm_cannot_have_is_told_apart(two_rods, told):
    with pytest.raises(NoSolution) as caught:
        two_rods.inverse_kinematics(([0.5, 0.3, 0.0], [0.9, 0.1, 0, 0]), weights=(10.0, 0.1))
    assert caught.value.reason == "orientation"
    told(caught.value)


def test_rows_without_a_solution_are_nan_and_report_the_nearest(two_rods):
    found = two_rods.inverse_kinematics([[0.5, 0.3, 0], [0.6, 0.8, 0], [math.nan, 0, 0]], report=True)
    assert np.isnan(found.q).any(axis=1).tolist() == [False, True, True]
    assert found.distance[0] < EXACT
    assert found.distance[1] == pytest.approx(0.2, abs=1e-6)


def test_a_single_pose_that_is_not_finite_has_positions_that_are_not(two_rods):
    for pose in ([math.nan, 0, 0], [math.inf, 0, 0], [1e300, 0, 0]):
        assert np.isnan(two_rods.inverse_kinematics(pose)).all()


def test_all_solutions_of_a_pose_that_is_not_finite_or_out_of_all_reach_are_none(two_rods):
    assert two_rods.inverse_kinematics([math.nan, 0, 0], all=True).shape == (0, 2)
    assert np.isnan(two_rods.inverse_kinematics([1e300, 0, 0], all=True)).all()
    with pytest.raises(NoSolution):
        two_rods.inverse_kinematics([1e9, 0, 0], all=True)


def test_all_solutions_may_have_all_turns():
    robot = armsim.load_robot("ur5e")
    pose = robot.forward_kinematics([0.3, -0.9, 1.4, 0.5, 0.8, -0.4])
    assert robot.inverse_kinematics(pose, all=True).shape == (8, 6)
    assert robot.inverse_kinematics(pose, all="turns").shape == (256, 6)


def test_poses_and_starts_have_as_many_rows_or_one(two_rods, told):
    starts = [[0.3, elbow] for elbow in (1.0, -1.0, 2.0)]
    found = two_rods.inverse_kinematics([0.3, 0.5, 0.0], near=starts)
    assert np.sign(found[:, 1]).tolist() == [1, -1, 1]
    assert two_rods.inverse_kinematics(np.empty((0, 3))).shape == (0, 2)
    many = two_rods.inverse_kinematics(np.tile([0.3, 0.5, 0.0], (BLOCK + 1, 1)), near=starts[1])
    assert (many == found[1]).all()
    with pytest.raises(ShapeError) as caught:
        two_rods.inverse_kinematics([[0.3, 0.5, 0.0]] * 2, near=starts)
    told(caught.value)


def test_what_is_no_pose_is_refused(two_rods, told):
    for kind, pose, more in (
        (ShapeError, [0.1, 0.2], {}),
        (UsageError, ([0.1, 0.2, 0], [0, 0, 0, 0]), {}),
        (UsageError, [0.1, 0.2, 0], {"axis": ("w", [0, 0, 1])}),
        (UsageError, None, {}),
        (ShapeError, [0.1, 0.2, 0], {"near": [0.0]}),
        (UsageError, ([0.1, 0.2, 0], [1, 0, 0, 0]), {"axis": ("z", [0, 0, 1])}),
        (UsageError, [0.1, 0.2, 0], {"axis": "z"}),
        (UsageError, [0.1, 0.2, 0], {"weights": (-1.0, 0.0)}),
        (UsageError, [0.1, 0.2, 0], {"weights": (1.0,)}),
        (UsageError, [0.1, 0.2, 0], {"near": [math.nan, 0.0]}),
        (ShapeError, [0.1, 0.2, 0], {"near": [[0.0, 0.0]] * 3, "all": True}),
        (ShapeError, ([[0.1, 0.2, 0]] * 2, [[1, 0, 0, 0]] * 3), {}),
    ):
        with pytest.raises(kind) as caught:
            two_rods.inverse_kinematics(pose, **more)
        told(caught.value)


def test_starts_fill_the_ranges_from_the_middle_on(ur5e):
    found = even_starts(ur5e.arm)[:64]
    low, high = np.array([usable_range(joint) for joint in ur5e.arm.joints]).T
    np.testing.assert_allclose(found[0], (low + high) / 2, atol=1e-15)
    eighths = np.floor(8 * (found - low) / (high - low)).astype(int)
    for column in eighths.T:
        assert np.bincount(column, minlength=8).min() >= 6  # of 8 in each: far from what chance does
