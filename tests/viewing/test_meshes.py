"""Meshes of links on pages."""

from __future__ import annotations

import re

import numpy as np
import pytest

import armsim
from armsim.cli.main import cli
from armsim.document import Robot, save
from tests.shapes import arm, ball, box, write
from tests.viewing.pages import drawn, sound

pytest.importorskip("trimesh")
SOLIDS = "armsim.world.models[0].layers.solids.map(({ children: [solid] }) => solid)"
CORNERS = f"{SOLIDS}.filter(one => !one.geometry.index).map(one => [...one.geometry.attributes.position.array])"
SUBTITLE = "document.getElementById('subtitle').textContent"


def test_a_page_has_a_mesh_where_it_stands_in_its_link(browser, tmp_path):
    write(tmp_path / "box.stl", box([0.2, 0.4, 0.6]))
    visual = {"mesh": str(tmp_path / "box.stl"), "xyz": [0.5, 0, 0], "rpy": [0, 0, "pi/2"]}
    save(Robot(**arm(visual=visual)), tmp_path / "arm.yaml")
    armsim.view(tmp_path / "arm.yaml", tmp_path / "page.html")
    sound(browser, tmp_path / "page.html")
    (found,) = (np.array(corners).reshape(-1, 3, 3) for corners in browser.run(CORNERS))
    x, y, z = np.moveaxis(box([0.2, 0.4, 0.6]), 2, 0)
    wanted = np.stack([0.5 - y, x, z], axis=2)
    assert np.abs(found - wanted).max() < 0.6 / 65535
    assert len(np.unique(drawn(browser).reshape(-1, 3), axis=0)) > 100
    assert "meshes" not in browser.run(SUBTITLE)


@pytest.mark.slow
def test_a_page_says_of_how_many_triangles_it_has_how_many_and_can_be_mailed(browser, tmp_path):
    write(tmp_path / "ball.stl", ball(0.2, 60))
    robot = {**arm(), "joints": [{**arm()["joints"][0], "name": f"R{i}"} for i in range(12)]}
    bare, clad = tmp_path / "bare.html", tmp_path / "clad.html"
    save(Robot(**robot), tmp_path / "bare.yaml")
    for joint in robot["joints"]:
        joint["visual"] = {"mesh": str(tmp_path / "ball.stl")}
    save(Robot(**robot), tmp_path / "clad.yaml")
    armsim.view(tmp_path / "bare.yaml", bare)
    armsim.view(tmp_path / "clad.yaml", clad)
    assert clad.stat().st_size - bare.stat().st_size < 0.6e6
    sound(browser, clad)
    *_, said = browser.run(SUBTITLE).split("; ")
    left = sum(len(corners) // 9 for corners in browser.run(CORNERS))
    assert said == f"meshes with {left} of {12 * 4 * 60 * 59} triangles"
    assert 5000 < left <= 20_000


@pytest.mark.slow
def test_a_run_is_shown_with_its_mesh_and_with_its_bodies_once_that_is_gone(browser, tmp_path):
    write(tmp_path / "box.stl", box([0.2, 0.4, 0.6]))
    robot = arm(visual={"mesh": str(tmp_path / "box.stl")})
    run = armsim.simulate({"format": "armsim/scenario/1", "duration": 0.1, "robot": robot})
    folder = run.save(tmp_path / "run")
    armsim.view(folder, tmp_path / "clad.html")
    sound(browser, tmp_path / "clad.html")
    assert len(browser.run(CORNERS)) == 1
    (tmp_path / "box.stl").unlink()
    with pytest.warns(UserWarning, match="no file of this name; the bodies are drawn"):
        armsim.view(folder, tmp_path / "bare.html")
    sound(browser, tmp_path / "bare.html")
    assert browser.run(CORNERS) == []
    assert "BoxGeometry" in browser.run(f"{SOLIDS}.map(one => one.geometry.type)")


def test_a_heap_of_equal_triangles_is_no_trouble(browser, tmp_path):
    write(tmp_path / "heap.stl", np.ones((3000, 3, 3)))
    save(Robot(**arm(visual={"mesh": str(tmp_path / "heap.stl")})), tmp_path / "arm.yaml")
    armsim.view(tmp_path / "arm.yaml", tmp_path / "page.html")
    sound(browser, tmp_path / "page.html")


@pytest.mark.filterwarnings("default")
def test_the_command_line_tells_in_a_line_that_a_mesh_is_gone(tmp_path, monkeypatch, capsys):
    save(Robot(**arm(visual={"mesh": "gone.stl"})), tmp_path / "arm.yaml")
    monkeypatch.chdir(tmp_path)

    def said(*options):
        cli.main(["view", "arm.yaml", "-o", "page.html", *options], prog_name="armsim", standalone_mode=False)
        return capsys.readouterr().err

    assert re.fullmatch(
        "! arm.yaml:.*gone.stl: no file .*; the bodies are drawn; check the name and the folder\n", said()
    )
    assert said("-q", "--force") == ""
