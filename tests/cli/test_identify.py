"""`armsim identify`: files, JSON, exit codes."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml

import armsim as armsim_library
from armsim.recording.command_history import CommandHistory
from armsim.recording.measured_log import MeasuredLog
from tests.identification.simulated import logged, rod

ROBOT = """\
format: armsim/robot/1
name: rod
joints:
  - name: A      # the only one
    type: revolute
    mdh: {a: 0, alpha: pi/2, d: 0, theta: 0}
    friction: {viscous: 0.02, coulomb: 0.1}   # a guess
    bodies: [rod: {axis: x, length: 0.6, mass: 1.0, center: [0.3, 0, 0]}]
    motor: {Kp: 0.6, Ra: 1.0}
"""
OPEN = ["--open", "friction", "--open", "joints[*].motor.Kp", "--method", "rk4"]


@pytest.fixture
def files(tmp_path):
    def made(log):
        columns = np.column_stack([log.t, log.q, log.inputs])
        np.savetxt(tmp_path / "log.csv", columns, "%.9g", ",", header="time,angle,volts", comments="")
        (tmp_path / "my.yaml").write_text(ROBOT)
        (tmp_path / "map.yaml").write_text("t_s: time\nq_A_rad: angle\nvoltage_A_V: volts\n")
        return [
            str(tmp_path / "log.csv"),
            "--robot",
            str(tmp_path / "my.yaml"),
            "--columns",
            str(tmp_path / "map.yaml"),
        ]

    return made


def test_identify_writes_the_robots_file_with_what_was_found_and_keeps_its_comments(armsim, files, tmp_path):
    given = files(logged(rod(), noise=1e-5))
    result = armsim("identify", *given, *OPEN, "-o", str(tmp_path / "found"), "--plot", str(tmp_path / "fit.svg"))
    assert result.code == 0, result.err
    assert "<svg" in (tmp_path / "fit.svg").read_text()
    text = (tmp_path / "found" / "identified.yaml").read_text()
    assert "# the only one" in text
    assert "# a guess; viscous ± " in text
    joint = yaml.safe_load(text)["joints"][0]
    assert joint["friction"]["coulomb"] == pytest.approx(0.3, rel=1e-3)
    assert joint["motor"]["Kp"] == pytest.approx(0.5, rel=1e-3)
    about = yaml.safe_load((tmp_path / "found" / "identification.yaml").read_text())
    assert about["explained"] is True
    assert about["estimates"][1]["path"] == "joints[A].friction.coulomb"
    fit = np.genfromtxt(tmp_path / "found" / "fit.csv", delimiter=",", names=True)
    assert (
        np.abs(fit["q_A_rad"] - fit["q_A_rad_after"]).max()
        < 1e-4
        < np.abs(fit["q_A_rad"] - fit["q_A_rad_before"]).max()
    )
    page = (tmp_path / "found" / "report.html").read_text(encoding="utf-8")
    assert "the model explains the log" in page
    assert "data:image/png;base64," in page
    again = armsim("identify", *given, *OPEN, "-o", str(tmp_path / "found"))
    assert again.code == 2
    replayed = armsim(
        "replay", *given[:1], "--robot", str(tmp_path / "found" / "identified.yaml"), *given[3:], "--json"
    )
    drift = json.loads(replayed.out)["horizons"][-1]["final"]["A"]
    assert drift < 1e-3  # over the whole log, from its first row


def test_columns_names_those_of_a_log_and_interpolate_takes_its_commands_on_lines(armsim, files):
    """Of a motion under a voltage that no row holds, logged every 10 ms."""
    run = armsim_library.simulate(
        {
            "format": "armsim/scenario/1",
            "robot": rod(),
            "duration": 4,
            "initial": {"q": [-1.57]},
            "inputs": {"voltage": ["8*sin(4*t) + 4*sin(9*t)"]},
            "log": {"every": 0.01},
        }
    )
    commands, left = CommandHistory(run.t, run["voltage_A_V"][:, None]), []
    log = MeasuredLog("log", run.t, run.q, None, commands, "voltage", "voltage")
    for more in ((), ("--interpolate",)):
        result = armsim("identify", *files(log), *OPEN, *more, "--json")
        left.append(json.loads(result.out))
    held, lines = (each["residuals"][0]["rms"] for each in left)
    assert lines < 0.05 * held
    off = [abs(each["estimates"][0]["value"] - 0.05) for each in left]  # (ω h)² / 12 of it against ω h / 2, h = 10 ms
    assert off[1] < 0.1 * off[0]
    refused = armsim("identify", *files(log)[:3], *OPEN)
    assert (refused.code, "columns" in refused.err) == (2, True)


@pytest.mark.slow
def test_a_log_that_the_model_does_not_explain_exits_with_1(armsim, files):
    result = armsim(
        "identify", *files(logged(rod(), noise=1e-4)), "--open", "joints[A].motor.Kp", "--method", "rk4", "--json"
    )
    assert result.code == 1
    data = json.loads(result.out)
    assert data["explained"] is False
    assert data["residuals"][0]["slow"] > 1e-4


@pytest.mark.parametrize(
    "options", [["--trust", "x%"], ["--hold-back", "120%"], ["--open", "jionts[A].motor.Kp"], ["--plot", "fit.xyz"]]
)
def test_options_that_mean_nothing_exit_with_2(armsim, files, options):
    result = armsim("identify", *files(logged(rod(), seconds=1.0)), *options)
    assert result.code == 2
    assert "Traceback" not in result.err
