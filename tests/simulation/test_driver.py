"""The loop over steps: where it is interrupted, all that it keeps goes back together."""

from __future__ import annotations

import pytest

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
