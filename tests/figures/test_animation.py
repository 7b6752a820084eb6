"""Films and strips of an arm in motion."""

from __future__ import annotations

import math
import os
import stat
import sys

import numpy as np
import pytest

import armsim
from armsim.errors import UsageError
from armsim.figures.animation import animate, motion, strip
from armsim.figures.drawn_run import columns_over_time, drawn
from armsim.figures.scene import camera

Image = pytest.importorskip("PIL.Image")
SMALL = (160, 120)


@pytest.fixture(scope="module")
def run():
    return armsim.simulate("rr_config5", {"duration": 0.6})


@pytest.fixture(scope="module")
def moving(run):
    return motion(drawn(run), np.linspace(0.0, 0.6, 7), 4, 4, 0.6)


def stays(path):
    """How long every frame of a GIF stays [ms]."""
    with Image.open(path) as film:
        times = []
        for k in range(film.n_frames):
            film.seek(k)
            times.append(film.info["duration"])
        return times


@pytest.mark.parametrize("link", ["R4", "L4"])
@pytest.mark.slow
def test_of_a_tree_the_way_is_that_of_the_link_with_the_tool(tmp_path, link):
    integrator = {"method": "semi_implicit_euler", "dt": 1e-3}
    run = armsim.simulate("torso_reach", {"duration": 1.6, "robot.tool.link": link, "integrator": integrator})
    found = motion(drawn(run), np.linspace(0.0, 1.6, 3), 4, 4, 1.6)
    wanted = armsim.Robot(run.scenario.arm).forward_kinematics(run.q[[0, 80, 160]]).position
    assert found.trail[[0, 4, 8]] == pytest.approx(wanted, abs=1e-9)
    animate(run, tmp_path / "strip.png", size=SMALL)


@pytest.mark.parametrize(("fps", "frames"), [(None, 16), (10.0, 7), (30.0, 19)])
@pytest.mark.handful(1)
def test_a_gif_lasts_as_long_as_the_run(run, tmp_path, fps, frames):
    path = tmp_path / "out.gif"
    assert animate(run, path, fps=fps, size=SMALL) == (fps or 25.0)
    times = stays(path)
    assert len(times) == frames
    assert sum(times[:-1]) == pytest.approx(600, abs=10)  # ms: a GIF counts in 10 ms
    with Image.open(path) as film:
        assert film.size == SMALL


