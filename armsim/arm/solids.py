"""The solids of a robot file, and the inertia of each link as their sum."""

from __future__ import annotations

from typing import Any

from armsim.loading.build import build_body
from armsim.loading.settle import settle
from armsim.spatial import Inertia, Symmetric, Vector

COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")
NOT_SIZES = ("mass", "density", "center", "about", "rpy", *COMPONENTS)


def solids(robot: dict[str, Any]) -> dict[str, Any]:
    """Every solid of a robot with its inertia, and the sum of each link's; the payload apart.

    Args:
        robot: Data of its file, as `armsim.loading.load_robot_file` reads it.

    Returns:
        robot (its name); links, each with name, solids and the `summed` inertia; payload, one of the solids in the tool
        frame, or None. A solid has path, shape, sizes [m], mass [kg], center [m], and the components (xx to yz, where xy is
        -∫xy dm) of its tensors about_center and about_origin of the frame [kg m²].
    """
    data = settle(robot)
    degrees = data["units"]["angle"] == "deg"
    links = []
    for joint in data["joints"]:
        name = joint["name"]
        found = [solid(body, f"joints[{name}].bodies[{i}]", degrees) for i, body in enumerate(joint["bodies"])]
        total = Inertia()
        for body in joint["bodies"]:
            total = total + build_body(body, degrees)
        links.append({"name": name, "solids": found, **summed(total)})
    carried = None if data["payload"] is None else solid(data["payload"], "payload", degrees)
    return {"robot": data["name"], "links": links, "payload": carried}


def solid(body: dict[str, Any], path: str, degrees: bool = False) -> dict[str, Any]:
    """One solid as plain data; see `solids`.

    Args:
        body: Its settled data: {shape: its numbers}, or {mass, center} for a point.
        path: Where it stands in the file.
        degrees: Whether the file's angles are degrees.
    """
    if "mass" in body:
        body = {"point": body}
    ((shape, given),) = body.items()
    inertia = build_body(body, degrees)
    own = inertia.tensor_about_com()
    if given.get("about") != "origin":  # built about its centre, without the rounding of the way there and back
        own = build_body({shape: {**given, "center": [0.0, 0.0, 0.0]}}, degrees).J
    return {
        "path": path,
        "shape": shape,
        "sizes": {key: value for key, value in given.items() if key not in NOT_SIZES},
        "mass": float(inertia.mass),
        "center": [float(x) for x in given["center"]],
        "about_center": components(own),
        "about_origin": components(inertia.J),
    }


def summed(inertia: Inertia) -> dict[str, Any]:
    """A link's inertia: mass [kg], com [m], and the tensors about_com and about_origin of the frame [kg m²]."""
    return {
        "mass": float(inertia.mass),
        "com": _floats(inertia.com()),
        "about_com": components(inertia.tensor_about_com()),
        "about_origin": components(inertia.J),
    }


def components(tensor: Symmetric) -> dict[str, float]:
    """The components of a tensor by name."""
    return {name: float(getattr(tensor, name)) + 0.0 for name in COMPONENTS}  # + 0.0 makes 0 of -0


def _floats(vector: Vector) -> list[float]:
    return [float(x) + 0.0 for x in vector]
