"""Pictures of arms: solids, poses, and what is drawn of a robot."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.errors import UsageError
from armsim.figures.drawn_arm import ArmPart, DrawnArm, matrix
from armsim.figures.mesh import AROUND, mesh
from armsim.figures.robot_picture import draw
from armsim.figures.scene import Scene, camera, to_rgb
from armsim.figures.style import VIEWS, look
from armsim.loading import load_robot_file
from tests.trees import tree

POLYGON = AROUND / (2 * math.pi) * math.sin(2 * math.pi / AROUND)  # area of the polygon in a circle, as a share of it


def volume(mesh):
    """What facets enclose, by the divergence theorem; negative if they face inwards."""
    a, b, c, d = np.moveaxis(mesh, 1, 0)
    return (np.einsum("ij,ij", a, np.cross(b, c)) + np.einsum("ij,ij", a, np.cross(c, d))) / 6


def middle(mesh):
    return (mesh.reshape(-1, 3).min(axis=0) + mesh.reshape(-1, 3).max(axis=0)) / 2


@pytest.fixture(scope="module", params=["arm5", "puma560", "rr", "arm5_gripper", "torso"])
def drawn(request):
    return DrawnArm.of(load_robot_file(request.param).document)


def test_facets_enclose_their_solid_and_face_outwards():
    shift = np.eye(4)
    shift[:3, 3] = [3.0, -2.0, 5.0]  # an open surface would enclose another volume elsewhere

    def inside(shape, **sizes):
        return volume(mesh(ArmPart(0, None, shape, sizes, shift)))

    assert inside("cylinder", radius=0.5, height=2.0) == pytest.approx(POLYGON * math.pi * 0.25 * 2.0)
    found = inside("tube", outer_radius=0.5, inner_radius=0.3, height=2.0)
    assert found == pytest.approx(POLYGON * math.pi * (0.25 - 0.09) * 2.0)
    assert inside("box", size=[1.0, 2.0, 3.0]) == pytest.approx(6.0)
    assert inside("sphere", radius=0.5) == pytest.approx(4 / 3 * math.pi * 0.125, rel=0.1)


def test_a_stalk_leads_from_its_frame_to_a_mass_without_a_shape():
    point = {"point": {"mass": 1, "center": [1.0, -2.0, 2.0]}}
    joint = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [point]}
    robot = {"format": "armsim/robot/1", "name": "one", "joints": [joint]}
    drawn = DrawnArm.of(load_robot_file(robot).document)
    _, stalk, ball, _ = drawn.parts
    assert volume(mesh(stalk)) == pytest.approx(POLYGON * math.pi * 3.0 * stalk.sizes["radius"] ** 2)
    corners = mesh(stalk).reshape(-1, 3)
    for end in (0.0, 3.0):
        cap = corners[np.isclose(corners @ [1 / 3, -2 / 3, 2 / 3], end)]
        assert np.unique(cap.round(9), axis=0).mean(axis=0) == pytest.approx([end / 3, -end / 1.5, end / 1.5], abs=1e-9)
    assert middle(mesh(ball)) == pytest.approx([1.0, -2.0, 2.0])


@pytest.mark.parametrize(("axis", "sizes"), [("x", [2, 1, 1]), ("y", [1, 2, 1]), ("z", [1, 1, 2])])
def test_a_cylinder_lies_along_its_axis_about_its_center(axis, sizes):
    body = {"cylinder": {"radius": 0.5, "height": 2.0, "axis": axis, "mass": 1.0, "center": [1.0, 2.0, 3.0]}}
    joint = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [body]}
    drawn = DrawnArm.of(load_robot_file({"format": "armsim/robot/1", "name": "one", "joints": [joint]}).document)
    made = mesh(next(part for part in drawn.parts if part.sizes["height"] == 2.0))
    assert np.ptp(made.reshape(-1, 3), axis=0) == pytest.approx(sizes)
    assert middle(made) == pytest.approx([1, 2, 3])
    assert volume(made) > 0  # not turned inside out


def test_the_tool_is_where_forward_kinematics_has_it(drawn):
    robot = armsim.Robot(drawn.arm, engine="python")
    q = np.linspace(-1.0, 1.3, drawn.arm.n)
    tool = robot.forward_kinematics(q).position
    frames = drawn.frames(q.tolist())
    assert frames[-1, :3, 3] == pytest.approx(tool, abs=1e-14)
    assert drawn.way(q[None])[0] == pytest.approx(tool, abs=1e-14)
    own = [T @ matrix(joint.frame) for T, joint in zip(frames[1:-1], drawn.arm.links, strict=True)]
    assert [T[:3, 3] for T in own] == [pytest.approx(p, abs=1e-14) for p in robot.link_poses(q).position]


def test_the_centre_of_mass_is_the_one_that_gravity_pulls_at(drawn):
    robot = armsim.Robot(drawn.arm, engine="python")
    q = np.linspace(-1.0, 1.3, drawn.arm.n)
    mass, center = drawn.center_of_mass(drawn.frames(q.tolist()))
    energy = -mass * float(np.dot([float(x) for x in drawn.arm.gravity], center))
    assert energy == pytest.approx(float(robot.potential_energy(q)), rel=1e-12)


@pytest.mark.parametrize("file", ["torso", tree(22), tree(40)], ids=["torso", "tree22", "tree40"])
def test_a_bar_leads_from_each_link_to_all_that_it_carries(file):
    drawn = DrawnArm.of(load_robot_file(file).document)
    arm = drawn.arm
    slid = [-link.offset if link.kind.slides else 0.3 for link in arm.links]  # where what slides begins
    free = [q for q, link in zip(slid, arm.links, strict=True) if link.mimic is None]
    frames = drawn.frames(free)
    bars = {
        (part.frame, *(frames[part.frame] @ part.pose @ [0, 0, z, 1])[:3].round(9))
        for part in drawn.parts
        for z in [part.sizes.get("height", 0) / 2]
    }
    for link, parent in enumerate(arm.parents):
        if arm.links[link].mimic is None and np.linalg.norm([*arm.links[link].position]) > 1e-9:
            assert (parent + 1, *frames[link + 1, :3, 3].round(9)) in bars
    assert (arm.link_of(arm.tool) + 1, *frames[-1, :3, 3].round(9)) in bars


def two_fingers(*order: str):
    """A palm with two fingers that turn about its z axis, B as A does, in an order; they point along x and y."""
    bodies = {"A": [1, 0, 0], "B": [0, 1, 0]}
    keys = {"A": {"limits": {"lower": -0.4, "upper": 0.2}}, "B": {"mimic": {"joint": "A", "ratio": -1}}}
    joints = [
        {
            "name": name,
            "type": "revolute",
            "parent": "base",
            "mdh": {},
            "bodies": [{"point": {"mass": 1, "center": bodies[name]}}],
        }
        | keys[name]
        for name in order
    ]
    return {
        "format": "armsim/robot/1",
        "name": "hand",
        "gravity": [0, 0, 0],
        "joints": joints,
        "tool": {"link": "A", "xyz": [1, 0, 0]},
    }


@pytest.mark.parametrize(("order", "looks"), [("AB", [0, 1]), ("BA", [1, 0])])
def test_joints_that_mimic_others_have_the_last_colours_wherever_they_stand(order, looks):
    drawn = DrawnArm.of(load_robot_file(two_fingers(*order)).document)
    assert [part.joint for part in drawn.parts if part.drum] == looks


def test_the_range_of_a_finger_is_drawn_from_where_its_mass_is():
    pytest.importorskip("matplotlib")
    sectors = draw(two_fingers("A", "B"), q=[0.1], view="top").axes[0].patches
    corners = [sector.get_xy()[1:-1] - sector.get_xy()[0] for sector in sectors]
    angles = [np.arctan2(y, x) for x, y in (points.T for points in corners)]
    assert [(found.min(), found.max()) for found in angles] == [
        (pytest.approx(-0.4), pytest.approx(0.2)),
        (pytest.approx(math.pi / 2 - 0.2), pytest.approx(math.pi / 2 + 0.4)),
    ]


def test_what_the_tool_of_a_tree_carries_is_drawn_there():
    drawn = DrawnArm.of(
        load_robot_file("arm5_gripper", {"payload": {"sphere": {"radius": 0.02, "mass": 0.1}}}).document
    )
    frames = drawn.frames(list(drawn.arm.initial))
    ball = drawn.parts[-1]
    assert (frames[ball.frame] @ ball.pose)[:3, 3] == pytest.approx(frames[-1, :3, 3])


def test_a_tree_is_as_long_as_its_longest_branch():
    torso = DrawnArm.of(load_robot_file("torso").document)
    assert torso.size == pytest.approx(0.8 + math.hypot(0.22, 0.44) + 0.28 + 0.26)
    arm = DrawnArm.of(load_robot_file("arm5_gripper").document)
    assert arm.size == pytest.approx(0.35 + 0.085 + 0.38 + 0.425 + 0.15)  # the tool is farther than the fingers
    longer = DrawnArm.of(load_robot_file("arm5_gripper", {"joints[F2].mimic.offset": 1}).document)
    assert longer.size == pytest.approx(0.35 + 0.085 + 0.38 + 0.425 + (1 - 0.03))


def test_solids_stand_where_their_frames_are():
    drawn = DrawnArm.of(load_robot_file("arm5").document)
    frames = drawn.frames([0.4, -0.8, 0.2, 0.0, 0.0])
    upper = frames[2] @ matrix(drawn.arm.joints[1].frame)
    R, p = upper[:3, :3], upper[:3, 3]  # of the upper arm, a cylinder of 0.05 m from its frame to 0.38 m along x
    along = R.T @ (p * 0 + R @ [0.38, 0, 0])
    assert along == pytest.approx([0.38, 0, 0])
    seen = camera(drawn.arm, "top")
    scene = Scene(drawn, seen)
    corners, colors = scene.painted(frames)
    points = scene.points(frames)
    low, high = points.min(axis=0), points.max(axis=0)
    for end in (p, p + R @ [0.38, 0.0, 0.0]):
        assert (seen.flat(end) > low).all()
        assert (seen.flat(end) < high).all()
    assert corners.shape == (len(colors), 4, 2)


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_right_handed_and_upright(view):
    arm = load_robot_file("rr")
    for name in ("arm5", "rr"):
        arm = DrawnArm.of(load_robot_file(name).document).arm
        seen = camera(arm, view)
        turn = seen.axes
        assert turn @ turn.T == pytest.approx(np.eye(3), abs=1e-12)
        assert np.linalg.det(turn) == pytest.approx(1.0)
        down = np.array([float(x) for x in arm.gravity])
        assert (turn[1] @ down < -1.0) == (view != "top")  # m/s²


def test_a_planar_arm_is_seen_in_its_plane_and_what_hangs_is_below():
    drawn = DrawnArm.of(load_robot_file("rr").document)
    seen = camera(drawn.arm)
    assert abs(seen.axes[2] @ [0.0, 0.0, 1.0]) == pytest.approx(1.0)
    x, y = seen.flat(drawn.way(np.array([[-math.pi / 2, 0.0]])))[0]
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
    return DrawnArm.of(load_robot_file({"format": "armsim/robot/1", "name": "boxes", "joints": joints}).document)


def test_the_sides_that_are_seen_meet_at_the_corner_nearest_to_the_eye():
    drawn = boxes(0.0)
    seen = camera(drawn.arm, "iso")
    corners, _ = Scene(drawn, seen).painted(drawn.frames([0.0]))
    eight = np.array([[0.5 + x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    places = seen.flat(eight)
    sides = [facet for facet in corners if all(np.isclose(places, corner).all(axis=1).any() for corner in facet)]
    nearest = places[np.argmax(eight @ seen.axes[2])]
    assert len(sides) == 3
    assert all(np.isclose(side, nearest).all(axis=1).any() for side in sides)


@pytest.mark.parametrize("heights", [(0.0, 0.4), (0.4, 0.0)])
def test_what_is_nearer_is_painted_over_what_is_farther(heights):
    drawn = boxes(*heights)
    corners, colors = Scene(drawn, camera(drawn.arm, "top")).painted(drawn.frames([0.0, 0.0]))
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


def test_a_drawing_of_a_tree_says_what_carries_each_joint_and_whom_it_follows():
    pytest.importorskip("matplotlib")
    above, below = draw("arm5_gripper", view="top").axes
    table = below.texts[0].get_text()
    assert "length" in table
    assert "F1     prismatic              0.03 m    0 to 0.035 m         0.035 m from R5" in table
    assert "F2     prismatic, follows F1  −0.03 m   −0.035 to 0 m        0.035 m from R5" in table
    assert "R1     revolute               0 rad     any                  0.35 m from base" in table
    colors = [patch.get_edgecolor()[:3] for patch in above.patches]
    assert [to_rgb(look(i).color) for i in (1, 2, 3, 4, 5, 6)] == [pytest.approx(color) for color in colors]
    ranges = [patch.get_xy()[:4, 1] for patch in above.patches[4:]]  # of the fingers, which slide across the picture
    assert [np.ptp(y) for y in ranges] == pytest.approx([0.035, 0.035])
    assert sum(y.mean() for y in ranges) == pytest.approx(0, abs=1e-9)
    assert abs(ranges[0].mean()) == pytest.approx(0.005 + 0.035 / 2)
    drawn = DrawnArm.of(load_robot_file("torso").document)
    frames, labels = drawn.frames(list(drawn.arm.initial)), draw("torso").axes[0].texts
    ends = camera(drawn.arm).flat(frames[[1, 2, 6], :3, 3])
    middles = [text.xy for text in labels if text.get_text() == "0.4919 m"]
    assert np.array(middles) == pytest.approx((ends[1:] + ends[0]) / 2)  # from the waist to both shoulders
    words = {text.get_text() for text in labels}
    assert {"W", "R1, R2, R3", "R4", "L1, L2, L3", "L4", "0.4919 m", "0.8 m", "0.26 m"} <= words


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
