"""What README.md shows is what armsim does today."""

import re
import shlex
from pathlib import Path

import pytest

import armsim
from armsim.cli.main import cli
from armsim.loading.check import check

LINES = 170
README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
OUTPUTS = re.findall(r"^<!-- output: (.+?) -->\n```\w*\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
ROBOT, *_ = re.findall(r"^```yaml\n(format: armsim/robot/1.*?)^```", README, re.DOTALL | re.MULTILINE)
PYTHON = "".join(re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE))


def steady(text):
    """Text without what differs from run to run: speeds and times, and the number of a run's folder."""
    text = re.sub(r"^(speed +).*$", r"\1...", text, flags=re.MULTILINE)
    text = re.sub(r" +[\d.]+ m?s$", " ...", text, flags=re.MULTILINE)
    return re.sub(r"(runs/\w+)-\d+", r"\1-...", text)


def test_the_readme_shows_outputs_a_robot_and_python_and_is_finished_by_a_reader():
    assert len(README.splitlines()) <= LINES
    assert len(OUTPUTS) == README.count("<!-- output:") >= 2
    assert PYTHON


@pytest.mark.parametrize(("command", "shown"), OUTPUTS, ids=[command for command, _ in OUTPUTS])
@pytest.mark.handful(2)
def test_a_command_prints_what_the_readme_shows(command, shown, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program, *args = shlex.split(command)
    assert program == "armsim"
    cli.main(args, prog_name="armsim", standalone_mode=False)
    assert steady(capsys.readouterr().out) == steady(shown)


def test_the_robot_of_the_readme_is_sound(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_arm.yaml").write_text(ROBOT, encoding="utf-8")
    checked = check("my_arm.yaml")
    assert (checked.faults, checked.warnings) == ((), ())


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(PYTHON, "README.md", "exec"), names)
    assert names["tau"].shape == (5,)
    assert names["run"]["tau_R2_Nm"].shape == names["run"].t.shape
    assert names["many"]["iae"].shape == (100,)
    assert names["armsim"] is armsim


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_link_of_the_readme_leads_somewhere(path):
    assert (Path(__file__).parent.parent / path).exists()
