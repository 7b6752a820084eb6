"""Event-driven integration of random scenarios by scipy's methods: every piece smooth, every event where its guard is 0.

truth(case)                  states at the end and at any times, to about 1e-12
solve(case, rtol=1e-6)       the yardstick: what scipy's method makes of it with exact events at that tolerance
growth(case)                 by how much the end's state amplifies perturbations of the start's
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
from scipy.integrate import DOP853, RK45, Radau
from scipy.optimize import brentq

from .cases import Case
from .hybrid import Hybrid, Mode

SOLVERS = {"DOP853": DOP853, "RK45": RK45, "Radau": Radau}
CHANGED = 1e-12  # how far a guard below 0 says that it has changed; rounding of guards of size 1 is a thousandth of it
LOOKS = 6  # instants of a step at which guards are looked at
GROWTH = 1e-8  # tolerance of what tells how perturbations grow
STEP = 0.02  # s: of the truth, no step is longer, lest one jump over an event


class Stuck(Exception):
    """Events without end at one instant: a sliding mode that has no equations here."""


@dataclass(frozen=True)
class Motion:
    """A motion, event by event.

    Attributes:
        t: Times asked for [s], the end last.
        states: Then: q, qd and currents, shape (times, states).
        n: Number of joints.
        events: Instants [s] and kinds of events: stick, slip, speed, stop, release, clamp, input or the name of a limit.
        evaluations: Of the vector field, but for those that locate events.
    """

    t: Sequence[float]
    states: np.ndarray
    n: int
    events: list[tuple[float, str]] = field(repr=False)
    evaluations: int = 0

    @property
    def q(self) -> np.ndarray:
        """Joint positions [rad or m], shape (times, n)."""
        return self.states[:, : self.n]

    @property
    def qd(self) -> np.ndarray:
        """Joint velocities [rad/s or m/s], shape (times, n)."""
        return self.states[:, self.n : 2 * self.n]

    @property
    def kinds(self) -> Counter[str]:
        """How many events of each kind there were."""
        return Counter(kind for _, kind in self.events)


def truth(case: Case, times: Sequence[float] = (), rtol: float = 1e-12) -> Motion:
    """The motion to about 1e-12, by DOP853 with a longest step; arguments as of `solve`."""
    return solve(case, rtol, "DOP853", times, max_step=STEP)


def solve(
    case: Case,
    rtol: float,
    method: str = "DOP853",
    times: Sequence[float] = (),
    max_step: float = inf,
    shift: Sequence[float] = (),
) -> Motion:
    """Integrate a case from event to event.

    Args:
        case: A scenario.
        rtol: Relative tolerance; the absolute one is a thousandth of it, as armsim's.
        method: Of scipy: DOP853, RK45 or Radau.
        times: At which states are wanted [s]; steps end there. The end is added.
        max_step: Longest step [s].
        shift: Perturbation of the state at the start.

    Raises:
        Stuck: Events do not end at one instant.
    """
    return Course(Hybrid(case), rtol, method, max_step).run(times, shift)


def predictable(case: Case) -> bool:
    """Whether perturbations grow less than tenfold; errors of other motions say little of a method."""
    return growth(case) < 10.0


def growth(case: Case, sizes: Sequence[float] = (1e-3, 1e-5), draws: int = 2) -> float:
    """The largest factor by which random perturbations of the start, of these sizes, are found larger at the end."""
    end = solve(case, GROWTH).states[-1]
    draw = random.Random(f"{case.family}{case.seed} perturbed")
    most = 0.0
    for size in sizes:
        for _ in range(draws):
            n = len(case.scenario["initial"]["q"])
            shift = [draw.choice([-size, size]) for _ in range(2 * n)]
            off = solve(case, GROWTH, shift=shift).states[-1] - end
            most = max(most, float(np.abs(off[: 2 * n]).max()) / size)
    return most


class Course:
    """One integration under way."""

    def __init__(self, hybrid: Hybrid, rtol: float, method: str, max_step: float) -> None:
        self.hybrid, self.method, self.max_step = hybrid, SOLVERS[method], max_step
        self.rtol, self.atol = rtol, 1e-3 * rtol
        self.events: list[tuple[float, str]] = []
        self.evaluations = 0

    def run(self, times: Sequence[float], shift: Sequence[float]) -> Motion:
        """From the start to the end; see `solve`."""
        hybrid = self.hybrid
        end = hybrid.borders[-1]
        wanted = sorted({*times, end})
        y, _ = hybrid.start()
        for i, off in enumerate(shift):
            y[i] += off
        mode = hybrid.border(0.0, y, Mode(0.0, (0,) * hybrid.n))
        states = [list(y) for t in wanted if t == 0.0]
        stops = sorted({*hybrid.borders, *wanted})
        for t, to in itertools.pairwise(stops):
            if t in hybrid.borders and t > 0.0:
                mode = hybrid.border(t, y, mode)
                self.events += [(t, "input")]
            y, mode = self.piece(t, y, mode, to)
            if to in wanted:
                states.append(list(y))
        return Motion(wanted, np.array(states), hybrid.n, self.events, self.evaluations)

    def piece(self, t: float, y: list[float], mode: Mode, end: float) -> tuple[list[float], Mode]:
        """State and mode at the end of a piece of the inputs."""
        hybrid, here = self.hybrid, 0  # events at this instant
        while t < end:
            began = t
            t, y, hit = self.until_event(t, y, mode, end)
            if hit:
                here = here + 1 if t == began else 0
                if here > 30:
                    raise Stuck(f"at {t} s: {self.events[-4:]}")
                self.events += [(t, hybrid.kind(key, mode)) for key in hit]
                y, mode = hybrid.event(t, y, mode, hit)
        return y, mode

    def solver(self, t: float, y: Sequence[float], mode: Mode, end: float, first: float | None = None):
        """A solver of scipy's for the smooth equations of a mode."""

        def rates(t: float, y: np.ndarray) -> list[float]:
            return self.hybrid.at(t, y.tolist(), mode).rates

        options = {"rtol": self.rtol, "atol": self.atol, "max_step": self.max_step, "first_step": first}
        return self.method(rates, t, np.array(y), end, **options)

    def until_event(
        self, t: float, y: list[float], mode: Mode, end: float
    ) -> tuple[float, list[float], list[Hashable]]:
        """Integrate up to the first guard that changes, or the end: time, state, and what changed."""
        solver = self.solver(t, y, mode, end)
        guards = self.hybrid.at(t, y, mode).guards
        while solver.status == "running":
            began, from_state = float(solver.t), solver.y.tolist()
            message = solver.step()
            assert solver.status != "failed", message
            found = self.first_change(solver, began, solver.t, guards, mode)
            if found is not None:
                time, keys = found
                self.evaluations += solver.nfev
                if time == began:
                    return began, from_state, keys
                return self.refined(began, from_state, mode, time, keys)
            guards = self.hybrid.at(solver.t, solver.y.tolist(), mode).guards
        self.evaluations += solver.nfev
        return end, solver.y.tolist(), []

    def first_change(
        self, solver, t0: float, t1: float, guards: dict[Hashable, float], mode: Mode
    ) -> tuple[float, list[Hashable]] | None:
        """The first zero of a guard within a step, by its dense output, and whose it is."""
        dense = solver.dense_output()

        def look(t: float) -> dict[Hashable, float]:
            return self.hybrid.at(t, dense(t).tolist(), mode).guards

        looks = [(t0, guards)] + [(float(t0 + (t1 - t0) * k / LOOKS), None) for k in range(1, LOOKS + 1)]
        looks = [(t, look(t) if seen is None else seen) for t, seen in looks]
        looks = self.with_minima(looks, look)
        for (a, before), (b, after) in itertools.pairwise(looks):
            changed = [key for key in after if after[key] < -CHANGED]
            if changed:
                at = {key: zero(lambda t, key=key: look(t)[key], a, b, before[key]) for key in changed}
                first = min(at.values())
                return first, [key for key in changed if at[key] == first]
        return None

    def with_minima(self, looks: list, look) -> list:
        """Looks at guards, and further ones where a parabola through three of them dips towards 0."""
        more = []
        for (a, x), (_, y), (c, z) in zip(looks, looks[1:], looks[2:]):
            for key in y:
                if y[key] < x[key] and y[key] < z[key] and y[key] > -CHANGED:
                    curve = x[key] - 2 * y[key] + z[key]
                    slope = 0.5 * (z[key] - x[key])
                    if y[key] - 0.5 * slope**2 / curve < 0.3 * y[key]:
                        dip = least(lambda t, key=key: look(t)[key], a, c)
                        more.append((dip, look(dip)))
        return sorted([*looks, *more], key=lambda seen: seen[0])

    def refined(
        self, t0: float, y0: list[float], mode: Mode, t: float, keys: list[Hashable]
    ) -> tuple[float, list[float], list[Hashable]]:
        """The instant of an event and the state then, by the method itself in place of its dense output."""
        key, width = keys[0], t - t0
        y = self.carried(t0, y0, mode, t)
        for _ in range(4):
            g = self.hybrid.at(t, y, mode).guards[key]
            near = max(1e-7 * width, 1e-13)
            rates = self.hybrid.at(t, y, mode).rates
            ahead = [a + near * b for a, b in zip(y, rates)]
            slope = (self.hybrid.at(t + near, ahead, mode).guards[key] - g) / near
            step = -g / slope if slope else 0.0
            if not abs(step) < 0.1 * width or abs(step) < 1e-15:
                break
            t += step
            y = self.carried(t0, y0, mode, t)
        return t, y, keys

    def carried(self, t0: float, y0: list[float], mode: Mode, t: float) -> list[float]:
        """The state at t, within the step that began at t0."""
        solver = self.solver(t0, y0, mode, t, first=t - t0)
        while solver.status == "running":
            solver.step()
        assert solver.status == "finished"
        return solver.y.tolist()


def zero(g, a: float, b: float, at_a: float) -> float:
    """The zero of a guard that falls below 0 between a and b; a, if it is 0 there."""
    if at_a <= CHANGED and g(a + 1e-3 * (b - a)) < 0.0:
        return a
    if at_a <= 0.0:
        a += 1e-3 * (b - a)
    return float(brentq(g, a, b, xtol=1e-15, rtol=1e-15))


def least(g, a: float, b: float) -> float:
    """Where a guard is least between a and b, roughly, by the golden section."""
    share = 0.6180339887498949
    c, d = b - share * (b - a), a + share * (b - a)
    at_c, at_d = g(c), g(d)
    for _ in range(25):
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - share * (b - a)
            at_c = g(c)
        else:
            a, c, at_c = c, d, at_d
            d = a + share * (b - a)
            at_d = g(d)
    return c if at_c < at_d else d
