"""Random trees, with joints that follow others, against Pinocchio and MuJoCo."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armsim
from armsim.arm.arrays import LEAST
from armsim.dynamics import (
    crba,
    forward_dynamics,
    frame_jacobian,
    kinetic_energy,
    link_poses,
    potential_energy,
    rnea,
)
from armsim.expr import with_jacobian
from armsim.loading import read_robot
from armsim.model import Arm
from tests.trees import close, motion, projection, tree

CASES = json.loads((Path(__file__).parent.parent / "data" / "trees.json").read_text())["cases"]


def name(case: dict) -> str:
    return str(case["robot"]["name"])


def figures(arm: Arm, q, qd, qdd, tau, along, algorithm: str) -> dict[str, np.ndarray]:
    """All that is compared, by the names of tests/surveys/trees.py; derivatives in a direction, by the expression graph."""
    n = arm.n

    def moved(s, part: int) -> list:
        state = [list(x) for x in (q, qd, tau)]
        state[part] = [x + s * dx for x, dx in zip(state[part], along, strict=True)]
        return forward_dynamics(arm, *state, algorithm=algorithm)

    found = {
        "tau": rnea(arm, q, qd, qdd),
        "M": [x for row in crba(arm, q) for x in row],
        "energies": [kinetic_energy(arm, q, qd), potential_energy(arm, q)],
        "qdd": forward_dynamics(arm, q, qd, tau, algorithm=algorithm),
        "poses": [[*pose.position, *(x for row in pose.rotation for x in row)] for pose in link_poses(arm, q)],
    }
    for part, by in enumerate(("q", "qd", "tau")):
        _, slopes = with_jacobian(lambda s, part=part: moved(s, part), (0,), "moved")(0.0)
        found[f"qdd_by_{by}"] = [slope for (slope,) in slopes]
    for frame in arm.frames:
        found[f"jacobian_{frame.name}"] = np.reshape(frame_jacobian(arm, q, frame), 6 * n)
    return {key: np.ravel(np.array(value, dtype=float)) for key, value in found.items()}


def compare(file: dict, state: dict, *expected: dict) -> None:
    """All figures of other engines, tolerances as of `close`."""
    arm, _ = read_robot(file)
    for algorithm in ("crba", "aba") if arm.n == len(file["joints"]) else ("crba",):
        found = figures(arm, **state, algorithm=algorithm)
        for theirs in expected:
            assert [key for key in theirs if not close(key, found[key], theirs)] == []


@pytest.mark.parametrize("case", CASES, ids=name)
@pytest.mark.handful(1)
def test_a_tree_has_the_figures_that_pinocchio_and_mujoco_find(case):
    compare(case["robot"], case["state"], case["figures"])


@pytest.mark.parametrize("rows", [1, LEAST])  # one is evaluated, many are compiled
@pytest.mark.parametrize("case", [case for case in CASES if len(case["robot"]["joints"]) < 10], ids=name)
@pytest.mark.slow
def test_the_library_gives_them_as_arrays(case, rows):
    robot, expected = armsim.load_robot(case["robot"]), case["figures"]
    q, qd, qdd, tau, _ = (np.tile(x, (rows, 1)) for x in case["state"].values())
    assert robot.link_names == [joint["name"] for joint in case["robot"]["joints"]]
    assert robot.joints == [joint["name"] for joint in case["robot"]["joints"] if "mimic" not in joint]
    positions, quaternions = robot.link_poses(q)
    rotations = Rotation.from_quat(quaternions.reshape(-1, 4), scalar_first=True).as_matrix()
    n = len(robot.joints)
    found = {
        "tau": robot.inverse_dynamics(q, qd, qdd),
        "M": robot.mass_matrix(q)[:, *np.tril_indices(n)],
        "energies": np.stack([robot.kinetic_energy(q, qd), robot.potential_energy(q)], axis=1),
        "qdd": robot.forward_dynamics(q, qd, tau),
        "poses": np.concatenate([positions, rotations.reshape(rows, -1, 9)], axis=2),
        **{f"jacobian_{frame}": robot.jacobian(q, frame) for frame in ("tool", "left", "right")},
    }
    for key, values in found.items():
        assert close(key, np.ravel(values[0]), expected), key
        assert (values == values[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_more_trees_have_the_figures_that_pinocchio_and_mujoco_find(seed):
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    from tests.surveys.trees import by_mujoco, by_pinocchio

    file = tree(seed)
    state = motion(seed, projection(file)[0].shape[1])
    screws = any(joint["type"] == "screw" for joint in file["joints"])
    compare(file, state, by_pinocchio(file, **state), {} if screws else by_mujoco(file, **state))
