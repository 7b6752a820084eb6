"""Commands over time, held or on straight lines between their instants."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import armsim
from armsim.recording.command_history import CommandHistory
from armsim.recording.measured_log import MeasuredLog
from tests.identification.simulated import rod

T = np.array([0.0, 1.0, 1.5, 4.0])
U = np.array([[1.0, 0.0], [3.0, 2.0], [2.0, -4.0], [8.0, 1.0]])


@pytest.mark.parametrize("lines", [False, True])
def test_means_are_those_of_the_function_of_time(lines):
    """Against sums over a fine grid, from before the first instant to beyond the last."""
    history, edges = CommandHistory(T, U, lines), np.array([-2.0, -0.5, 0.25, 1.2, 1.3, 3.9, 6.0])
    fine = np.linspace(-2.0, 6.0, 80_001)[:-1] + 5e-5
    if lines:
        values = np.stack([np.interp(fine, T, u) for u in U.T], axis=1)
    else:
        values = U[np.clip(np.searchsorted(T, fine, "right") - 1, 0, None)]
    expected = [values[(fine > a) & (fine < b)].mean(axis=0) for a, b in pairwise(edges)]
    np.testing.assert_allclose(history.means(edges), expected, atol=1e-9)
    np.testing.assert_allclose(history.means(np.stack([edges, edges + 0.1]))[0], expected, atol=1e-9)
    np.testing.assert_allclose(history.at(fine), values, rtol=1e-12, atol=1e-12)


def test_they_are_held_over_intervals_in_which_no_instant_lies():
    history = CommandHistory(T, U)
    assert history.held(T)
    assert history.held(np.array([0.1, 0.9, 1.0, 1.5, 4.0, 9.0]))
    assert not history.held(np.array([0.1, 1.1, 1.4]))
    assert not CommandHistory(T, U, lines=True).held(T)


def ramped(rows):
    """A log of the rod under a voltage that rises by 3 V/s, with so many rows a second."""
    model, fine = armsim.ForwardModel(rod(coulomb=None), 1e-3, "rk4"), 1000
    state, states = model.state([-1.57]), []
    for k in range(2 * fine + 1):
        states.append(state)
        state = model.step(state, [3.0 * (k + 0.5) / fine])
    every = fine // rows
    t, q = np.arange(2 * rows + 1) / rows, np.array(states)[::every]
    return [
        MeasuredLog("log", t, q[:, :1], q[:, 1:2], CommandHistory(t, 3.0 * t[:, None], x), "voltage")
        for x in (False, True)
    ]


def test_a_voltage_that_rises_evenly_is_followed_from_few_rows_by_straight_lines_alone():
    held, lines = (armsim.follow(log, rod(coulomb=None), method="rk4", dt=1e-3) for log in ramped(10))
    assert max(lines.horizons[-1].largest) < 1e-7  # the same steps under the same means
    assert max(held.horizons[-1].largest) > 0.02  # 50 ms late
    assert len(lines.states) == len(lines.log.t)


def test_numbers_come_out_of_few_rows_by_straight_lines_alone():
    path, options = "joints[A].friction.viscous", {"method": "rk4", "window": 0.5}
    held, lines = (armsim.identify(log, rod(0.02, None), [path], **options) for log in ramped(50))
    assert lines.explained
    assert not held.explained
    assert lines[path].value == pytest.approx(0.05, rel=1e-4)
    assert held[path].value != pytest.approx(0.05, rel=0.05)
