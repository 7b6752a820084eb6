"""`armsim plot`, `animate`, `draw`, and pictures of commands that run something."""

from __future__ import annotations

import json
import os

import pytest

pytest.importorskip("matplotlib")
SHORT = ("--set", "duration=0.1", "-q")


@pytest.fixture
def here(tmp_path, monkeypatch, armsim):
    """A folder with a run of 0.1 s."""
    monkeypatch.chdir(tmp_path)
    assert armsim("simulate", "arm5_hold", *SHORT, "-o", "a").code == 0
    return tmp_path


@pytest.mark.slow
def test_pictures_are_called_after_what_they_show_and_kept(here, armsim):
    for command, name in ((("plot", "a"), "a.png"), (("draw", "arm5"), "arm5.png"), (("animate", "a/"), "a.gif")):
        done = armsim(*command)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"drawn    {name}")
        before = (here / name).read_bytes()
        again = armsim(*command)
        assert again.code == 2
        assert f"-o {name}\n  expected: a new file\n  found:    one that exists\n" in again.err
        assert (here / name).read_bytes() == before
        assert armsim(*command, "--force", "-q").out == ""


@pytest.mark.slow
def test_commands_that_run_something_draw_it(here, armsim):
    done = armsim("simulate", "arm5_hold", *SHORT[:2], "-o", "b", "--plot", "b.svg", "--animate", "b.png")
    assert done.out.endswith("drawn    b.svg\ndrawn    b.png\n")
    assert armsim("record", "arm5_hold_pi", *SHORT, "-o", "c", "--plot", "c.png").code == 0
    done = armsim("advance", "rr", "--for", "0.2", "--plot", "d.png")
    assert done.out.endswith("drawn    d.png\n")
    assert {"b.svg", "b.png", "c.png", "d.png"} < set(os.listdir())


def test_a_picture_that_cannot_be_drawn_is_refused_before_the_run(here, armsim):
    for option in (("--plot", "x.nothing"), ("--plot", "none/x.png"), ("--animate", "x.jpeg")):
        done = armsim("simulate", "arm5_hold", *SHORT, "-o", "b", *option)
        assert done.code == 2
        assert f"{option[0]} {option[1]}" in done.err
        assert not os.path.exists("b")


def test_json_is_not_mixed_with_pictures(here, armsim):
    import json

    done = armsim("simulate", "arm5_hold", *SHORT[:2], "-o", "b", "--plot", "b.png", "--json")
    assert json.loads(done.out)["status"] == "complete"
    assert os.path.isfile("b.png")


def test_a_diverged_run_is_drawn_and_told(here, armsim):
    fine = ("--set", "integrator.dt=4e-3", "--set", "log.every=4e-3", "--force-step")
    done = armsim("simulate", "arm5_hold", *fine, "-o", "b", "--plot", "b.png")
    assert done.code == 3
    assert os.path.isfile("b.png")


def test_no_window_is_opened_where_there_is_none(here, armsim, monkeypatch):
    import matplotlib as mpl

    monkeypatch.setattr(mpl, "get_backend", lambda: "agg")
    done = armsim("plot", "a", "--show")
    assert done.code == 2
    assert "--show\n  expected: a display" in done.err
    assert not os.path.exists("a.png")


def test_a_window_shows_the_figure_that_was_asked_for(here, armsim, monkeypatch):
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    shown = []
    monkeypatch.setattr(mpl, "get_backend", lambda: "some toolkit")
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf().canvas.manager.canvas.figure))
    assert armsim("plot", "a", "--show", "--columns", "q_R1").code == 0
    plt.close("all")
    (figure,) = shown
    assert [axis.get_ylabel() for axis in figure.axes] == ["position [rad]"]


@pytest.mark.slow
def test_frames_have_panels_of_their_own_and_tolerances(here, armsim, drawn):
    frames = ("--set", "robot.frames={mid: {link: R3}, left-tip: {link: R4}}", "--set", "log.frames=[mid,left-tip]")
    for name, more in (("b", ()), ("c", ("--set", "payload.mass=0.1", "--deg"))):
        assert armsim("simulate", "arm5_hold", *SHORT, *frames, *more, "-o", name).code == 0
    done = armsim("plot", "b", "--columns", "x_*mid,?_left-tip_m,w?_mid", "--deg", "-o", "b.svg")
    assert (done.code, done.err) == (0, "")
    text = (here / "b.svg").read_text()
    for label in ("frame [m]", "frame velocity [deg/s]"):
        assert f"<!-- {label} -->" in text
    done = armsim("compare", "b", "c", "--tolerance", "frame=1e-9,frame_velocity=9", "--json")
    columns = json.loads(done.out)["columns"]
    judged = {name: about["tolerance"] for name, about in columns.items() if about["tolerance"] is not None}
    assert len(judged) == 26
    assert {judged["x_mid_m"], judged["wx_mid_rad_s"]} == {1e-9, 9.0}
    assert (done.code, columns["x_mid_m"]["began"] is not None) == (1, True)


def test_sizes_are_width_times_height(here, armsim):
    from PIL import Image

    assert armsim("animate", "a", "--size", "120x80", "-q").code == 0
    with Image.open("a.gif") as film:
        assert film.size == (120, 80)
    done = armsim("animate", "a", "--size", "large", "-o", "b.gif")
    assert (done.code, "--size large\n  expected: width x height in pixels" in done.err) == (2, True)


def test_a_pose_may_be_given_in_degrees_and_a_number_changed(here, armsim, drawn):
    assert armsim("draw", "rr", "--deg", "--q", "90,-90", "--set", "tool.xyz=[1,0,0]", "-o", "rr.svg").code == 0
    text = (here / "rr.svg").read_text()
    assert text.count("<") > 100
    assert armsim("draw", "rr", "--q", "1").code == 2
