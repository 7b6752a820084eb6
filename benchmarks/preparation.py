"""What armsim does before its first step. As a script: prints the seconds of every part, in order, as JSON.

A process of its own, because whoever types a command pays for imports and for LLVM's start.
"""

from __future__ import annotations

import json
import time


def main() -> None:
    """Get ready for the hold, with a look at the clock after every part."""
    marks = [time.perf_counter()]
    import hold

    marks.append(time.perf_counter())
    scenario = hold.read_case()
    marks.append(time.perf_counter())
    from armsim.compile.target import host
    from armsim.simulation.engine import NativeEngine

    host().key  # noqa: B018  loads llvmlite, asks it for the processor
    marks.append(time.perf_counter())
    prepared = NativeEngine(hold.NativeHold(scenario).plan).preparation
    names = ("import armsim", "read scenario and robot", "load llvmlite")
    parts = {name: after - before for name, before, after in zip(names, marks, marks[1:], strict=False)}
    parts |= {"trace": prepared.get("trace_s", 0.0), "print": prepared.get("print_s", 0.0)}  # neither if it is cached
    parts["compile, or fetch from the cache"] = prepared.get("compile_s", prepared.get("fetch_s"))
    parts["trace, print and compile"] = sum(prepared.values())
    print(json.dumps(parts))


if __name__ == "__main__":
    main()
