"""Operation counts that others published, for arms that are theirs."""

from __future__ import annotations

from typing import Any

from armsim.model import Arm

# of a two-link arm with a payload in a plane: multiplications and additions, constants apart
TWO_LINK: list[dict[str, Any]] = [
    {
        "what": "inverse_dynamics",
        "source": "Jack 1990, Macsyma",
        "multiplications": 30,
        "additions": 17,
        "constants": {"multiplications": 24, "additions": 16},
    },
    {
        "what": "inverse_dynamics",
        "source": "Raibert-Horn (Brady et al. 1982)",
        "multiplications": 20,
        "additions": 14,
    },
    {"what": "forward_dynamics", "source": "Jack 1990, Macsyma", "multiplications": 57, "additions": 33},
]


def published(arm: Arm) -> list[dict[str, Any]]:
    """Published counts for an arm of this kind."""
    joints = arm.joints
    if arm.n == 2 and all(joint.type == "revolute" for joint in joints) and joints[1].tilt.row_z.z in (1, -1):
        return TWO_LINK
    return []
