"""How near terrain is at least."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from armsim.geometry import HeightField, Obstacle
from armsim.spatial import Vector


def test_no_point_of_terrain_is_nearer_than_it_says():
    """Where the gap alone would be wrong, too: beside a steep hill, the same for all y."""
    x, ridge = [-1.0, 0.9, 1.0, 1.1, 3.0], [0.0, 0.0, 1.0, 0.0, 0.0]
    field = HeightField.of(x, [-1.0, 1.0], ridge * 2)
    assert field.nearness == pytest.approx(1 / math.hypot(1, 10, 10), rel=1e-12)
    assert HeightField.of([-1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]).nearness == pytest.approx(1 / 3)
    hill, pick, misleading = Obstacle("hill", field), random.Random(3), 0
    surface = np.array([(at, np.interp(at, x, ridge)) for at in np.linspace(-1.0, 3.0, 4001)])
    for _ in range(60):
        place = pick.uniform(-0.5, 2.5), pick.uniform(0.3, 1.2)
        nearest = np.hypot(*(surface - place).T).min()
        point = Vector(place[0], 0.0, place[1])
        assert hill.clearance(point) <= nearest + 1e-9
        misleading += hill.gap(point)[0] > nearest + 0.05
    assert misleading
