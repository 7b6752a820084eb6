"""The loop of one joint, broken at its command: frequency response, stability margins, sensitivity peaks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from armsim.arm.arrays import number_array
from armsim.arrays import Array, ArrayLike
from armsim.records import record

Function = Callable[[Any], Any]
TURN = math.radians(3.0)  # most that a pole or a zero turns the response between two points of the grid
POINTS = 1000  # of the grid at least, 50 a decade
PER_POLE = 20  # of a sampled loop, or of its closed loop: points
HIGHEST = 1e3  # of a bound on the poles: end of the grid in continuous time
LOWEST = 1e-18  # of that: its beginning
CLOSE = 1e-9  # points of the grid that are closer, relative to their frequency, are one
FURTHEST = 160.0  # dB: a larger change of the gain is no margin
ROUNDING = 1e-12  # of the response: a smaller part of it has no sign
REAL = 1e-6  # of the response: with a smaller imaginary part it is real at an end of the grid
BISECTIONS = 60
ZOOMS = 20
HIGH_GAIN = 1e6
AROUND = 30.0  # times the crossovers: ends of a diagram


class Crossing(NamedTuple):
    """A margin or a peak, and its frequency [Hz]; NaN where there is none."""

    margin: float
    frequency: float = math.nan


NONE = Crossing(math.inf)


@record
class LoopMargins:
    """How far a loop is from the limit of stability.

    Attributes:
        stable: Whether the closed loop of the whole arm is stable; else there are crossovers, and no margins.
        gain: The least increase of the gain that leads to the limit [dB]; infinite if none does.
        lower_gain: The least decrease that does, negative [dB]; infinite likewise.
        phase: The phase lag that does [deg], the smallest in magnitude; infinite without a gain crossover.
        delay: The least delay that does [s], added to the loop's own; infinite likewise.
        Ms: Peak of the sensitivity |1 / (1 + L)|; infinite if the closed loop is unstable.
        Mt: Peak of the complementary sensitivity |L / (1 + L)|, likewise.
        gains: Those of all phase crossovers [dB].
        phases: Those of all gain crossovers, from -180 to 180 [deg].
    """

    stable: bool
    gain: Crossing
    lower_gain: Crossing
    phase: Crossing
    delay: Crossing
    Ms: Crossing
    Mt: Crossing
    gains: list[Crossing]
    phases: list[Crossing]


class FrequencyResponse(NamedTuple):
    """A loop's response: frequencies [Hz], magnitude |L| [dB] and phase without jumps [deg]."""

    frequencies: Array
    magnitude: Array
    phase: Array


