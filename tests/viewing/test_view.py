"""Pages that show an arm, in a browser: what they draw, compute and let through."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

import armsim
from armsim.dynamics import own_poses
from armsim.errors import UsageError
from armsim.figures.drawn_run import columns_over_time
from armsim.figures.envelope import Sum, curves_of
from armsim.spatial import Z
from armsim.viewing.arrays import Arrays
from armsim.viewing.page import embedded
from armsim.viewing.run_data import moments, run_data
from tests.trees import tree
from tests.viewing.pages import SINGLE, UNFUSED, drawn, matrices, page_matrices, sound


def test_the_page_of_a_run_draws_the_arm_without_an_error_or_a_request(browser, run_page):
    sound(browser, run_page)
    assert len(np.unique(drawn(browser).reshape(-1, 3), axis=0)) > 500  # shades of an arm, not a blank


def test_links_stand_where_forward_kinematics_puts_them(browser, run_page, reach):
    sound(browser, run_page)
    arm = reach.scenario.arm
    for k in (0, 37, 400, 1000):
        browser.run(f"armsim.seek({float(reach.t[k])!r})")
        found = page_matrices(browser.run("armsim.poses()"))
        assert np.abs(found - matrices(arm, reach.q[k])).max() < SINGLE


def test_scrubber_and_keys_move_the_arm(browser, run_page):
    sound(browser, run_page)
    browser.run("armsim.seek(0)")
    before = drawn(browser)
    start = browser.run("armsim.poses()")
    browser.run(
        "(bar => { bar.value = 1; bar.dispatchEvent(new Event('input')); })(document.querySelector('footer input'))"
    )
    browser.run("new Promise(requestAnimationFrame)")
    assert browser.run("armsim.time") == 1.0
    assert browser.run("armsim.poses()") != start
    assert (drawn(browser) != before).any(axis=2).sum() > 1000  # pixels
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="End", code="End")
    assert browser.run("armsim.time") == 5.0


def test_a_page_of_1001_rows_is_below_a_megabyte_and_a_half(run_page, reach):
    assert len(reach.t) == 1001
    assert run_page.stat().st_size < 1.5e6


@pytest.mark.slow
def test_two_runs_share_a_page_and_each_has_its_own_poses(browser, tmp_path, reach):
    other = armsim.simulate("arm5_reach", {"control.kp[0]": 20})
    armsim.view([reach, other], tmp_path / "both.html")
    sound(browser, tmp_path / "both.html")
    browser.run("armsim.seek(0.5)")
    for k, run in enumerate((reach, other)):
        q = run.q[int(np.argmin(np.abs(run.t - 0.5)))]
        assert np.abs(page_matrices(browser.run(f"armsim.poses({k})")) - matrices(run.scenario.arm, q)).max() < SINGLE


def test_sliders_of_a_robot_give_the_torques_that_hold_it(browser, robot_page):
    sound(browser, robot_page)
    robot = armsim.load_robot("puma560")
    q = [float(joint.initial) for joint in robot.arm.joints]
    for i, share in ((1, 0.3), (2, 0.8), (4, 0.6)):
        share_of = f"bar => {{ bar.value = {1 - share} * bar.min + {share} * bar.max;"
        move = share_of + " bar.dispatchEvent(new Event('input')); return Number(bar.value); }"
        q[i] = browser.run(f"({move})(document.querySelectorAll('#side input[type=range]')[{i}])")
    held = browser.run("armsim.held()")
    wanted = robot.inverse_dynamics(q)
    assert np.abs(np.array(held["torque"]) - wanted).max() < UNFUSED * max(1.0, np.abs(wanted).max())
    assert np.abs(page_matrices(browser.run("armsim.poses()")) - matrices(robot.arm, q)).max() < SINGLE


@pytest.mark.parametrize("given", ["arm5_gripper", "torso", 22, 40])
@pytest.mark.handful(1)
def test_a_tree_stands_where_armsim_has_it_and_has_sliders_of_what_leads(browser, tmp_path, given):
    if isinstance(given, int):
        file = tree(given)
        given = tmp_path / "tree.yaml"
        given.write_text(json.dumps(file))
    armsim.view(given, tmp_path / "tree.html")
    sound(browser, tmp_path / "tree.html")
    robot = armsim.load_robot(given)
    rng = np.random.default_rng(3)
    q = [float(rng.uniform(*(end or 0.0 for end in joint.bounds))) for joint in robot.arm.joints]
    assert browser.run("document.querySelectorAll('#side input[type=range]').length") == robot.arm.n
    browser.run(f"armsim.set({q})")
    assert np.abs(page_matrices(browser.run("armsim.poses()")) - matrices(robot.arm, q)).max() < SINGLE
    wanted = robot.inverse_dynamics(q)
    assert browser.run("armsim.held().torque") == pytest.approx(wanted, abs=UNFUSED * max(1.0, np.abs(wanted).max()))
    x, y, z = robot.forward_kinematics(q).position
    note = browser.run("document.querySelector('#side .note').textContent")
    assert note == f"tool  x {x:.4f}  y {y:.4f}  z {z:.4f} m"
    assert browser.run("armsim.world.models[0].layers.torque.length") == robot.arm.n
    paint = "armsim.world.models[0].layers.solids.map(({ children: [solid] }) => solid.material.type)"
    assert set(browser.run(paint)) == {"MeshPhongMaterial"}
    carried = "armsim.world.models[0].joints.map(({ arc }) => arc.holder.parent.matrixWorld.toArray().slice(8, 11))"
    axes = np.array(browser.run(carried))  # joints' axes where torques are drawn, on the links that carry them
    own = [pose.rotation @ Z for pose, link in zip(own_poses(robot.arm, q), robot.arm.links) if link.mimic is None]
    assert np.abs(axes - [[*map(float, axis)] for axis in own]).max() < SINGLE


@pytest.mark.slow
def test_the_page_of_a_gripper_moves_both_fingers_and_has_units_of_each_joint(browser, tmp_path):
    run = armsim.simulate("arm5_gripper_pick", {"log.every": 0.05})
    armsim.view(run, tmp_path / "page.html", degrees=True)
    sound(browser, tmp_path / "page.html")
    for k in (0, 60, 28):
        browser.run(f"armsim.seek({float(run.t[k])!r})")
        found = page_matrices(browser.run("armsim.poses()"))
        assert np.abs(found - matrices(run.scenario.arm, run.q[k])).max() < SINGLE
    rows = browser.run(
        "[...document.querySelectorAll('tbody tr')].map(row => [...row.children].map(one => one.textContent))"
    )
    assert [row[0] for row in rows] == run.scenario.arm.joint_names
    assert rows[1][1:3] == [f"{told(np.degrees(run.q[28, 1]))} deg", f"{told(run['tau_motor_R2_Nm'][28])} N·m"]
    assert rows[5][1:3] == [f"{told(run.q[28, 5])} m", f"{told(run['tau_motor_F1_N'][28])} N"]
    heads = browser.run("[...document.querySelectorAll('thead th')].map(one => one.textContent)")
    assert heads[1:3] == ["position", "torque"]
    keys = browser.run("[...document.querySelectorAll('figcaption')].map(one => one.textContent)")
    assert "position [m]F1F2" in keys


def test_a_motor_at_a_joint_that_mimics_another_drives_the_page_of_a_run(browser, tmp_path):
    body = {"point": {"mass": 1, "center": [0.3, 0, 0]}}
    motor = {"Kp": 0.1, "Ra": 1, "gear": 50, "limits": {"speed": 300}}
    joints = [
        {"name": "A", "type": "revolute", "mdh": {}, "bodies": [body]},
        {"name": "B", "type": "revolute", "mdh": {}, "bodies": [body], "mimic": {"joint": "A"}, "motor": motor},
    ]
    robot = {"format": "armsim/robot/1", "name": "pair", "gravity": [0, 0, 0], "joints": joints}
    given = {"format": "armsim/scenario/1", "robot": robot, "duration": 0.1, "inputs": {"voltage": [5]}}
    armsim.view(armsim.simulate(given), tmp_path / "page.html")
    sound(browser, tmp_path / "page.html")
    assert browser.run("document.querySelector('tbody .share').textContent").endswith("speed")


def told(x: float) -> str:
    """A number as a table of a page has it."""
    return f"{round(float(x), 5):.4g}".replace("-", "−")


@pytest.mark.parametrize(("page", "again"), [("live", "restart()"), ("run_page", "play()")])
def test_a_page_that_is_told_twice_to_run_runs_once(browser, page, again, request):
    sound(browser, request.getfixturevalue(page))
    browser.run("armsim.pause(); new Promise(requestAnimationFrame)")
    queue = "window.queue = []; requestAnimationFrame = (f) => queue.push(f); cancelAnimationFrame = (id) => delete queue[id - 1]"
    browser.run(queue)
    browser.run(f"armsim.{again}; armsim.{again}; armsim.{again}; 0")
    waiting = "queue.filter((callback) => callback.name === 'advance').length"
    assert browser.run(waiting) == 1
    browser.run("armsim.pause(); 0")
    assert browser.run(waiting) == 0


def test_names_of_a_run_are_text_and_never_markup(browser, tmp_path, reach):
    name = "<img src=x onerror='window.hacked=1'>&amp;"
    reach.save(tmp_path / name)
    armsim.view(tmp_path / name, tmp_path / "page.html")
    sound(browser, tmp_path / "page.html")
    assert browser.run("document.querySelector('h1').textContent").endswith(name)
    assert browser.run("window.hacked === undefined && document.querySelector('img') === null")


@pytest.mark.parametrize("page", ["run_page", "robot_page", "live"])
def test_no_network_address_is_in_a_page(page, request):
    text = request.getfixturevalue(page).read_text(encoding="utf-8")
    addresses = set(re.findall(r"""(?:https?|wss?|ftp)://[^\s"'\\\\<)]*""", text))
    assert addresses == {"http://www.w3.org/1999/xhtml"}  # a name of XML, which nobody asks for
    assert "default-src 'none'" in text


