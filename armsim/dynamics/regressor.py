"""The regressor of inverse dynamics: joint forces as a linear function of the inertial parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from armsim.dynamics.rnea import rnea
from armsim.expr import Scalar, Scalars
from armsim.model import Arm, Joint
from armsim.records import record
from armsim.spatial import ZERO, Inertia, Symmetric, X, Y, Z

# of every link, about its own frame's origin, after Khalil and Dombre; Ia is the armature of its joint
PARAMETERS = ("M", "MX", "MY", "MZ", "XX", "YY", "ZZ", "XY", "XZ", "YZ", "Ia")
UNITS: dict[str, Inertia] = {
    "M": Inertia(1.0),
    "MX": Inertia(h=X),
    "MY": Inertia(h=Y),
    "MZ": Inertia(h=Z),
    **{name: Inertia(h=ZERO, J=Symmetric(**{name.lower(): 1.0})) for name in PARAMETERS[4:10]},
}


@record
class RegressorColumn:
    """A column of a regressor.

    Attributes:
        joint: Name of the joint, or of the joint that moves the link.
        parameter: Of `PARAMETERS`, or of `armsim.actuation.DRIVE_PARAMETERS`.
        unit: Of the parameter.
    """

    joint: str
    parameter: str
    unit: str


def inertial_columns(arm: Arm) -> list[RegressorColumn]:
    """The columns of `regressor`."""
    return [RegressorColumn(link.name, name, inertial_unit(link, name)) for link in arm.links for name in PARAMETERS]


def inertial_unit(link: Joint, name: str) -> str:
    """The unit of one of the `PARAMETERS` of a link."""
    slides = name == "Ia" and not link.kind.turns
    return "kg" if name == "M" or slides else "kg m" if name.startswith("M") else "kg m²"


def inertial_parameters(arm: Arm) -> Scalars:
    """The inertial parameters, `PARAMETERS` of each link in turn, payload included, 11 scalars a link [kg, kg m and kg m²]."""
    found: list[Scalar] = []
    for joint, inertia in zip(arm.links, arm.inertias, strict=True):
        J = inertia.J
        found += [inertia.mass, *inertia.h, J.xx, J.yy, J.zz, J.xy, J.xz, J.yz, joint.armature]
    return found


def regressor(arm: Arm, q, qd, qdd) -> Sequence[Scalars]:
    """The regressor Y with tau = Y p, p the `inertial_parameters`: n rows.

    A column is what the recursive Newton-Euler algorithm gives for an arm that has a unit of one parameter and nothing else.

    Args:
        arm: The arm, n joints; its inertias do not matter.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        qdd: Joint accelerations [rad/s² or m/s²], n scalars.
    """
    bare = replace(arm.map_links(lambda link: replace(link, inertia=Inertia(), motor=None)), payloads=())
    columns: list[Scalars] = []
    rates = arm.rates(qdd)
    links = range(len(arm.links))
    for i in links:
        for name in PARAMETERS[:10]:
            one = replace(bare)
            vars(one)["regrouped"] = tuple(UNITS[name] if j == i else Inertia() for j in links)
            columns.append(rnea(one, q, qd, qdd))
        columns.append(arm.project([rates[j] if j == i else 0.0 for j in links]))
    return [list(row) for row in zip(*columns, strict=True)]
