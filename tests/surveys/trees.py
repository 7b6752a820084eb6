"""Writes tests/data/trees.json: kinematics and dynamics of random trees with joints that follow others, by Pinocchio.

python -m tests.surveys.trees            # takes Pinocchio and MuJoCo (`pip install pin mujoco`)

Models are built from the robot files, not from what armsim makes of them, with all joints free; a file's mimics are projected
by hand: M = Gᵀ M G, tau = Gᵀ tau, at positions G q + c. Where there are no screws, MuJoCo must agree before anything is written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

from tests.surveys.joint_wrenches import inertia, place, pose, variable
from tests.trees import close, motion, parents, projection, tree

CASES = range(12)
FRAMES = ("tool", "left", "right")


@dataclass
class Tree:
    """The links of a robot file, all joints free, in the file's order.

    Attributes:
        file: The robot file.
        stands: Of each joint's own frame in that of the link before, at zero.
        beyond: Of each link's frame, by the file's convention, in its own.
        bodies: Inertia of each link with its payloads, in its own frame.
        armature: Of each joint.
        frames: Link and place in its own frame, by name.
    """

    file: dict
    stands: list[pin.SE3] = field(default_factory=list)
    beyond: list[pin.SE3] = field(default_factory=list)
    bodies: list[pin.Inertia] = field(default_factory=list)
    armature: list[float] = field(default_factory=list)
    frames: dict[str, tuple[int, pin.SE3]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        file, names = self.file, [joint["name"] for joint in self.file["joints"]]
        for joint, parent in zip(file["joints"], parents(file), strict=True):
            stands, beyond = place(joint)
            self.stands.append((pose(file["base"]) if parent < 0 else self.beyond[parent]) * stands)
            self.beyond.append(beyond)
            self.bodies.append(beyond.act(inertia(joint["bodies"][0])))
            motor = joint.get("motor", {"gear": 0.0, "rotor_inertia": 0.0})
            self.armature.append(motor["gear"] ** 2 * motor["rotor_inertia"])
        for name, of in {"tool": file["tool"], **file["frames"]}.items():
            link = names.index(of.get("link", names[-1]))
            self.frames[name] = link, self.beyond[link] * pose(of)
        for load in file["payload"]:
            link, at = self.frames[load["frame"]]
            self.bodies[link] = self.bodies[link] + at.act(inertia(load["body"]))

    @cached_property
    def children_first(self) -> list[int]:
        """Indices of the links, each followed by all that hangs on it: the order that Pinocchio counts on."""
        before, order = parents(self.file), []

        def walk(link: int) -> None:
            order.append(link)
            for i, parent in enumerate(before):
                if parent == link:
                    walk(i)

        walk(-1)
        return order[1:]


def by_pinocchio(file: dict, q, qd, qdd, tau, along) -> dict[str, np.ndarray]:
    """All figures of a state, by name; derivatives are of the accelerations that tau causes, in a direction."""
    model, made, (G, c) = pin.Model(), Tree(file), projection(file)
    model.gravity.linear = np.array(file["gravity"])
    number = {-1: 0}
    for i in made.children_first:
        joint, parent = file["joints"][i], parents(file)[i]
        number[i] = model.addJoint(number[parent], variable(joint), made.stands[i], joint["name"])
        model.appendBodyToJoint(number[i], made.bodies[i], pin.SE3.Identity())
    places = [model.joints[number[i]].idx_v for i in range(len(G))]
    order = np.argsort(places)
    G, x = G[order], (G @ q + c)[order]
    v, a = G @ qd, G @ qdd
    model.armature = np.array(made.armature)[order]
    data = model.createData()
    M = G.T @ full(pin.crba(model, data, x)) @ G
    accelerations = np.linalg.solve(M, tau - G.T @ pin.rnea(model, data, x, v, 0 * a))
    by_q, by_qd, _ = pin.computeRNEADerivatives(model, data, x, v, G @ accelerations)
    found = {
        "tau": G.T @ pin.rnea(model, data, x, v, a),
        "M": M[np.tril_indices(len(M))],
        "energies": np.array([v @ full(pin.crba(model, data, x)) @ v / 2, pin.computePotentialEnergy(model, data, x)]),
        "qdd": accelerations,
        "qdd_by_q": -np.linalg.solve(M, G.T @ by_q @ G @ along),
        "qdd_by_qd": -np.linalg.solve(M, G.T @ by_qd @ G @ along),
        "qdd_by_tau": np.linalg.solve(M, along),
    }
    pin.computeJointJacobians(model, data, x)
    poses = [data.oMi[number[i]] * beyond for i, beyond in enumerate(made.beyond)]
    found["poses"] = np.array([[*at.translation, *at.rotation.flat] for at in poses]).ravel()
    for name, (link, at) in made.frames.items():
        J = pin.getJointJacobian(model, data, number[link], pin.LOCAL_WORLD_ALIGNED) @ G
        arm = data.oMi[number[link]].rotation @ at.translation
        J[:3] -= np.cross(arm, J[3:], axisb=0, axisc=0)
        found[f"jacobian_{name}"] = np.vstack([J[3:], J[:3]]).ravel()
    return found


def by_mujoco(file: dict, q, qd, qdd, tau, along) -> dict[str, np.ndarray]:
    """The same of a tree without screws, but for poses and derivatives."""
    made, (G, c) = Tree(file), projection(file)
    text = "".join(body(made, i) for i, parent in enumerate(parents(file)) if parent < 0)
    gravity = numbers(file["gravity"])
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><option gravity="{gravity}"><flag energy="enable"/></option>'
        f"<worldbody>{text}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    names = [joint["name"] for joint in file["joints"]]
    order = np.argsort([model.joint(name).dofadr[0] for name in names])
    G, c = G[order], c[order]
    data.qpos[:], data.qvel[:] = G @ q + c, G @ qd
    mujoco.mj_forward(model, data)
    whole = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, whole)
    M, bias = G.T @ whole @ G, G.T @ data.qfrc_bias
    found = {
        "tau": M @ qdd + bias,
        "M": M[np.tril_indices(len(M))],
        "energies": np.array([data.energy[1], data.energy[0]]),
        "qdd": np.linalg.solve(M, tau - bias),
    }
    for name, (link, at) in made.frames.items():
        number = model.body(names[link]).id
        linear, angular = np.zeros((2, 3, model.nv))
        point = data.xpos[number] + data.xmat[number].reshape(3, 3) @ at.translation
        mujoco.mj_jac(model, data, linear, angular, point, number)
        found[f"jacobian_{name}"] = (np.vstack([angular, linear]) @ G).ravel()
    return found


def body(made: Tree, i: int) -> str:
    """A link as an element of MJCF, with all that hangs on it."""
    joint, at, of = made.file["joints"][i], made.stands[i], made.bodies[i]
    turn = pin.Quaternion(at.rotation)
    kind = {"revolute": "hinge", "prismatic": "slide"}[joint["type"]]
    J = of.inertia
    tensor = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return (
        f'<body name="{joint["name"]}" pos="{numbers(at.translation)}"'
        f' quat="{numbers([turn.w, turn.x, turn.y, turn.z])}">'
        f'<inertial mass="{of.mass!r}" pos="{numbers(of.lever)}" fullinertia="{numbers(tensor)}"/>'
        f'<joint name="{joint["name"]}" type="{kind}" axis="0 0 1" armature="{made.armature[i]!r}"/>'
        + "".join(body(made, k) for k, parent in enumerate(parents(made.file)) if parent == i)
        + "</body>"
    )


def numbers(values) -> str:
    return " ".join(repr(float(x)) for x in values)


def full(upper: np.ndarray) -> np.ndarray:
    """A symmetric matrix from its upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


def main() -> None:
    cases = []
    for seed in CASES:
        file = tree(seed)
        state = motion(seed, projection(file)[0].shape[1])
        figures = by_pinocchio(file, **state)
        if all(joint["type"] != "screw" for joint in file["joints"]):
            differs = {key: x for key, x in by_mujoco(file, **state).items() if not close(key, x, figures)}
            assert not differs, (seed, differs)
        cases.append({"robot": file, "state": state, "figures": {key: x.tolist() for key, x in figures.items()}})
    engine = f"Pinocchio {pin.__version__} from PyPI (pin), double precision; MuJoCo {mujoco.__version__} agrees"
    made = {"engine": engine, "repeat": "python -m tests.surveys.trees", "cases": cases}
    target = Path(__file__).parent.parent / "data" / "trees.json"
    target.write_text(json.dumps(made) + "\n")


if __name__ == "__main__":
    main()
