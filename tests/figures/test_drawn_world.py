"""The world in pictures and on pages: shapes stand where contacts meet them."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim.figures.animation import animate
from armsim.figures.drawn_arm import DrawnArm
from armsim.figures.drawn_run import columns_over_time
from armsim.figures.drawn_world import FINE, world_parts
from armsim.figures.mesh import divided, mesh
from armsim.figures.scene import Scene, camera
from armsim.loading import load_robot_file, read_scenario
from armsim.spatial import Vector

PLACED = {"xyz": [0.4, -0.3, 0.2], "rpy": [0.3, -0.5, 0.7]}


def drawn_with(world):
    scenario = read_scenario({"format": "armsim/scenario/1", "robot": "arm5", "duration": 1, "world": world})
    return columns_over_time("all", {"t_s": [0.0]}, scenario.scenario_data).known_arm()


@pytest.fixture(scope="module")
def terrain(tmp_path_factory):
    path = tmp_path_factory.mktemp("world") / "terrain.csv"
    rows = [f"{0.02 * i},{0.03 * j},{0.1 * np.sin(i) * np.cos(j):.6f}" for j in range(60) for i in range(7)]
    path.write_text("\n".join(["x_m,y_m,z_m", *rows]))
    return str(path)


@pytest.fixture(scope="module")
def drawn(terrain):
    shapes = {
        "floor": {"plane": {"normal": [0.2, 0.1, 1], "point": [0.1, 0, -0.1]}},
        "block": {"box": {"size": [0.1, 0.2, 0.3]}},
        "ball": {"sphere": {"radius": 0.1}},
        "post": {"cylinder": {"radius": 0.05, "height": 0.4}},
        "land": {"heightfield": {"csv": terrain}},
    }
    return drawn_with({name: {**shape, **PLACED} for name, shape in shapes.items()})


def test_corners_of_every_shape_lie_on_the_surface_that_contacts_meet(drawn):
    # corners of round solids lie on them: a wrong pose, size or axis would be centimetres off
    for part, obstacle in zip(world_parts(drawn), drawn.arm.world, strict=True):
        facets = mesh(part)
        area = np.linalg.norm(np.cross(facets[:, 2] - facets[:, 0], facets[:, 3] - facets[:, 1]), axis=1)
        corners = facets[area > 1e-9].reshape(-1, 3)[::3]
        gaps = [float(obstacle.gap(Vector(*corner))[0]) for corner in corners]
        assert gaps == pytest.approx([0.0] * len(gaps), abs=1e-12), obstacle.name


def test_a_planes_grid_is_about_the_base_and_faces_the_free_side(drawn):
    plane, corners = drawn.arm.world[0], mesh(world_parts(drawn)[0])
    normal = np.array([*plane.gap(Vector(0.0, 0.0, 0.0))[1]], float)
    middle, base = corners.mean(axis=(0, 1)), np.array([*drawn.arm.base.position], float)
    assert np.cross(middle - base, normal) == pytest.approx([0, 0, 0], abs=1e-9)
    assert np.cross(corners[0, 1] - corners[0, 0], corners[0, 3] - corners[0, 0]) @ normal > 0


def test_terrain_is_drawn_with_few_cells(drawn):
    assert len(world_parts(drawn)[-1].sizes["triangles"]) == 2 * 6 * FINE


def test_pieces_of_a_facet_cover_it_and_are_small():
    facet = np.array([[[0.0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0]]])
    pieces = divided(facet)
    assert np.abs(np.diff(pieces, axis=1)).max() < 0.2
    areas = np.cross(pieces[:, 2] - pieces[:, 0], pieces[:, 3] - pieces[:, 1])[:, 2] / 2
    assert (areas > 0).all()
    assert areas.sum() == pytest.approx(2.0)


def test_what_stands_far_away_does_not_shrink_the_arm():
    far = drawn_with({"far": {"box": {"size": [1, 1, 1]}, "xyz": [50, 0, 0]}})
    near = drawn_with({})
    seen, frames = camera(near.arm), near.frames(list(near.arm.initial))
    assert np.ptp(Scene(far, seen).points(frames), axis=0) == pytest.approx(
        np.ptp(Scene(near, seen).points(frames), axis=0)
    )


def test_all_of_an_arm_that_has_slid_far_from_its_base_is_shown():
    joint = {"name": "P1", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1, "center": [0.1, 0, 0]}}]}
    drawn = DrawnArm.of(load_robot_file({"format": "armsim/robot/1", "name": "one", "joints": [joint]}).document)
    points = Scene(drawn, camera(drawn.arm, "side")).points(drawn.frames([9.0]))
    assert points[:, 1].max() > 9.0


@pytest.mark.slow
def test_a_strip_of_a_run_shows_its_world(tmp_path):
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    run = armsim.simulate("press", {"duration": 0.01})
    animate(run, tmp_path / "with.png", frames=1)
    bare = armsim.simulate("press", {"duration": 0.01, "contacts": [], "world": {}})
    animate(bare, tmp_path / "without.png", frames=1)
    grey = [np.asarray(image.open(tmp_path / f"{name}.png").convert("L")).mean() for name in ("with", "without")]
    assert grey[0] < grey[1] - 5  # the table's pane is darker than paper
