"""MJCF against MuJoCo: what is imported moves as there; what is not is told; and no text breaks the reader."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from armsim.actuation.motor import viscous
from armsim.dynamics import crba, frame_pose, rnea
from armsim.errors import ArmsimError, FileFaults, UsageError
from armsim.files.nodes import data_of
from armsim.files.yaml_reader import parse_yaml
from armsim.importing import mjcf
from armsim.importing.imported import text_of
from armsim.importing.mjcf import read_mjcf
from armsim.loading import read_robot

mujoco = pytest.importorskip("mujoco")

STATES = 200
ARM = """\
<mujoco model="arm">
  <compiler angle="degree" eulerseq="ZYX"/>
  <option gravity="0.1 0.2 -9.7"/>
  <default>
    <joint damping="0.3" armature="0.01"/>
    <geom density="2700"/>
    <default class="small">
      <joint damping="0.1" frictionloss="0.05" stiffness="2" springref="10"/>
      <default class="smaller"><joint range="-90 90" frictionloss="0.02"/></default>
    </default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="base" pos="0 0 0.1" euler="10 20 30">
      <geom type="box" size=".1 .2 .3" euler="5 6 7"/>
      <body name="a" pos="0.1 0 0.2" quat="1 2 3 4" childclass="small">
        <joint name="a1" class="smaller" axis="0 1 1" pos="0.05 0.1 0" ref="20"/>
        <joint name="a2" type="slide" axis="1 0 0" pos="0.2 0.1 0" ref="0.3" range="-1 1" springref="0.1"/>
        <joint name="a3" axis="1 0 0.5" pos="-.1 0.1 0" ref="-30"/>
        <geom type="capsule" fromto="0 0 0 .3 .1 .2" size=".04"/>
        <frame pos="0.1 0 0" euler="0 0 90">
          <body name="fixed" pos="0 .1 .2" axisangle="1 1 0 40">
            <geom type="ellipsoid" size=".1 .05 .08" mass=".4"/>
            <site name="mark" pos=".1 0 0" zaxis="1 1 0"/>
            <body name="b" pos="0.3 .1 0">
              <inertial mass="1.5" pos="0.1 0 .2" fullinertia=".1 .12 .13 .01 -.02 .005"/>
              <joint name="b 1" class="main" axis="0 0 1"/>
              <site name="attachment_site" pos="0 0 .1" xyaxes="0 1 0 -1 0 0"/>
              <body><joint/><geom size=".1" pos=".2 0 0"/></body>
            </body>
            <body name="c" pos="-0.3 .1 0"><joint name="c1" type="slide" axis="0 1 0"/><geom type="cylinder" size=".05 .1"/></body>
          </body>
        </frame>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="m1" joint="a1" gear="30" ctrlrange="-2 2" armature="1e-4" damping="2e-4"/>
    <dcmotor joint="b 1" motorconst="0.05" resistance="2" inductance="0.001" gear="-50" ctrlrange="-24 24"/>
  </actuator>
  <keyframe><key name="home" qpos="0.1 0.2 0.3 0.4 0.5 -.06"/></keyframe>
</mujoco>
"""
INCLUDED = '<mujocoinclude><body name="hand" pos="0 0 .3"><joint/><geom size=".1" pos=".1 0 0"/></body></mujocoinclude>'
INCLUDING = '<mujoco><worldbody><body euler="0 1 0"><joint axis="1 0 0"/><geom size=".1"/><include file="{}"/></body></worldbody></mujoco>'
RADIANS = ARM.replace('angle="degree" eulerseq="ZYX"', 'angle="radian" eulerseq="xyx"')
FREE = '<mujoco><option><flag gravity="disable" damper="disable"/></option><worldbody><body pos="1 2 3" euler="10 0 0"><freejoint/>'
FREE += '<geom size=".1"/><body><joint name="base" damping="1"/><geom size=".1" pos=".1 0 0"/>'
FREE += '<body pos="0 1 0"><joint axis="1 0 0"/><geom size=".1" pos="0 .1 .2"/></body></body></body></worldbody></mujoco>'
FINGERS = """\
<mujoco>
  <default><joint type="slide" axis="0 1 0" range="-1 1.04" armature="0.1" damping="3"/><geom size=".02" pos="0 .01 0"/></default>
  <worldbody>
    <body name="wrist"><joint name="turn" type="hinge" axis="1 0 0" range="-3 3"/><geom size=".1" pos="0 0 .1"/>
      <body name="left" pos="0 0 .2"><joint name="f1"/><geom/></body>
      <body name="right" pos="0 0 .2" euler="0 0 180"><joint name="f2" ref=".01"/><geom/></body>
      <body name="third" pos="0 .1 .2"><joint name="f3" stiffness="5" springref=".02"/><geom/></body>
    </body>
  </worldbody>
  <tendon><fixed name="split"><joint joint="f1" coef="0.5"/><joint joint="f2" coef="0.5"/></fixed></tendon>
  <actuator><position tendon="split" gear="2" kp="100" forcerange="-30 30"/></actuator>
  <equality>
    <joint joint1="f3" joint2="f2" polycoef="0.002 -0.5 0 0 0"/>
    <joint joint1="f2" joint2="f1" polycoef="0.01 0.9 0 0 0"/>
    <joint joint1="f1" joint2="f3"/>
  </equality>
