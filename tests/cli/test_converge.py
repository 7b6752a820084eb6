"""`armsim converge` as a user meets it."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest

from armsim.convergence.errors import Convergence, MethodConvergence, Setting
from armsim.convergence.sensitivity import Sensitivity
from armsim.reports.convergence import report

FREE = [f"robot.joints[{i}].{key}=null" for i in range(5) for key in ("motor", "limits")]
SWING = [*FREE, "control=null", "initial.q=[0.3,-0.4,0.2,0.5,-0.3]", "integrator={method: rk4, dt: 1e-3}"]


def told(*settings: str) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def shown(error, order=None, dt=1e-3, joint="R4") -> Setting:
    return Setting(dt, round(5 / dt), 2e-3, error is None, error, joint, order)


def found(
    *settings: Setting,
    verdict="settled",
    order=1.0,
    own=1e-3,
    accuracy=1e-3,
    good=None,
    sensitive=None,
    name="rk4",
    nominal=1,
    losses=(),
    doubt=1e-9,
) -> Convergence:
    made = MethodConvergence(name, nominal, "dt", own, settings, order, doubt, verdict, good, sensitive, 1.0, losses)
    return Convergence("hold", "arm5", 5.0, 501, accuracy, "rad", (made,), "rodas and rk54 at rtol 1e-10")


def test_every_step_has_a_line_and_what_follows_stands_below(armsim, empty_folder):
    done = armsim("converge", "two_link_swing")
    assert (done.code, done.err) == (0, "")
    assert list(empty_folder.iterdir()) == []
    title, _, heading, *rows = done.out.splitlines()
    assert title == "two_link_swing: 5 s of two_link, joint positions at 501 instants"
    assert heading.split() == ["dt", "steps", "error", "order", "loop", "time"]
    own = next(row.split() for row in rows if row.startswith("0.001 s *"))
    assert own[3:5] == ["5000", "2.85e-10"]
    assert "* the scenario's own dt" in rows
    assert re.search(r"^order     3\.\d\d of rk4$", done.out, re.MULTILINE)
    assert "its own   dt = 0.001 s is off by 2.85e-10 rad at most, in elbow\n" in done.out
    assert re.search(r"^cheapest  dt = 0.005 s for 1e-06 rad: 1000 steps, [\d.e-]+ ms$", done.out, re.MULTILINE)


@pytest.mark.slow
def test_the_step_it_names_can_be_pasted(armsim):
    out = armsim("converge", "two_link_hold", "--accuracy", "1e-4").out
    step = re.search(r"^cheapest  dt = (\S+) s", out, re.MULTILINE).group(1)
    assert float(step) < 1e-3
    assert armsim("simulate", "two_link_hold", "-q", "--set", f"integrator.dt={step}").code == 0


def test_json_is_what_the_library_gives(armsim):
    done = armsim("converge", "two_link_swing", "--accuracy", "1e-5", "--json")
    data = json.loads(done.out)
    (method,) = data["methods"]
    assert (done.code, data["accuracy"], data["unit"], data["instants"]) == (0, 1e-5, "rad", 501)
    assert (method["method"], method["knob"], method["verdict"], method["own"]) == ("rk4", "dt", "settled", 1e-3)
    assert method["cheapest"]["error"] <= 1e-5
    assert [s["value"] for s in method["settings"]] == sorted((s["value"] for s in method["settings"]), reverse=True)


@pytest.mark.slow
def test_several_methods_are_compared_by_what_the_accuracy_costs(armsim):
    done = armsim(
        "converge", "two_link_hold", "--method", "rk4", "--method", "semi_implicit_euler", "--accuracy", "1e-4"
    )
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[2] == "what 0.0001 rad takes"
    assert lines[4].split() == ["method", "order", "at", "0.001", "s", "cheapest", "steps", "loop", "time"]
    assert [line.split()[0] for line in lines[5:7]] == ["rk4", "semi_implicit_euler"]
    assert lines[7:] == ["", lines[8]]
    assert re.fullmatch(r"against   rodas and rk54 at rtol 1e-\d+, known to \S+ rad", lines[8])
    more = armsim("converge", "two_link_hold", "--method", "rk4", "--method", "rodas", "-v").out
    assert more.count("* the scenario's own dt") == 1
    assert "* the power of rtol with which the error falls\n" in more
    assert re.search(r"^rodas +[\d.]+ \* +- +rtol \S+ +\d+ +\S+ ms$", more, re.MULTILINE)
    assert re.search(r"^power     [\d.]+ of rtol, with which the error falls$", more, re.MULTILINE)


def test_an_accuracy_that_is_not_reached_gives_1(armsim):
    done = armsim("converge", "two_link_swing", "--method", "explicit_euler", "--accuracy", "1e-9", "--budget", "0.5")
    assert done.code == 1
    assert "! not settled within 0.5 s of runs (--budget); 1e-09 rad would take about dt" in done.out


@pytest.mark.slow
def test_chaos_is_said(armsim):
    done = armsim("converge", "arm5_hold", *told(*SWING, "duration=10"))
    assert done.code == 1
    flat = " ".join(done.out.split())
    assert "! no step will do for 10 s: motions that begin close together part 24" in flat  # exp(5.5) is 244
    assert "as in chaos, or from an unstable balance; rounding alone grows to 1e-06 rad by about t = 3." in flat
    assert "! the finest step's answer is good to 1e-06 rad until t = " in flat
    assert "its own" not in done.out
    calm = armsim("converge", "arm5_hold", *told(*SWING, "duration=1"))
    assert calm.code == 0
    assert "!" not in calm.out


def test_unstable_steps_are_shown_as_such():
    text = "\n".join(map(str, report(found(shown(None), shown(2e-4, 1.0, 5e-4), shown(1e-4, 1.0, 2.5e-4)))))
    assert text == (
        "hold: 5 s of arm5, joint positions at 501 instants\n"
        "\n"
        "dt         steps       error  order  loop time\n"
        "0.001 s *   5000    unstable      -          -\n"
        "0.0005 s   10000  0.0002 rad   1.00       2 ms\n"
        "0.00025 s  20000  0.0001 rad   1.00       2 ms\n"
        "* the scenario's own dt\n"
        "\n"
        "order     1.00 of rk4\n"
        "cheapest  dt = 0.0005 s for 0.001 rad: 10000 steps, 2 ms\n"
        "against   rodas and rk54 at rtol 1e-10, known to 1e-09 rad"
    )


def notes(**about) -> str:
    settings = about.pop("settings", [shown(1e-2), shown(5e-3, 1.0, 5e-4), shown(2.5e-3, 1.0, 2.5e-4)])
    text = "\n".join(map(str, report(found(*settings, **about))))
    return " ".join(" ".join(line for line in text.splitlines() if line[:2] in ("! ", "  ")).split())


def test_what_stands_in_the_way_is_said():
    chaos = Sensitivity(5.5, 0.0, 1.0)
    assert notes(verdict="sensitive", order=None, good=1.914, sensitive=chaos) == (
        "! no step will do for 5 s: motions that begin close together part 245-fold a second (by exp(5.5 t)), as in chaos, or "
        "from an unstable balance; rounding alone grows to 0.001 rad by about t = 5.3 s "
        "! the finest step's answer is good to 0.001 rad until t = 1.91 s"
    )
    assert notes(verdict="budget") == (
        "! not settled within 10 s of runs (--budget); 0.001 rad would take about dt = 5e-05 s, 10 ms of loop time"
    )
    assert notes(verdict="budget", settings=[shown(None), shown(None, dt=5e-4)], order=None) == (
        "! not settled within 10 s of runs (--budget): every step that was tried is unstable"
    )
    assert notes(verdict="budget", settings=[], order=None) == (
        "! not settled within 10 s of runs (--budget); errors show from three runs on: allow more time, or --set a shorter "
        "duration"
    )
    assert notes(verdict="unstable", settings=[shown(None)] * 3, order=None) == (
        "! every run diverges, and at the same time whatever the step: it is the motion that grows, not the step; see what "
        "`armsim simulate` says of it"
    )
    assert notes(
        verdict="rounding", settings=[shown(3e-13), shown(2.6e-13, None, 5e-4)], accuracy=1e-15, order=None
    ) == ("! rounding hides what is below 3e-13 rad: smaller steps get no closer")
    uneven = [shown(1e-6), shown(1e-9, 10.0, 5e-4), shown(1e-9, 0.0, 2.5e-4)]
    short = "! short of order 4, which it has on smooth motions: "
    unknown = "these errors do not show it, and nothing here is known to take it away"
    assert notes(settings=uneven, order=None, nominal=4) == short + unknown
    assert notes(nominal=4) == short + unknown  # of order 1
    losses = ("joints meet their stops within steps", "recorded inputs jump or bend within steps")
    assert notes(nominal=4, losses=losses) == f"{short}{losses[0]}; {losses[1]}"
    cannot = (
        "! cannot know whether any step is within 0.001 rad: {}; allow more --budget, ask for less, or --set a shorter "
        "duration"
    )
    for doubt, told in (
        (None, "forces jump or bend within steps, and too few adaptive runs that locate where end in time"),
        (2.3e-3, "answers that should agree differ by 0.0023 rad"),
        (1e-9, "they converge to another answer than adaptive runs, which locate events"),
    ):
        assert notes(verdict="unknown", order=None, doubt=doubt) == cannot.format(told)
    steep = [shown(1.0), shown(1e-9, 30.0, 5e-4), shown(6e-11, 4.1, 2.5e-4)]
    assert notes(settings=steep, order=None, nominal=4) == ""
    assert notes() == ""


def test_quiet_says_nothing_and_draws_all_the_same(armsim, empty_folder):
    pytest.importorskip("matplotlib")
    done = armsim("converge", "two_link_swing", "-q", "--plot", "out.png")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (empty_folder / "out.png").read_bytes().startswith(b"\x89PNG")
    done = armsim("converge", "two_link_swing", "--plot", "out.png", "--force")
    assert done.out.endswith("drawn    out.png\n")


def test_a_picture_that_is_there_is_not_replaced_unless_forced(armsim, empty_folder, told):
    pytest.importorskip("matplotlib")
    (empty_folder / "out.png").write_bytes(b"mine")
    for command in (
        ("converge", "two_link_swing"),
        ("motor", "arm5", "--joint", "R2", "--voltage", "24"),
        ("replay", "nowhere"),
        ("compare", "a", "b"),
    ):
        wrong = armsim(*command, "--plot", "out.png")
        assert (wrong.code, wrong.out) == (2, "")
        told(wrong.err)
    assert (empty_folder / "out.png").read_bytes() == b"mine"
    assert armsim("motor", "arm5", "--joint", "R2", "--voltage", "24", "--plot", "out.png", "--force").code == 0
    assert (empty_folder / "out.png").read_bytes() != b"mine"


def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_runs(armsim, monkeypatch):
    wrong = armsim("converge", "two_link_swing", "--plot", "out.txt")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("--plot out.txt\n  expected: a file that ends in ")
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert 'mend:     pip install "armsim[plot]"' in armsim("converge", "two_link_swing", "--plot", "out.png").err


def test_an_unknown_method_is_refused(armsim):
    wrong = armsim("converge", "rr_config1", "--method", "rodos")
    assert (wrong.code, wrong.out) == (2, "")
    assert "\n  found:    rodos\n  mend:     did you mean `rodas`?\n" in wrong.err


def test_it_says_what_it_is_at_once_there_is_something_to_wait_for(capsys, monkeypatch):
    from armsim.cli import converge

    clock = [100.0]
    monkeypatch.setattr(converge.time, "monotonic", lambda: clock[0])
    status = converge.Status()
    status("rk4", "dt", 1e-3)
    assert capsys.readouterr().err == ""
    clock[0] += 1.5
    status("explicit_euler", "dt", 1.25e-4)
    status("rk54", "rtol", 1e-6)
    status.close()
    *_, last, wiped, end = capsys.readouterr().err.split("\r")
    assert (last.rstrip(), wiped.strip(), end) == ("rk54, rtol = 1e-06", "", "")
    assert len(last) >= len("explicit_euler, dt = 0.000125")  # nothing of the longer line is left


@pytest.mark.slow
def test_a_piped_command_says_nothing_on_the_way(process):
    assert process("converge", "two_link_swing", "--method", "explicit_euler", "--budget", "0.2").err == ""


def test_accuracy_and_errors_may_be_in_degrees(armsim):
    asked = ("converge", "two_link_swing", "--set", "duration=0.5", "--json")
    radians, degrees = (
        json.loads(armsim(*asked, *more).out)
        for more in (("--accuracy", "pi/180*1e-3"), ("--accuracy", "1e-3", "--deg"))
    )
    assert (radians["unit"], degrees["unit"]) == ("rad", "deg")
    assert degrees["accuracy"] == pytest.approx(1e-3, rel=1e-15)
    one, other = radians["methods"][0], degrees["methods"][0]
    assert one["cheapest"]["value"] == other["cheapest"]["value"]
    errors = [setting["error"] for setting in one["settings"]]
    assert [setting["error"] for setting in other["settings"]] == pytest.approx(np.degrees(errors).tolist(), rel=1e-9)
    assert " for 0.001 deg: " in armsim(*asked[:-1], "--accuracy", "1e-3", "--deg").out


def test_joints_of_both_kinds_have_one_error_which_is_not_in_degrees(armsim, told):
    slides = "robot.joints[1].type=prismatic"
    wrong = armsim("converge", "rr_config1", "--deg", "--set", slides)
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)
