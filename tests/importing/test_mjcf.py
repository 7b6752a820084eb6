"""MJCF against MuJoCo: what is imported moves as there; what is not is told; and no text breaks the reader."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from armsim.actuation.motor import steady_current, viscous
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
            <body name="c" pos="-0.3 .1 0">
              <joint name="c1" type="slide" axis="0 1 0"/><geom type="cylinder" size=".05 .1"/>
            </body>
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
INCLUDING = """\
<mujoco>
  <worldbody>
    <body euler="0 1 0"><joint axis="1 0 0"/><geom size=".1"/><include file="parts/hand.xml"/></body>
  </worldbody>
</mujoco>
"""
RADIANS = ARM.replace('angle="degree" eulerseq="ZYX"', 'angle="radian" eulerseq="xyx"')
FREE = """\
<mujoco>
  <option><flag gravity="disable" damper="disable"/></option>
  <worldbody>
    <body pos="1 2 3" euler="10 0 0"><freejoint/><geom size=".1"/>
      <body><joint name="base" damping="1"/><geom size=".1" pos=".1 0 0"/>
        <body pos="0 1 0"><joint axis="1 0 0"/><geom size=".1" pos="0 .1 .2"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
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


MODELS = {"degrees": ARM, "radians": RADIANS, "free": FREE, "fingers": FINGERS}


def imported(text: str, name: str = "arm.xml"):
    """What is imported of a text, and its arm, by way of the YAML that is written."""
    Path(name).write_text(text)
    found = read_mjcf(name)
    return found, read_robot(data_of(parse_yaml(text_of(found), "arm.yaml")))[0]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def in_this_process(monkeypatch):
    """MuJoCo compiles here: thousands of processes take hours."""
    program = compile("import json, sys\n" + mjcf.COMPILE[mjcf.COMPILE.index("import mujoco") :], "apart", "exec")

    def compiled(path: str, made: str):
        monkeypatch.setattr(sys, "argv", ["", path, made])
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(program, {})
        return json.loads(said.getvalue().splitlines()[-1])

    monkeypatch.setattr(mjcf, "_compile", compiled)


def passive(joint, q: float, qd: float) -> float:
    """Torque of a joint's spring and dampers, by armsim's numbers."""
    dampers = joint.viscous + (viscous(joint.motor) if joint.motor else 0.0)
    return -dampers * qd - (joint.spring.stiffness * (q - joint.spring.rest) if joint.spring else 0.0)


def assert_moves_as_in_mujoco(arm) -> None:
    """Mass matrix, bias, springs and dampers, frames of sites and bodies, at random states: to 1e-10 of the maximum.

    Couplings are projected: at positions G q + c all is G' times what MuJoCo finds for free joints.
    """
    model = mujoco.MjModel.from_xml_path("arm.xml")
    data, rng, n = mujoco.MjData(model), np.random.default_rng(1), arm.n
    moving = [i for i in range(model.njnt) if model.jnt_type[i] >= int(mujoco.mjtJoint.mjJNT_SLIDE)]
    dofs, places = model.jnt_dofadr[moving], model.jnt_qposadr[moving]
    G = np.column_stack([arm.rates(list(column)) for column in np.eye(n)])
    pairs: dict[str, list] = {}
    for _ in range(STATES):
        q, qd = rng.uniform(-2, 2, (2, n)).tolist()
        data.qpos[places], data.qvel[dofs] = arm.positions(q), arm.rates(qd)
        mujoco.mj_forward(model, data)
        whole = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, whole)
        M = G.T @ whole[np.ix_(dofs, dofs)] @ G
        pairs.setdefault("M", []).append((np.concatenate(crba(arm, q)), M[np.tril_indices(n)]))
        pairs.setdefault("bias", []).append((rnea(arm, q, qd, [0.0] * n), G.T @ data.qfrc_bias[dofs]))
        forces = [passive(*of) for of in zip(arm.joints, q, qd, strict=True)]
        pairs.setdefault("passive", []).append((forces, G.T @ data.qfrc_passive[dofs]))
        for frame in arm.frames[1:]:
            is_site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, frame.name) >= 0
            theirs = (data.site if is_site else data.body)(frame.name)
            pose = frame_pose(arm, q, frame)
            ours = [*pose.position, *(x for row in pose.rotation for x in row)]
            pairs.setdefault(frame.name, []).append((ours, [*theirs.xpos, *theirs.xmat]))
    for what, both in pairs.items():
        ours, theirs = np.moveaxis(np.array(both, dtype=float), 1, 0)
        assert np.abs(ours - theirs).max() <= 1e-10 * np.abs(theirs).max(), what


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.handful(1)
def test_an_imported_arm_moves_as_in_mujoco(name):
    _, arm = imported(MODELS[name])
    assert_moves_as_in_mujoco(arm)


