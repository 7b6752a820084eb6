"""Operation counts that others published, for arms of the kind that they are of."""

from __future__ import annotations

from armsim.model import Arm
from armsim.records import optional, record


@record
class Counts:
    """Multiplications and additions."""

    multiplications: int
    additions: int


@record
class PublishedCounts:
    """Operation counts that somebody published.

    Attributes:
        what: "inverse_dynamics" or "forward_dynamics".
        source: Who.
        multiplications: Of it.
        additions: Of it.
        constants: What its constants take besides; None where that is not known.
    """

    what: str
    source: str
    multiplications: int
    additions: int
    constants: Counts | None = optional(default=None)


# of a two-link arm with a payload in a plane
TWO_LINK = [
    PublishedCounts("inverse_dynamics", "Jack 1990, Macsyma", 30, 17, Counts(24, 16)),
    PublishedCounts("inverse_dynamics", "Raibert-Horn (Brady et al. 1982)", 20, 14),
    PublishedCounts("forward_dynamics", "Jack 1990, Macsyma", 57, 33),
]


def published(arm: Arm) -> list[PublishedCounts]:
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
    return [PublishedCounts("inverse_dynamics", *counts) for counts in found]