</mujoco>
"""


def imported(text: str, folder: Path, name: str = "arm.xml"):
    """What is imported of a text, and its arm, by way of the YAML that is written."""
    path = folder / name
    path.write_text(text)
    found = read_mjcf(str(path))
    arm, robot = read_robot(data_of(parse_yaml(text_of(found), "arm.yaml")))
    return found, arm, robot


def matrix(pose) -> np.ndarray:
    return np.array([*pose.position, *(x for row in pose.rotation for x in row)])


def assert_moves_as_in_mujoco(path: Path, arm, coupled: bool = False) -> None:
    """Mass matrix, bias, springs and dampers, sites: at random states, to 1e-10 of the maximum."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    joints = [i for i in range(model.njnt) if model.jnt_type[i] >= 2]
    q_at, dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
    found = {key: [] for key in ("M", "bias", "passive", "sites")}
    theirs = {key: [] for key in found}
    for _ in range(STATES):
        q, qd = rng.uniform(-2, 2, (2, arm.n))
        G = np.column_stack([arm.rates(list(column)) for column in np.eye(arm.n)])
        data.qpos[:], data.qvel[:] = model.qpos0, 0
        data.qpos[q_at], data.qvel[dofs] = arm.positions(list(q)), arm.rates(list(qd))
        mujoco.mj_forward(model, data)
        whole = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, whole)
        theirs["M"].append(G.T @ whole[np.ix_(dofs, dofs)] @ G)
        theirs["bias"].append(G.T @ data.qfrc_bias[dofs])
        theirs["passive"].append(G.T @ data.qfrc_passive[dofs])
        M = np.zeros((arm.n, arm.n))
        for i, row in enumerate(crba(arm, list(q))):
            M[i, : len(row)] = M[: len(row), i] = row
        found["M"].append(M)
        found["bias"].append(rnea(arm, list(q), list(qd), [0.0] * arm.n))
        passive = [
            -(one.viscous + (viscous(one.motor) if one.motor else 0.0)) * v - (one.spring.stiffness * (x - one.spring.rest) if one.spring else 0.0)
            for one, x, v in zip(arm.joints, q, qd, strict=True)
        ]
        found["passive"].append(passive)
        for frame in arm.frames:
            if frame.name != "tool":
                kind = data.site if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, frame.name) >= 0 else data.body
                at = kind(frame.name)
                pose = [*(at.xpos), *(at.xmat)]
                found["sites"].append(matrix(frame_pose(arm, list(q), frame)))
                theirs["sites"].append(pose)
    for key, ours in found.items():
        ours, other = np.array(ours, dtype=float), np.array(theirs[key])
        assert np.abs(ours - other).max(initial=0.0) <= 1e-10 * np.abs(other).max(initial=1e-300), key


@pytest.mark.parametrize("text", [ARM, RADIANS, FREE, FINGERS], ids=["degrees", "radians", "free", "fingers"])
def test_an_imported_arm_moves_as_in_mujoco(text, tmp_path):
    _, arm, _ = imported(text, tmp_path)
    assert_moves_as_in_mujoco(tmp_path / "arm.xml", arm)


def test_included_files_are_read_by_mujoco(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "hand.xml").write_text(INCLUDED)
    _, arm, _ = imported(INCLUDING.format("parts/hand.xml"), tmp_path)
    assert arm.n == 2
    assert_moves_as_in_mujoco(tmp_path / "arm.xml", arm)
