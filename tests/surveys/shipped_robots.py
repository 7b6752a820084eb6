"""Writes tests/data/shipped_robots.json: statics, dynamics and kinematics of published arms, by Pinocchio.

python -m tests.surveys.shipped_robots            # takes Pinocchio (`pip install pin`)

Models are built from tests/data/published_robots.yaml, without motors; where that file has golden values, they must agree to
their digits.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pinocchio as pin

from tests.published import PUBLISHED, motion, within_digits


def figures(entry: dict) -> dict[str, list[float]]:
    """What the golden values are of an entry."""
    model, joint = pin.Model(), 0
    for i, link in enumerate(entry["links"], start=1):
        angle = link["theta_offset"]
        twist = pin.SE3(pin.utils.rotate("x", link["alpha"]), np.array([link["a"], 0.0, 0.0]))
        stands = twist * pin.SE3(pin.utils.rotate("z", angle), np.array([0.0, 0.0, link["d"]]))
        joint = model.addJoint(joint, pin.JointModelRZ(), stands, f"J{i}")
        J = link["inertia"]
        tensor = np.array([[J[x + y] if x <= y else J[y + x] for y in "xyz"] for x in "xyz"])
        model.appendBodyToJoint(joint, pin.Inertia(link["mass"], np.array(link["com"]), tensor), pin.SE3.Identity())
    data = model.createData()
    q, qd, qdd = map(np.array, motion(entry))
    M = pin.crba(model, data, q)
    found = {
        "holding_torque": pin.rnea(model, data, q, 0 * q, 0 * q),
        "mass_matrix_diag": np.diag(M),
        "rnea_tau": pin.rnea(model, data, q, qd, qdd),
    }
    pin.forwardKinematics(model, data, q)
    tool = np.array([row[3] for row in entry["tool_from_last_frame"]])
    return {key: x.tolist() for key, x in found.items()} | {"tool_position": data.oMi[joint].act(tool).tolist()}


def main() -> None:
    made = {}
    for name, entry in PUBLISHED.items():
        made[name] = figures(entry)
        for quantity, values in made[name].items():
            assert within_digits(values, entry.get("golden", {}).get(quantity, values)), (name, quantity)
    engine = f"Pinocchio {pin.__version__} from PyPI (pin), double precision"
    text = {"engine": engine, "repeat": "python -m tests.surveys.shipped_robots", "figures": made}
    target = Path(__file__).parent.parent / "data" / "shipped_robots.json"
    target.write_text(json.dumps(text, indent=1) + "\n")


if __name__ == "__main__":
    main()