def test_followers_are_where_mujocos_equalities_hold():
    _, arm = imported(FINGERS.replace('<joint joint1="f1" joint2="f3"/>', ""))
    data = mujoco.MjData(model := mujoco.MjModel.from_xml_path("arm.xml"))
    data.qpos[:] = arm.positions([0.3, 0.7])
    mujoco.mj_forward(model, data)
    equalities = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    assert equalities.sum() == 2
    assert np.abs(data.efc_pos[equalities]).max() < 1e-15


def test_included_files_are_read_by_mujoco():
    Path("parts").mkdir()
    Path("parts/hand.xml").write_text(INCLUDED)
    _, arm = imported(INCLUDING)
    assert arm.n == 2
    assert_moves_as_in_mujoco(arm)


def test_limits_friction_names_and_the_home_pose_are_the_files():
    found, arm = imported(ARM)
    first, slide, *_, last = arm.joints
    assert arm.name == "arm"
    assert [joint.name for joint in arm.joints] == ["a1", "a2", "a3", "b_1", "joint4", "c1"]
    assert first.bounds == pytest.approx((-np.pi / 2, np.pi / 2))
    assert slide.bounds == (-1, 1)
    assert first.coulomb.positive == first.coulomb.negative == 0.02
    assert last.bounds == (None, None)
    assert arm.initial == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, -0.06])
    assert [frame.name for frame in arm.frames] == ["tool", "mark", "attachment_site", "a", "fixed"]
    assert arm.frames[0].link == arm.frames[2].link == "b_1"
    assert found.comments["joints[3]"] == "joint `b 1` of body `b`"
    assert found.root.get("joints").items[3].place == ("arm.xml", ARM[: ARM.index("b 1")].count("\n") + 1, 1)


def test_motors_have_the_constants_of_actuators():
    _, arm = imported(ARM)
    direct, electric = arm.joints[0].motor, arm.joints[3].motor
    assert (direct.gear, direct.limits.torque, direct.rotor_inertia, direct.Kp) == (30, 2, 1e-4 + 0.01 / 900, None)
    assert (electric.Kp, electric.Ra, electric.inductance, electric.gear) == (0.05, 2, 0.001, -50)
    assert electric.limits.voltage == 24
    assert electric.rotor_inertia == pytest.approx(0.01 / 2500, rel=1e-15)


@pytest.mark.parametrize("torque", [0.3, -1.2])
@pytest.mark.handful(1)
def test_an_affine_actuator_that_is_a_motor_under_voltage_gives_its_torque(torque):
    gain, slope = 0.8, 0.05
    general = (
        f'<general joint="j" gear="7" biastype="affine" gainprm="{gain}" biasprm="0 0 {-slope}" ctrlrange="-9 9"/>'
    )
    body = '<body><joint name="j"/><geom size=".1" pos=".1 0 0"/></body>'
    _, arm = imported(f"<mujoco><worldbody>{body}</worldbody><actuator>{general}</actuator></mujoco>")
    motor, data = arm.joints[0].motor, mujoco.MjData(model := mujoco.MjModel.from_xml_path("arm.xml"))
    data.ctrl[:], data.qvel[:] = voltage, rate = 3.0 * torque, 0.4
    mujoco.mj_forward(model, data)
    assert motor.gear * motor.Kp * steady_current(motor, voltage, rate) == pytest.approx(
        data.qfrc_actuator[0], rel=1e-14
    )
    assert motor.limits.voltage == 9


def test_joints_that_move_as_one_have_one_motor_and_all_their_limits_and_springs():
    found, arm = imported(FINGERS.replace("-1 1.04", "-0.02 0.04"))
    turn, finger = arm.joints
    assert [arm.links[i].mimic.joint for i in (2, 3)] == ["f1", "f1"]
    assert finger.bounds == pytest.approx((-0.02, 0.02 / 0.9))  # f2 is at 0.02 + 0.9 f1
    assert finger.motor.limits.torque == 30
    assert finger.motor.gear == pytest.approx(2 * (0.5 + 0.5 * 0.9))
    assert turn.motor is not None  # its armature
    assert not any("tendon" in fault.path for fault in found.sources[0].remarks)


