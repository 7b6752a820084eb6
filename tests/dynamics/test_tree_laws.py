"""Branches and followers by themselves: zeros of the mass matrix, parents by name, mimics projected by hand, closed forms."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.dynamics import (
    InternalWrenches,
    aba,
    crba,
    external_power,
    forward_dynamics,
    frame_jacobian,
    frame_pose,
    frame_position,
    frame_velocity,
    gravity_torque,
    inertial_parameters,
    is_large,
    joint_forces,
    joint_wrenches,
    kinetic_energy,
    ldl,
    link_poses,
    link_velocities,
    mass_matrix,
    momenta_and_forces,
    potential_energy,
    regressor,
    rnea,
    solve_held,
)
from armsim.dynamics.external import motion_by_name
from armsim.expr import Expr, flatten, trace
from armsim.loading import read_robot
from armsim.model import Arm, Coulomb, Joint, Limit, Mimic, Motor, Spring
from armsim.spatial import Inertia, Pose, Symmetric, Vector, rotation_x
from tests.trees import chain, motion, parents, projection, tree, without_mimics

FREE, COUPLED = (0, 3, 6, 9, 15, 18), (1, 4, 7, 10, 13, 14)  # seeds of trees without and with joints that follow others
G = 9.81


def arm_of(file: dict) -> Arm:
    return read_robot(file)[0]


def numbers(found) -> np.ndarray:
    """The scalars of a tree, in order."""
    return np.array(flatten(found)[0], dtype=float)


def close(found, expected) -> bool:
    """To 1e-12 of the largest magnitude: sums of some hundred products."""
    found, expected = np.ravel(found), np.ravel(expected)
    return bool(np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max())


def wrenches(arm: Arm) -> list:
    """A random wrench on every link."""
    rng = random.Random(3)
    return [tuple(Vector(*(rng.uniform(-5, 5) for _ in "xyz")) for _ in "nf") for _ in arm.links]


# what is asked of an arm in a motion, with how it follows from the same tree with all joints free
KINEMATIC = {
    "link poses": lambda arm, q, qd, qdd: link_poses(arm, q),
    "link velocities": lambda arm, q, qd, qdd: link_velocities(arm, q, qd),
    "frame poses": lambda arm, q, qd, qdd: [frame_pose(arm, q, frame) for frame in arm.frames],
    "frame positions": lambda arm, q, qd, qdd: [frame_position(arm, q, frame) for frame in arm.frames],
    "frame velocities": lambda arm, q, qd, qdd: [frame_velocity(arm, q, qd, frame) for frame in arm.frames],
    "kinetic energy": lambda arm, q, qd, qdd: kinetic_energy(arm, q, qd),
    "potential energy": lambda arm, q, qd, qdd: potential_energy(arm, q),
    "wrenches": lambda arm, q, qd, qdd: joint_wrenches(arm, q, qd, qdd, arm.inertias, wrenches(arm)),
    "external power": lambda arm, q, qd, qdd: external_power(arm, q, qd, wrenches(arm)),
    "inertial parameters": lambda arm, q, qd, qdd: inertial_parameters(arm),
}
FORCES = {
    "inverse dynamics": lambda arm, q, qd, qdd: rnea(arm, q, qd, qdd),
    "inverse dynamics under loads": lambda arm, q, qd, qdd: rnea(arm, q, qd, qdd, wrenches(arm)),
    "gravity": lambda arm, q, qd, qdd: gravity_torque(arm, q),
    "momenta": lambda arm, q, qd, qdd: momenta_and_forces(arm, q, qd)[0],
    "Lagrangian forces": lambda arm, q, qd, qdd: momenta_and_forces(arm, q, qd, wrenches(arm))[1],
    "joint forces": lambda arm, q, qd, qdd: joint_forces(arm, q, wrenches(arm)),
    "regressor": regressor,
}
MATRICES = {
    "jacobian": lambda arm, q, qd, qdd: frame_jacobian(arm, q, arm.tool),
    "mass matrix": lambda arm, q, qd, qdd: mass_matrix(arm, q),
}
ASKED = KINEMATIC | FORCES | MATRICES


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("seed", COUPLED)
@pytest.mark.handful(8)
def test_joints_that_mimic_others_are_a_projection_of_the_tree_with_all_joints_free(seed, name):
    file = tree(seed, most=10)
    arm, whole, (G, c), ask = arm_of(file), arm_of(without_mimics(file)), projection(file), ASKED[name]
    q, qd, qdd, *_ = map(np.array, motion(seed, arm.n).values())
    assert (whole.n, arm.n) == G.shape
    assert arm.n < whole.n
    found, expected = (ask(arm, q, qd, qdd), ask(whole, (G @ q + c).tolist(), (G @ qd).tolist(), (G @ qdd).tolist()))
    if name in KINEMATIC:
        assert close(numbers(found), numbers(expected))
    elif name in FORCES:
        assert close(found, G.T @ expected)
    else:
        assert close(found, (G.T @ expected if name == "mass matrix" else np.array(expected)) @ G)


@pytest.mark.parametrize("seed", FREE)
@pytest.mark.handful(1)
def test_a_chain_with_its_parents_by_name_has_the_bits_of_one_without(seed):
    file = chain(tree(seed))
    names = ["base", *(joint["name"] for joint in file["joints"])]
    named = [joint | {"parent": before} for joint, before in zip(file["joints"], names, strict=False)]
    one, other = arm_of(file), arm_of(file | {"joints": named} | {"tool": {"link": names[-1], **file["tool"]}})
    q, qd, qdd, *_ = motion(seed, one.n).values()
    for ask in (*ASKED.values(), lambda arm, *state: aba(arm, *state), lambda arm, *s: forward_dynamics(arm, *s)):
        assert numbers(ask(one, q, qd, qdd)).tolist() == numbers(ask(other, q, qd, qdd)).tolist()


@pytest.mark.parametrize("seed", [0, 4, 5, 9, 10, 18])
@pytest.mark.handful(3)
def test_joints_on_different_branches_have_constant_zeros_in_the_mass_matrix_and_its_factors(seed):
    # RBDA sections 6.4 and 6.5: worked from the tips, the factorisation has no fill-in; of large arms in numbers alone
    file = without_mimics(tree(seed))
    arm, before = arm_of(file), parents(file)
    assert list(arm.parents) == before
    assert max(map(before.count, before)) > 1

    def check(*q):
        M = crba(arm, q)
        for found in (M,) if is_large(arm) and isinstance(q[0], Expr) else (M, ldl(M)):
            for i, row in enumerate(found):
                for j, entry in enumerate(row):
                    if j not in arm.path(i):
                        assert not isinstance(entry, Expr)
                        assert entry == 0.0
        return [x for row in M for x in row]

    trace(check, [f"q{i}" for i in range(arm.n)])
    check(*np.linspace(-1.0, 1.0, arm.n).tolist())


@pytest.mark.parametrize("seed", FREE + COUPLED)
@pytest.mark.handful(2)
def test_the_regressor_times_the_inertial_parameters_is_inverse_dynamics(seed):
    arm = arm_of(tree(seed, most=10))
    q, qd, qdd, *_ = motion(seed, arm.n).values()
    assert close(np.array(regressor(arm, q, qd, qdd)) @ inertial_parameters(arm), rnea(arm, q, qd, qdd))


@pytest.mark.parametrize("seed", FREE + COUPLED)
def test_regrouped_inertias_take_the_torques_of_the_links_as_given(seed):
    arm = arm_of(tree(seed, most=10))
    q, qd, qdd, *_ = motion(seed, arm.n).values()
    given = replace(arm)
    vars(given)["regrouped"] = arm.inertias
    assert close(rnea(arm, q, qd, qdd), rnea(given, q, qd, qdd))
    assert close(mass_matrix(arm, q), mass_matrix(given, q))


@pytest.mark.parametrize("seed", FREE + COUPLED)
def test_held_joints_are_struck_out_of_the_equation_of_motion(seed):
    arm = arm_of(tree(seed, most=10))
    state = motion(seed, arm.n)
    M = np.array(mass_matrix(arm, state["q"]))
    held = [i % 3 == 1 for i in range(arm.n)]
    rest = [i for i, stuck in enumerate(held) if not stuck]
    x = solve_held(crba(arm, state["q"]), state["tau"], held)
    assert not any(x[i] for i, stuck in enumerate(held) if stuck)
    expected = np.linalg.solve(M[np.ix_(rest, rest)], np.array(state["tau"])[rest])
    assert np.abs(np.array(x)[rest] - expected).max() <= 1e-15 * np.linalg.cond(M) * 10 * np.abs(expected).max()


@pytest.mark.parametrize("seed", FREE + COUPLED)
def test_frames_move_as_poses_and_jacobians_say(seed):
    arm = arm_of(tree(seed, most=10))
    q, qd, *_ = motion(seed, arm.n).values()
    for frame in arm.frames:
        assert close([*frame_position(arm, q, frame)], [*frame_pose(arm, q, frame).position])
        assert close(numbers(frame_velocity(arm, q, qd, frame)), np.array(frame_jacobian(arm, q, frame)) @ qd)


@pytest.mark.parametrize("seed", COUPLED)
def test_joints_that_mimic_others_have_wrenches_and_motions_by_name(seed):
    arm = arm_of(tree(seed, most=10))
    q, qd, qdd, *_ = motion(seed, arm.n).values()
    internal = InternalWrenches(arm, q, qd, qdd)
    known = motion_by_name(arm, 0.0, q, qd, frozenset())
    found = zip(arm.links, joint_wrenches(arm, q, qd, qdd, arm.inertias)[1:], arm.positions(q), strict=True)
    for link, wrench, position in found:
        assert internal.at(link.name) == wrench
        assert known[f"q_{link.name}"] == position
    for link in arm.followers:
        assert known[f"qd_{link.name}"] == link.mimic.ratio * known[f"qd_{link.mimic.joint}"]


# -- closed forms


def wheels(ratio: float, **of_follower) -> Arm:
    """Two wheels on the base, the second turned by a gear: inertias 0.3 and 0.7 kg m²."""
    leader = Joint("R1", "revolute", inertia=Inertia(J=Symmetric(zz=0.3)))
    follower = Joint("R2", "revolute", inertia=Inertia(J=Symmetric(zz=0.7)), parent="base", mimic=Mimic("R1", ratio))
    return Arm("wheels", Vector(0.0, 0.0, -G), Pose(), (leader, replace(follower, **of_follower)))


@pytest.mark.parametrize("ratio", [-0.4, 1.0, 3.0])
def test_a_wheel_behind_a_gear_counts_by_the_square_of_its_ratio_and_so_does_the_rotor_at_it(ratio):
    assert crba(wheels(ratio), [0.2]) == [[pytest.approx(0.3 + ratio**2 * 0.7, rel=1e-15)]]
    driven = wheels(ratio, motor=Motor(gear=-20.0, rotor_inertia=1e-3))
    assert crba(driven, [0.2]) == [[pytest.approx(0.3 + ratio**2 * (0.7 + 0.4), rel=1e-15)]]
    (joint,) = driven.joints
    assert joint.armature == pytest.approx(ratio**2 * 0.4, rel=1e-15)
    assert joint.motor.gear == ratio * -20.0


def test_fingers_that_mirror_each_other_balance_and_two_side_by_side_weigh_twice():
    def gripper(ratio: float) -> Arm:
        up = rotation_x(0.0)
        one = Joint("F1", "prismatic", up, inertia=Inertia(2.0))
        other = Joint("F2", "prismatic", up, inertia=Inertia(2.0), parent="base", mimic=Mimic("F1", ratio, 0.1))
        return Arm("gripper", Vector(0.0, 0.0, -G), Pose(), (one, other))

    assert gravity_torque(gripper(-1.0), [0.3]) == [0.0]
    assert gravity_torque(gripper(1.0), [0.3]) == [pytest.approx(4.0 * G, rel=1e-15)]
    assert potential_energy(gripper(-1.0), [0.3]) == pytest.approx(2.0 * G * 0.1, rel=1e-14)
    assert [tuple(pose.position) for pose in link_poses(gripper(-1.0), [0.3])] == [(0, 0, 0.3), (0, 0, 0.1 - 0.3)]


def test_a_parallelogram_keeps_its_hand_upright():
    # shoulder, and a wrist that turns back by what the shoulder turns
    arm = Arm(
        "lamp",
        Vector(0.0, -G, 0.0),
        Pose(),
        (
            Joint("R1", "revolute", inertia=Inertia(1.0, Vector(0.25, 0.0, 0.0), Symmetric(zz=0.1))),
            Joint("R2", "revolute", position=Vector(0.5, 0.0, 0.0), inertia=Inertia(2.0), mimic=Mimic("R1", -1.0)),
        ),
    )
    q = 0.7
    _, hand = link_poses(arm, [q])
    assert tuple(hand.rotation.row_x) == pytest.approx((1, 0, 0), abs=1e-15)
    assert tuple(hand.position) == pytest.approx((0.5 * math.cos(q), 0.5 * math.sin(q), 0), rel=1e-15)
    assert gravity_torque(arm, [q]) == pytest.approx([G * math.cos(q) * (0.25 + 1.0)], rel=1e-14)
    assert crba(arm, [q]) == [[pytest.approx(0.1 + 2.0 * 0.25, rel=1e-15)]]


@pytest.mark.parametrize("ratio", [-0.4, 2.5])
def test_what_acts_on_a_follower_does_the_same_work_at_the_joint_that_leads(ratio):
    # virtual work: force times ratio at ratio times the velocity
    own = {
        "viscous": 0.2,
        "coulomb": Coulomb(0.3, 0.5),
        "limit": Limit(-0.6, 1.1, 1e3, 4.0),
        "spring": Spring(50.0, 0.2),
        "mimic": Mimic("R1", ratio, 0.15),
    }
    arm = wheels(ratio, **own)
    follower, (joint,) = arm.links[1], arm.joints
    assert joint.viscous == pytest.approx(ratio**2 * 0.2, rel=1e-15)
    for v in (1.0, -1.0):
        side = "positive" if ratio * v > 0 else "negative"
        at = "positive" if v > 0 else "negative"
        assert getattr(joint.coulomb, at) == pytest.approx(abs(ratio) * getattr(follower.coulomb, side), rel=1e-15)
    q = 0.37
    assert joint.spring.force(q) == pytest.approx(ratio * follower.spring.force(ratio * q + 0.15), rel=1e-13)
    ends = sorted(ratio * end + 0.15 for end in (joint.limit.lower, joint.limit.upper))
    assert ends == pytest.approx([-0.6, 1.1], rel=1e-14)
    assert joint.limit.lower < joint.limit.upper
    assert (joint.limit.stiffness, joint.limit.damping) == pytest.approx((ratio**2 * 1e3, ratio**2 * 4.0), rel=1e-15)


def test_a_file_of_degrees_gives_the_offset_of_a_joint_that_turns_in_degrees():
    def gear(units: str, quarter: float) -> Arm:
        row = {"mdh": {"a": 0.1}, "bodies": [{"point": {"mass": 1, "center": [0.2, 0, 0]}}]}
        leader = {"name": "R1", "type": "revolute", **row}
        follower = {"name": "R2", "type": "revolute", "mimic": {"joint": "R1", "ratio": -2, "offset": quarter}, **row}
        slide = {"name": "P3", "type": "prismatic", "mimic": {"joint": "R1", "ratio": 0.5, "offset": 0.25}, **row}
        file = {"format": "armsim/robot/1", "name": "gear", "units": {"angle": units}}
        return arm_of(file | {"joints": [leader, follower, slide]})

    assert gear("deg", 90).positions([0.3]) == gear("rad", math.pi / 2).positions([0.3])
    assert gear("deg", 90).positions([0.3]) == [0.3, math.pi / 2 - 2 * 0.3, 0.25 + 0.5 * 0.3]


def test_a_joint_called_base_carries_what_comes_after_it():
    rod = {"type": "revolute", "mdh": {"a": 0.2}, "bodies": [{"point": {"mass": 1, "center": [0.1, 0, 0]}}]}
    joints = [{"name": "A", **rod}, {"name": "B", "parent": "base", **rod}, {"name": "base", **rod}]
    arm = armsim.load_robot(
        {"format": "armsim/robot/1", "name": "x", "joints": [*joints, {**joints[1], "name": "C"}]}
    ).arm
    assert arm.parents == (-1, -1, 1, 2)
