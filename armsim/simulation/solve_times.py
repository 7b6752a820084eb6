"""How long the plans of predictive control take on the machine that runs."""

from __future__ import annotations

import time
from array import array

from armsim.control import Controller, Predictive
from armsim.records import record
from armsim.simulation.result import Result

MOST = 2000  # samples
TRIES = 3  # of each, of which the shortest counts: others may have waited for the machine's other work


@record
class SolveTimes:
    """What the samples of a run took, measurement, plan and commands, in scalar machine code, one after the other.

    Attributes:
        samples: How many were timed.
        median: Time of one [s].
        percentile_99: Likewise.
        greatest: Likewise.
        budget: What one may take [s].
        missed: How many took longer.
    """

    samples: int
    median: float
    percentile_99: float
    greatest: float
    budget: float
    missed: int


def solve_times(run: Result) -> SolveTimes | None:
    """Of samples at the states in rows of a run, each from the plan of the one before; None of a law without a budget."""
    plant, command = run.plant, run.plant.command
    law = command.law if isinstance(command, Controller) else None
    if not isinstance(law, Predictive) or law.budget is None or run.engine != "llvm":
        return None
    import numpy as np  # a run that is known does without, and without what compiles

    from armsim.compile.single import SingleKernel
    from armsim.expr import trace

    rows, moving = run.latest(), 2 * len(plant.arm.mechanism.joint_names)
    kernel = SingleKernel(trace(lambda t, *x: plant.sample(t, list(x)), ["t", *plant.slots], "sample"))
    states = [*zip(rows.t, rows.q, rows.qd, strict=True)]
    x = array("d", [0.0, *plant.initial_state(*states[0][1:])])
    times: list[float] = []
    after = x[1:]
    for t, *motion in states[:: len(states) // MOST + 1]:
        x[: moving + 1] = array("d", [t, *plant.initial_state(*motion)[:moving]])
        tries = []
        for _ in range(TRIES):
            began = time.perf_counter()
            kernel.call(x.buffer_info()[0], after.buffer_info()[0])
            tries.append(time.perf_counter() - began)
        times.append(min(tries))
        x[1:] = after
    median, most, greatest = np.quantile(times, [0.5, 0.99, 1.0]).tolist()
    missed = sum(one > law.budget for one in times)
    return SolveTimes(len(times), median, most, greatest, law.budget, missed)
