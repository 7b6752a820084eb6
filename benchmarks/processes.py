"""Whole processes, from the shell's point of view: start, import, load, simulate, end."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from statistics import median

from hold import ROOT, SCENARIO
from timing import Task, in_turns, process

HERE = Path(__file__).resolve().parent


class Processes:
    """Commands that run in this Python, with bytecode and kernels kept in folders of the benchmark's own.

    Args:
        folder: Empty; holds what the commands keep and write.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs = 0

    def _environment(self, cache: Path) -> dict[str, str]:
        """As after an installation: bytecode is there, whatever the user's environment says about writing it."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {**kept, "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"), "ARMSIM_CACHE_DIR": str(cache)}

    def python(self, *args: str, cold: bool = False) -> str:
        """What Python prints when run with these arguments; `cold` empties armsim's cache of kernels beforehand."""
        cache = self.folder / ("none" if cold else "kernels")
        if cold:
            shutil.rmtree(cache, ignore_errors=True)
        return process([sys.executable, *args], env=self._environment(cache), cwd=ROOT)

    def _simulate(self, cold: bool) -> Task:
        def task() -> None:
            self._runs += 1
            output = self.folder / f"run{self._runs}"
            self.python("-m", "armsim", "simulate", str(SCENARIO), "-o", str(output), cold=cold)

        return task

    def times(self, peers: list[str], rounds: int) -> dict[str, list[float]]:
        """Wall times [s] of armsim's commands and of the least scripts for the peers, in turns."""
        tasks: dict[str, Task] = {
            "python -c pass": lambda: self.python("-c", "pass"),
            "python, its imports": lambda: self.python("-c", "import yaml, click"),
            "python, with LLVM": lambda: self.python("-c", "import yaml, click, llvmlite.binding"),
            "armsim --help": lambda: self.python("-m", "armsim", "--help"),
            "armsim inverse arm5": lambda: self.python("-m", "armsim", "inverse", "arm5"),
            "armsim simulate, cold": self._simulate(cold=True),
            "armsim simulate, cached": self._simulate(cold=False),
        }
        for name in peers:
            script = str(HERE / f"{name}_hold.py")
            tasks[f"{name} script"] = lambda script=script: self.python(script, str(self.folder))
        return in_turns(tasks, rounds)

    def preparation(self, rounds: int) -> tuple[dict[str, float], dict[str, float]]:
        """Median seconds of every part of armsim's getting ready, cold and with a kernel kept; see `preparation.py`."""

        def once(cold: bool) -> dict[str, float]:
            return json.loads(self.python(str(HERE / "preparation.py"), cold=cold))

        once(cold=False)  # leaves bytecode and a kernel
        found = [(once(cold=True), once(cold=False)) for _ in range(rounds)]
        cold, cached = (
            {part: median(run[part] for run in runs) for part in runs[0]} for runs in zip(*found, strict=True)
        )
        return cold, cached
