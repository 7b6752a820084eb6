"""`armsim check --collision`."""

import json

import pytest

SCENARIO = """\
format: armsim/scenario/1
robot: two.yaml
duration: 0.5
integrator: {method: rk4, dt: 1e-2}
initial: {qd: [1, 0]}
world:
  wall: {plane: {normal: [0, -1, 0], point: [0, WALL, 0]}}
  hills: {heightfield: {csv: hills.csv}}
"""
ROBOT = """\
format: armsim/robot/1
name: two
gravity: [0, 0, 0]
joints:
  - {name: R1, type: revolute, mdh: {}, bodies: [{box: {size: [0.2, 0.1, 0.1], mass: 100}}]}
  - {name: R2, type: revolute, mdh: {a: 1}, bodies: [{sphere: {radius: 0.1, mass: 1e-3}}]}
"""


@pytest.fixture
def files(empty_folder):
    def write(wall):
        (empty_folder / "two.yaml").write_text(ROBOT)
        (empty_folder / "hills.csv").write_text("x_m,y_m,z_m\n0,0,0\n1,0,0\n0,1,0\n1,1,0\n")
        (empty_folder / "s.yaml").write_text(SCENARIO.replace("WALL", str(wall)))

    return write


def test_what_touches_is_said_with_its_time_and_ends_with_1(armsim, files, told):
    files(0.4)
    ended = armsim("check", "--collision", "s.yaml")
    assert (ended.code, ended.err) == (1, "")
    told(ended.out)
    assert armsim("check", "--collision", "-q", "s.yaml").code == 1
    assert armsim("check", "s.yaml").code == 0


def test_where_nothing_touches_it_is_said_how_near_it_comes(armsim, files, told):
    files(1.0)
    ended = armsim("check", "--collision", "s.yaml")
    assert (ended.code, ended.err) == (0, "")
    told(ended.out)


def test_as_json_all_pairs_are_listed(armsim, files):
    files(0.4)
    (found,) = json.loads(armsim("check", "--collision", "--json", "s.yaml").out)
    collision = found["collision"]
    assert (collision["until"], collision["left_out"]) == (0.5, [])
    first, other = collision["approaches"]
    assert (first["pair"], other["pair"], other["touch"]) == ("R2_wall", "R1_wall", None)
    assert first["touch"] == pytest.approx(0.3046, abs=1e-3)  # sin t = 0.3; R2 hardly moves by itself


def test_without_a_reference_none_can_be_looked_at_and_a_robot_does_not_move(armsim, files, told):
    files(0.4)
    ended = armsim("check", "--reference", "s.yaml")
    assert (ended.code, ended.out) == (2, "")
    told(ended.err)
    ended = armsim("check", "--collision", "two.yaml")
    assert ended.code == 0
    told(ended.out)
