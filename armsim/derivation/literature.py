"""Operation counts that others published, for arms of the kind that they are of."""

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
    """Published counts for an arm of this kind: of the thesis's arm, or of any chain of revolute joints.

    The general recursion's are Hollerbach's, those of ARM for a simplified recursion of six joints Corke's; both as table 1 of
    the manual of Corke's Robotics Toolbox has them.
    """
    n, joints = arm.n, arm.joints
    if arm.parents != tuple(range(-1, n - 1)) or any(joint.type != "revolute" for joint in joints):
        return []
    if n == 2 and joints[1].tilt.row_z.z in (1, -1):
        return TWO_LINK
    general = ("any arm, Newton-Euler (Hollerbach)", 150 * n - 48, 131 * n - 48)
    found = [general, ("six joints, program ARM (Corke)", 224, 174)] if n == 6 else [general] if n > 2 else []
    return [
        {"what": "inverse_dynamics", "source": source, "multiplications": products, "additions": sums}
        for source, products, sums in found
    ]
