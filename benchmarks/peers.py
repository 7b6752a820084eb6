"""The same arm, motors and controller in MuJoCo and Pinocchio, built from armsim's own `Arm`.

Neither has joint stops here: armsim's are one-sided springs, MuJoCo's are soft constraints. The hold touches none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree as ET

from hold import SpringLaw, spring_law

from armsim.dynamics.kinematics import joint_poses
from armsim.loading import Scenario
from armsim.model import Arm
from armsim.spatial import Pose, quaternion

INSTALL = {"mujoco": "pip install mujoco", "pinocchio": "pip install pin"}


@dataclass(frozen=True)
class Peer:
    """Another program's model of the case.

    Attributes:
        name: Of its Python module.
        version: Of the program.
        accelerations: (q, qd) to joint accelerations [rad/s²], under the same control and back-EMF.
        roll_out: Number of steps to the joint positions [rad] after them.
        dynamics: One bare call of its forward dynamics, for timing; None where a user never makes one.
    """

    name: str
    version: str
    accelerations: Callable[[list[float], list[float]], list[float]]
    roll_out: Callable[[int], list[float]]
    dynamics: Callable[[], object] | None = None


def installed() -> list[str]:
    """The peers that this Python has."""
    return [name for name in INSTALL if find_spec(name) is not None]


def link_frames(arm: Arm) -> list[Pose]:
    """Every link's frame in the frame of the link that carries it at joint position zero; on the base, in the world."""
    frames = [Pose(R.matrix, p) for R, p in joint_poses(arm, [0.0] * arm.n)]
    return [arm.base @ frame if parent < 0 else frame for parent, frame in zip(arm.parents, frames, strict=True)]


def mjcf(arm: Arm, law: SpringLaw, dt: float) -> str:
    """The arm as an MJCF document.

    Control is a native affine actuator, all damping a joint's `damping`. It would be taken implicitly; that is switched
    off, so that the method is plain semi-implicit Euler.
    """

    def text(*numbers: float) -> str:
        return " ".join(repr(float(x)) for x in numbers)

    root = ET.Element("mujoco", model=arm.name)
    ET.SubElement(root, "compiler", angle="radian", autolimits="false")
    option = ET.SubElement(root, "option", timestep=text(dt), gravity=text(*arm.gravity), integrator="Euler")
    ET.SubElement(option, "flag", eulerdamp="disable", constraint="disable", contact="disable")
    parent = ET.SubElement(root, "worldbody")
    actuators = ET.SubElement(root, "actuator")
    for i, (joint, frame, inertia) in enumerate(zip(arm.joints, link_frames(arm), arm.inertias, strict=True)):
        pos, quat = text(*frame.position), text(*quaternion(frame.rotation))
        parent = ET.SubElement(parent, "body", name=f"link_{joint.name}", pos=pos, quat=quat)
        ET.SubElement(
            parent,
            "joint",
            name=joint.name,
            type="hinge" if joint.type == "revolute" else "slide",
            axis="0 0 1",
            damping=text(law.damping[i]),
            armature=text(law.armature[i]),
        )
        J = inertia.tensor_about_com()
        tensor = text(J.xx, J.yy, J.zz, J.xy, J.xz, J.yz)
        ET.SubElement(parent, "inertial", mass=text(inertia.mass), pos=text(*inertia.com()), fullinertia=tensor)
        k = law.stiffness[i]
        bias = text(k * law.target[i], -k, 0.0)
        ET.SubElement(actuators, "general", joint=joint.name, gainprm="0", biastype="affine", biasprm=bias)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def mujoco_peer(scenario: Scenario) -> Peer:
    """The case in MuJoCo."""
    import mujoco
    import mujoco_hold

    model = mujoco.MjModel.from_xml_string(mjcf(scenario.arm, law_of(scenario), scenario.dt))
    data = mujoco.MjData(model)

    def accelerations(q: list[float], qd: list[float]) -> list[float]:
        data.qpos[:], data.qvel[:] = q, qd
        mujoco.mj_forward(model, data)
        return data.qacc.tolist()

    def roll_out(steps: int) -> list[float]:
        return mujoco_hold.roll_out(model, data, list(scenario.initial_q), steps).tolist()

    return Peer("mujoco", mujoco.__version__, accelerations, roll_out)


def pinocchio_model(arm: Arm):
    """The arm as a Pinocchio model."""
    import numpy as np
    import pinocchio

    def array(a) -> np.ndarray:
        return np.array([[*row] for row in a], dtype=float)

    model = pinocchio.Model()
    model.name = arm.name
    model.gravity.linear = np.array([*arm.gravity])
    placed = [0]  # the base's is the last, where -1 finds it
    for joint, parent, frame, inertia in zip(arm.joints, arm.parents, link_frames(arm), arm.inertias, strict=True):
        kind = pinocchio.JointModelRZ() if joint.type == "revolute" else pinocchio.JointModelPZ()
        placement = pinocchio.SE3(array(frame.rotation), np.array([*frame.position]))
        placed.insert(-1, model.addJoint(placed[parent], kind, placement, joint.name))
        tensor = array(inertia.tensor_about_com().rows())
        body = pinocchio.Inertia(inertia.mass, np.array([*inertia.com()]), tensor)
        model.appendBodyToJoint(placed[-2], body, pinocchio.SE3.Identity())
    model.armature = np.array([joint.armature for joint in arm.joints])
    return model


def pinocchio_peer(scenario: Scenario) -> Peer:
    """The case in Pinocchio, from Python."""
    import numpy as np
    import pinocchio
    import pinocchio_hold

    law = law_of(scenario)
    model = pinocchio_model(scenario.arm)
    data = model.createData()
    case = case_data(scenario)
    stiffness, damping, target = np.array(law.stiffness), np.array(law.damping), np.array(law.target)
    q0, at_rest = np.array(scenario.initial_q, dtype=float), np.zeros(model.nv)

    def accelerations(q: list[float], qd: list[float]) -> list[float]:
        tau = stiffness * (target - q) - damping * np.array(qd)
        return pinocchio.aba(model, data, np.array(q), np.array(qd), tau).tolist()

    def roll_out(steps: int) -> list[float]:
        return pinocchio_hold.roll_out(model, data, case, steps).tolist()

    def dynamics() -> object:
        return pinocchio.aba(model, data, q0, at_rest, at_rest)

    return Peer("pinocchio", pinocchio.__version__, accelerations, roll_out, dynamics)


MAKERS = {"mujoco": mujoco_peer, "pinocchio": pinocchio_peer}


def law_of(scenario: Scenario) -> SpringLaw:
    """The case's control and motors as springs and dampers."""
    return spring_law(scenario.arm, scenario.command)


def case_data(scenario: Scenario) -> dict:
    """All of the case but the arm, as plain data."""
    return {**asdict(law_of(scenario)), "q": list(scenario.initial_q), "dt": scenario.dt, "steps": scenario.clock.steps}


def write_case(scenario: Scenario, peers: list[str], folder: Path) -> None:
    """Write what `mujoco_hold.py` and `pinocchio_hold.py` read when they are run as programs."""
    (folder / "case.json").write_text(json.dumps(case_data(scenario)))
    law = law_of(scenario)
    if "mujoco" in peers:
        (folder / "model.xml").write_text(mjcf(scenario.arm, law, scenario.dt))
    if "pinocchio" in peers:
        pinocchio_model(scenario.arm).saveToBinary(str(folder / "model.bin"))
