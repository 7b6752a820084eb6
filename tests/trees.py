"""Random robot files: trees of joints of every type and convention, some of which follow others."""

from __future__ import annotations

import numpy as np

CONVENTIONS = ("mdh", "dh", "origin")
AXES = ([0, 0, 1], [1, 0, 0], [0, -1, 0], [0, 0, -1], None)  # None for one at random


def frame(rng: np.random.Generator) -> dict:
    return {"xyz": [*rng.uniform(-0.4, 0.4, 3)], "rpy": [*rng.uniform(-3, 3, 3)]}


def solid(rng: np.random.Generator) -> dict:
    """A box, turned and shifted."""
    mass, sides = rng.uniform(0.5, 3.0), rng.uniform(0.05, 0.4, 3) ** 2
    xx, yy, zz = mass / 12 * (sides.sum() - sides)
    center, rpy = [*rng.uniform(-0.3, 0.3, 3)], [*rng.uniform(-3, 3, 3)]
    return {"inertia": {"mass": mass, "center": center, "about": "com", "rpy": rpy, "xx": xx, "yy": yy, "zz": zz}}


def tree(seed: int, most: int = 30, mimics: bool = True) -> dict:
    """A robot file of 2 to `most` joints; screws where the seed is even, joints that follow others unless 3 divides it."""
    rng = np.random.default_rng(seed)
    count, convention = 2 + int((most - 1) * rng.random() ** 2), str(rng.choice(CONVENTIONS))
    names = [f"J{i + 1}" for i in range(count)]
    free = [names[0], *(name for name in names[1:] if rng.random() < (0.7 if seed % 3 else 1.0))]
    rng.shuffle(free)  # a follower's leader may be anywhere
    joints = [joint(rng, name, convention, screws=seed % 2 == 0) for name in names]
    for i, made in enumerate(joints):
        if rng.random() < 0.45:  # else it hangs on the joint before
            made["parent"] = str(rng.choice(["base", *names[:i]]))
        if made["name"] not in free:
            ratio = float(rng.choice([-1, 1]) * rng.uniform(0.3, 1.5))
            mimic = {"joint": str(rng.choice(free)), "ratio": ratio, "offset": rng.uniform(-1, 1)}
            made |= {"mimic": mimic} if mimics else {}
    driven = set()
    for made in joints:
        led_by = made.get("mimic", {}).get("joint", made["name"])
        if led_by not in driven and rng.random() < 0.5:  # one motor at most drives a coordinate
            driven.add(led_by)
            made["motor"] = {"gear": rng.choice([-1, 1]) * rng.uniform(20, 60), "rotor_inertia": 1e-4}
    frames = {name: {"link": str(rng.choice(names)), **frame(rng)} for name in ("left", "right")}
    file = {
        "format": "armsim/robot/1",
        "name": f"tree{seed}",
        "gravity": [*rng.uniform(-9, 9, 3)],
        "convention": convention,
        "base": frame(rng),
        "joints": joints,
        "tool": ({"link": str(rng.choice(names))} if seed % 4 else {}) | frame(rng),
        "frames": frames,
        "payload": [{"name": f"load_{at}", "frame": at, "body": solid(rng)} for at in ("tool", "left", "right")],
    }
    return short(file)


def short(value):
    """A document whose numbers have four digits, so that files of them stay small."""
    if isinstance(value, dict):
        return {key: short(item) for key, item in value.items()}
    if isinstance(value, list):
        return [short(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def joint(rng: np.random.Generator, name: str, convention: str, screws: bool) -> dict:
    type = str(rng.choice(["revolute", "revolute", "prismatic", "screw" if screws else "revolute"]))
    a, alpha, d, theta = rng.uniform([-0.5, -3, -0.5, -3], [0.5, 3, 0.5, 3])
    place = {"a": a, "alpha": alpha, "d": d, "theta": theta}
    if convention == "origin":
        axis = AXES[int(rng.integers(5))] or [*rng.uniform(-1, 1, 2), 0.3]
        place = {**frame(rng), "axis": axis}
    made = {"name": name, "type": type, convention: place, "bodies": [solid(rng)]}
    return made | ({"pitch": rng.choice([-1, 1]) * rng.uniform(0.3, 2.0)} if type == "screw" else {})


def parents(file: dict) -> list[int]:
    """Index of the joint that carries each; -1 for the base."""
    names = ["base", *(joint["name"] for joint in file["joints"])]
    return [names.index(joint.get("parent", names[i])) - 1 for i, joint in enumerate(file["joints"])]


def projection(file: dict) -> tuple[np.ndarray, np.ndarray]:
    """G and c of the positions G q + c of all joints, by those q of the free ones."""
    free = [joint["name"] for joint in file["joints"] if "mimic" not in joint]
    G, c = np.zeros((len(file["joints"]), len(free))), np.zeros(len(file["joints"]))
    for i, joint in enumerate(file["joints"]):
        mimic = joint.get("mimic", {"joint": joint["name"]})
        G[i, free.index(mimic["joint"])] = mimic.get("ratio", 1.0)
        c[i] = mimic.get("offset", 0.0)
    return G, c


def chain(file: dict) -> dict:
    """The joints one after another, each with a coordinate of its own."""
    joints = [{k: v for k, v in joint.items() if k not in ("parent", "mimic")} for joint in file["joints"]]
    return {**file, "joints": joints, "tool": {k: v for k, v in file["tool"].items() if k != "link"}}


def without_mimics(file: dict) -> dict:
    """The same tree, all of whose joints are free."""
    return {**file, "joints": [{k: v for k, v in joint.items() if k != "mimic"} for joint in file["joints"]]}


def motion(seed: int, n: int) -> dict[str, list[float]]:
    """A state: positions, velocities, accelerations, forces, and a direction in which to derive."""
    drawn = short(np.random.default_rng(seed).uniform(-2, 2, (5, n)).tolist())
    return dict(zip(("q", "qd", "qdd", "tau", "along"), drawn, strict=True))


def close(key: str, found, figures: dict) -> bool:
    """Whether a figure of a state is the one expected.

    To 1e-12 of its largest magnitude, sums of some hundred products; what takes a solution with the mass matrix to 10 eps
    times the condition of that.
    """
    expected = np.asarray(figures[key])
    n = len(figures["tau"])
    M = np.zeros((n, n))
    M[np.tril_indices(n)] = figures["M"]
    condition = np.linalg.cond(M + np.tril(M, -1).T)
    tolerance = max(1e-12, 10 * 2.0**-52 * condition) if key.startswith("qdd") else 1e-12
    return bool(np.abs(np.asarray(found) - expected).max() <= tolerance * np.abs(expected).max() + 1e-15)
