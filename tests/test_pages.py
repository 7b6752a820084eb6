"""Pages of docs/: their files are sound, their figures, outputs and Python are what armsim says today."""

import math
import re
import shlex
from pathlib import Path

import pytest
import yaml

from armsim.cli.main import cli
from armsim.files.yaml_reader import parse_yaml
from armsim.loading import read_robot
from armsim.loading.check import check
from armsim.recording.measured_log import read_log

DOCS = Path(__file__).parent.parent / "docs"
MOTORS, FRICTION, LINEAR, BATCHES = (
    (DOCS / name).read_text(encoding="utf-8") for name in ("motors.md", "friction.md", "linear.md", "batches.md")
)
FILE = re.compile(r"^<!-- file: (\S+) -->\n```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"^<!-- output: (.+?) -->\n```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
BODY = "    bodies: [{point: {mass: 1, center: [1, 0, 0]}}]\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with the files of the page on motors."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILE.findall(MOTORS):
        Path(name).write_text(text, encoding="utf-8")


def test_the_data_sheet_makes_a_sound_robot(files):
    checked = check("lift.yaml")
    assert (checked.faults, checked.warnings) == ((), ())


@pytest.mark.parametrize(("command", "shown"), OUTPUT.findall(MOTORS) + OUTPUT.findall(LINEAR))
def test_a_command_prints_what_the_page_shows(files, capsys, command, shown):
    cli.main(shlex.split(command)[1:], prog_name="armsim", standalone_mode=False)
    assert capsys.readouterr().out == shown


def test_the_map_of_the_page_on_logs_reads_a_log_of_such_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ((name, text),) = FILE.findall((DOCS / "logs.md").read_text(encoding="utf-8"))
    Path(name).write_text(text, encoding="utf-8")
    Path("log.csv").write_text("time_ms,enc1,angle 2 [deg],duty1,u2,mode\n0,2048,90,0.5,6,on\n1,3072,91,0.5,6,on\n")
    two = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": 1, "center": [1, 0, 0]}}]}
    two["motor"] = {"Kp": 1, "Ra": 1}
    arm = read_robot({"format": "armsim/robot/1", "name": "two", "joints": [two, {**two, "name": "R2"}]})[0]
    log = read_log("log.csv", arm, name)
    assert log.t.tolist() == [0.0, 1e-3]
    assert log.q.tolist() == [[0.0, math.pi / 2], [math.pi / 2, math.radians(91)]]
    assert log.inputs.tolist() == [[12.0, 6.0]] * 2


def test_the_robot_has_the_numbers_of_the_table(files):
    motor = read_robot("lift.yaml")[0].joints[0].motor
    table = dict(re.findall(r"^\| (.+?) \| .*?`(?:\w+: )?([^`]*)` \|", MOTORS, re.MULTILINE))
    for row, value in [
        ("torque constant", motor.Kp),
        ("terminal resistance", motor.Ra),
        ("terminal inductance", motor.inductance),
        ("rotor inertia", motor.rotor_inertia),
        ("gear ratio", motor.gear),
        ("gear efficiency", motor.efficiency),
    ]:
        assert float(table[row]) == value, row
    assert motor.limits.torque == 15 / (74 * 0.75)
    assert motor.limits.speed == pytest.approx(8000 * math.pi / 30, rel=1e-15)
    assert (motor.limits.voltage, motor.limits.current) == (24, 6)


def test_friction_follows_from_the_no_load_currents(files):
    motor = read_robot("lift.yaml")[0].joints[0].motor
    (slow, low), (fast, high) = (
        ((volts - motor.Ra * amps) / motor.Ke, motor.Kp * amps) for volts, amps in ((12, 75e-3), (24, 90e-3))
    )
    viscous = (high - low) / (fast - slow)
    assert (
        f"{high:.2e} N·m at {fast:.0f} rad/s, at 12 V {low:.2e} N·m at {slow:.0f} rad/s".replace("e-03", "e-3")
        in MOTORS
    )
    assert motor.viscous == pytest.approx(viscous, rel=2e-3)  # printed to three digits
    assert motor.coulomb.positive == pytest.approx(low - viscous * slow, rel=2e-3)


def test_the_lines_on_friction_are_what_a_joint_takes():
    ((lines,),) = [re.findall(r"^```yaml\n(.*?)^```", FRICTION, re.DOTALL | re.MULTILINE)]
    for line in lines.splitlines():
        (key,) = parse_yaml(line, "line").entries
        assert key in ("friction", "motor")
        text = f"format: armsim/robot/1\nname: x\njoints:\n  - name: A\n    type: revolute\n    mdh: {{}}\n    {line}\n"
        joint = read_robot(yaml.safe_load(text + BODY))[0].joints[0]
        assert joint.coulomb or joint.motor.coulomb or joint.motor.efficiency, line


def test_the_tests_that_the_page_names_are_there():
    named = re.findall(r"`((?:tests|benchmarks|armsim)/[\w/]+\.py)`", FRICTION)
    assert len(named) >= 5
    for name in named:
        assert (DOCS.parent / name).is_file(), name


def test_the_python_of_the_page_on_linear_equations_runs():
    (text,) = PYTHON.findall(LINEAR)
    names: dict = {}
    exec(compile(text, "linear.md", "exec"), names)
    assert names["plant"].A.shape == (10, 10)
    assert max(names["loop"].real) < 0
    assert abs(names["run"].q[-1] - names["lin"].about.q).max() < 0.05  # five time constants of a second


def test_the_python_of_the_page_on_many_runs_runs():
    pytest.importorskip("pandas")
    names: dict = {}
    exec(compile("".join(PYTHON.findall(BATCHES)), "batches.md", "exec"), names)
    assert names["run"].scenario.command.kp[1] == 80
    assert len(names["frame"]) == len(names["kp"]) == 64
    assert names["best"] in names["kp"]
    assert 0 < len(names["good"]) < 64
    assert names["state"].shape == (32, len(names["model"].slots))
    assert abs(names["state"]).max() < 1e4  # none diverged


def test_the_page_on_many_runs_has_every_status_and_every_array_of_the_result():
    import dataclasses

    import armsim

    for status in ("complete", "diverged", "refused", "interrupted"):
        assert f"| `{status}` |" in BATCHES
    told = {
        name
        for line in re.findall(r"^\| `many\..*", BATCHES, re.MULTILINE)
        for name in re.findall(r"many\.(\w+)", line)
    }
    fields = {field.name for field in dataclasses.fields(armsim.Many)}
    assert fields - told == {"scenario", "joints", "given", "status", "reason", "measures", "headings"}
