"""The loop over steps: where it is interrupted, all that it keeps goes back together."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

from armsim.simulation import driver as driver_module
from armsim.simulation.driver import Driver


def test_an_interruption_takes_back_state_and_peaks_alike():
    def run(state, rows, peaks, first, last, *clock):
        for step in range(first, last):
            state[0] = float(step + 1)
            peaks[0] = max(peaks[0], state[0])
            if step == 7:
                raise KeyboardInterrupt
        return last

    driver = Driver(run, [0.0], kept=[0.0])
    assert driver.advance(5)
    with pytest.raises(KeyboardInterrupt):
        driver.advance(10)
    assert (driver.done, list(driver.state), list(driver.kept)) == (5, [5.0], [5.0])


def test_any_number_of_steps_is_taken_in_stretches_between_which_ctrl_c_is_heard(monkeypatch):
    asked, told = [], []

    def run(state, rows, kept, first, last, *clock):
        asked.append(last - first)
        return last

    now = itertools.count()
    monkeypatch.setattr(driver_module, "time", SimpleNamespace(perf_counter=lambda: 1e-3 * next(now)))
    driver = Driver(run, [0.0], progress=lambda done, total: told.append(done), total=10**9)
    assert driver.reach(10**6, told=True)
    assert (driver.done, sum(asked)) == (10**6, 10**6)
    assert asked[:3] == [256, 2560, 25600]  # as each takes a millisecond by this clock
    assert told == sorted(told)
    asked.clear()
    assert driver.reach(driver.done + 3)
    assert asked == [3]


def test_a_divergence_within_a_stretch_ends_there():
    def run(state, rows, kept, first, last, *clock):
        return min(last, 700)

    driver = Driver(run, [0.0])
    assert not driver.reach(10_000)
    assert driver.done == 700
