"""A scenario that runs in its page: states, sliders, pushes and what is drawn of them, against armsim's own."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml

import armsim
from armsim.errors import UsageError
from armsim.loading import read_scenario
from armsim.viewing.live import live_data, opened
from tests.viewing.pages import SINGLE, UNFUSED, matrices, sound


def test_a_run_in_the_page_has_armsims_states_after_ten_thousand_steps(browser, live):
    sound(browser, live)
    browser.run("armsim.pause(); armsim.restart(); armsim.pause()")
    states = browser.run("armsim.steps(10000)")
    run = armsim.simulate("arm5_hold", {"duration": 1})
    assert browser.run("armsim.time") == pytest.approx(1.0)
    assert np.abs(np.array(states[:10]) - [*run.q[-1], *run.qd[-1]]).max() < UNFUSED


def test_a_target_a_payload_and_a_push_in_the_page_are_those_of_the_file(browser, live):
    sound(browser, live)
    browser.run("armsim.pause(); armsim.restart(); armsim.pause()")
    changes = {"control.target[0]": 0.4, "payload.mass": 0.7}
    for path, value in changes.items():
        browser.run(f"armsim.set({json.dumps(path)}, {value})")
    browser.run("armsim.set('external[0].force[2]', -12)")
    states = browser.run("armsim.steps(5000)")
    tool = [float(x) for x in armsim.load_robot("arm5").arm.tool.pose.position]
    push = [{"link": "R5", "point": tool, "force": [0, 0, -12]}]
    run = armsim.simulate("arm5_hold", {**changes, "external": push, "duration": 0.5})
    assert np.abs(np.array(states[:10]) - [*run.q[-1], *run.qd[-1]]).max() < UNFUSED


def test_a_slider_that_is_asked_for_changes_its_number_and_a_solid_payload_its_density(browser, tmp_path):
    given = {
        "format": "armsim/scenario/1",
        "robot": "arm5",
        "duration": 0.2,
        "integrator": {"method": "rk4", "dt": 1e-3},
        "control": {"law": "pd", "output": "voltage", "kp": [60] * 5, "kd": [1] * 5, "target": [0.2, -1, 0.2, 0, 0]},
        "payload": {"cylinder": {"axis": "z", "height": 0.1, "radius": 0.03, "density": 2700, "center": [0, 0, 0.05]}},
    }
    file, page = tmp_path / "solid.yaml", tmp_path / "solid.html"
    file.write_text(yaml.safe_dump(given))
    armsim.view(file, page, sliders={"robot.joints[R2].motor.Ra": (0.5, 4.0)})
    sound(browser, page)
    ends = "[...document.querySelectorAll('input[type=range]')].map(bar => [bar.min, bar.max].map(Number))"
    assert [0.5, 4.0] in browser.run(ends)
    browser.run("armsim.pause(); armsim.restart(); armsim.pause()")
    changes = {"robot.joints[1].motor.Ra": 3.0, "payload.cylinder.density": 7800.0}
    for path, value in changes.items():
        browser.run(f"armsim.set({json.dumps(path)}, {value})")
    states = browser.run("armsim.steps(200)")
    run = armsim.simulate(file, changes)
    assert np.abs(run.q[-1] - armsim.simulate(file).q[-1]).max() > 1e-4  # they matter
    assert np.abs(np.array(states[:10]) - [*run.q[-1], *run.qd[-1]]).max() < UNFUSED


@pytest.mark.slow
def test_a_gripper_runs_in_its_page_with_a_force_at_the_finger_that_follows(browser, tmp_path):
    q = [0.2, -1.0, 0.2, 0.1, 0.3, 0.02]
    control = {"law": "pd", "output": "torque", "target": q, "kp": [60] * 5 + [300], "kd": [6] * 5 + [30]}
    given = {
        "format": "armsim/scenario/1",
        "robot": "arm5_gripper",
        "duration": 0.2,
        "integrator": {"method": "rk4", "dt": 1e-4},
        "control": control,
        "external": [{"link": "F2", "force": [0, 0, -3]}],
    }
    file, page = tmp_path / "gripper.yaml", tmp_path / "gripper.html"
    file.write_text(yaml.safe_dump(given))
    armsim.view(file, page)
    sound(browser, page)
    browser.run("armsim.pause(); armsim.restart(); armsim.pause(); armsim.set('control.target[5]', 0.01)")
    states = browser.run("armsim.steps(2000)")
    run = armsim.simulate(file, {"control.target[5]": 0.01})
    assert np.abs(np.array(states[:12]) - [*run.q[-1], *run.qd[-1]]).max() < UNFUSED
    finger = matrices(run.scenario.arm, run.q[-1])[-2][:, 3]
    arrow = browser.run("armsim.world.extras.external[0].position.toArray()")
    assert np.abs(np.array(arrow)[:2] - finger[:2]).max() < SINGLE


@pytest.mark.parametrize(
    ("given", "sliders", "found"),
    [
        ("arm5_hold", {"robot.joints[R2].motor.Ra": (-1.0, 2.0)}, "expected a positive number of ohm, found -1"),
        ("arm5_hold", {"payload.mass": (2.0, 1.0)}, "2 and 1"),
        ("arm5", {"payload.mass": None}, "arm5"),
    ],
)
def test_sliders_are_refused_beyond_a_numbers_bounds_or_without_a_simulation(tmp_path, given, sliders, found):
    with pytest.raises(UsageError) as refusal:
        armsim.view(given, tmp_path / "page.html", sliders=sliders)
    assert found in str(refusal.value)


def test_a_drag_at_the_arm_pushes_its_tool_until_it_is_let_go(browser, live):
    sound(browser, live)
    browser.run("armsim.pause(); armsim.restart(); armsim.pause()")
    x, y = browser.run("armsim.onScreen()")

    def mouse(kind, across):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x + across, y=y, button="left", buttons=1, clickCount=1)

    pushes = "['x', 'y', 'z'].map((axis, i) => armsim.value(`external[0].force[${i}]`))"
    mouse("mousePressed", 0)
    mouse("mouseMoved", 60)
    force = np.array(browser.run(pushes))
    assert 1 < np.linalg.norm(force) < 1000
    states = browser.run("armsim.steps(1000)")
    tool = [float(x) for x in armsim.load_robot("arm5").arm.tool.pose.position]
    push = [{"link": "R5", "point": tool, "force": force.tolist()}]
    run = armsim.simulate("arm5_hold", {"external": push, "duration": 0.1})
    assert np.abs(np.array(states[:10]) - [*run.q[-1], *run.qd[-1]]).max() < UNFUSED
    right = np.array(browser.run("armsim.world.camera.matrixWorld.elements.slice(0, 3)"))
    assert force @ right > 0.95 * np.linalg.norm(force)  # to the right, as the pointer
    mouse("mouseReleased", 60)
    assert browser.run(pushes) == [0, 0, 0]


@pytest.mark.slow
def test_a_force_of_the_scenario_is_drawn_while_it_acts(browser, tmp_path):
    armsim.view("two_link_hold", tmp_path / "page.html")
    sound(browser, tmp_path / "page.html")
    (force,) = read_scenario("two_link_hold").external
    seen = []
    browser.run("armsim.pause(); armsim.restart(); armsim.pause()")
    for t in (force.start - 0.5, 0.5 * (force.start + force.end), force.end + 0.5):
        browser.run(f"armsim.steps(Math.round(({t} - armsim.time) / 1e-3)); 0")
        seen.append(browser.run("armsim.world.extras.external[0].visible"))
    assert seen == [False, True, False]


@pytest.mark.slow
def test_the_ball_is_where_the_reference_is(browser, tmp_path):
    armsim.view("arm5_move", tmp_path / "page.html")
    sound(browser, tmp_path / "page.html")
    browser.run("armsim.pause(); armsim.restart(); armsim.pause(); armsim.steps(1500); 0")
    run = armsim.simulate("arm5_move", {"duration": 0.75})
    followed = [run[f"q_ref_{name}_rad"][-1] for name in ("R1", "R2", "R3", "R4", "R5")]
    place = matrices(run.scenario.arm, followed)[-1][:, 3]
    assert np.abs(np.array(browser.run("armsim.world.extras.reference[0].position.toArray()")) - place).max() < SINGLE


@pytest.mark.slow
def test_every_payload_of_a_list_has_a_slider_of_what_it_weighs(tmp_path):
    ball = {"name": "ball", "body": {"sphere": {"radius": 0.05, "density": 900}}, "to": 0.5}
    payload = [{"name": "box", "mass": 0.3, "from": 0.1}, ball]
    read = read_scenario("two_link_hold", {"payload": payload})
    data, sliders = opened(read)
    found = {one.path: (one.of, one.value) for one in sliders if one.group == "payload"}
    assert found == {"payload[0].mass": ("box", 0.3), "payload[1].body.sphere.density": ("ball", 900)}
    assert read_scenario(data | {"external": []}).arm == read.arm
    file = tmp_path / "scenario.yaml"
    file.write_text(yaml.safe_dump(read.scenario_data))
    parts = live_data(file)["arms"][0]["parts"]
    spans = [(part["start"], part["end"]) for part in parts if part["start"] is not None or part["end"] is not None]
    assert spans == [(0.1, None), (None, 0.5)]
