"""How commands end where something around them fails: with a message, and the exit code that docs/reliability.md says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from armsim.version import __version__

ROOT = Path(__file__).parents[2]
BAD = "format: armsim/robot/1\nname: x\njoints: []\n"
MOVES = "\x1b[2J\r\x07\x9b\u202e"  # clears the screen, goes to the line's start, rings, turns text round
SEEN = r"\x1b[2J\x0d\x07\x9b\u202e"


def shell(command: str, folder, **env):
    """A line of POSIX shell in which `armsim` is this one: exit code, standard output, standard error."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    python = shlex.quote(sys.executable)
    line = re.sub(r"\barmsim\b", f"{python} -m armsim", command)
    done = subprocess.run(["sh", "-c", line], capture_output=True, env=settings, cwd=folder, timeout=60, check=False)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def clean(err: str) -> bool:
    return "Traceback" not in err and "armsim's" not in err


def raising(error):
    def fail(*args, **kwargs):
        raise error

    return fail


LINE = raising.__code__.co_firstlineno + 2


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["check", "arm5"], 0),
        (["check", "bad.yaml"], 1),
        (["fk", "bad.yaml"], 2),
        (["fk", "arm5", "--nonsense"], 2),
        (["simulate", "arm5_hold", "--set", "integrator.dt=1e-3", "--force-step"], 3),
    ],
)
def test_a_command_exits_with_the_code_that_the_page_says(args, code, armsim, empty_folder):
    (empty_folder / "bad.yaml").write_text(BAD)
    assert armsim(*args).code == code
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8").split("## Exit codes\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "70", "129", "130", "143"]


def test_an_error_of_armsims_own_says_so_and_what_to_report(armsim, monkeypatch, tmp_path):
    monkeypatch.setattr("armsim.arm.catalog.catalog", raising(KeyError("elbow\x1b")))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = armsim("list")
    (report,) = tmp_path.glob("armsim-*.txt")
    assert (done.code, done.out) == (70, "")
    assert done.err == (
        "not your files' fault, but armsim's\n"
        "  expected: a result, or a refusal that tells what to mend\n"
        f"  found:    KeyError: 'elbow\\x1b' (test_ends.py:{LINE})\n"
        f"  mend:     report it, please, with {report} (command, versions, and where it happened) and the files\n"
    )
    text = report.read_text(encoding="utf-8")
    assert text.startswith(f"armsim {__version__}, Python 3")
    assert "Traceback" in text


def test_where_no_report_can_be_written_the_message_has_the_versions(armsim, monkeypatch, tmp_path):
    monkeypatch.setattr("armsim.arm.catalog.catalog", raising(ZeroDivisionError()))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    done = armsim("list")
    assert done.code == 70
    assert "report it, please, with the command and its files (armsim " in done.err


@pytest.mark.parametrize(
    ("error", "code", "first", "found"),
    [
        (MemoryError(), 2, "memory", "none left"),
        (OSError(28, "No space left on device", "a.csv"), 2, "a.csv", "No space left on device"),
        (OSError(24, "Too many open files"), 2, "the system", "Too many open files"),
        (KeyboardInterrupt(), 130, "", None),
    ],
)
def test_what_the_system_refuses_is_no_fault_of_armsims(error, code, first, found, armsim, monkeypatch):
    monkeypatch.setattr("armsim.arm.catalog.catalog", raising(error))
    done = armsim("list")
    assert done.code == code
    assert done.err.splitlines()[0] == first
    assert found is None or f"  found:    {found}" in done.err.splitlines()
    assert clean(done.err)


INTERRUPTED = """
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            {how}
sys.meta_path.insert(0, Interrupted())
sys.argv = ["armsim", *{args}]
from armsim.__main__ import main
main()
"""
MODULES = ["armsim.cli.main", "click", "armsim.cli.simulate", "armsim.loading", "yaml", "llvmlite", "numpy"]
PLAINLY, WRAPPED = "raise KeyboardInterrupt", "raise ImportError('cannot import') from KeyboardInterrupt()"


@pytest.mark.parametrize(
    ("module", "how"),
    [
        *((module, PLAINLY) for module in MODULES),
        *((module, WRAPPED) for module in ("armsim.loading", "yaml", "numpy")),
    ],
)
@pytest.mark.handful(1)
def test_ctrl_c_during_an_import_ends_with_130_and_a_word(module, how, process):
    changes = ["--set", "control.kp[0]=61.5", "--set", "integrator.method=velocity_implicit"]  # which takes eigenvalues
    code = INTERRUPTED.format(module=module, how=how, args=["simulate", "arm5_hold", "-q", *changes])
    done = process(python=("-c", code))
    assert (done.code, done.out, done.err.strip()) == (130, "", "interrupted")


