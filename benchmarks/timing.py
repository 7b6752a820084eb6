"""Wall times on a machine that others use too: tasks take turns, and medians and ratios are kept."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

Task = Callable[[], Any]


def seconds(task: Task) -> float:
    """Wall time of one call [s]."""
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def in_turns(tasks: Mapping[str, Task], rounds: int) -> dict[str, list[float]]:
    """Wall times of tasks that take turns, A B A B ..., so that what slows the machine down slows all of them.

    Args:
        tasks: By name; each is called once more beforehand, untimed.
        rounds: Times per task.

    Returns:
        By name, one time [s] per round.
    """
    for task in tasks.values():
        task()
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            times[name].append(seconds(task))
    return times


def ratio(times: Sequence[float], base: Sequence[float]) -> float:
    """Median over the rounds of how many times longer than `base` something took."""
    return median(a / b for a, b in zip(times, base, strict=True))


def process(command: Sequence[str], **options: Any) -> str:
    """Run a command to its end.

    Args:
        command: The program and its arguments.
        options: Further ones of `subprocess.run`.

    Returns:
        What it printed.

    Raises:
        RuntimeError: It failed; with what it said.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} gave exit code {done.returncode}:\n{done.stderr}")
    return done.stdout
