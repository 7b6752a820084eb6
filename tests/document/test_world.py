"""The world in robot and scenario files."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from armsim.document.base import plain
from armsim.errors import FileFaults
from armsim.geometry import Box, Cylinder, HeightField, Plane, Sphere
from armsim.loading import read_robot, read_scenario
from armsim.loading.build import build_robot
from armsim.loading.robot_file import load_robot_file
from armsim.loading.scenario import resolved_scenario
from armsim.spatial import Vector

GRID = "x_m,y_m,z_m\n0,0,0\n1,0,0\n0,2,1\n1,2,1\n"
WORLD = """
format: armsim/scenario/1
robot: arm5
units: {angle: deg}
duration: 1
world:
  ramp: {plane: {normal: [3, 0, 4], point: [0, 0, 1]}}
  crate: {box: {size: [0.2, 0.4, 0.6]}, xyz: [1, 0, 0.3], rpy: [0, 0, 90]}
  ball: {sphere: {radius: 0.1}, xyz: [0, 1, 0]}
  post: {cylinder: {radius: 0.1, height: 1}, xyz: [0, -1, 0.5]}
  hills: {heightfield: {csv: hills.csv}, xyz: [0, 0, 1]}
"""


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "hills.csv").write_text(GRID)

    def read(text):
        (tmp_path / "s.yaml").write_text(text)
        return read_scenario(str(tmp_path / "s.yaml"))

    return read


def test_each_shape_of_the_world_is_built_at_its_place(scenario):
    ramp, crate, ball, post, hills = scenario(WORLD).arm.world
    assert ramp.shape == Plane(Vector(0.6, 0.0, 0.8), Vector(0.0, 0.0, 1.0))
    assert (crate.shape, ball.shape, post.shape) == (Box(Vector(0.1, 0.2, 0.3)), Sphere(0.1), Cylinder(0.1, 0.5))
    assert isinstance(hills.shape, HeightField)
    assert [it.name for it in (ramp, crate, ball, post, hills)] == ["ramp", "crate", "ball", "post", "hills"]
    assert crate.gap(Vector(1.0, 0.5, 0.3))[0] == pytest.approx(0.4)  # its long side lies along x
    assert hills.gap(Vector(0.5, 1.0, 2.0))[0] == pytest.approx(0.5 * math.cos(math.atan(0.5)))


def test_a_resolved_scenario_has_the_same_world_in_radians(scenario):
    made = scenario(WORLD)
    again = read_scenario(plain(resolved_scenario(made)))
    before, after = ([it.gap(Vector(0.3, 0.2, 0.9)) for it in one.arm.world] for one in (made, again))
    assert before == after


def test_a_terrain_that_changed_since_is_refused(scenario, tmp_path):
    data = plain(resolved_scenario(scenario(WORLD)))
    (tmp_path / "hills.csv").write_text(GRID.replace("2,1", "2,3"))
    with pytest.raises(FileFaults, match="sha256"):
        read_scenario(data)


def test_a_robot_has_a_world_too_and_a_scenario_puts_others_in_their_place(tmp_path):
    (tmp_path / "hills.csv").write_text(GRID)
    world = "world: {floor: {plane: {}}, hills: {heightfield: {csv: hills.csv}}}"
    robot = f"{Path(load_robot_file('arm5').sources[0].path).read_text(encoding='utf-8')}\n{world}\n"
    (tmp_path / "r.yaml").write_text(robot)
    arm, _ = read_robot(str(tmp_path / "r.yaml"))
    assert [it.name for it in arm.world] == ["floor", "hills"]
    assert arm.world[0].shape == Plane()
    given = {"format": "armsim/scenario/1", "robot": str(tmp_path / "r.yaml"), "duration": 1}
    world = {"floor": {"plane": {"point": [0, 0, 1]}}, "ball": {"sphere": {"radius": 1}}}
    arm = read_scenario(given | {"world": world}).arm
    assert [it.name for it in arm.world] == ["hills", "floor", "ball"]
    assert arm.world[1].gap(Vector(0.0, 0.0, 3.0))[0] == 2.0


def test_numbers_of_the_world_can_be_left_open_and_overridden():
    given = {"format": "armsim/scenario/1", "robot": "arm5", "duration": 1, "world": {"b": {"sphere": {"radius": 1}}}}
    assert read_scenario(given, {"world.b.sphere.radius": 2}).arm.world[0].shape == Sphere(2.0)
    file = load_robot_file("arm5", {"world.b.sphere.radius": 1})
    assert build_robot(file.document, {"world.b.sphere.radius": 3.0}).world[0].shape == Sphere(3.0)


def test_each_fault_of_a_world_says_where_and_how_to_mend_it(scenario, tmp_path, told):
    with pytest.raises(FileFaults) as caught:
        scenario("""
format: armsim/scenario/1
robot: arm5
duration: 1
world:
  R1: {plane: {normal: [0, 0, 0]}}
  crate: {box: {size: [0.1, 0.2]}, sphere: {radius: 1}}
  nothing: {xyz: [0, 0, 0]}
  reach_m: {sphere: {radius: -1}}
  cone: {cone: {radius: 1}}
""")
    told(str(caught.value).replace(f"{tmp_path}/", ""))


@pytest.mark.parametrize(
    "rows",
    [
        "x_m,y_m\n0,0\n",
        "x_m,y_m,z_m\n0,0,1\n1,0,1\n0,1,1\n",
        "x_m,y_m,z_m\n0,0,1\n1,0,1\n",
        "x_m,y_m,z_m\n1,0,1\n0,0,1\n1,1,1\n0,1,1\n",
        "x_m,y_m,z_m\n0,0,1\n1,0,1\n0,1,1\n1,1,1e30\n",
        "x_m,y_m,z_m\n0,0,1\n1,0,1\n0,1,1\n1,1,\n",
    ],
)
def test_a_terrain_that_is_no_grid_is_refused(scenario, tmp_path, rows, told):
    (tmp_path / "hills.csv").write_text(rows)
    with pytest.raises(FileFaults) as caught:
        scenario(WORLD)
    told(str(caught.value).replace(f"{tmp_path}/", ""))
