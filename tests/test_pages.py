"""Pages of docs/: their files are sound, their figures, outputs and Python are what armsim says today."""

import math
import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest
import yaml

import armsim
from armsim.cli.main import cli
from armsim.dynamics import frame_pose, gravity_torque
from armsim.files.yaml_reader import parse_yaml
from armsim.loading import read_robot
from armsim.loading.check import check
from armsim.recording.measured_log import read_log

DOCS = Path(__file__).parent.parent / "docs"
MOTORS, FRICTION, LINEAR, BATCHES, YOUR_ARM, ASSIGNMENT, DERIVE, DERIVATIVES, ACCURACY, FILES, LOGS, IN_PYTHON = (
    (DOCS / f"{name}.md").read_text(encoding="utf-8")
    for name in (
        *("motors", "friction", "linear", "batches", "your-arm", "assignment", "derive", "derivatives"),
        *("accuracy", "files", "logs", "python"),
    )
)
LINE_BY_LINE = FILES.split("## A robot file, line by line")[1].split("```yaml\n")[1].split("```")[0]
FILE = re.compile(r"^<!-- file: (\S+) -->\n```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"^<!-- output: (.+?) -->\n```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
BODY = "    bodies: [{point: {mass: 1, center: [1, 0, 0]}}]\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with the files that pages show."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILE.findall(MOTORS) + FILE.findall(YOUR_ARM):
        Path(name).write_text(text, encoding="utf-8")


def test_the_data_sheet_makes_a_sound_robot(files):
    checked = check("lift.yaml")
    assert (checked.faults, checked.warnings) == ((), ())


@pytest.mark.parametrize(
    ("command", "shown"), OUTPUT.findall(MOTORS + LINEAR + YOUR_ARM + ASSIGNMENT + DERIVE + ACCURACY + DERIVATIVES)
)
@pytest.mark.handful(2)
def test_a_command_prints_what_the_page_shows(files, capsys, command, shown):
    cli.main(shlex.split(command)[1:], prog_name="armsim", standalone_mode=False)
    assert steady(capsys.readouterr().out) == steady(shown)


def steady(text):
    """An output without speeds and times, which differ from machine to machine."""
    text = re.sub(r" +[\d.]+ m?s$", " ...", text, flags=re.MULTILINE)
    return re.sub(r"^speed  .*$", "speed ...", text, flags=re.MULTILINE)


def test_your_arm_has_the_numbers_of_its_tables_and_holds_what_one_finds_by_hand(files):
    arm = read_robot("my_arm.yaml")[0]
    rows = re.findall(r"^\| \d, \w+ \| (\d+) \| (\d+) \| (\d+) \|", YOUR_ARM, re.MULTILINE)
    q = np.radians([0, 40, -60])
    pose = np.eye(4)
    for (a, alpha, d), theta in zip(rows, q, strict=True):  # T = Rz(theta) Tz(d) Tx(a) Rx(alpha)
        c, s = np.cos(theta), np.sin(theta)
        ca, sa = np.cos(np.radians(float(alpha))), np.sin(np.radians(float(alpha)))
        a, d = float(a) / 1000, float(d) / 1000
        pose = pose @ [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
    assert tuple(frame_pose(arm, list(q), arm.tool).position) == pytest.approx(pose[:3, 3], abs=1e-15)

    upper, fore = 0.25 * np.cos(q[1]), 0.22 * np.cos(q[1] + q[2])  # how far out, level
    out = {0.35: upper / 2, 0.9: upper, 0.25: upper + fore / 2, 0.8: upper + fore}
    torque = sum(9.81 * mass * x for mass, x in out.items())
    assert gravity_torque(arm, list(q))[1] == pytest.approx(torque, rel=1e-14)
    sentence = " ".join(YOUR_ARM.split("By hand, for the shoulder")[1].split())
    for mass, x in out.items():
        assert re.search(rf"{mass} kg at {x:.3f} m", sentence), (mass, x)
    assert f"{torque:.2f} N·m" in sentence
    dry, loss = 111 * 25.5e-3 * 0.096, 0.25  # at the joint; of the motor's torque
    for current in (torque, (torque - dry) / (1 + loss), (torque + dry) / (1 - loss)):
        assert f"{current / (111 * 25.5e-3):.2f} A" in sentence

    motor = arm.joints[1].motor
    assert (motor.Kp, motor.Ra, motor.rotor_inertia, motor.gear) == (25.5e-3, 0.61, 69 * 1e-7, 111)
    assert motor.coulomb.positive == 96e-3 * 25.5e-3
    assert motor.limits.speed == 2 * math.pi * 9000 / 60


def test_the_controller_of_your_arm_holds_it_as_the_page_says(files):
    run = armsim.simulate("hold.yaml")
    assert abs(np.degrees(run.q[-1]) - [0, 40, -60]).max() < 0.01
    assert f"{run['current_shoulder_A'][-1]:.2f} A, the lower end" in " ".join(YOUR_ARM.split())
    for key in ("tau_shoulder_Nm", "tau_elbow_Nm"):
        assert f"{run[key][-1]:.2f}" in YOUR_ARM


def test_every_further_command_of_your_arm_runs(files, capsys):
    Path("motion.csv").write_text("t_s,q_waist_rad,q_shoulder_rad,q_elbow_rad\n0,0,0,-1\n1,.1,.2,-1\n2,.2,.5,-1\n")
    commands = re.findall(r"`(armsim [^`]+)`", YOUR_ARM.split("## From here")[1])
    assert len(commands) == 6
    for command in [*commands, "armsim linearize hold.yaml --at 3 --lqr q=100,r=1", "armsim info my_arm.yaml"]:
        assert not cli.main(shlex.split(command)[1:], prog_name="armsim", standalone_mode=False), command


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
    lines = "".join(re.findall(r"^```yaml\n(.*?)^```", FRICTION, re.DOTALL | re.MULTILINE))
    assert "stribeck" in lines
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
    assert names["run"].scenario.command.law.kp[1] == 80
    assert len(names["frame"]) == len(names["kp"]) == 64
    assert names["best"] in names["kp"]
    assert 0 < len(names["good"]) < 64
    assert names["state"].shape == (32, len(names["model"].slots))
    assert abs(names["state"]).max() < 1e4  # none diverged


def test_the_page_on_many_runs_has_every_status_and_every_array_of_the_result():
    import dataclasses
    from functools import cached_property

    for status in ("complete", "diverged", "refused", "interrupted"):
        assert f"| `{status}` |" in BATCHES
    told = {
        name
        for line in re.findall(r"^\| `many\..*", BATCHES, re.MULTILINE)
        for name in re.findall(r"many\.(\w+)", line)
    }
    fields = {field.name for field in dataclasses.fields(armsim.Runs)}
    arrays = {name for name, value in vars(armsim.Runs).items() if isinstance(value, (property, cached_property))}
    of_studies = {"folder", "file", "notes", "ended", "first", "text"}
    assert (fields | arrays) - told - of_studies == {"name", "table", "joints", "status", "reason", "final", "results"}


@pytest.mark.slow
def test_every_command_of_the_assignment_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```sh\n(.*?)^```", ASSIGNMENT, re.DOTALL | re.MULTILINE)
    commands = [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]
    runs = [command for command in commands if command[0] == "simulate"]
    assert len(runs) == 8
    for command in commands:
        if command in runs[1:]:  # one of them is drawn, too
            command = command[: command.index("--plot")]
        short = ["--set", "duration=0.04", "-q"] if command[0] == "simulate" else []
        assert not cli.main([*command, *short], prog_name="armsim", standalone_mode=False), command
    assert {"rr.png", "config1.png", "config1.gif", "torques.png", "sine-poses.png"} < {
        x.name for x in tmp_path.iterdir()
    }


def test_images_are_drawn_by_commands_that_stand_beside_them_and_are_small():
    read = runpy.run_path(str(DOCS / "write_images.py"))
    shown = set()
    for page in read["PAGES"]:
        text = page.read_text(encoding="utf-8")
        named = read["images"](text)
        made = {word for line in read["commands"](text) for word in line}
        assert named <= made | {f"{name}.png" for name in made if name.endswith(".html")}
        shown |= named
    shown |= read["images"](read["ROBOTS"].read_text(encoding="utf-8"))  # by `draw_robots`
    images = list(read["IMAGES"].iterdir())
    assert {image.name for image in images} == shown
    assert sum(image.stat().st_size for image in images) < 1e6


def test_the_robot_that_is_gone_through_line_by_line_is_sound(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_arm.yaml").write_text(LINE_BY_LINE, encoding="utf-8")
    checked = check("my_arm.yaml")
    assert (checked.faults, checked.warnings) == ((), ())


def test_the_fault_of_the_robot_line_by_line_is_what_armsim_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert LINE_BY_LINE.count("mass: 1.0") == 1
    Path("my_arm.yaml").write_text(LINE_BY_LINE.replace("mass: 1.0", "mass: -1.0"), encoding="utf-8")
    (fault,) = check("my_arm.yaml").faults
    assert f"```text\n{fault}\n```" in FILES


@pytest.mark.slow
def test_recording_replaying_and_comparing_go_as_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(command: str) -> tuple[int, str]:
        program, *args = shlex.split(command)
        assert program == "armsim"
        code = cli.main(args, prog_name="armsim", standalone_mode=False)
        return code or 0, capsys.readouterr().out

    # what the section takes for granted: two runs, and the log of an arm
    Path("my_arm.yaml").write_text(LINE_BY_LINE, encoding="utf-8")
    Path("sway.yaml").write_text(
        "format: armsim/scenario/1\nrobot: my_arm.yaml\nduration: 1\nintegrator: {method: rk4, dt: 1e-4}\n"
        "inputs: {voltage: [2*sin(3*t)], period: 1e-2}\n"
    )
    for command in ("simulate arm5_hold", "simulate arm5_hold", "record sway.yaml -o sway"):
        assert run(f"armsim {command} -q")[0] == 0
    Path("sway", "record.csv").rename("log.csv")

    section = LOGS.split("## Record, replay, compare\n")[1].split("\n## ")[0]
    (commands,) = re.findall(r"^```sh\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    done = {command: run(command) for command in commands.splitlines()}
    assert [code for code, _ in done.values()] == [0] * len(done)
    words = ("samples", "equal to the bit", "within the tolerance", "drifts", "equal to the bit")
    for (command, (_, out)), word in zip(done.items(), words, strict=True):
        assert word in out, command


@pytest.mark.slow
def test_the_python_of_its_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile("".join(PYTHON.findall(IN_PYTHON)), "python.md", "exec"), names)
    assert names["tau"].shape == (5,)
    assert names["state"].shape == names["model"].state(names["q"]).shape
    assert names["run"]["tau_R2_Nm"].shape == names["run"].t.shape
    assert names["many"]["iae"].shape == (1000,)
    assert Path("results", "run.yaml").is_file()
