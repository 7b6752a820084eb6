"""Robots exported as URDF and MJCF, read by Pinocchio and MuJoCo; as other DH parameters, read by armsim."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

import armsim
from armsim.dynamics import bias, mass_matrix
from armsim.exporting.mjcf import realizable
from armsim.loading import read_robot, read_scenario
from tests.trees import frame, short, solid, tree

DATA = Path(__file__).parent.parent / "data"
SHIPPED = ["arm5", "puma560", "rr", "two_link", "arm5_gripper", "torso"]
TREES = range(24)
TIGHT = 1e-12  # of the largest: sums of some hundred products, of numbers with 16 digits


def robots(*seeds: int) -> list:
    """Shipped robots by name, and random trees by seed."""
    return [*SHIPPED, *(pytest.param(tree(seed, most=12), id=f"tree{seed}") for seed in seeds)]


def close(found, expected) -> None:
    """Compare arrays to 1e-12 of the largest entry."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=TIGHT * max(1e-3, np.abs(expected).max()))


def described(robot, to: str, folder: Path, **options) -> str:
    """The text of a robot's description."""
    done = armsim.export(robot, to, folder / f"robot.{to}", force=True, **options)
    return Path(done.files[0]).read_text(encoding="utf-8")


def led(arm) -> tuple[np.ndarray, np.ndarray]:
    """G and c of the positions G q + c of all links' joints, by those q of the arm's joints."""
    c = np.array(arm.positions([0.0] * arm.n), float)
    return np.array([arm.positions(row) for row in np.eye(arm.n)]).T - c[:, None], c


def states(n: int, count: int = 5) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(n)
    return [tuple(rng.uniform(-2, 2, (2, n))) for _ in range(count)]


def placed(position, quaternion) -> np.ndarray:
    return np.array([*position, *np.outer(quaternion, quaternion).ravel()])  # of q and -q the same


@pytest.mark.parametrize("robot", robots(*range(1, 24, 2)))  # URDF has no screws
@pytest.mark.handful(8)
def test_pinocchio_reads_the_urdf_as_the_same_arm(robot, tmp_path):
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(described(robot, "urdf", tmp_path))
    data, ours = model.createData(), armsim.load_robot(robot)
    arm, (G, c) = ours.arm, led(ours.arm)
    order = [model.joints[model.getJointId(name)].idx_v for name in arm.link_names]
    assert sorted(order) == list(range(model.nv))
    base = pin.SE3(np.array([[*row] for row in arm.base.rotation]), np.array([*arm.base.position]))
    model.gravity.linear = base.rotation.T @ np.array([*arm.gravity])
    armature = np.diag([link.armature for link in arm.links])
    for q, qd in states(arm.n):
        x, v = np.zeros((2, model.nv))
        x[order], v[order] = G @ q + c, G @ qd
        x = pin.integrate(model, pin.neutral(model), x)  # a joint without limits is two numbers to it
        M = pin.crba(model, data, x)[np.ix_(order, order)]
        M = np.triu(M) + np.triu(M, 1).T + armature
        close(G.T @ M @ G, ours.mass_matrix(q))
        close(G.T @ pin.nonLinearEffects(model, data, x, v)[order], ours.bias(q, qd))
        pin.framesForwardKinematics(model, data, x)
        for of in arm.frames:
            at = base * data.oMf[model.getFrameId(of.name)]
            turned = pin.Quaternion(at.rotation)
            pose = ours.forward_kinematics(q, of.name)
            close(placed(at.translation, [turned.w, turned.x, turned.y, turned.z]), placed(*pose))


@pytest.mark.parametrize("robot", robots(*TREES))
@pytest.mark.handful(8)
def test_mujoco_reads_the_mjcf_as_the_same_arm(robot, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(described(robot, "mjcf", tmp_path))
    data, ours = mujoco.MjData(model), armsim.load_robot(robot)
    arm, (G, c) = ours.arm, led(ours.arm)
    names, rows, offsets = [*arm.link_names], [*G], [*c]
    for i, link in enumerate(arm.links):
        if link.kind.has_pitch:  # a screw is two joints
            names, rows, offsets = [*names, f"{link.name} slides"], [*rows, link.slides * G[i]], [*offsets, link.slides * c[i]]
    order = np.array([model.joint(name).dofadr[0] for name in names])
    assert sorted(order) == list(range(model.nv))
    G, c = np.array(rows), np.array(offsets)
    for q, qd in states(arm.n):
        data.qpos[order], data.qvel[order] = G @ q + c, G @ qd
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        close(G.T @ M[np.ix_(order, order)] @ G, ours.mass_matrix(q))
        close(G.T @ data.qfrc_bias[order], ours.bias(q, qd))
        for of in arm.frames:
            turned = np.zeros(4)
            mujoco.mju_mat2Quat(turned, data.site(of.name).xmat)
            close(placed(data.site(of.name).xpos, turned), placed(*ours.forward_kinematics(q, of.name)))
