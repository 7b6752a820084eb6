"""MJCF, in which MuJoCo describes robots, as the content of a robot file.

MuJoCo itself reads and compiles it: defaults, includes, orientations and inertias of geoms are its affair. It does so in a
process of its own, within bounds of time and memory, and reads what the file names: includes, meshes, textures.

A link's frame (`convention: origin`) has the axes of its body in MuJoCo; its origin is at the body's last joint. Joints before
that move links without mass. Bodies without joints are merged with the link that carries them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from armsim.document import Motor
from armsim.document.kinds import as_name
from armsim.document.robot import FORMAT, RESERVED_FRAMES, UNIT
from armsim.errors import UsageError
from armsim.files.faults import Report, listed, refuse
from armsim.files.nodes import Node, Place
from armsim.files.plain_data import nodes_of
from armsim.files.source import Source, digest
from armsim.formulas.bounds import BOUNDS
from armsim.importing.imported import Imported, compact, free_name
from armsim.importing.xml_reader import read_xml
from armsim.model import BASE
from armsim.spatial import Matrix, Pose, Vector, roll_pitch_yaw

LONGEST = 60.0  # s that MuJoCo may take
TOOLS = ("tool", "attachment_site")  # sites or bodies that are the tool
DIGITS = 15  # behind the point, of m and rad
WIDEST = BOUNDS["rad or m"].largest
# MuJoCo's numbers: types of joints, of what actuators move, of equalities, gains and biases; what disableflags switch off
FREE, BALL, HINGE = 0, 1, 3
DIRECTLY, BY_TENDON, OF_JOINT, COUPLING, FIXED, DCMOTOR, AFFINE = (0, 1), 3, 1, 2, 0, 3, 1
SWITCHES = {1: "eq_active0", 2: "dof_frictionloss", 3: "jnt_limited", 5: "jnt_stiffness", 6: "dof_damping"}
NO_GRAVITY = 7
COMPILE = """
import json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
except (ImportError, ValueError, OSError):
    pass
import mujoco
try:
    spec = mujoco.MjSpec.from_file(sys.argv[1])
    mujoco.mj_saveModel(spec.compile(), sys.argv[2])
    kinds = {"body": spec.bodies, "joint": spec.joints, "actuator": spec.actuators, "equality": spec.equalities}
    told = {f"{kind} {x.id}": (int(x.info[5:]), 1) for kind, found in kinds.items() for x in found if x.info}
except Exception as error:
    told = str(error)
sys.stdout.write("\\n" + json.dumps(told))
"""


class _Link(NamedTuple):
    """A link that moves: its joint, the link that carries it or -1, its joint's frame in that, its bodies."""

    joint: Any
    carrier: int
    pose: Pose
    bodies: list[Node]


def read_mjcf(path: str) -> Imported:
    """An MJCF file as the content of a robot file. MuJoCo reads it, and the files that it names.

    Args:
        path: The file; messages show it as given.

    Raises:
        FileFaults: It cannot be read, MuJoCo refuses it, or none of its joints is a hinge or a slide.
        UsageError: MuJoCo is not installed.
    """
    root, raw = read_xml(path, "an MJCF file")
    if find_spec("mujoco") is None:
        raise UsageError.of(path, "MuJoCo, which reads MJCF", "it is not installed", 'pip install "armsim[mujoco]"')
    import mujoco

    spread = re.search(rb"<(include|attach|model)\b", raw)  # then lines may be those of other files
    with TemporaryDirectory() as folder:
        made = os.path.join(folder, "model.mjb")
        told = _compile(os.path.abspath(path), made)
        if isinstance(told, str):
            line = None if spread else re.search(r"[Ll]ine (?:number=)?(\d+)", told)
            place = Place(path, *(int(line[1]), 1) if line else ())
            mend = "correct it, or what it names, until MuJoCo takes it"
            raise refuse(place, "", "a model that MuJoCo compiles", " ".join(told.split()), mend)
        model = mujoco.MjModel.from_binary_path(made)
    with np.errstate(all="ignore"):  # a robot file's numbers are checked where it is read
        reader = _Reader(path, model, mujoco.mju_quat2Mat, {} if spread else told)
        robot: Any = nodes_of(reader.robot(root.attributes.get("model")), root.place)
    return Imported(robot, reader.comments, (Source(path, digest(raw), tuple(reader.remarks.faults)),))


def _compile(path: str, made: str) -> dict[str, list[int]] | str:
    """Compile a model to a binary file, in a process of its own: lines of its elements, or why MuJoCo does not take it."""
    folder, command = os.path.dirname(made), [sys.executable, "-c", COMPILE, path, made]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=LONGEST)  # MuJoCo may leave a log there
        told: dict[str, list[int]] | str = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return f"one that takes more than {LONGEST:g} s"
    except (IndexError, ValueError):
        return f"one at which MuJoCo breaks down, exit code {done.returncode}"
    return told


