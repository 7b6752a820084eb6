"""armsim beside its peers: `python benchmarks/arm5_hold.py`. README.md here says what each line means."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path
from statistics import median

import csv_speed
from agreement import EARLY, STATES, differences
from hold import SCENARIO, NativeHold, read_case
from peers import INSTALL, MAKERS, Peer, installed, write_case
from processes import Processes
from timing import Task, in_turns, ratio

AGREEMENT = 1e-10
LABELS = {"mujoco": "mujoco.rollout", "pinocchio": "Python loop over pinocchio.aba"}


def main() -> int:
    """Print everything; 1 if the programs do not simulate the same arm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="times that each thing is timed [11]")
    rounds = parser.parse_args().rounds

    scenario = read_case()
    names = installed()
    peers = [MAKERS[name](scenario) for name in names]
    with tempfile.TemporaryDirectory(prefix="armsim-benchmark-") as made:
        folder = Path(made)
        os.environ["ARMSIM_CACHE_DIR"] = str(folder / "own")
        native = NativeHold(scenario)
        print_heading(native, peers)
        if not print_agreement(native, peers):
            return 1
        print_steps(native, peers, rounds)
        write_case(scenario, names, folder)
        processes = Processes(folder)
        print_preparation(processes, rounds)
        print_processes(processes, names, rounds)
        print_csv(folder, rounds)
    return 0


def line(text: str, *cells: str) -> None:
    """Print a line of a table, at once."""
    print(f"{text:56}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


def print_heading(native: NativeHold, peers: list[Peer]) -> None:
    """What is measured, where, and with which programs."""
    case = native.scenario
    print(
        f"{SCENARIO.name} by semi-implicit Euler: {case.clock.steps} steps of {case.dt:g} s, a row every {case.clock.log_every}"
    )
    versions = [f"Python {platform.python_version()}", *(f"{peer.name} {peer.version}" for peer in peers)]
    print(f"{processor()}, {os.cpu_count()} cores; {', '.join(versions)}")
    present = [peer.name for peer in peers]
    for name, how in INSTALL.items():
        if name not in present:
            print(f"{name}: skipped, it is not installed (`{how}`)")


def processor() -> str:
    """The processor's name, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def print_agreement(native: NativeHold, peers: list[Peer]) -> bool:
    """By how much the programs differ; whether that is little enough."""
    if not peers:
        return True
    print()
    steps = native.scenario.clock.steps
    line("difference from armsim", f"{STATES} states", f"{EARLY} steps", f"{steps} steps")
    found = differences(native, peers)
    for name, numbers in found.items():
        line(f"  {name}", *(f"{number:.1e}" for number in numbers))
    sound = all(number <= AGREEMENT for numbers in found.values() for number in numbers)
    if not sound:
        print(f"more than {AGREEMENT:g}: this is not the same arm, so there is nothing to compare")
    return sound


def print_steps(native: NativeHold, peers: list[Peer], rounds: int) -> None:
    """Time per step, in turns."""
    steps = native.scenario.clock.steps
    ours = "armsim, everything on"
    tasks: dict[str, Task] = {ours: lambda: native.roll_out(steps)}
    for peer in peers:
        tasks[LABELS[peer.name]] = lambda peer=peer: peer.roll_out(steps)
        if peer.dynamics is not None:
            tasks[f"{peer.name}.aba alone, from Python"] = lambda peer=peer: [peer.dynamics() for _ in range(steps)]
    print_times(f"a step, {rounds} rounds", "ns", 1e9 / steps, in_turns(tasks, rounds), ours)


def print_preparation(processes: Processes, rounds: int) -> None:
    """What comes before the first step."""
    print()
    cold, cached = processes.preparation(rounds)
    line(f"getting ready, {rounds} fresh processes", "cold, ms", "cached, ms")
    for part in cold:
        line(f"  {part}", *(f"{1e3 * times[part]:.1f}" for times in (cold, cached)))


def print_processes(processes: Processes, peers: list[str], rounds: int) -> None:
    """Whole commands, in turns."""
    print_times(
        f"whole processes, {rounds} rounds", "ms", 1e3, processes.times(peers, rounds), "armsim simulate, cached"
    )


def print_times(title: str, unit: str, scale: float, times: dict[str, list[float]], base: str) -> None:
    """A table of times that were taken in turns, and of their ratios to one of them."""
    print()
    line(title, f"median, {unit}", f"least, {unit}", "ratio")
    digits = 1 if unit == "ns" else 0
    for name, taken in times.items():
        cells = (f"{scale * statistic(taken):.{digits}f}" for statistic in (median, min))
        line(f"  {name}", *cells, f"{ratio(taken, times[base]):.2f}")


def print_csv(folder: Path, rounds: int) -> None:
    """How fast numbers become text."""
    numbers, times = csv_speed.measure(folder, rounds)
    print()
    line(f"CSV, {rounds} files of {numbers} numbers", "median", "best")
    line("  million numbers a second", *(f"{numbers / statistic(times) / 1e6:.1f}" for statistic in (median, min)))


if __name__ == "__main__":
    sys.exit(main())
