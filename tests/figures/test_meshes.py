"""Meshes of links, as pictures draw them."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import armsim
from armsim.batches.variants import Variants
from armsim.document import save
from armsim.figures.drawn_arm import DrawnArm
from armsim.figures.mesh import mesh
from armsim.figures.reduction import reduced
from armsim.figures.robot_picture import draw
from armsim.loading import load_robot_file
from armsim.loading.check import check
from armsim.loading.open_numbers import open_numbers
from tests.figures.test_scene import middle, volume
from tests.shapes import arm, ball, box, write

pytest.importorskip("trimesh")
ROUNDING = 1e-6  # STL has single precision


def shown(robot):
    """The parts of an arm's only link but for its drum, and how often it warned."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        parts = DrawnArm.of(load_robot_file(robot).document).parts
    return [part for part in parts if part.frame == 1 and not part.drum], [str(one.message) for one in said]


@pytest.mark.parametrize("kind", ["binary", "ascii", "obj"])
def test_a_mesh_stands_in_its_link_in_place_of_the_bodies(tmp_path, kind):
    path = tmp_path / f"box.{'obj' if kind == 'obj' else 'STL'}"
    write(path, box([100, 200, 300]) + [50, 0, 0], kind)
    visual = {"mesh": str(path), "scale": 0.001, "xyz": [0, 0, 1], "rpy": [0, 0, "pi/2"]}
    (part,), said = shown(arm(visual=visual))
    assert said == []
    facets = mesh(part)
    assert middle(facets) == pytest.approx([0, 0.05, 1], abs=ROUNDING)
    assert np.ptp(facets.reshape(-1, 3), axis=0) == pytest.approx([0.2, 0.1, 0.3], abs=ROUNDING)
    assert volume(facets) == pytest.approx(0.006, rel=ROUNDING)


def test_a_mirrored_mesh_faces_outwards_still(tmp_path):
    write(tmp_path / "box.stl", box([1, 2, 3]))
    (part,), _ = shown(arm(visual={"mesh": str(tmp_path / "box.stl"), "scale": [1, -1, 0.5]}))
    assert volume(mesh(part)) == pytest.approx(3.0)


def test_a_link_of_standard_dh_has_its_mesh_in_the_users_frame(tmp_path):
    write(tmp_path / "box.stl", box([1, 1, 1]))
    robot = arm(visual={"mesh": str(tmp_path / "box.stl"), "xyz": [0, 0, 1]}) | {"convention": "dh"}
    robot["joints"][0]["dh"] = {"a": 0.3, "alpha": "pi/2", "d": robot["joints"][0].pop("mdh")["d"]}
    drawn = DrawnArm.of(load_robot_file(robot).document)
    (part,) = [part for part in drawn.parts if part.shape == "mesh"]
    place = drawn.frames([0.0])[part.frame] @ part.pose
    assert place[:3, 3] == pytest.approx([0.3, -1, 0.3])  # z of the frame beyond alpha is -y of the world


def test_several_meshes_make_a_link_and_with_one_of_them_gone_its_bodies_do(tmp_path):
    write(tmp_path / "box.stl", box([1, 1, 1]))
    two = [{"mesh": str(tmp_path / "box.stl")}, {"mesh": str(tmp_path / "box.stl"), "xyz": [0, 0, 2]}]
    parts, _ = shown(arm(visual=two))
    assert [middle(mesh(part))[2] for part in parts] == pytest.approx([0, 2])
    parts, said = shown(arm(visual=[*two, {"mesh": "gone.obj"}]))
    assert [part.shape for part in parts] == ["box"]
    assert len(said) == 1


def wrong(folder):
    """Files that are no meshes, and a mesh."""
    (folder / "text.stl").write_text("solid nothing\n")
    (folder / "cut.stl").write_bytes(b"x" * 100)
    (folder / "empty.obj").write_text("")
    (folder / "words.obj").write_text("v a b c\nf 1 2 3\n")
    write(folder / "far.obj", box([1e200, 1, 1]), "obj")
    (folder / "other.ply").write_text("ply\n")
    (folder / "folder.stl").mkdir()
    write(folder / "box.stl", box([1, 1, 1]))
    return [path.name for path in sorted(folder.iterdir())]