class _Reader:
    """The content of a robot file, of a compiled model.

    Attributes:
        remarks: What is left out, or assumed.
        comments: What came from where.
        links: The links that move.
        at: Of each body the link that carries it, -1 for the base, and its pose in that; None for one that is left out.
        led: Of each link the one whose joint leads, itself or another one, and ratio and offset of its position.
        motors: Of joints that lead, by link.
    """

    def __init__(self, path: str, model: Any, matrix: Any, lines: dict[str, list[int]]) -> None:
        self.path, self.model, self.matrix, self.lines = path, model, matrix, lines
        self.remarks, self.comments, taken = Report(), dict[str, str](), {BASE}
        for bit, name in SWITCHES.items():
            if model.opt.disableflags >> bit & 1:
                getattr(model, name)[:] = 0
        keys = {model.key(i).name: model.key_qpos[i] for i in range(model.nkey)}
        self.start = keys.get("home", model.qpos0)
        self.joints = [_plain(model.joint(i)) for i in range(model.njnt)]
        self.links: list[_Link] = []
        self.at: list[tuple[int, Pose] | None] = [(-1, Pose())]
        for i in range(1, model.nbody):
            self.at.append(self._take(_plain(model.body(i))))
        if not self.links:
            raise refuse(Place(path), "", "a joint that is a hinge or a slide", "none", "give a body such a joint")
        self.names = [free_name(as_name(x.joint.name) or f"joint{x.joint.id}", taken) for x in self.links]
        self.led = [(i, 1.0, 0.0) for i in range(len(self.links))]
        for i in range(model.neq):
            self._couple(_plain(model.equality(i)))
        self.motors: dict[int, Motor] = {}
        for i in range(model.nactuator):
            self._drive(_plain(model.actuator(i)), model.actuator_armature[i], model.actuator_damping[i])

    def _place(self, kind: str, of: Any) -> Place:
        return Place(self.path, *self.lines.get(f"{kind} {of.id}", ()))

    def _remark(self, kind: str, of: Any, expected: str, found: str, mend: str = "it is left out") -> None:
        self.remarks.add(self._place(kind, of), f"{kind} {of.name or of.id}", expected, found, mend)

    def _pose(self, position: Any, quaternion: Any) -> Pose:
        R = np.zeros(9)
        self.matrix(R, quaternion)
        return Pose(Matrix(*(Vector(*row) for row in R.reshape(3, 3).tolist())), Vector(*position.tolist()))

    def _take(self, body: Any) -> tuple[int, Pose] | None:
        """Where a body stands. Its joints become links; the last one has its inertia."""
        carrier, joints = self.at[body.parentid], self.joints[max(body.jntadr, 0) :][: body.jntnum]
        types = [joint.type for joint in joints]
        if carrier is None or BALL in types:
            self._remark("body", body, "a body on hinges and slides", "a ball joint, or beyond one")
            return None
        link, pose = carrier[0], carrier[1] @ self._pose(body.pos, body.quat)
        if FREE in types:
            self._remark("body", body, "a base at rest", "a body that moves freely", "it is fixed in the world")
        for joint in joints * (FREE not in types):
            anchor, angle = Pose(position=Vector(*joint.pos.tolist())), joint.qpos0 * (joint.type == HINGE)
            # MuJoCo's bodies stand as the file has them where joints are at qpos0, armsim's where they are at 0
            turn = np.array([np.cos(angle / 2), *(-np.sin(angle / 2) * joint.axis)])
            zero = self._pose((angle - joint.qpos0) * joint.axis, turn)
            self.links.append(_Link(joint, link, pose @ anchor @ zero, []))
            link, pose = len(self.links) - 1, anchor.inverse
        if link >= 0 and body.mass:
            com = _entries(pose @ self._pose(body.ipos, body.iquat))
            data = {"mass": body.mass, "center": com.pop("xyz", [0, 0, 0]), "about": "com", **com}
            data |= zip(("xx", "yy", "zz"), body.inertia)
            self.links[link].bodies.append(nodes_of({"inertia": data}, self._place("body", body)))
        return link, pose

    def _couple(self, equality: Any) -> None:
        """Let a joint follow another, if an equality says so."""
        numbers = {x.joint.id: k for k, x in enumerate(self.links)}
        follower, leader = (numbers.get(i, -1) for i in (equality.obj1id, equality.obj2id))
        shift, ratio, *others = equality.data[:5].tolist()
        linear = equality.type == COUPLING and equality.active0 and ratio and not any(others)
        if (
            not linear
            or min(follower, leader) < 0
            or self.led[follower][0] != follower
            or self.led[leader][0] == follower
        ):
            self._remark("equality", equality, "a linear coupling of a joint that follows no other", "another one")
            return
        first, through, ahead = self.led[leader]
        offset = self.links[follower].joint.qpos0 + shift + ratio * (ahead - self.links[leader].joint.qpos0)
        for k, (of, r, c) in enumerate(self.led):
            if of == follower:
                self.led[k] = first, r * ratio * through, r * offset + c

    def _drive(self, actuator: Any, armature: float, damping: float) -> None:
        """Take an actuator as the motor of the joint that leads those which it moves."""
        m, (target, _) = self.model, actuator.trnid
        moved = {target: 1.0} if actuator.trntype in DIRECTLY else {}
        if actuator.trntype == BY_TENDON:
            wraps = slice(m.tendon_adr[target], m.tendon_adr[target] + m.tendon_num[target])
            moved = dict(zip(m.wrap_objid[wraps], m.wrap_prm[wraps] * (m.wrap_type[wraps] == OF_JOINT)))
        leaders: set[int] = set()
        gear = 0.0
        for link, (leader, ratio, _) in zip(self.links, self.led):
            if part := ratio * moved.get(link.joint.id, 0.0) * actuator.gear[0]:
                leaders, gear = {*leaders, leader}, gear + part
        if not gear or len(leaders) > 1 or leaders <= {*self.motors}:
            self._remark("actuator", actuator, "the only one of a joint, or of joints that move as one", "another one")
            return
        gain, bias, (lag, *states) = actuator.gainprm, actuator.biasprm, actuator.dynprm
        voltage = _most(actuator.ctrlrange, actuator.ctrllimited)
        torque = _most(actuator.forcerange, actuator.forcelimited)
        motor = Motor(gear=gear, rotor_inertia=armature, viscous=damping)
        known = (
            actuator.gaintype == FIXED and actuator.biastype <= AFFINE and not actuator.dyntype and not any(bias[:2])
        )
        if actuator.gaintype == DCMOTOR:
            motor = motor.replaced(Kp=gain[1], Ra=gain[0], inductance=lag * gain[0])
            known = not any((*gain[2:], *bias, *states))
        elif known and gain[0] > 0.0 > bias[2]:  # Kp/Ra (V - Kp w)
            motor = motor.replaced(Kp=-bias[2] / gain[0], Ra=-bias[2] / gain[0] ** 2)
            known = gain[0] != -bias[2]  # a servo of velocity is a motor with a Kp of 1
        elif known := known and not bias[2]:
            torque = torque or abs(gain[0]) * voltage
        if not known:
            found = f"gain {gain[0]:g}, bias {bias[0]:g} {bias[1]:g} {bias[2]:g}, or other laws"
            self._remark("actuator", actuator, "a motor under a voltage or a torque", found, "see docs/control.md")
        (leader,) = leaders
        self.motors[leader] = motor.replaced(limits=compact({"torque": torque, "voltage": voltage * ("Kp" in motor)}))
        self.comments[f"joints[{leader}].motor"] = f"actuator `{actuator.name or actuator.id}`"

    def robot(self, name: str | None) -> dict[str, object]:
        """The content of the robot file."""
        m, file = self.model, os.path.basename(self.path)
        self.comments[""] = (
            f"By `armsim import` from {file}, as MuJoCo compiles it.\n"
            "limits: range; friction: damping, frictionloss; spring: stiffness, springref; motor: actuator, armature."
        )
        joints = [self._joint(i, *link) for i, link in enumerate(self.links)]
        others = {
            "tendons": m.ntendon,
            "gravity compensation of bodies": m.body_gravcomp.any(),
            "springs and dampers that are not linear": m.jnt_stiffnesspoly.any() or m.dof_dampingpoly.any(),
            "contacts of geoms": (m.geom_contype | m.geom_conaffinity).any(),
            "limits of actuators at joints": m.jnt_actfrclimited.any(),
            "sensors": m.nsensor,
            "keyframes but `home`": m.nkey > 1,
        }
        if found := listed(what for what, there in others.items() if there):
            self.remarks.add(Place(self.path), "", "what a robot file has", found, "they are left out")
        gravity = m.opt.gravity * (not m.opt.disableflags >> NO_GRAVITY & 1)
        data = {"format": FORMAT, "name": name or as_name(file), "gravity": gravity, "convention": "origin"}
        return {**data, "joints": joints, **self._frames()}

    def _joint(self, i: int, joint: Any, carrier: int, pose: Pose, bodies: list[Node]) -> Node:
        """A joint of the robot file; one that leads has limits, springs and armature of all that follow it."""
        of, ratio, offset = self.led[i]
        body = self.model.body(joint.bodyid).name or joint.bodyid
        self.comments[f"joints[{i}]"] = f"joint `{joint.name}` of body `{body}`"
        data: dict[str, object] = {
            "name": self.names[i],
            "type": "revolute" if joint.type == HINGE else "prismatic",
            "origin": {**_entries(pose), "axis": joint.axis},
            "friction": compact({"viscous": joint.damping, "coulomb": joint.frictionloss}),
        }
        if carrier != i - 1:
            data["parent"] = self.names[carrier] if carrier >= 0 else BASE
        if of != i:
            data["mimic"] = {"joint": self.names[of], "ratio": ratio, "offset": offset}
        else:
            data |= self._leading(i, joint)
        return nodes_of({**compact(data), "bodies": bodies}, self._place("joint", joint))

    def _leading(self, i: int, joint: Any) -> dict[str, object]:
        """What all joints that move as one have together."""
        lower, upper, stiffness, pull = -np.inf, np.inf, 0.0, 0.0
        motor = self.motors.get(i, Motor(gear=1.0, rotor_inertia=0.0))
        for one, ratio, offset in ((link.joint, r, c) for link, (of, r, c) in zip(self.links, self.led) if of == i):
            if one.limited:
                bounds = np.where(abs(one.range) < WIDEST, one.range, (-np.inf, np.inf))
                least, most = sorted((bounds - offset) / ratio)
                lower, upper = max(lower, least), min(upper, most)
            stiffness += one.stiffness * ratio**2
            pull += one.stiffness * ratio * (one.qpos_spring - offset)
            motor = motor.replaced(rotor_inertia=motor.rotor_inertia + one.armature * (ratio / motor.gear) ** 2)
        if lower >= upper:
            self._remark(
                "joint", joint, "limits that leave a range to joints that move as one", "none: they have no limits"
            )
            lower, upper = -np.inf, np.inf
        start = self.start[joint.qposadr]
        initial = min(max(start, lower), upper)
        if initial != start:
            found, mend = f"{start:g}; {initial:g} is taken", "give the file a keyframe `home`"
            self._remark("joint", joint, f"an initial position from {lower:g} to {upper:g}", found, mend)
        return {
            "initial": initial,
            "limits": {key: x for key, x in (("lower", lower), ("upper", upper)) if abs(x) < np.inf},
            "spring": {"stiffness": stiffness, "rest": pull / stiffness} if stiffness else {},
            "motor": compact(motor) if i in self.motors or motor.rotor_inertia else {},
        }

    def _frames(self) -> dict[str, dict[str, object]]:
        """The tool, and frames of sites, and of bodies whose frames are not those of links."""
        m, tool, frames, taken = self.model, dict[str, object](), dict[str, object](), {*RESERVED_FRAMES, *self.names}
        found: list[Any] = [
            ("site", x, x.bodyid, self._pose(x.pos, x.quat)) for x in map(_plain, map(m.site, range(m.nsite)))
        ]
        found += [("body", m.body(i), i, Pose()) for i in range(m.nbody)]
        for kind, own, body, pose in found:
            carrier, at = self.at[body] or (-1, pose)
            where, name = _entries(at @ pose), as_name(own.name).replace(".", "_")
            if carrier < 0 or not name or not (where or kind == "site"):
                continue
            frame: dict[str, object] = {"link": self.names[carrier], **where}
            if name in TOOLS:
                tool = frame
            if name != "tool":
                name = free_name(f"{name}_{kind}" if UNIT.fullmatch(name) or name in taken else name, taken)
                frames[name], self.comments[f"frames.{name}"] = frame, f"{kind} `{own.name}`"
        return compact({"tool": tool, "frames": frames})


def _plain(view: Any) -> Any:
    """The numbers of an element; single ones as such."""
    found = {key: getattr(view, key) for key in dir(view) if not key.startswith("_")}
    return SimpleNamespace(**{key: x.item() if getattr(x, "size", 0) == 1 else x for key, x in found.items()})


def _most(range: Any, limited: Any) -> float:
    """The larger end of a range; 0 if there is none."""
    largest = float(abs(range).max(initial=0.0))
    return largest if limited is True and largest < np.inf else 0.0


def _entries(pose: Pose) -> dict[str, list[float]]:
    """The keys of a frame in a robot file."""
    keys: Any = {"xyz": pose.position, "rpy": roll_pitch_yaw(pose.rotation)}
    found = {key: [round(x, DIGITS) for x in numbers] for key, numbers in keys.items()}
    return {key: numbers for key, numbers in found.items() if any(numbers)}
