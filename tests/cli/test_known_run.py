"""A run that is known is the run that it was, and nothing but the run itself is done for it."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
import yaml

from armsim.files.shipped import shipped_path
from armsim.simulation.runner import Runner

SHORT = ("--set", "duration=0.2")
WALL_TIME = re.compile(r"^seconds:.*\n(?: .*\n)*", re.MULTILINE)
TOLD_TIME = re.compile(r"^(speed|times|written) .*\n", re.MULTILINE)
IN_JSON = re.compile(r'"(seconds|steps_per_second|folder)": (\{.*?\}|[^,}]*)')


@pytest.fixture
def unread(monkeypatch):
    """From then on no scenario can be read."""
    return lambda: monkeypatch.setattr("armsim.loading.read_scenario", None)


def content(folder) -> dict[str, str]:
    """A run's files, but for its wall time."""
    return {path.name: WALL_TIME.sub("", path.read_text()) for path in sorted(Path(folder).iterdir())}


def outcome(out: str) -> str:
    """What is printed, but for wall time and folder."""
    return IN_JSON.sub("", TOLD_TIME.sub("", out))


def own_files() -> None:
    """A scenario and its robot in the working folder."""
    for kind, name, own in (("robots", "rr", "own.yaml"), ("configs", "rr_config1", "run.yaml")):
        text = Path(shipped_path(kind, name)).read_text()
        Path(own).write_text(re.sub(r"^robot: .*", "robot: own.yaml", text, flags=re.MULTILINE))


def heavier(robot: str) -> str:
    """A robot file with another mass."""
    return robot.replace("m2: 4 ", "m2: 4.5 ")


@pytest.mark.parametrize(
    ("scenario", "options"),
    [
        ("rr_config1", ()),
        ("rr_config1", ("--json",)),
        ("rr_config1", ("-v", "--deg", "--measure", "max(abs(tau_R1))")),
        ("rr_config1", ("--set", "log.every=0.003", "--set", "integrator.method=rodas", "--unset", "integrator.dt")),
        ("two_link_hold", ("--set", "control.period=0.01")),
    ],
)
@pytest.mark.handful(3)
def test_a_known_run_writes_the_same_bytes_and_prints_the_same_text(scenario, options, armsim, unread):
    first = armsim("simulate", scenario, *SHORT, *options, "-o", "first")
    unread()
    again = armsim("simulate", scenario, *SHORT, *options, "-o", "again")
    assert (first.code, again.code) == (0, 0), (first.err, again.err)
    assert content("again") == content("first")
    assert outcome(again.out) == outcome(first.out) != ""
    seconds = yaml.safe_load(Path("again/run.yaml").read_text())["seconds"]
    assert 0 < seconds["loop_s"] < seconds["total_s"]


def test_a_known_run_imports_neither_documents_nor_plants_nor_yaml(process):
    process("simulate", "rr_config1", *SHORT, "-q", "-o", "first")
    program = "import sys\nfrom armsim.cli.main import main\ntry: main()\nfinally: print(*sorted(sys.modules), file=sys.stderr)"
    done = process("simulate", "rr_config1", *SHORT, "-q", "-o", "again", python=("-c", program))
    assert done.code == 0
    assert not {"numpy", "yaml"} & set(done.err.split())
    rooms = {name.split(".")[1] for name in done.err.split() if name.startswith("armsim.")}
    assert not {"document", "loading", "formulas", "model", "expr", "plant", "measures", "control", "integrate"} & rooms


@pytest.mark.slow
def test_a_run_is_known_on_a_terminal_too(on_a_terminal):
    first = on_a_terminal("simulate", "rr_config1", *SHORT, "-o", "first", TERM="xterm")
    program = "import sys\nsys.modules['yaml'] = None\nfrom armsim.cli.main import main\nmain()\n"
    again = on_a_terminal("simulate", "rr_config1", *SHORT, "-o", "again", TERM="xterm", python=("-c", program))
    assert outcome(again) == outcome(first)
    assert "\x1b[1mjoint" in first


@pytest.mark.parametrize("edited", ["run.yaml", "own.yaml"])
def test_a_run_is_not_known_once_a_file_was_edited(edited, armsim):
    own_files()
    armsim("simulate", "run.yaml", *SHORT, "-q", "-o", "first")
    text = Path(edited).read_text()
    Path(edited).write_text(text + "# edited\n" if edited == "run.yaml" else heavier(text))
    armsim("simulate", "run.yaml", *SHORT, "-q", "-o", "again")
    one, other = (yaml.safe_load(Path(folder, "run.yaml").read_text()) for folder in ("first", "again"))
    assert one["sources"] != other["sources"]
    alike = Path("first/trajectory.csv").read_bytes() == Path("again/trajectory.csv").read_bytes()
    assert alike == (edited == "run.yaml")


