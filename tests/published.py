"""Published arms, with figures of other engines: tests/data/README.md."""

from __future__ import annotations

import math
from pathlib import Path

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # written in C where it is there
ARMS = yaml.load((Path(__file__).parent / "data" / "published_robots.yaml").read_text(), LOADER)["robots"]
SHIPPED = {
    "puma560": "puma560_corke",
    "puma560_akb": "puma560_akb",
    "ur5": "ur5_cb3",
    "ur5e": "ur5e",
    "ur10": "ur10_cb3",
    "ur20": "ur20",
    "panda": "franka_panda_fer",
    "iiwa14": "kuka_iiwa14",
    "manutec_r3": "manutec_r3",
}
PUBLISHED = {name: ARMS[key] for name, key in SHIPPED.items()}  # by the names of shipped robots


def motion(entry: dict) -> tuple[list[float], list[float], list[float]]:
    """Positions, velocities and accelerations of an entry's golden values [rad, rad/s, rad/s²]."""
    n = entry["dof"]
    q = [0.1, -0.4, 0.5, -0.6, 0.7, -0.8, 0.9]
    qd = [0.3, -0.2, 0.1, 0.4, -0.5, 0.6, -0.7]
    qdd = [1.0, -1.0, 0.5, -0.5, 0.25, -0.25, 0.125]
    return q[:n], qd[:n], qdd[:n]


def within_digits(values: list[float], printed: list[float]) -> bool:
    """Whether values are those printed to nine digits: to half of the last one, and to 1e-9 where an exact 0 was."""
    last = [1e-9 if x == 0 else 10.0 ** (math.floor(math.log10(abs(x))) - 8) for x in printed]
    return all(abs(x - y) <= 0.51 * digit for x, y, digit in zip(values, printed, last, strict=True))
