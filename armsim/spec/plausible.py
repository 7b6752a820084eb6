"""Whether an arm's numbers can be true: what cannot be simulated, and what is probably a slip.

Each rule gives faults of the four-line form. Published parameter sets of real arms contain oddities (a link of mass zero, a
tensor that violates the triangle inequality), so those are warnings; an arm whose accelerations are not determined is an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from armsim.actuation import armature
from armsim.dynamics import crba
from armsim.files.document import Place
from armsim.model import Arm
from armsim.spatial import Inertia, Symmetric, point_tensor
from armsim.spec.build import build_body
from armsim.spec.faults import Fault
from armsim.spec.principal import principal_moments
from armsim.spec.quantity import Quantity

POSES = 4  # at which the mass matrix is looked at, besides the initial one
SINGULAR = 1e-12  # of the largest entry of the mass matrix: what rounding leaves of an exact zero
FAR = 3.0  # times the arm's size: a centre of mass or radius of gyration beyond is a slip of units
ROUNDING = 1e-6  # of the largest moment: published tensors are rounded to a few digits
TRANSFER = (
    0.75  # of the largest moment: a body whose mass × distance² makes up more was probably tabulated about the origin
)
SHORTEST_STEP = 1e-6  # s


def undetermined(arm: Arm, data: dict[str, Any], path: str = "") -> list[Fault]:
    """Faults of an arm whose mass matrix is not positive definite at some pose: its accelerations are not determined.

    Args:
        arm: The arm, on numbers.
        data: What it was built from.
        path: Of the robot, within another file.
    """
    for q in _poses(arm):
        M = crba(arm, q)
        for i, joint in enumerate(arm.joints):
            M[i][i] = M[i][i] + armature(joint)
        largest = max(abs(M[i][i]) for i in range(arm.n))
        alone = [M[i][i] for i in range(arm.n)]
        bad = next((k for k, pivot in _pivots(M) if not pivot > SINGULAR * largest), None)
        if bad is None:
            continue
        name = arm.joints[bad].name
        revolute = arm.joints[bad].type == "revolute"
        what = "inertia about the axis" if revolute else "mass to move"
        if alone[bad] > SINGULAR * largest:
            found = f"joint `{name}` and the joints after it can move without moving any mass, at q = {_shown(q)}"
            mend = "check the frames of these joints, and the bodies of their links"
        else:
            found = f"no inertia and no rotor inertia on joint `{name}`" if revolute else f"no mass on joint `{name}`"
            mend = f"give the link of {name} a body{' off its axis' if revolute else ''}, or its motor a rotor_inertia"
        where = f"{path}.joints[{bad}]" if path else f"joints[{bad}]"
        return [Fault(_place(data["joints"][bad]), where, f"{what} of joint `{name}`", found, mend)]
    return []


def doubts(arm: Arm, data: dict[str, Any], path: str = "") -> list[Fault]:
    """Warnings: what is possible in a file, but hardly in a real arm. Arguments as for `undetermined`."""
    size = _size(arm)
    found: list[Fault] = []
    for i, joint in enumerate(data["joints"]):
        where = f"{path}.joints[{i}]" if path else f"joints[{i}]"
        if not sum(_mass(build_body(_numbers(body))) for body in joint["bodies"]) > 0:
            mend = "give it a body with a mass, unless all that matters is its inertia about the joint"
            found.append(Fault(_place(joint), where, "a link with a mass", f"link {joint['name']} has mass 0", mend))
        for k, body in enumerate(joint["bodies"]):
            found += _of_body(body, f"{where}.bodies[{k}]", joint["name"], size)
    found += _of_stops(arm, data, path)
    return found


def _of_body(body: dict[str, Any], path: str, link: str, size: float) -> Iterator[Fault]:
    ((shape, numbers),) = body.items()
    place = numbers["center"][0].place
    inertia = build_body(_numbers(body))
    if not inertia.mass > 0:
        return
    com = inertia.com()
    distance = math.hypot(*com)
    if size > 0 and distance > FAR * size:
        yield Fault(
            place,
            f"{path}.{shape}.center",
            f"a centre of mass within {FAR:g} times the size of the arm, {size:.3g} m",
            f"{distance:.6g} m from the frame of link {link}",
            f"lengths are in metres: if these are millimetres, write {com.x / 1000:.6g}, {com.y / 1000:.6g}, "
            f"{com.z / 1000:.6g}",
        )
        return
    moments = principal_moments(inertia.tensor_about_com())
    gyration = math.sqrt(max(moments[2], 0.0) / inertia.mass)
    if size > 0 and gyration > FAR * size:
        slip = "multiply g·cm² by 1e-7, kg·mm² by 1e-6" if shape == "inertia" else "divide millimetres by 1000"
        yield Fault(
            place,
            f"{path}.{shape}",
            f"a radius of gyration within {FAR:g} times the size of the arm, {size:.3g} m",
            f"{gyration:.6g} m on link {link}",
            f"{'inertias are in kg·m²' if shape == 'inertia' else 'lengths are in metres'}: {slip}",
        )
        return
    if shape != "inertia":
        return
    tensor = Symmetric(*(numbers[c].value for c in ("xx", "yy", "zz", "xy", "xz", "yz")))
    place = numbers["xx"].place
    yield from _of_tensor(moments, numbers["about"], place, f"{path}.inertia", link)
    shifted = principal_moments(tensor - inertia.mass * point_tensor(com))
    heavy = inertia.mass * distance * distance > TRANSFER * moments[2]
    if numbers["about"] == "com" and heavy and _physical(shifted) and shifted[0] >= 0:
        yield Fault(
            place,
            f"{path}.inertia",
            "an inertia about the centre of mass, as `about: com` says",
            f"on link {link} it looks as if it were about the frame's origin: most of it is mass × distance²",
            "write `about: origin` if the source gives it about the link's frame",
        )


def _of_tensor(moments: tuple[float, float, float], about: str, place: Place, path: str, link: str) -> Iterator[Fault]:
    """Faults of principal moments about the centre of mass, smallest first."""
    least, middle, most = moments
    shown = ", ".join(f"{m:.6g}" for m in moments)
    mend = "check the tensor's components and their order against the source"
    if about == "origin":
        mend = "check the tensor against the source; if it is about the centre of mass, write `about: com`"
    if least < -ROUNDING * most:
        found = f"principal moments {shown} kg·m² about the centre of mass of link {link}"
        yield Fault(place, path, "moments of inertia that are not negative", found, mend)
    elif not _physical(moments):
        found = f"principal moments {shown} kg·m² of link {link}: the largest is {most - least - middle:.6g} more"
        yield Fault(place, path, "no moment larger than the sum of the other two (no body has such)", found, mend)


def _physical(moments: tuple[float, float, float]) -> bool:
    """Whether some body has these principal moments, smallest first."""
    least, middle, most = moments
    return least >= -ROUNDING * most and most - least - middle <= ROUNDING * most


def _of_stops(arm: Arm, data: dict[str, Any], path: str) -> Iterator[Fault]:
    """Stops so stiff that an explicit method would need steps below a microsecond."""
    M = crba(arm, [float(q) for q in arm.initial])
    for i, joint in enumerate(arm.joints):
        M[i][i] = M[i][i] + armature(joint)
    pivots = dict(_pivots(M))
    for i, joint in enumerate(arm.joints):
        limit, inertia = joint.limit, pivots[i]
        if limit is None or limit.stiffness is None or not inertia > 0:
            continue
        fastest = max(math.sqrt(limit.stiffness / inertia), limit.damping / inertia)  # 1/s
        if fastest * SHORTEST_STEP > 2:
            where = f"{path}.joints[{i}].limits" if path else f"joints[{i}].limits"
            limits = data["joints"][i]["limits"]
            yield Fault(
                limits["stiffness"].place,
                where,
                f"a stop that a step of {SHORTEST_STEP:g} s can follow",
                f"stiffness {limit.stiffness:g}, damping {limit.damping:g} on an inertia of {inertia:.3g}: "
                f"steps below {2 / fastest:.2g} s",
                "soften the stop: a stop need not be as stiff as steel to hold an arm",
            )


def _pivots(M: list[list[float]]) -> Iterator[tuple[int, float]]:
    """Joint and pivot of L D Lᵀ, from the tip: the inertia that the joint feels with all joints before it held."""
    A = [list(row) for row in M]
    for k in reversed(range(len(A))):
        pivot = A[k][k]
        yield k, pivot
        if pivot:
            for i in range(k):
                for j in range(i + 1):
                    A[i][j] -= A[k][i] / pivot * A[k][j]


def _poses(arm: Arm) -> Iterator[list[float]]:
    """The initial pose, and poses spread over the joints' ranges (a Weyl sequence: the same at every run)."""
    yield [float(q) for q in arm.initial]
    for k in range(1, POSES + 1):
        pose = []
        for i, joint in enumerate(arm.joints):
            share = k * math.sqrt((2, 3, 5, 7, 11, 13, 17, 19)[i % 8] + i // 8) % 1.0
            half = math.pi if joint.type == "revolute" else 1.0
            lower, upper = joint.initial - half, joint.initial + half
            if joint.limit is not None:
                lower, upper = max(lower, joint.limit.lower), min(upper, joint.limit.upper)
            pose.append(lower + share * (upper - lower))
        yield pose


def _size(arm: Arm) -> float:
    """How far the arm can stretch: the lengths from joint to joint and to the tool, and the travel of prismatic joints [m]."""
    size = sum(math.hypot(*joint.position) for joint in arm.joints) + math.hypot(*arm.tool_in_link.position)
    for joint in arm.joints:
        if joint.type == "prismatic":
            size += abs(joint.offset) + abs(joint.initial)
            if joint.limit is not None:
                size += sum(abs(end) for end in (joint.limit.lower, joint.limit.upper) if math.isfinite(end))
    return size


def _numbers(data: Any) -> Any:
    """Data with every number as its value."""
    if isinstance(data, Quantity):
        return data.value
    if isinstance(data, dict):
        return {key: _numbers(value) for key, value in data.items()}
    return [_numbers(value) for value in data] if isinstance(data, list) else data


def _mass(inertia: Inertia) -> float:
    return float(inertia.mass)


def _place(joint: dict[str, Any]) -> Place:
    place: Place = joint["initial"].place
    return place


def _shown(q: list[float]) -> str:
    return ", ".join(f"{x:.3g}" for x in q)
