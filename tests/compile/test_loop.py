"""The native loop: rows, samples, peaks, resuming, divergence."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from armsim.clock import Clock
from armsim.compile import LoopBody, SteppingLoop
from armsim.errors import CompileError
from armsim.expr import absolute, maximum, trace


def counter(sample=None, bound=1e9) -> SteppingLoop:
    """x grows by the held value each step; the row is (t, x, held); the largest |x| is kept."""
    cycle = trace(
        lambda t, x, held, most: [x + held, held, maximum(absolute(x), most), t, x, held], ["t", "x", "held", "most"]
    )
    taken = None if sample is None else trace(sample, ["t", "x", "held"])
    return SteppingLoop(LoopBody(cycle, taken, states=2, kept=1, bounds=(bound, 1e9)))


def run(loop, first, last, state=(0.0, 1.0), log_every=1, sample_every=1, ratio=(1, 10), peak=0.0):
    numbers, after, peaks = ((ctypes.c_double * len(x))(*x) for x in (state, state, [peak]))
    rows = (ctypes.c_double * (3 * (last - first + 1)))(*[-9.0] * (3 * (last - first + 1)))
    reached = (ctypes.c_int64 * 1)()
    memory = 1, *(ctypes.addressof(x) if x else 0 for x in (reached, None, numbers, after, rows, peaks, None))
    loop.run(memory, first, last, Clock(*ratio, sample_every=sample_every, log_every=log_every))
    table = np.array(rows).reshape(-1, 3)
    left = reached[0] < last
    return reached[0], list(after if left else numbers), table[table[:, 0] != -9].tolist(), peaks[0]


def test_rows_are_kept_at_multiples_of_log_every_before_the_step_is_taken():
    assert run(counter(), 0, 7, log_every=3) == (
        7,
        [7.0, 1.0],
        [[0.0, 0.0, 1.0], [0.3, 3.0, 1.0], [0.6, 6.0, 1.0]],
        6.0,
    )


def test_time_is_the_step_number_over_steps_a_second_not_a_running_sum():
    _, _, rows, _ = run(counter(), 0, 200, ratio=(3, 10_000))
    assert [row[0] for row in rows] == [k * 3 / 10_000 for k in range(200)]
    assert rows[1][0] == 0.0003


def test_a_run_of_no_steps_changes_nothing():
    assert run(counter(), 5, 5, state=(2.0, 3.0), peak=7.0) == (5, [2.0, 3.0], [], 7.0)


def test_the_command_is_sampled_at_multiples_of_sample_every():
    loop = counter(sample=lambda t, x, held: [x, t])
    _, state, rows, _ = run(loop, 0, 8, sample_every=3)
    assert [row[2] for row in rows] == [0.0, 0.0, 0.0, 0.3, 0.3, 0.3, 0.6, 0.6]
    assert np.isclose(state[0], 3 * 0.3 + 2 * 0.6, rtol=1e-15)


def test_a_sample_is_a_simultaneous_assignment():
    swap = counter(sample=lambda t, x, held: [held, x])
    assert run(swap, 0, 1, state=(5.0, 3.0))[1] == [8.0, 5.0]


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_run_resumed_at_any_step_goes_on_as_if_in_one_go(cut):
    loop = counter(sample=lambda t, x, held: [x, t - 0.1 * x])
    whole = run(loop, 0, 12, log_every=5, sample_every=4)
    _, state, rows, peak = run(loop, 0, cut, log_every=5, sample_every=4)
    reached, state, more, peak = run(loop, cut, 12, state=state, log_every=5, sample_every=4, peak=peak)
    assert (reached, state, rows + more, peak) == whole


def test_a_run_stops_at_the_first_step_that_leads_out_of_bounds():
    assert run(counter(bound=4.5), 0, 100) == (4, [5.0, 1.0], [[k / 10, float(k), 1.0] for k in range(5)], 4.0)


@pytest.mark.parametrize("bad", [float("inf"), float("-inf"), float("nan")])
def test_what_is_not_finite_is_out_of_bounds(bad):
    reached, state, _, _ = run(counter(), 0, 10, state=(0.0, bad))
    assert reached == 0
    assert not np.isfinite(state[0])


def test_a_bound_itself_is_still_inside():
    assert run(counter(bound=4.0), 0, 4)[0] == 4


def test_peaks_keep_the_largest_magnitude():
    _, _, _, peak = run(counter(), 0, 5, state=(-10.0, 1.0), peak=3.0)
    assert peak == 10.0


def test_what_llvm_refuses_is_called_a_fault_of_armsim():
    from armsim.compile.target import host

    with pytest.raises(CompileError, match="which is a fault of armsim"):
        host().object_code("define void @f() { ret i32 0 }")