def test_no_text_within_data_can_end_a_script():
    text = embedded({"name": "</script><!-- <script>&"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"name": "</script><!-- <script>&"}


@pytest.mark.parametrize("page", ["run_page", "robot_page", "live"])
@pytest.mark.handful(1)
def test_every_control_has_a_name_and_fits_on_a_phone(browser, page, request):
    browser.resize(390, 844, dark=True)
    try:
        sound(browser, request.getfixturevalue(page))
        assert browser.run("document.documentElement.scrollWidth") <= 390
        assert browser.run("document.documentElement.dataset.theme") == "dark"
        nameless = """[...document.querySelectorAll('input, select, button, canvas:not([aria-hidden])')].filter((one) =>
            !one.getAttribute('aria-label') && !one.textContent.trim() && !(one.labels && one.labels.length)).length"""
        assert browser.run(nameless) == 0
        unnamed = "[...document.querySelectorAll('table, [role=group]')].filter(one => !one.getAttribute('aria-label')).length"
        assert browser.run(unnamed) == 0
        assert browser.run(
            "[...document.querySelectorAll('output')].every(one => one.ariaLive === 'off')"
        )  # of each frame
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")
        browser.call("Emulation.setEmulatedMedia", features=[])


def test_moving_pictures_give_pixels_away_until_they_keep_pace_and_get_them_back(browser, run_page):
    sound(browser, run_page)
    frames = """((gap, count) => { const kept = armsim.world.sharpness; kept.rest();
        for (let k = 0; k < count; k++) kept.frame(1000 + gap * k); return kept.moving; })"""
    assert browser.run("armsim.world.sharpness.moving = 1")
    assert browser.run(f"{frames}(25, 100)") == 1
    assert browser.run(f"{frames}(50, 10)") == pytest.approx(0.8)
    assert browser.run(f"{frames}(50, 500)") == 0.5
    assert browser.run(f"{frames}(16.7, 1000)") == 1
    browser.run("armsim.world.render()")
    assert browser.run("armsim.world.renderer.getPixelRatio()") >= 1  # at rest


@pytest.mark.parametrize("page", ["run_page", "robot_page", "live"])
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.handful(1)
def test_the_whole_arm_is_in_view_at_first(browser, page, size, request):
    browser.resize(*size)
    try:
        sound(browser, request.getfixturevalue(page))
        browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")  # laid out
        places = page_matrices(browser.run("armsim.poses()"))[:, :, 3]
        seen = ["projectionMatrix", "matrixWorldInverse"]
        project, inverse = (np.array(browser.run(f"armsim.world.camera.{m}.elements")).reshape(4, 4).T for m in seen)
        clip = np.column_stack([places, np.ones(len(places))]) @ (project @ inverse).T
        across, up = (clip[:, :2] / clip[:, 3:]).T
        assert max(np.abs(across).max(), np.abs(up).max()) < 0.95
        assert max(np.ptp(across), np.ptp(up)) > 0.4  # and not far away
        assert max(abs(across.max() + across.min()), abs(up.max() + up.min())) < 0.8  # nor at the rim
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")


def test_without_webgl_a_page_has_all_but_the_picture_and_says_so(browser, run_page, reach):
    without = """const had = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
            return kind.startsWith('webgl') ? null : had.call(this, kind, ...more); };"""
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source=without)["identifier"]
    try:
        sound(browser, run_page)
        assert browser.run("document.getElementById('blind').checkVisibility()")
        browser.run("armsim.seek(1); dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))")
        found = page_matrices(browser.run("armsim.poses()"))
        assert np.abs(found - matrices(reach.scenario.arm, reach.q[200])).max() < SINGLE
        assert browser.run("document.querySelector('tbody td').textContent") != ""
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    sound(browser, run_page)
    assert not browser.run("document.getElementById('blind').checkVisibility()")


