"""Robots of the wheel `example-robot-data`, against Pinocchio reading the same files."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, files

import numpy as np
import pytest

from armsim.arm.robot import Robot
from armsim.errors import FileFaults
from armsim.importing.urdf import read_urdf
from armsim.loading import build_robot, load_robot_file
from armsim.loading.robot_file import built

STATES = 200
WHEEL = "example-robot-data"
TOLERANCE = 1e-10  # of the greatest number


def urdfs() -> dict:
    """The URDF files of the wheel by name, that of their folder before it where two have one; none where it is not there."""
    try:
        found = [path for path in files(WHEEL) or () if path.suffix == ".urdf"]
    except PackageNotFoundError:
        return {}
    names = [path.stem for path in found]
    return {
        path.stem if names.count(path.stem) == 1 else f"{path.parts[-3]}_{path.stem}": str(path.locate())
        for path in found
    }


# what is refused, and why: the files themselves say so
REFUSED = {
    "alex_psyonic_hands": ("mimic", "`index_q1`"),  # which is called Left_index_q1 and Right_index_q1
    "iris_simple": ("1 to 100 joints", "found:    0"),  # a quadrotor without rotors
    "quadrotor_base": ("1 to 100 joints", "found:    0"),
    "romeo": ("inertia about the axis of joint `RHand`", "no inertia"),  # fingers without mass
    "romeo_laas_small": ("inertia about the axis of joint `r_gripper_joint`", "no inertia"),
    "tiago_dual": ("1 to 100 joints", "found:    101"),
    "ur3": ("one link from which all others hang", "joint moves: none"),  # empty
}
FILES = urdfs()


@pytest.mark.skipif(not FILES, reason=f"the wheel {WHEEL} is not installed")
def test_what_is_refused_of_the_wheel_is_refused_for_a_reason_that_is_true():
    told = {}
    for name, path in FILES.items():
        try:
            built(load_robot_file(read_urdf(path)))
        except FileFaults as error:
            told[name] = str(error)
    assert sorted(told) == sorted(REFUSED)
    assert all(words[0] in told[name] and words[1] in told[name] for name, words in REFUSED.items())


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*FILES} - {*REFUSED}))
def test_forward_dynamics_and_poses_are_those_that_pinocchio_finds_in_the_same_file(name):
    """Links that mimic move freely there: its equations are projected on the joints that lead."""
    pin = pytest.importorskip("pinocchio")
    imported = read_urdf(FILES[name])
    file = load_robot_file(imported)
    unset = {f"joints[{i}].friction": None for i, joint in enumerate(file.document.joints) if joint.given("friction")}
    document = load_robot_file(imported, unset).document  # Pinocchio's equations have no friction
    arm = build_robot(document)
    robot = Robot(arm, "llvm", document)
    model = pin.buildModelFromUrdf(FILES[name])
    data = model.createData()
    joints = {joint.name: i for i, joint in enumerate(document.joints)}
    urdf_names = [re.search("joint `(.*?)`", imported.comments[f"joints[{i}]"])[1] for i in range(len(joints))]
    ids = [model.getJointId(urdf) for urdf in urdf_names]
    frames = {
        frame: model.getFrameId((re.search("`(.*)`", imported.comments[f"frames.{frame}"]) or ["", frame])[1], pin.BODY)
        for frame in document.frames
    }
    G, offset = np.zeros((model.nv, arm.n)), np.zeros(model.nv)
    free = [joint.name for joint in document.free]
    for k, joint in enumerate(document.joints):
        leader = joint.name if joint.mimic is None else joint.mimic.joint
        v = model.joints[ids[k]].idx_v
        G[v, free.index(leader)] = 1.0 if joint.mimic is None else joint.mimic.ratio.value
        offset[v] = 0.0 if joint.mimic is None else joint.mimic.offset.value
    rng = np.random.default_rng(sum(map(ord, name)))
    q, qd, tau = rng.uniform(-2, 2, (3, STATES, arm.n))
    tau *= np.abs(robot.gravity_torque(q)).max(axis=0) + 0.1
    expected, poses, condition = [], [], 0.0
    for one in range(STATES):
        x, xd = G @ q[one] + offset, G @ qd[one]
        full = pin.neutral(model)
        for joint in model.joints:
            if joint.nv == 1:
                angle = x[joint.idx_v]
                full[joint.idx_q : joint.idx_q + joint.nq] = (
                    [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
                )
        pin.crba(model, data, full)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        condition = max(condition, np.linalg.cond(G.T @ M @ G))
        h = pin.nonLinearEffects(model, data, full, xd)
        if arm.n == model.nv:
            expected.append(pin.aba(model, data, full, xd, G @ tau[one])[[model.joints[i].idx_v for i in ids]])
        else:
            expected.append(np.linalg.solve(G.T @ M @ G, tau[one] - G.T @ h))
        pin.framesForwardKinematics(model, data, full)
        placed = [data.oMi[i] for i in ids] + [data.oMf[i] for i in frames.values()]
        poses.append([pin.SE3ToXYZQUAT(pose)[[0, 1, 2, 6, 3, 4, 5]] for pose in placed])
    expected, poses = np.array(expected), np.array(poses)
    found = robot.forward_dynamics(q, qd, tau)
    links = robot.link_poses(q)
    mine = [np.concatenate(links, axis=-1)]
    mine += [np.concatenate(robot.forward_kinematics(q, frame), axis=-1)[:, None] for frame in frames]
    mine = np.concatenate(mine, axis=1)
    poses[..., 3:] *= np.sign(np.sum(poses[..., 3:] * mine[..., 3:], axis=-1, keepdims=True))
    error = np.abs(found - expected).max() / np.abs(expected).max()
    apart = np.abs(mine - poses).max() / max(1.0, np.abs(poses).max())
    print(f"{name}: {len(joints)} joints, {len(joints) - arm.n} mimic, {len(frames)} frames, {error:.1e}, {apart:.1e}")
    assert error < max(TOLERANCE, 2**-52 * condition)  # more for two humanoids only, of light fingers and toes
    assert apart < TOLERANCE
