"""Processes that are killed, or interrupted, at random moments: nothing is lost, and nothing looks complete that is not.

The oracle is the bytes of the same runs undisturbed. `ARMSIM_KILLS=1000` takes that many in place of a hundred, other ones each
time.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from armsim.files.folder_kind import RUN
from armsim.files.recovery import recover

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("ARMSIM_KILLS", "0"))
LONG, SHORT = ("--set", "duration=0.4"), ("--set", "duration=0.2")
COMMANDS = {  # name: command
    "long": ("simulate", "rr_config1", "-q", *LONG),
    "short": ("simulate", "rr_config1", "-q", *SHORT),
    "recorded": ("record", "rr_config1", "-q", *SHORT),
}
MODES = {  # what is asked for, where the earlier run is "long", and how the process differs from what users have here
    "over an earlier run, without an exchange of names": (("short", "-o", "out", "--force"), ("one after the other",)),
    "rows as they come, over an earlier run": (("short", "-o", "out", "--force"), ("streamed",)),
    "a recording, over an earlier run": (("recorded", "-o", "out", "--force"), ()),
    "a numbered folder": (("short",), ()),
    "over an earlier run": (("short", "-o", "out", "--force"), ()),
    "a new folder": (("short", "-o", "new/deep"), ()),
    "an empty folder": (("short", "-o", "empty"), ()),
    "an empty folder, without renames that replace nothing": (("short", "-o", "empty"), ("one after the other",)),
}


LAST = 11  # changes of names with which a run is put on disk and gets its own, and what it replaces is removed


class Trials:
    """Commands that end at a chosen moment, in a folder with an earlier run, an empty folder and a user's file."""

    def __init__(self, folder: Path, mode: str) -> None:
        (name, *options), how = MODES[mode]
        self.target = options[1] if options else None
        self.name, self.folder, self.command = name, folder, [*COMMANDS[name], *options]
        self.at_once = "one after the other" not in how
        env = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
        settings = {key: key in how for key in ("one after the other", "streamed")}
        settings["warm"] = [[*run, "-o", f"whole/{name}"] for name, run in COMMANDS.items()]
        command = [sys.executable, str(Path(__file__).parent / "dying.py"), json.dumps(settings)]
        with open(folder / "said", "w") as said:
            piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": said}
            self.server = subprocess.Popen(command, cwd=folder, env=env, text=True, **piped)
        assert self.server.stdout.readline() == "ready\n"
        self.whole = {name: tables(folder / "whole" / name) for name in COMMANDS}

    def close(self) -> None:
        self.server.stdin.close()
        self.server.wait()
        self.server.stdout.close()

    def run(self, **moment) -> int:
        """Carry out the command; the exit code, or minus the signal that ended it."""
        self.server.stdin.write(json.dumps({"args": self.command, "signal": signal.SIGKILL, **moment}) + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())

    def reset(self) -> None:
        """Make the folder what it was at first."""
        for path in self.folder.iterdir():
            if path.name not in ("whole", "said", "calls"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self.folder / "whole/long", self.folder / "out")
        (self.folder / "empty").mkdir()
        (self.folder / "mine.txt").write_text("mine")

    def holds(self, name: str) -> str:
        """The run that a folder holds whole; "" for none."""
        folder = self.folder / name
        if not RUN.holds(folder):
            return ""
        found = tables(folder)
        (run,) = (run for run, whole in self.whole.items() if whole == found)
        return run

    def places(self) -> list[str]:
        return [p for p in ("out", "new/deep", "empty", "runs/rr_config1-001") if (self.folder / p).is_dir()]


def tables(folder: Path) -> dict[str, bytes]:
    visible = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return {path.name: path.read_bytes() for path in visible if path.name != "run.yaml"}


@pytest.fixture(scope="module", params=MODES)
def serving(request, tmp_path_factory):
    made = Trials(tmp_path_factory.mktemp("trials"), request.param)
    yield made
    made.close()


@pytest.fixture
def trials(serving, monkeypatch):
    monkeypatch.chdir(serving.folder)
    return serving


def moments(trials: Trials, count: int) -> list[dict]:
    """Before each of the last changes of names, by which a run gets its own; then random ones, of calls and of time."""
    trials.reset()
    assert trials.run(count=str(trials.folder / "calls")) == 0
    calls, changes = json.loads((trials.folder / "calls").read_text())
    assert calls > changes >= LAST
    seed = random.SystemRandom().random() if KILLS else str(trials.command)
    rng = random.Random(seed)
    print(f"seed {seed!r}, {calls} calls, {changes} changes")
    others = [
        {"call": rng.randint(1, calls)} if k % 2 else {"seconds": rng.uniform(0, 0.15)} for k in range(count - LAST)
    ]
    return [*({"change": k} for k in range(changes - LAST + 1, changes + 1)), *others]


@pytest.mark.handful(1)
def test_a_kill_at_any_moment_loses_nothing_and_completes_nothing(trials):
    killed = 0
    for k, moment in enumerate(moments(trials, max(KILLS // len(MODES), LAST + 2))):
        trials.reset()
        killed += trials.run(**moment) == -signal.SIGKILL
        for place in trials.places():
            trials.holds(place)  # whole, or nothing that looks like a run
        if trials.at_once:
            assert trials.holds("out"), moment
        said = recover(RUN, trials.target)
        assert trials.holds("out") in (("long", trials.name) if trials.target == "out" else ("long",)), moment
        for place in trials.places():
            assert trials.holds(place) or os.listdir(place) == [], (moment, said)
        assert (trials.folder / "mine.txt").read_text() == "mine"
        hidden = [path for path in trials.folder.rglob(".*") if "whole" not in path.parts]
        assert hidden == [], moment
        if k % 4 == 0 and not (trials.target in ("empty", "new/deep") and trials.holds(trials.target)):
            assert trials.run() == 0  # the next command gets on with it
    assert killed > 5


@pytest.mark.slow
def test_a_ctrl_c_at_any_moment_leaves_a_whole_run_or_a_marked_one_or_none(trials):
    for moment in moments(trials, max(KILLS // len(MODES), LAST + 2)):
        trials.reset()
        code = trials.run(**{**moment, "signal": signal.SIGINT})
        assert code in (0, 130), moment
        recover(RUN, trials.target)
        for place in trials.places():
            if not RUN.holds(place):
                assert os.listdir(place) == [], moment
                continue
            found = tables(trials.folder / place)
            record = yaml.safe_load((trials.folder / place / "run.yaml").read_text())
            if record["status"] == "interrupted":
                rows = record.get("rows", record.get("recording", {}).get("samples"))
                whole = trials.whole["recorded" if "record.csv" in found else "short"]
                found_rows = {name: text.splitlines(keepends=True) for name, text in found.items()}
                assert found_rows == {name: text.splitlines(keepends=True)[: 1 + rows] for name, text in whole.items()}
            else:
                assert found in trials.whole.values(), moment
    said = (trials.folder / "said").read_text()
    assert said.count("Traceback") == said.count("Exception ignored in")  # Python's word on a Ctrl-C in a destructor