@pytest.mark.slow
def test_a_dark_page_is_printed_light_with_a_picture_of_the_arm(browser, run_page):
    browser.resize(800, 560, dark=True)
    try:
        sound(browser, run_page)
        theme, photo = "document.documentElement.dataset.theme", "document.getElementById('photo')"
        browser.run("dispatchEvent(new Event('beforeprint'))")
        assert browser.run(theme) == "light"
        shades = f"new Set(new Uint32Array({photo}.getContext('2d').getImageData(0, 0, 1600, 920).data.buffer)).size"
        assert browser.run(shades) > 500
        corner = browser.run(f"[...{photo}.getContext('2d').getImageData(2, 2, 1, 1).data]")
        assert min(corner) > 200
        browser.run("dispatchEvent(new Event('afterprint'))")
        assert browser.run(theme) == "dark"
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")
        browser.call("Emulation.setEmulatedMedia", features=[])


def test_one_row_of_many_that_stands_out_is_drawn_in_the_curves(browser, tmp_path):
    rows = [f"{k / 1000},{0.001 * (k % 7)},0,0,0" for k in range(100_000)]
    rows[54_321] = "54.321,2,0,0,0"
    run = armsim.simulate("two_link_swing", {"duration": 0.01})
    folder = run.save(tmp_path / "run")
    heading = "t_s,q_shoulder_rad,q_elbow_rad,qd_shoulder_rad_s,qd_elbow_rad_s"
    (folder / "trajectory.csv").write_text("\n".join([heading, *rows]) + "\n")
    armsim.view(folder, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 4e6
    sound(browser, tmp_path / "page.html")
    top = """(canvas => { const k = Math.round(canvas.width / canvas.clientWidth);
        const size = [canvas.width - 80 * k, Math.round(0.4 * canvas.height)];
        const high = canvas.getContext('2d').getImageData(60 * k, 7 * k, ...size).data;
        let blue = 0; for (let i = 0; i < high.length; i += 4) blue += high[i + 2] - high[i] > 80 && high[i + 3] > 60;
        return blue; })(document.querySelector('.plot canvas'))"""
    assert browser.run(top) > 20  # pixels of a spike, far above the other rows


def test_thinning_keeps_every_joints_extremes():
    rng = np.random.default_rng(3)
    q = 0.01 * rng.standard_normal((100_000, 3))
    q[12_345, 0], q[12_346, 1], q[99_998, 2], q[1, 2] = 5.0, -7.0, 3.0, -3.0
    run = columns_over_time("made", {"t_s": np.arange(100_000) / 1000, **dict(zip("abc", q.T, strict=True))}, {})
    kept = moments(list(curves_of(run, [Sum(((name, 1.0),)) for name in "abc"]).values()), 2000)
    assert 1000 < len(kept) <= 2100  # most, and the rows of a last group that is shorter
    assert np.all(np.diff(kept) > 0)
    rows = q[np.round(1000 * kept).astype(int)]
    np.testing.assert_array_equal(rows.max(axis=0), q.max(axis=0))
    np.testing.assert_array_equal(rows.min(axis=0), q.min(axis=0))


def test_rows_that_lack_a_position_leave_an_arm_where_it_was(reach):
    about = reach.scenario.scenario_data
    names = [joint.name for joint in reach.scenario.arm.joints]
    columns = {"t_s": [0.0, 1.0, 2.0], **{f"q_{name}_rad": [0.1, 0.2, np.nan] for name in names}}
    arrays = Arrays()
    data = run_data(columns_over_time("made", columns, about), reach.scenario.arm, arrays)
    q = np.frombuffer(base64.b64decode(arrays.packed[data["q"]]["bytes"]), "<f4").reshape(-1, len(names))
    assert q[-1] == pytest.approx([0.2] * len(names))


def test_a_run_and_a_robot_do_not_go_into_one_page(tmp_path, reach):
    reach.save(tmp_path / "run")
    with pytest.raises(UsageError) as refusal:
        armsim.view([tmp_path / "run", "arm5"], tmp_path / "page.html")
    assert "expected: two runs\n" in str(refusal.value)
    assert "arm5, which is none" in str(refusal.value)
    assert not (tmp_path / "page.html").exists()


def test_a_page_is_neither_replaced_nor_called_otherwise_than_html(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")
    with pytest.raises(UsageError, match="one that exists"):
        armsim.view("rr", page)
    assert page.read_text() == "mine"
    armsim.view("rr", page, force=True)
    assert page.read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(UsageError, match=r"ends in \.html"):
        armsim.view("rr", tmp_path / "page.png")
    with pytest.raises(UsageError, match="a file to write, or a port"):
        armsim.view("rr")


@pytest.mark.slow
def test_sliding_and_screw_joints_in_standard_dh_stand_where_they_should(browser, tmp_path):
    robot = {
        "format": "armsim/robot/1",
        "name": "mixed",
        "convention": "dh",
        "units": {"angle": "deg"},
        "base": {"xyz": [0.1, 0, 0.2], "rpy": [0, 20, 0]},
        "joints": [
            {
                "name": "turn",
                "type": "revolute",
                "dh": {"a": 0.3, "alpha": 90, "d": 0.4, "theta": 10},
                "limits": {"lower": -170, "upper": 170},
                "bodies": [
                    {"tube": {"axis": "x", "height": 0.3, "outer_radius": 0.04, "inner_radius": 0.03, "mass": 2}}
                ],
            },
            {
                "name": "slide",
                "type": "prismatic",
                "dh": {"a": 0.1, "alpha": -90, "d": 0.05, "theta": 30},
                "limits": {"lower": 0, "upper": 0.3},
                "bodies": [{"box": {"size": [0.1, 0.05, 0.2], "mass": 1, "center": [0, 0.02, 0]}}],
            },
            {
                "name": "screw",
                "type": "screw",
                "pitch": 0.05,
                "dh": {"a": 0, "alpha": 45, "d": 0.1, "theta": 0},
                "bodies": [
                    {"rod": {"axis": "z", "length": 0.2, "mass": 0.3}},
                    {"sphere": {"radius": 0.03, "mass": 0.2}},
                ],
            },
        ],
        "tool": {"xyz": [0, 0, 0.1]},
        "payload": {"mass": 0.4},
    }
    file = tmp_path / "mixed.yaml"
    file.write_text(json.dumps(robot))
    armsim.view(file, tmp_path / "mixed.html", degrees=True)
    sound(browser, tmp_path / "mixed.html")
    q = [0.7, 0.21, -2.0]
    browser.run(f"armsim.set({q})")
    loaded = armsim.load_robot(file)
    assert np.abs(page_matrices(browser.run("armsim.poses()")) - matrices(loaded.arm, q)).max() < SINGLE
    assert np.abs(np.array(browser.run("armsim.held().torque")) - loaded.inverse_dynamics(q)).max() < UNFUSED * 100
    assert len(np.unique(drawn(browser).reshape(-1, 3), axis=0)) > 500
