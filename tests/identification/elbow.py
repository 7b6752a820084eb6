"""An arm that is small enough to be identified many times: an elbow in a vertical plane on a column."""

from __future__ import annotations

import copy

FRICTION = {"viscous": 0.4, "coulomb": {"positive": 0.9, "negative": 0.6}}
MOTOR = {"Kp": 0.05, "Ke": 0.06, "Ra": 1.2, "gear": 40, "rotor_inertia": 1e-4, "viscous": 1e-5, "efficiency": 0.8}


def elbow(friction: dict = FRICTION, motor: dict = MOTOR) -> dict:
    """The robot file."""
    bodies = [
        {"box": {"size": [x, 0.08, 0.06], "mass": mass, "center": [x / 2, 0, 0]}}
        for x, mass in ((0.1, 4.0), (0.4, 3.0), (0.3, 2.0))
    ]
    frames = [{"alpha": 0}, {"alpha": "pi/2"}, {"a": 0.4}]
    joints = [
        {"name": f"J{i}", "type": "revolute", "mdh": frame, "bodies": [body]}
        | copy.deepcopy({"friction": friction, "motor": motor})
        for i, (frame, body) in enumerate(zip(frames, bodies, strict=True), 1)
    ]
    return {"format": "armsim/robot/1", "name": "elbow", "joints": joints}