LEFT_OUT = """\
<mujoco>
  <option density="1"/>
  <default><geom size=".1" pos=".1 0 0"/></default>
  <worldbody>
    <site name="start"/>
    <body name="ball" pos="3 0 0"><freejoint/><geom/></body>
    <body><joint name="j" range="20 40" stiffness="1 2"/><geom/>
      <body name="thigh" gravcomp="1"><joint name="hip" type="ball"/><geom/><body><joint name="knee"/><geom/></body></body>
      <body><joint name="k"/><geom/><site name="end" pos="0 .1 0"/></body>
    </body>
  </worldbody>
  <tendon><spatial><site site="start"/><site site="end"/></spatial></tendon>
  <actuator>
    <velocity joint="j" kv="3"/>
    <motor joint="j"/>
    <motor joint="hip"/>
    <motor site="end"/>
    <muscle name="biceps" joint="k" lengthrange="0 1"/>
  </actuator>
  <equality><joint name="half" joint1="k" joint2="j" polycoef="0 1 1 0 0"/><joint joint1="k"/></equality>
  <sensor><jointpos joint="j"/></sensor>
  <keyframe><key name="home" qpos="3 0 0 1 0 0 0 0 1 0 0 0 0 0"/><key/></keyframe>
</mujoco>
"""


def test_what_is_left_out_is_told(told):
    found, arm = imported(LEFT_OUT)
    assert list(arm.link_names) == ["j", "k"]
    told("\n".join(map(str, found.sources[0].remarks)))
    told(text_of(found))


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("<mujoco>\n<worldbody></mujoco>", 2, "mismatched tag"),
        ("<!DOCTYPE a><mujoco/>", 1, "document type"),
        ("<mujoco>\n\n<arm/></mujoco>", 3, "arm"),
        ("<mujoco><worldbody>\n<body>\n<joint/></body></worldbody></mujoco>", 2, "mass"),
        ('<mujoco><worldbody><body><geom size=".1"/></body></worldbody></mujoco>', 0, "none"),
        ('<mujoco>\n<include file="nowhere.xml"/></mujoco>', 0, "nowhere.xml"),
        ('<mujoco><asset><mesh file="nowhere.stl"/></asset></mujoco>', 0, "nowhere.stl"),
        ('<mujoco><size nuser_body="2000000000"/></mujoco>', 0, "exception"),
    ],
)
@pytest.mark.handful(2)
def test_what_mujoco_refuses_is_a_fault_at_its_line(text, line, word):
    Path("arm.xml").write_text(text)
    with pytest.raises(FileFaults) as refused:
        read_mjcf("arm.xml")
    (fault,) = refused.value.faults
    assert (fault.where.source, fault.where.line) == ("arm.xml", line)
    assert word in fault.found


def test_a_model_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(mjcf, "LONGEST", 1.0)
    depth = 6
    geoms = '<replicate count="300">' * depth + '<geom size=".1"/>' + "</replicate>" * depth
    Path("arm.xml").write_text(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    with pytest.raises(FileFaults, match=r"one that takes more than 1 s|breaks down"):
        read_mjcf("arm.xml")


def test_mujoco_is_an_extra(monkeypatch, told):
    monkeypatch.setattr(mjcf, "find_spec", lambda name: None)
    Path("arm.xml").write_text(ARM)
    with pytest.raises(UsageError) as refused:
        read_mjcf("arm.xml")
    told(refused.value)


NUMBERS = ("0", "-1", "1e-300", "1e300", "nan", "inf", "1e9", "-0", "7 7", "", "1e-7", "x", "0.5", "3 -2 1", "10000")
WORDS = (
    "free",
    "ball",
    "slide",
    "hinge",
    "a1",
    "b 1",
    "f1",
    "base",
    "tool",
    "true",
    "false",
    "affine",
    "dcmotor",
    "joint",
)


def mutated(seed: int) -> str:
    """A model with a few changes: of numbers, words, signs; of pieces that are taken out, doubled, or put elsewhere."""
    rng = Random(seed)
    text = rng.choice([*MODELS.values(), LEFT_OUT])
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        spans = [
            m.span()
            for m in re.finditer(rng.choice((r"-?[\d.]+", r"(?<=\")[^\"]*(?=\")", r"<[^>]*>", r"\w+", r".")), text)
        ]
        if not spans:
            continue
        (start, end), (other, last) = rng.choice(spans), rng.choice(spans)
        piece = rng.choice((rng.choice(NUMBERS), rng.choice(WORDS), text[other:last], text[start:end] * 2, "", ""))
        text = text[:start] + piece + text[end:]
    return text


@pytest.mark.parametrize("part", range(400 if "ARMSIM_MUTATIONS" in os.environ else 20))
@pytest.mark.handful(1)
def test_no_text_breaks_the_reader(part, in_this_process):
    for seed in range(50 * part, 50 * (part + 1)):
        with contextlib.suppress(ArmsimError):
            Path("arm.xml").write_text(mutated(seed))
            found = read_mjcf("arm.xml")
            text_of(found)
            read_robot(data_of(found.root))
