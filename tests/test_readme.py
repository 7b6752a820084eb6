"""What README.md shows is what armsim does today."""

import re
import shlex
from pathlib import Path

import pytest

import armsim
from armsim.cli.main import cli
from armsim.loading.check import check

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
OUTPUTS = re.findall(r"^<!-- output: (.+?) -->\n```\w*\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
ROBOT, *_ = re.findall(r"^```yaml\n(format: armsim/robot/1.*?)^```", README, re.DOTALL | re.MULTILINE)
PYTHON = "".join(re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE))


def steady(text):
    """Text without what differs from run to run: speeds and times, and the number of a run's folder."""
    text = re.sub(r"^(speed +).*$", r"\1...", text, flags=re.MULTILINE)
    text = re.sub(r" +[\d.]+ m?s$", " ...", text, flags=re.MULTILINE)
    return re.sub(r"(runs/\w+)-\d+", r"\1-...", text)


def test_the_readme_shows_outputs_a_robot_and_python():
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


def test_the_fault_of_the_readme_is_what_armsim_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ROBOT.count("mass: 1.0") == 1
    Path("my_arm.yaml").write_text(ROBOT.replace("mass: 1.0", "mass: -1.0"), encoding="utf-8")
    (fault,) = check("my_arm.yaml").faults
    assert f"```text\n{fault}\n```" in README


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(PYTHON, "README.md", "exec"), names)
    assert names["tau"].shape == (5,)
    assert names["state"].shape == names["model"].state(names["q"]).shape
    assert names["run"]["tau_R2_Nm"].shape == names["run"].t.shape
    assert Path("results", "run.yaml").is_file()
    assert names["armsim"] is armsim


def test_recording_replaying_and_comparing_go_as_the_readme_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(command: str) -> tuple[int, str]:
        program, *args = shlex.split(command)
        assert program == "armsim"
        code = cli.main(args, prog_name="armsim", standalone_mode=False)
        return code or 0, capsys.readouterr().out

    # what the section takes for granted: two runs, and the log of an arm
    Path("my_arm.yaml").write_text(ROBOT, encoding="utf-8")
    Path("sway.yaml").write_text(
        "format: armsim/scenario/1\nrobot: my_arm.yaml\nduration: 1\nintegrator: {method: rk4, dt: 1e-4}\n"
        "inputs: {voltage: [2*sin(3*t)], period: 1e-2}\n"
    )
    for command in ("simulate arm5_hold", "simulate arm5_hold", "record sway.yaml -o sway"):
        assert run(f"armsim {command} -q")[0] == 0
    Path("sway", "record.csv").rename("log.csv")

    section = README.split("## Record, replay, compare\n")[1].split("\n## ")[0]
    (commands,) = re.findall(r"^```sh\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    done = {command: run(command) for command in commands.splitlines()}
    assert [code for code, _ in done.values()] == [0] * len(done)
    words = ("samples", "equal to the bit", "within the tolerance", "drifts", "equal to the bit")
    for (command, (_, out)), word in zip(done.items(), words, strict=True):
        assert word in out, command


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_link_of_the_readme_leads_somewhere(path):
    assert (Path(__file__).parent.parent / path).exists()