def test_a_completion_that_there_is_not_keeps_its_exit_code(process):
    assert process(_ARMSIM_COMPLETE="nonsense_bash").code == 1
    assert process(_ARMSIM_COMPLETE="bash_source").code == 0


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("armsim list", 0),
        ("armsim --help", 0),
        ("armsim fk --help", 0),
        ("armsim check arm5 bad.yaml", 1),
        ("armsim schema robot", 0),
    ],
)
@pytest.mark.handful(2)
def test_a_reader_that_has_gone_changes_no_exit_code(command, code, empty_folder):
    (empty_folder / "bad.yaml").write_text(BAD)
    line = f"(sleep 0.01; {command}; echo code $? >&2) | true"  # `true` has gone by then
    ended, _, err = shell(line, empty_folder)
    assert (ended, err) == (0, f"code {code}\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize("command", ["armsim list", "armsim --help", "armsim check arm5", "armsim simulate rr_config1"])
@pytest.mark.handful(2)
def test_a_full_disk_below_standard_output_is_told(command, empty_folder):
    code, _, err = shell(f"{command} > /dev/full", empty_folder)
    assert (code, err) == (
        2,
        "standard output\n  expected: one that can be written\n  found:    No space left on device\n"
        "  mend:     write it elsewhere, or make room\n",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="the shell closes no streams there")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.handful(1)
def test_closed_streams_lose_only_what_would_be_printed(closed, empty_folder):
    code, out, err = shell(f"armsim simulate rr_config1 -o run {closed}", empty_folder)
    assert code == 0
    assert clean(out + err)
    assert (empty_folder / "run" / "trajectory.csv").read_bytes().startswith(b"t_s,q_")
    assert shell(f"armsim simulate nowhere.yaml {closed}", empty_folder)[0] == 2


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use is not removed there")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("list", 0),
        ("inverse arm5", 0),
        ("check arm5_hold", 0),
        ("simulate rr_config1", 2),
        ("record rr_config1 -o out", 2),
        ("check x.yaml", 1),
        ("linearize arm5_hold -o x.npz", 2),
        ("compare x y", 2),
    ],
)
@pytest.mark.handful(2)
def test_a_working_folder_that_was_removed_is_told_where_it_matters(command, code, empty_folder):
    ended, out, err = shell(f"mkdir gone; cd gone; rmdir ../gone; armsim {command}", empty_folder)
    assert ended == code
    assert clean(out + err)


@pytest.mark.parametrize(
    "command", ["--help", "schema robot", "schema scenario", "info arm5", "check arm5_hold", "simulate rr_config1"]
)
@pytest.mark.handful(1)
def test_python_without_docstrings_and_assertions_does(command, process):
    done = process(*command.split(), python=("-OO", "-m", "armsim"))
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    "command", ["list", "inverse arm5", "info arm5_hold", "check ä.yaml", "schema robot", "simulate rr_config1"]
)
@pytest.mark.handful(1)
def test_an_ascii_locale_gets_question_marks(command, process, empty_folder):
    (empty_folder / "ä.yaml").write_bytes((ROOT / "robots" / "rr.yaml").read_bytes())
    done = process(*command.split(), LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert done.code == 0
    assert (done.out + done.err).isascii()


DEEP = "a/" * 2500 + "x"


@pytest.mark.parametrize(
    "args",
    [
        ["check", DEEP],
        ["simulate", DEEP],
        ["info", DEEP],
        ["compare", DEEP, DEEP],
        ["replay", DEEP, "--robot", "arm5"],
        ["linearize", "arm5_hold", "-o", DEEP + ".npz"],
        ["simulate", "arm5_hold", "--set", f"robot={DEEP}"],
        ["simulate", "arm5_hold", "--set", DEEP.replace("/", ".") + "=1"],
        ["simulate", "arm5_hold", "--set", "control.kp" + "[0]" * 2500 + "=1"],
        ["simulate", "arm5_hold", "--set", "control=" + "[" * 2500],
    ],
    ids=lambda args: " ".join(args)[:40],
)
@pytest.mark.handful(3)
def test_2500_nested_components_are_refused_in_words(args, armsim):
    done = armsim(*args)
    assert done.code in (1, 2)
    assert clean(done.out + done.err)


@pytest.mark.parametrize(
    "line",
    [
        ["check", "{}.yaml"],
        ["info", "{}.yaml"],
        ["fk", "{}.yaml"],
        ["fk", "{}"],
        ["{}"],
        ["fk", "--{}"],
        ["fk", "arm5", "{}"],
        ["fk", "arm5", "--q", "{}"],
        ["simulate", "scenario {}.yaml", "-o", "run {}"],
        ["simulate", "rr_config1", "--set", "{}=1"],
        ["simulate", "rr_config1", "--set", "duration={}"],
        ["simulate", "rr_config1", "--measure", "{}"],
        ["simulate", "rr_config1", "--engine", "{}"],
        ["compare", "{}.csv", "{}.csv"],
        ["replay", "{}.csv", "--robot", "rr", "--columns", "{}.yaml"],
        ["inverse", "arm5", "--json", "-o", "{}"],
    ],
    ids=" ".join,
)
def test_no_name_from_outside_moves_the_cursor(line, armsim, empty_folder):
    (empty_folder / f"{MOVES}.yaml").write_bytes((ROOT / "robots" / "rr.yaml").read_bytes())
    scenario = (ROOT / "configs" / "rr_config1.yaml").read_text(encoding="utf-8")
    quoted = '"' + SEEN.replace(r"\x9b", r"\x9B") + '.yaml"'
    assert "robot: ../robots/rr.yaml" in scenario
    text = scenario.replace("robot: ../robots/rr.yaml", f"robot: {quoted}")
    (empty_folder / f"scenario {MOVES}.yaml").write_text(text, encoding="utf-8")
    (empty_folder / f"{MOVES}.csv").write_text(f"t_s,{MOVES}\n0,1\n1,x\n", encoding="utf-8", newline="")
    done = armsim(*(part.replace("{}", MOVES) for part in line))
    assert all(c.isprintable() or c == "\n" for c in done.out + done.err)
    assert clean(done.err)


@pytest.mark.slow
def test_a_terminal_sees_the_same_escapes(on_a_terminal, empty_folder):
    (empty_folder / f"{MOVES}.yaml").write_bytes((ROOT / "robots" / "rr.yaml").read_bytes())
    assert on_a_terminal("check", f"{MOVES}.yaml", TERM="xterm").startswith(f"{SEEN}.yaml: a sound robot")


def test_the_entry_point_is_the_light_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"armsim": "armsim.__main__:main"}
