"""Writes tests/data/joint_wrenches.json: the wrenches that bases, joints and sensors of random arms transmit, by Pinocchio.

python -m tests.surveys.joint_wrenches            # takes Pinocchio (`pip install pin`)

Sensors are joints that do not move, with the payload beyond them. Wrenches are moment and force, about the origin and along the
axes of the frame whose z axis is the joint's: with `origin` the frame of xyz and rpy, turned the shortest way that takes z onto
the axis, but cyclically where the axis is one of its own.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pinocchio as pin

from tests.trees import frame, solid

TYPES = {"R": "revolute", "P": "prismatic", "S": "screw"}
CASES = [
    ("RPSR", "mdh"),
    ("SPRRP", "mdh"),
    ("RPSR", "dh"),
    ("RRPSRR", "dh"),
    ("RPSR", "origin"),
    ("PRSRPR", "origin"),
]
AXES = [(0, 0, 1), (1, 0, 0), (0, 1, 0), None]  # None for one at random
STATES = 5


def robot(kinds: str, convention: str, rng: np.random.Generator) -> dict:
    """A robot file."""
    joints = []
    for i, kind in enumerate(kinds):
        a, alpha, d, theta = rng.uniform(-0.5, 0.5), rng.uniform(-3, 3), rng.uniform(-0.5, 0.5), rng.uniform(-3, 3)
        place = {"a": a, "alpha": alpha, "d": d, "theta": theta}
        if convention == "origin":
            axis = AXES[i % 4] or (*rng.uniform(-1, 1, 2), 0.3)
            place = {
                "xyz": [*rng.uniform(-0.5, 0.5, 3)],
                "rpy": [*rng.uniform(-3, 3, 3)],
                "axis": [*map(float, axis)],
            }
        joint = {"name": f"{kind}{i + 1}", "type": TYPES[kind], convention: place, "bodies": [solid(rng)]}
        joints.append(joint | ({"pitch": rng.uniform(0.3, 2.0)} if kind == "S" else {}))
    frames = {"wrist": {"link": joints[1]["name"], **frame(rng)}}
    return {
        "format": "armsim/robot/1",
        "name": f"{kinds}_{convention}",
        "gravity": [*rng.uniform(-9, 9, 3)],
        "convention": convention,
        "base": frame(rng),
        "joints": joints,
        "tool": frame(rng),
        "frames": frames,
        "payload": [
            {"name": "box", "body": solid(rng)},
            {"name": "second", "body": solid(rng)},
            {"name": "camera", "frame": "wrist", "body": solid(rng)},
        ],
    }


def pose(place: dict) -> pin.SE3:
    return pin.SE3(pin.rpy.rpyToMatrix(*place["rpy"]), np.array(place["xyz"]))


def inertia(body: dict) -> pin.Inertia:
    of = body["inertia"]
    R = pin.rpy.rpyToMatrix(*of["rpy"])
    return pin.Inertia(of["mass"], np.array(of["center"]), R @ np.diag([of["xx"], of["yy"], of["zz"]]) @ R.T)


def about(axis: str, angle: float) -> pin.SE3:
    return pin.SE3(pin.AngleAxis(angle, np.eye(3)["xyz".index(axis)]).matrix(), np.zeros(3))


def along(axis: str, by: float) -> pin.SE3:
    return pin.SE3(np.eye(3), by * np.eye(3)["xyz".index(axis)])


def axes(axis: list[float]) -> np.ndarray:
    """The axes of a joint's own frame, as columns, in the frame of its origin."""
    own = np.eye(3)
    if sorted(axis) == [0, 0, 1]:
        return np.roll(own, 2 - axis.index(1), axis=1)
    z = np.array(axis) / np.linalg.norm(axis)
    return np.array(pin.Quaternion.FromTwoVectors(own[2], z).matrix())


def place(joint: dict) -> tuple[pin.SE3, pin.SE3]:
    """A joint in the user's frame of the link before, and the user's frame of its link in its own."""
    if "origin" in joint:
        turn = pin.SE3(axes(joint["origin"]["axis"]), np.zeros(3))
        return pose(joint["origin"]) * turn, turn.inverse()
    rotation, shift = about, along
    if "mdh" in joint:
        of = joint["mdh"]
        before = rotation("x", of["alpha"]) * shift("x", of["a"])
        return before * rotation("z", of["theta"]) * shift("z", of["d"]), pin.SE3.Identity()
    of = joint["dh"]
    return rotation("z", of["theta"]) * shift("z", of["d"]), shift("x", of["a"]) * rotation("x", of["alpha"])


def variable(joint: dict):
    """The joint by Pinocchio; of a screw the pitch is per radian."""
    if joint["type"] == "screw":
        return pin.JointModelHZ(joint["pitch"] / math.tau)
    return pin.JointModelRZ() if joint["type"] == "revolute" else pin.JointModelPZ()


def transmitted(file: dict, q, qd, qdd, external) -> dict[str, list[float]]:
    """Moment and force by name."""
    model = pin.Model()
    model.gravity.linear = np.array(file["gravity"])
    base, before, links = pose(file["base"]), pin.SE3.Identity(), {}
    for i, joint in enumerate(file["joints"]):
        stands, beyond = place(joint)
        stands = (before if i else base) * stands
        number = model.addJoint(links.get(i - 1, (0,))[0], variable(joint), stands, joint["name"])
        model.appendBodyToJoint(number, inertia(joint["bodies"][0]), beyond)
        links[i], before = (number, beyond), beyond
    names = [joint["name"] for joint in file["joints"]]
    for name, of in {"tool": {"link": names[-1], **file["tool"]}, **file["frames"]}.items():
        number, beyond = links[names.index(of["link"])]
        sensor = model.addJoint(number, pin.JointModelRZ(), beyond * pose(of), name)
        for payload in file["payload"]:
            if payload.get("frame", "tool") == name:
                model.appendBodyToJoint(sensor, inertia(payload["body"]), pin.SE3.Identity())
    places = np.zeros((3, model.nv))
    outside = [pin.Force(np.zeros(6)) for _ in range(model.njoints)]
    for i, name in enumerate(names):
        joint = model.joints[model.getJointId(name)]
        places[:, joint.idx_v] = q[i], qd[i], qdd[i]
        outside[links[i][0]] = pin.Force(np.array(external[i][3:]), np.array(external[i][:3]))
    data = model.createData()
    pin.rnea(model, data, *places, outside)
    found = {name: data.f[model.getJointId(name)] for name in [*names, "tool", "wrist"]}
    found["base"] = base.actInv(data.liMi[1].act(data.f[1]))
    return {name: [*f.angular, *f.linear] for name, f in found.items()}


def main() -> None:
    rng = np.random.default_rng(34)
    cases = []
    for kinds, convention in CASES:
        file = robot(kinds, convention, rng)
        states = []
        for _ in range(STATES):
            q, qd, qdd = rng.uniform(-2, 2, (3, len(kinds))).tolist()
            external = rng.uniform(-5, 5, (len(kinds), 6)).tolist()
            wrenches = transmitted(file, q, qd, qdd, external)
            states.append({"q": q, "qd": qd, "qdd": qdd, "external": external, "wrenches": wrenches})
        cases.append({"robot": file, "states": states})
    engine = f"Pinocchio {pin.__version__} from PyPI (pin), data.f after rnea, double precision"
    made = {"engine": engine, "repeat": "python -m tests.surveys.joint_wrenches", "cases": cases}
    target = Path(__file__).parent.parent / "data" / "joint_wrenches.json"
    target.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