@dataclass(frozen=True, eq=False)
class JointLoop:
    """The loop of one joint broken at its command, the other joints' loops closed.

    Its return ratio L leads from the command to the negative of what feedback commands then: `control.ss(A, B[:, None], C, 0)`.

    Attributes:
        A: Shape (states, states).
        B: Shape (states,).
        C: Shape (states,).
        dt: Sampling period [s]; None in continuous time.
        stable: Whether the closed loop of the whole arm is stable.
    """

    A: Array
    B: Array
    C: Array
    dt: float | None
    stable: bool

    def __repr__(self) -> str:
        return f"JointLoop({len(self.A)} states)"

    def response(self, frequencies: ArrayLike) -> Any:
        """L at some frequencies [Hz], complex; to rounding of 1 + L."""
        return self._at(math.tau * number_array("frequencies", frequencies))

    @property
    def frequencies(self) -> Any:
        """Frequencies [Hz] of a smooth curve about all crossovers."""
        near = [x.frequency for x in self.margins.gains + self.margins.phases if x.frequency > 0.0] or [1.0]
        grid = self._grid / math.tau
        return grid[(grid > min(near) / AROUND) & (grid < max(near) * AROUND)]

    def bode(self, frequencies: ArrayLike) -> FrequencyResponse:
        """The frequency response at some frequencies [Hz], above 0."""
        asked = number_array("frequencies", frequencies)
        every = np.union1d(self._grid / math.tau, asked)
        L, k = self.response(every), np.searchsorted(every, asked)
        phase = np.degrees(np.unwrap(np.angle(L)))
        phase -= 360.0 * np.floor((phase[0] + 270.0) / 360.0)  # it begins between -270 and 90
        with np.errstate(divide="ignore"):
            return FrequencyResponse(asked, 20 * np.log10(np.abs(L[k])), phase[k])

    def bode_by_decades(self) -> FrequencyResponse:
        """The response at 1, 2 and 5 of every decade about the crossovers."""
        low, *_, high = self.frequencies
        every = (float(f"{digit}e{power}") for power in range(-20, 20) for digit in (1, 2, 5))
        return self.bode([f for f in every if low <= f <= high])

    @cached_property
    @np.errstate(all="ignore")
    def margins(self) -> LoopMargins:
        """Margins of gain, phase and delay, by all crossovers, and the peaks of both sensitivities."""
        ends = self._grid[[0] if self.dt is None else [0, -1]]
        L = self._at(ends)
        w = np.concatenate([ends[np.abs(L.imag) < REAL * np.abs(L)], self._crossings(np.imag)])
        change = -20 * np.log10(-self._at(w).real)
        near = np.abs(change) < FURTHEST
        gains = _found(change[near], np.where(w > ends[0], w, 0.0)[near])
        w = self._crossings(lambda L: np.abs(L) - 1.0)
        lag = np.angle(-self._at(w))
        phases = _found(np.degrees(lag), w)
        return LoopMargins(
            self.stable,
            min((x for x in gains if x.margin >= 0.0), default=NONE),
            max((x for x in gains if x.margin < 0.0), default=Crossing(-math.inf)),
            min(phases, key=lambda x: abs(x.margin), default=NONE),
            min(_found(lag % math.tau / w, w), default=NONE),
            max(self._peak(lambda L: 1 / (1 + L)), Crossing(1.0, math.inf)),  # L is 0 at infinity
            self._peak(lambda L: L / (1 + L)),
            gains,
            phases,
        )

    def _crossings(self, of: Function) -> Array:
        """Angular frequencies at which a function of L changes its sign, by bisection."""

        def above(L: Array) -> Any:
            return of(L) > ROUNDING * np.abs(L)

        sign = above(self._grid_response)
        k = np.flatnonzero(sign[:-1] != sign[1:])
        low, high = self._grid[k], self._grid[k + 1]
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            before = above(self._at(middle)) == sign[k]
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return low

    def _peak(self, of: Function) -> Crossing:
        """The largest magnitude of a function of L."""
        w, L = self._grid, self._grid_response
        for _ in range(ZOOMS):
            k = int(np.abs(of(L))[1:-1].argmax())
            w = np.linspace(w[k], w[k + 2], 9)
            L = self._at(w)
        return Crossing(float(np.abs(of(L))[4]), float(w[4]) / math.tau) if self.stable else NONE

    def _at(self, w: Array) -> Any:
        """L at angular frequencies [rad/s]: 1 + L is the closed loop's characteristic polynomial over the open loop's."""
        s = 1j * w if self.dt is None else np.expm1(1j * w * self.dt)
        poles, closed, _ = self._poles
        with np.errstate(all="ignore"):
            return np.prod((s[:, None] - closed) / (s[:, None] - poles), axis=1) - 1

    @cached_property
    def _poles(self) -> Any:
        """Poles of L, of a sampled loop less 1, those of its closed loop, and those under a high gain, near the zeros of L.

        Of the states between command and feedback alone; smallest first, so that quotients stay within doubles.
        """
        unit = np.eye(len(self.A))
        links = np.linalg.matrix_power((np.abs(self.A) + unit) > 0.0, len(unit))
        on = links @ (self.B != 0.0) & (self.C != 0.0) @ links
        A = self.A if self.dt is None else self.A - unit
        loops = ((A - gain * np.outer(self.B, self.C))[np.ix_(on, on)] for gain in (0.0, 1.0, HIGH_GAIN))
        return [np.array(sorted(np.linalg.eigvals(loop), key=abs), dtype=complex) for loop in loops]

    @cached_property
    def _grid(self) -> Any:
        """Angular frequencies [rad/s] so dense that no pole or zero of L or 1 + L turns more than `TURN` between two of them."""
        rates, dt = np.concatenate(self._poles), self.dt
        around = np.tan(np.arange(TURN / 2 - math.pi / 2, math.pi / 2, TURN))
        with np.errstate(all="ignore"):
            high = HIGHEST * (1.0 + np.abs(self._poles[1]).max(initial=0.0))
            if dt is not None:
                rates, high = np.log1p(rates) / dt, (1 - CLOSE) * math.pi / dt
            near = np.abs(rates.imag[:, None] + rates.real[:, None] * around).ravel()
        wide = np.geomspace(LOWEST * high, high, POINTS)
        even = np.linspace(0.0, high, PER_POLE * len(rates) + 2)  # poles at z = 0 turn evenly
        grid = np.sort(np.concatenate([near, wide, even]))
        grid = grid[(grid >= wide[0]) & (grid <= high)]
        return grid[np.diff(grid, prepend=0.0) > CLOSE * grid]

    @cached_property
    def _grid_response(self) -> Any:
        """L at the frequencies of the grid."""
        return self._at(self._grid)


def _found(margins: Array, w: Array) -> list[Crossing]:
    return [*map(Crossing, margins.tolist(), (w / math.tau).tolist())]
