"""Pictures of arms: solids, poses, and what is drawn of a robot."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.errors import UsageError
from armsim.figures.drawn_run import DrawnArm
from armsim.figures.mesh import AROUND, box, cylinder, solid_mesh, sphere, tube, tube_between
from armsim.figures.robot_picture import draw
from armsim.figures.scene import Scene, camera
from armsim.figures.style import VIEWS, look
from armsim.loading import load_robot_file

POLYGON = AROUND / (2 * math.pi) * math.sin(2 * math.pi / AROUND)  # area of the polygon in a circle, as a share of it


def volume(mesh):
    """What facets enclose, by the divergence theorem; negative if they face inwards."""
    a, b, c, d = np.moveaxis(mesh, 1, 0)
    return (np.einsum("ij,ij", a, np.cross(b, c)) + np.einsum("ij,ij", a, np.cross(c, d))) / 6


def middle(mesh):
    return (mesh.reshape(-1, 3).min(axis=0) + mesh.reshape(-1, 3).max(axis=0)) / 2


@pytest.fixture(scope="module", params=["arm5", "puma560", "rr"])
def drawn(request):
    return DrawnArm.of(load_robot_file(request.param).data)


def test_facets_enclose_their_solid_and_face_outwards():
    shift = [3.0, -2.0, 5.0]  # an open surface would enclose another volume elsewhere
    assert volume(cylinder(0.5, 2.0) + shift) == pytest.approx(POLYGON * math.pi * 0.25 * 2.0)
    assert volume(tube(0.5, 0.3, 2.0) + shift) == pytest.approx(POLYGON * math.pi * (0.25 - 0.09) * 2.0)
    assert volume(box(1.0, 2.0, 3.0) + shift) == pytest.approx(6.0)
    assert volume(sphere(0.5) + shift) == pytest.approx(4 / 3 * math.pi * 0.125, rel=0.1)
    assert volume(tube_between(np.array([1.0, 2, 3]), np.array([2.0, 0, 5]), 0.1)) == pytest.approx(
        POLYGON * math.pi * 0.03
    )


@pytest.mark.parametrize(("axis", "sizes"), [("x", [2, 1, 1]), ("y", [1, 2, 1]), ("z", [1, 1, 2])])
def test_a_cylinder_lies_along_its_axis_about_its_center(axis, sizes):
    solid = {"shape": "cylinder", "sizes": {"radius": 0.5, "height": 2.0, "axis": axis}, "center": [1, 2, 3], "mass": 1}
    made = solid_mesh(solid, 0.0)
    assert np.ptp(made.reshape(-1, 3), axis=0) == pytest.approx(sizes)
    assert middle(made) == pytest.approx([1, 2, 3])
    assert volume(made) > 0  # not turned inside out


def test_the_tool_is_where_forward_kinematics_has_it(drawn):
    robot = armsim.Robot(drawn.arm, engine="python")
    q = np.linspace(-1.0, 1.3, drawn.arm.n)
    scene = Scene(drawn)
    assert scene.tool(list(q)) == pytest.approx(robot.forward_kinematics(q).position, abs=1e-14)
    links = robot.link_poses(q).position
    assert [p for _, p in scene.frames(list(q))] == [pytest.approx(p, abs=1e-14) for p in links]


def test_the_centre_of_mass_is_the_one_that_gravity_pulls_at(drawn):
    robot = armsim.Robot(drawn.arm, engine="python")
    q = np.linspace(-1.0, 1.3, drawn.arm.n)
    mass, center = Scene(drawn).center_of_mass(list(q))
    energy = -mass * float(np.dot([float(x) for x in drawn.arm.gravity], center))
    assert energy == pytest.approx(float(robot.potential_energy(q)), rel=1e-12)


def test_solids_stand_where_their_frames_are():
    drawn = DrawnArm.of(load_robot_file("arm5").data)
    scene, q = Scene(drawn), [0.4, -0.8, 0.2, 0.0, 0.0]
    R, p = scene.frames(q)[1]  # of the upper arm, a cylinder of 0.05 m from its frame to 0.38 m along x
    along = R.T @ (p * 0 + R @ [0.38, 0, 0])
    assert along == pytest.approx([0.38, 0, 0])
    seen = camera(drawn.arm, "top")
    corners, colors = scene.painted(q, seen)
    low, high = scene.extent([q], seen)
    for end in (p, p + R @ [0.38, 0.0, 0.0]):
        assert (seen.flat(end) > low).all()
        assert (seen.flat(end) < high).all()
    assert corners.shape == (len(colors), 4, 2)


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_right_handed_and_upright(view):
    arm = load_robot_file("rr")
    for name in ("arm5", "rr"):
        arm = DrawnArm.of(load_robot_file(name).data).arm
        seen = camera(arm, view)
        turn = np.stack([seen.right, seen.up, seen.toward])
        assert turn @ turn.T == pytest.approx(np.eye(3), abs=1e-12)
        assert np.linalg.det(turn) == pytest.approx(1.0)
        down = np.array([float(x) for x in arm.gravity])
        assert (seen.up @ down < -1.0) == (view != "top")  # m/s²


def test_a_planar_arm_is_seen_in_its_plane_and_what_hangs_is_below():
    drawn = DrawnArm.of(load_robot_file("rr").data)
    seen, scene = camera(drawn.arm), Scene(drawn)
    assert abs(seen.toward @ [0.0, 0.0, 1.0]) == pytest.approx(1.0)
    x, y = seen.flat(scene.tool([-math.pi / 2, 0.0]))
    assert (x, y) == (pytest.approx(0.0, abs=1e-12), pytest.approx(-1.6))


def boxes(*heights):
    """An arm whose links have a box each, half a metre from its axis, above each other."""
    joints = [
        {
            "name": f"R{i}",
            "type": "revolute",
            "mdh": {},
            "bodies": [{"box": {"size": [0.2, 0.2, 0.2], "mass": 1, "center": [0.5, 0, z]}}],
        }
        for i, z in enumerate(heights)
    ]
    return DrawnArm.of(load_robot_file({"format": "armsim/robot/1", "name": "boxes", "joints": joints}).data)


def test_the_sides_that_are_seen_meet_at_the_corner_nearest_to_the_eye():
    drawn = boxes(0.0)
    seen = camera(drawn.arm, "iso")
    corners, _ = Scene(drawn).painted([0.0], seen)
    eight = np.array([[0.5 + x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    places = seen.flat(eight)
    sides = [facet for facet in corners if all(np.isclose(places, corner).all(axis=1).any() for corner in facet)]
    nearest = places[np.argmax(eight @ seen.toward)]
    assert len(sides) == 3
    assert all(np.isclose(side, nearest).all(axis=1).any() for side in sides)


@pytest.mark.parametrize("heights", [(0.0, 0.4), (0.4, 0.0)])
def test_what_is_nearer_is_painted_over_what_is_farther(heights):
    drawn = boxes(*heights)
    corners, colors = Scene(drawn).painted([0.0, 0.0], camera(drawn.arm, "top"))
    last = max(k for k, facet in enumerate(corners) if facet[:, 0].min() > 0.35)
    red, _, blue = colors[last]
    assert (red > blue) == (heights[1] > heights[0])  # the second joint is vermilion, the first one blue


def test_a_drawing_names_joints_ranges_lengths_and_masses():
    pytest.importorskip("matplotlib")
    figure = draw("arm5", q=[0.1, -1.0, 0.3, 0.0, 0.2], degrees=True)
    above, below = figure.axes
    table = below.texts[0].get_text()
    assert "R2     revolute  −57.3 deg  −68.75 to 40.11 deg" in table
    assert "8 kg" in table  # 3 + 1.5 + 1 + 1 + 1 + 0.3 + 0.2
    words = [text.get_text() for text in above.texts]
    assert {"R1", "R2", "R3", "R4, R5", "0.38 m", "0.425 m"} <= set(words)
    ranges = {patch.get_edgecolor()[:3] for patch in above.patches}
    assert len(above.patches) == 4  # R1 has none
    assert len(ranges) == 4


def test_the_range_of_a_joint_is_drawn_from_where_its_link_points():
    pytest.importorskip("matplotlib")
    body = {"point": {"mass": 1, "center": [1, 0, 0]}}
    joint = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [body], "limits": {"lower": -0.5, "upper": 1.0}}
    robot = {
        "format": "armsim/robot/1",
        "name": "one",
        "gravity": [0, -9.81, 0],
        "joints": [joint],
        "tool": {"xyz": [1, 0, 0]},
    }
    figure = draw(robot, q=[0.25], view="side")
    (sector,) = figure.axes[0].patches
    x, y = (sector.get_xy()[1:-1] - sector.get_xy()[0]).T
    angles = np.arctan2(y, x)
    assert (angles.min(), angles.max()) == (pytest.approx(-0.5), pytest.approx(1.0))
    assert sector.get_edgecolor()[:3] == pytest.approx([int(look(0).color[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def test_robots_of_all_kinds_can_be_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    sizes = {"mass": 1, "center": [0.1, 0, 0]}
    bodies = [
        {"cylinder": {"axis": "x", "height": 0.3, "radius": 0.05, **sizes}}, {"box": {"size": [0.1, 0.2, 0.3], **sizes}},
        {"tube": {"axis": "y", "height": 0.3, "outer_radius": 0.05, "inner_radius": 0.03, **sizes}},
        {"sphere": {"radius": 0.1, **sizes}}, {"rod": {"axis": "z", "length": 0.5, **sizes}}, {"point": sizes},
    ]  # fmt: skip
    joints = [
        {"name": "a_", "type": "revolute", "mdh": {}, "bodies": bodies, "limits": {"lower": -1, "upper": 9}},
        {"name": "b", "type": "prismatic", "mdh": {}, "bodies": bodies, "limits": {"lower": 0, "upper": 1}},
        {"name": "c", "type": "screw", "pitch": 0.01, "mdh": {"alpha": 1}, "bodies": bodies},
    ]
    robot = {"format": "armsim/robot/1", "name": "x", "gravity": [0, 0, 0], "joints": joints, "payload": sizes}
    draw(robot, tmp_path / "a.png")
    draw(armsim.Robot(armsim.load_robot(robot).arm), tmp_path / "b.png", view="front")  # without the file's solids
    with pytest.raises(UsageError, match="3 finite numbers, one per joint"):
        draw(robot, q=[0.0])
    with pytest.raises(UsageError, match="expected: a view"):
        draw(robot, view="below")