def test_positions_are_those_of_the_run_and_the_trail_is_the_tools_way(run, moving):
    assert moving.q == pytest.approx(run.q[:: 1 if run.count == 7 else len(run.t) // 6])
    for k in range(7):
        q1, q2 = moving.q[k]
        tool = [0.8 * math.cos(q1) + 0.8 * math.cos(q1 + q2), 0.8 * math.sin(q1) + 0.8 * math.sin(q1 + q2), 0.0]
        assert moving.trail[4 * k] == pytest.approx(tool)


def test_a_strip_has_a_pose_for_every_time_and_its_trail_ends_at_the_tool(moving):
    times = np.linspace(0.0, 0.6, 7)
    figure = strip([moving], times, camera(moving.drawn.arm), SMALL)
    panels = [axis for axis in figure.axes if axis.collections]
    assert [axis.get_title() for axis in panels] == [f"t = {t:.4g} s" for t in times]
    for k, axis in enumerate(panels):
        cross = next(line for line in axis.lines if line.get_marker() == "+")
        assert cross.get_xydata()[0] == pytest.approx(moving.trail[4 * k][:2])  # seen along z
        assert len({axis.get_xlim() for axis in panels}) == 1


def test_what_is_followed_is_drawn_as_a_ring(run):
    target = armsim.simulate("arm5_reach", {"duration": 0.1})
    found = motion(drawn(target), np.array([0.0, 0.1]), 2, 2, 0.1)
    robot = armsim.load_robot("arm5", engine="python")
    place = robot.forward_kinematics([0.8, -0.6, -0.4, 0.5, 0.3]).position
    assert found.reference[0] == pytest.approx(place)
    t, way = np.linspace(0.0, 1.0, 11), np.linspace(0.0, 0.5, 11)
    columns = {"t_s": t, "q_R1_rad": 0 * t, "q_R2_rad": 0 * t, "q_ref_R1_deg": np.degrees(way), "q_ref_R2_deg": 0 * t}
    about = {"name": "made", "duration": 1.0, "robot": drawn(run).data["robot"]}
    found = motion(columns_over_time("made", columns, about), t, 1, 1, 1.0)
    assert found.reference[-1] == pytest.approx([1.6 * math.cos(0.5), 1.6 * math.sin(0.5), 0.0])


def test_an_arm_stands_still_where_rows_lack_its_positions(run):
    columns = {"t_s": [0.0, 1.0, 2.0], "q_R1_rad": [0.1, 0.3, math.nan], "q_R2_rad": [0.0, math.inf, 1.0]}
    about = {"name": "made", "duration": 2.0, "robot": drawn(run).data["robot"]}
    made = columns_over_time("made", columns, about)
    assert motion(made, np.array([0.0, 2.0]), 1, 1, 2.0).q.tolist() == [[0.1, 0.0], [0.1, 0.0]]


def test_two_runs_are_drawn_the_second_pale(run, tmp_path):
    other = armsim.simulate("rr_config5", {"duration": 0.3})
    animate([run, other.save(tmp_path / "run")], tmp_path / "out.gif", fps=5, size=SMALL)
    assert sum(stays(tmp_path / "out.gif")[:-1]) == 600
    later = [motion(drawn(x), np.array([0.0, 0.6]), 1, 1, x.t[-1]) for x in (run, other)]
    assert later[1].q[-1] == pytest.approx(other.q[-1])  # stands still
    figure = strip(later, np.array([0.0, 0.6]), camera(later[0].drawn.arm), SMALL)
    assert sorted({x.get_alpha() or 1.0 for x in figure.axes[0].collections}) == [0.3, 1.0]
    with pytest.raises(UsageError, match="one run, or two"):
        animate([run] * 3, tmp_path / "three.gif")


@pytest.mark.slow
def test_runs_that_ended_early_are_shown_as_far_as_they_went(tmp_path):
    run = armsim.simulate("arm5_hold", {"integrator.dt": 4e-3, "log.every": 4e-3}, force_step=True)
    assert run.status == "diverged"
    animate(run, tmp_path / "out.gif", size=SMALL)
    assert sum(stays(tmp_path / "out.gif")[:-1]) == pytest.approx(1000 * run.t[-1], abs=10)
    run.cut_short(1)
    animate(run, tmp_path / "one.png", size=SMALL)
    run.cut_short(0)
    with pytest.raises(UsageError, match="expected: a run with rows"):
        animate(run, tmp_path / "none.gif")


def test_long_runs_have_fewer_frames_a_second_and_films_an_end(run, tmp_path, monkeypatch):
    monkeypatch.setattr("armsim.figures.animation.MOST", 6)
    assert animate(run, tmp_path / "out.gif", size=SMALL) == pytest.approx(10.0)  # 0.6 s
    monkeypatch.setattr("armsim.figures.animation.LONGEST", 6)
    with pytest.raises(UsageError, match=r"(?s)a film of at most 6 frames.*found: *13 frames.*--fps 10"):
        animate(run, tmp_path / "more.gif", fps=20)


@pytest.mark.parametrize(
    ("name", "keys", "why"),
    [
        ("out.mpeg", {}, r"ends in \.gif, \.mp4, \.png"),
        ("out.gif", {"fps": 60.0}, r"at most 50 for \.gif"),
        ("out.gif", {"fps": math.nan}, "more than 0"),
        ("out.gif", {"size": (10, 10)}, "64 to 4096 pixels"),
        ("out.png", {"frames": 0}, "1 to 100 poses"),
        ("out.gif", {"view": "below"}, "expected: a view"),
    ],
)
def test_what_cannot_be_drawn_is_refused(run, tmp_path, name, keys, why):
    with pytest.raises(UsageError, match=why):
        animate(run, tmp_path / name, **keys)
    assert not os.listdir(tmp_path)


def test_no_film_is_overwritten_unless_asked(run, tmp_path):
    (tmp_path / "out.gif").write_bytes(b"mine")
    with pytest.raises(UsageError, match="one that exists"):
        animate(run, tmp_path / "out.gif")
    assert (tmp_path / "out.gif").read_bytes() == b"mine"


def test_mp4_says_that_ffmpeg_is_missing_and_how_to_do_without(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"(?s)the program ffmpeg.*not on the PATH.*or write a \.gif"):
        animate(run, tmp_path / "out.mp4")


@pytest.fixture
def ffmpeg(tmp_path, monkeypatch):
    """Puts a program in ffmpeg's place that keeps what it is given, or fails with a message."""
    if os.name == "nt":
        pytest.skip("a script is no program on Windows")

    def make(fails=""):
        text = "import sys; open(sys.argv[-1], 'wb').write(repr(sys.argv).encode() + b'\\n' + sys.stdin.buffer.read())"
        if fails:
            text = f"import sys; sys.exit({fails!r})"
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "ffmpeg").write_text(f"#!{sys.executable}\n{text}\n")
        (folder / "ffmpeg").chmod(stat.S_IRWXU)
        monkeypatch.setenv("PATH", str(folder))

    return make


def test_ffmpeg_is_given_every_frame_at_its_rate(run, tmp_path, ffmpeg):
    ffmpeg()
    animate(run, tmp_path / "out.mp4", fps=10, size=SMALL)
    command, _, frames = (tmp_path / "out.mp4").read_bytes().partition(b"\n")
    assert b"'160x120', '-r', '10'" in command
    assert len(frames) == 7 * 160 * 120 * 3


def test_what_ffmpeg_says_is_told_and_no_file_is_left(run, tmp_path, ffmpeg):
    ffmpeg(fails="no such encoder")
    with pytest.raises(UsageError, match="no such encoder"):
        animate(run, tmp_path / "out.mp4", fps=10, size=SMALL)
    assert os.listdir(tmp_path) == ["bin"]