@pytest.mark.parametrize("folder", [".", "sub"])
def test_a_file_that_would_be_found_before_a_shipped_robot_is_taken_once_it_is_there(folder, armsim):
    Path(folder).mkdir(exist_ok=True)
    own_files()
    scenario = Path(folder, "of_shipped.yaml")
    scenario.write_text(Path("run.yaml").read_text().replace("robot: own.yaml", "robot: rr"))
    armsim("simulate", scenario, *SHORT, "-q", "-o", "first")
    Path(folder, "rr").write_text(heavier(Path("own.yaml").read_text()))
    armsim("simulate", scenario, *SHORT, "-q", "-o", "again")
    assert Path("first/trajectory.csv").read_bytes() != Path("again/trajectory.csv").read_bytes()
    assert yaml.safe_load(Path("again/run.yaml").read_text())["sources"][1]["path"].endswith("rr")


@pytest.mark.parametrize(
    "option", [("--set", "duration=0.1"), ("--deg",), ("--measure", "iae"), ("--engine", "python")]
)
def test_another_option_is_another_run(option, armsim, unread):
    armsim("simulate", "two_link_hold", *SHORT, "-q", "-o", "first")
    unread()
    assert armsim("simulate", "two_link_hold", *SHORT, *option, "-q", "-o", "again").code == 70


def test_a_table_is_read_again(armsim):
    own_files()
    Path("tau.csv").write_text("t_s,tau\n0,0\n1,1\n")
    torque = ("--set", "inputs.torque=[{csv: tau.csv, column: tau, hold: linear}, 0]")
    armsim("simulate", "run.yaml", *SHORT, *torque, "-q", "-o", "first")
    Path("tau.csv").write_text("t_s,tau\n0,0\n1,2\n")
    armsim("simulate", "run.yaml", *SHORT, *torque, "-q", "-o", "again")
    assert Path("first/trajectory.csv").read_bytes() != Path("again/trajectory.csv").read_bytes()


def test_doubts_are_told_each_time(armsim):
    own_files()
    Path("own.yaml").write_text(Path("own.yaml").read_text().replace("m2: 4 ", "m2: 4e6 "))
    runs = [armsim("simulate", "run.yaml", *SHORT, "-o", folder) for folder in ("first", "again")]
    assert runs[0].err == runs[1].err != ""


def test_a_run_that_ends_elsewhere_is_made_anew(armsim, monkeypatch):
    armsim("simulate", "rr_config1", *SHORT, "-q", "-o", "first")
    from armsim.simulation.known_run import KnownRun

    found = []
    repeated = KnownRun.repeated

    def off(self, destination):
        self.end[0] += 1e-16 + abs(self.end[0]) * 1e-15
        found.append(repeated(self, destination))
        return found[-1]

    monkeypatch.setattr(KnownRun, "repeated", off)
    assert armsim("simulate", "rr_config1", *SHORT, "-q", "-o", "again").code == 0
    assert found == [None]
    assert content("again") == content("first")


def test_a_signal_comes_too_late_for_a_known_run_which_is_whole(armsim, monkeypatch, unread):
    from armsim.files.interrupts import hear_endings

    armsim("simulate", "rr_config1", *SHORT, "-q", "-o", "first")
    unread()
    advance = Runner._advance

    def pressed(*args):
        monkeypatch.setattr(Runner, "_advance", advance)
        os.kill(os.getpid(), signal.SIGINT)
        return advance(*args)

    monkeypatch.setattr(Runner, "_advance", pressed)
    hear_endings()
    assert armsim("simulate", "rr_config1", *SHORT, "-q", "-o", "again").code == 0
    assert content("again") == content("first")


def test_a_known_run_whose_folder_cannot_be_written_is_refused_as_any(armsim, unread):
    armsim("simulate", "rr_config1", *SHORT, "-q", "-o", "first")
    refused = armsim("simulate", "rr_config1", *SHORT, "-q", "-o", "first")
    assert (refused.code, "an earlier run" in refused.err) == (2, True)
    assert armsim("simulate", "rr_config1", *SHORT, "-q", "-o", "first", "--force").code == 0