def test_files_that_are_no_meshes_are_doubts_and_no_faults(tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    files = [*wrong(tmp_path), "gone.stl"]
    lines = ["format: armsim/robot/1", "name: many", "joints:"]
    for i, name in enumerate(files):
        lines += [f"- {{name: R{i}, type: revolute, mdh: {{a: 1}}, bodies: [sphere: {{radius: 0.1, mass: 1}}],"]
        lines += [f"   visual: {{mesh: {name}}}}}"]
    (tmp_path / "arm.yaml").write_text("\n".join(lines))
    found = check("arm.yaml")
    assert found.faults == ()
    doubted = [fault.path for fault in found.warnings]
    assert doubted == [f"joints[{i}].visual.mesh" for i, name in enumerate(files) if name != "box.stl"]
    told("\n".join(map(str, found.warnings)))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        drawn = DrawnArm.of(load_robot_file(tmp_path / "arm.yaml").document)
        shapes = [{part.shape for part in drawn.parts if part.frame == k + 1 and not part.drum} for k in range(9)]
    bodies = {"sphere", "cylinder"}
    assert len(said) == 8
    assert shapes[:-1] == [{"mesh"} if name == "box.stl" else bodies for name in files[:-1]]
    assert shapes[-1] == {"sphere"}  # no link to lead to


def test_without_trimesh_one_warning_says_how_to_install_it(tmp_path, monkeypatch, told):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    monkeypatch.setattr("armsim.loading.visuals.find_spec", lambda name: None)
    write(tmp_path / "box.stl", box([1, 1, 1]))
    parts, said = shown(arm(visual=[{"mesh": "box.stl"}, {"mesh": "box.stl"}]))
    assert [part.shape for part in parts] == ["box"]
    told("\n".join(said))


def test_names_are_relative_to_the_robot_file_also_once_it_is_saved_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "a" / "meshes").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    write(tmp_path / "a" / "meshes" / "box.stl", box([1, 1, 1]))
    save(armsim.document.Robot(**arm(visual={"mesh": "meshes/box.stl"})), tmp_path / "a" / "arm.yaml")
    save(load_robot_file(tmp_path / "a" / "arm.yaml").document, tmp_path / "b" / "arm.yaml")
    assert "../a/meshes/box.stl" in (tmp_path / "b" / "arm.yaml").read_text()
    scenario = {"format": "armsim/scenario/1", "robot": "../a/arm.yaml", "duration": 0.01}
    (tmp_path / "b" / "run.yaml").write_text(armsim.document.text_of(armsim.document.Scenario(**scenario)))
    monkeypatch.chdir(tmp_path)
    for name in ("a/arm.yaml", "b/arm.yaml"):
        assert [part.shape for part in shown(name)[0]] == ["mesh"]
        assert [part.shape for part in shown(load_robot_file(name).document)[0]] == ["mesh"]
    told = load_robot_file("a/arm.yaml", {"joints[R1].visual.mesh": "a/meshes/box.stl"}).document
    assert [part.shape for part in shown(told)[0]] == ["mesh"]  # of an option: from here
    run = armsim.simulate("b/run.yaml")
    assert run.scenario.scenario_data["robot"]["joints"][0]["visual"][0]["mesh"] == str(
        tmp_path / "a" / "meshes" / "box.stl"
    )


def test_meshes_change_no_bit_of_a_run_and_nothing_that_is_compiled(tmp_path):
    write(tmp_path / "box.stl", box([1, 1, 1]))
    scenario = {"format": "armsim/scenario/1", "duration": 0.2, "integrator": {"dt": 1e-3}}
    bare, clad = (
        armsim.simulate({**scenario, "robot": robot})
        for robot in (arm(), arm(visual={"mesh": str(tmp_path / "box.stl")}))
    )
    np.testing.assert_array_equal(bare.q, clad.q)
    assert bare.scenario.content == clad.scenario.content
    assert bare.scenario.arm == clad.scenario.arm
    keys = [
        Variants(
            open_numbers({**scenario, "robot": robot}, ["robot.joints[R1].mdh.d"]),
            {},
            [0.3],
        )._content
        for robot in (arm(), arm(visual={"mesh": str(tmp_path / "box.stl")}))
    ]
    assert keys[0] == keys[1] != ""


def test_what_is_drawn_cannot_be_left_open():
    with pytest.raises(armsim.UsageError, match="part of the structure"):
        open_numbers(
            {
                "format": "armsim/scenario/1",
                "duration": 1,
                "robot": arm(visual={"mesh": "box.stl"}),
            },
            ["robot.joints[R1].visual[0].xyz[0]"],
        )


@pytest.mark.parametrize("most", [2000, 300])
@pytest.mark.handful(1)
def test_a_ball_of_many_triangles_stays_a_ball_of_few(most):
    found = reduced(ball(0.2, 60), most)
    assert most / 3 < len(found) <= most
    assert volume(found[:, [0, 1, 2, 2]]) == pytest.approx(4 / 3 * np.pi * 0.2**3, rel=0.12)
    radii = np.linalg.norm(found, axis=2)
    assert radii.max() <= 0.2 + 1e-12
    assert radii.min() > 0.16


def test_few_triangles_are_left_as_they_are_and_a_heap_of_equal_ones_ends():
    few = ball(0.2, 10)
    assert reduced(few, len(few)) is few
    assert len(reduced(np.ones((3000, 3, 3)), 2000)) == 0


@pytest.mark.slow
def test_meshes_of_an_arm_share_what_a_page_may_weigh(tmp_path):
    write(tmp_path / "ball.stl", ball(0.2, 40))
    (part,), _ = shown(arm(visual={"mesh": str(tmp_path / "ball.stl")}))
    assert 1000 < len(part.sizes["triangles"]) <= 2000
    assert part.sizes["of"] == 6240
    write(tmp_path / "small.stl", ball(0.2, 18))
    parts, _ = shown(arm(visual=[{"mesh": str(tmp_path / "small.stl")}] * 40))
    assert max(len(part.sizes["triangles"]) for part in parts) <= 500


def test_a_picture_has_the_mesh_in_its_joints_colour(tmp_path):
    pytest.importorskip("matplotlib")
    write(tmp_path / "ball.stl", ball(1.0, 12))
    figure = draw(arm(visual={"mesh": str(tmp_path / "ball.stl")}))
    corners = np.concatenate([path.vertices for path in figure.axes[0].collections[0].get_paths()])
    assert np.ptp(corners, axis=0) == pytest.approx([2, 2], rel=0.05)
