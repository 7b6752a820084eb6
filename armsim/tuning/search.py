"""Which trial comes next: methods that minimise a function on the unit cube, by comparing its values, or by its gradient."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from armsim.arrays import Array
from armsim.tuning.objective import UNMET

EDGE = 0.2  # of the first simplex, as a share of the bounds
NEAR = 1e-3  # a simplex of this size, as a share of the bounds, is at its end
PER_NUMBER = 200  # trials by Nelder-Mead, at most
PATIENCE, SMALL = 15, 3e-3  # steps for every number, and the share by which they should lower the cost
GENERATIONS = 60
SPREAD = 1e-3  # of the costs of a population, relative to their mean, at which it is at its end
FEWEST = 8  # trials that differential evolution makes
PER_GRADIENT = 20  # trials by gradients, at most
FLAT = 1e-5  # of the cost at first: a step that lowers it by less, and a slope over the bounds, at which it is least
FAILED = 1e6  # times the cost at first: that of a run that diverges
KEPT = 2.0 * FLAT  # share of its bound that a condition is kept from it: SLSQP ends where they are missed by `FLAT`
ABSENT = 1e-9  # of the bounds from the lower one, which may mean that something is absent
LEAST, EACH = 16, 4  # of a population: trials, at least and for every number


class TrialCost(Protocol):
    """What is to be small."""

    def __call__(self, shares: Array) -> Array:
        """Costs of trials, shape (trials,), of shares of shape (trials, numbers)."""

    def slopes(self, shares: Array) -> tuple[Array, Array]:
        """At shares of a trial that has a cost, shape (n,): the values of which the greatest is to be small, and those that
        conditions keep at 0 or below, each with its derivatives, shape (m, 1 + n) and (k, 1 + n)."""


class SearchMethod(Protocol):
    """A method: it tries points of the unit cube, from `start` on, `most` of them at most (None: as many as suit it)."""

    def __call__(self, cost: TrialCost, start: Array, most: int | None, seed: int) -> None: ...


def nelder_mead(cost: TrialCost, start: Array, most: int | None, seed: int) -> None:
    """The downhill simplex of Nelder and Mead (1965), with coefficients for many dimensions (Gao and Han, 2012), by scipy.

    One trial after the other; it draws nothing.
    """
    from scipy.optimize import minimize

    n = len(start)
    simplex = np.tile(start, (n + 1, 1))
    for i in range(n):
        simplex[i + 1, i] += EDGE if start[i] + EDGE <= 1.0 else -EDGE
    most = most_trials("nelder_mead", n, most)
    options = {
        "initial_simplex": simplex,
        "xatol": NEAR,
        "fatol": np.inf,
        "maxfev": most,
        "maxiter": most,
        "adaptive": True,
    }
    with np.errstate(invalid="ignore"):  # of trials that all diverge it takes differences
        minimize(
            lambda x: float(cost(x[None, :])[0]),
            start,
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * n,
            options=options,
            callback=_Stalled(PATIENCE * n),
        )


class _Stalled:
    """Ends a search whose least cost has fallen by less than `SMALL` of it over some steps."""

    def __init__(self, steps: int) -> None:
        self._steps, self._costs = steps, list[float]()

    def __call__(self, intermediate_result: Any) -> None:
        self._costs.append(float(intermediate_result.fun))
        if len(self._costs) > self._steps:
            before, now = self._costs[-1 - self._steps], self._costs[-1]
            if before < UNMET and before - now <= SMALL * abs(before):
                raise StopIteration


def differential_evolution(cost: TrialCost, start: Array, most: int | None, seed: int) -> None:
    """Differential evolution (Storn and Price, 1997), by scipy: a whole generation at once, which fills the lanes."""
    from scipy.optimize import differential_evolution as evolve
    from scipy.stats import qmc

    n = len(start)
    population = population_of(n, most)
    first = qmc.Sobol(n, seed=seed).random(population)
    first[0] = start
    with np.errstate(invalid="ignore"):
        evolve(
            lambda x: cost(np.ascontiguousarray(x.T)),
            [(0.0, 1.0)] * n,
            maxiter=most_trials("differential_evolution", n, most) // population - 1,
            init=first,
            tol=0.0,
            atol=-1.0,  # it is `_alike` that ends it
            seed=np.random.default_rng(seed),
            callback=_alike,
            polish=False,
            updating="deferred",
            vectorized=True,
        )


def _alike(intermediate_result: Any) -> None:
    """Ends an evolution whose population costs alike, once it meets all conditions."""
    costs = intermediate_result.population_energies
    if costs.max() < UNMET and np.std(costs) <= SPREAD * abs(np.mean(costs)):
        raise StopIteration


def gradient(cost: TrialCost, start: Array, most: int | None, seed: int) -> None:
    """Quasi-Newton methods by scipy, with exact gradients; they draw nothing.

    One value without conditions is minimised by L-BFGS-B (Byrd, Lu, Nocedal and Zhu, 1995), the greatest of several, or any
    under conditions, by SLSQP (Kraft, 1988), with a bound of the values as a further number.
    """
    from scipy.optimize import minimize

    n, start = len(start), np.clip(start, ABSENT, 1.0)
    most = most_trials("gradient", n, most)
    trials = _SlopedTrials(cost, most)
    options, bounds = {"maxiter": most, "ftol": FLAT}, [(ABSENT, 1.0)] * n
    first = trials(start)
    if first is None or len(first) == 1:
        minimize(trials.one, start, method="L-BFGS-B", jac=True, bounds=bounds, options=options | {"gtol": FLAT})
        return
    minimize(
        lambda z: (z[n], np.eye(1, n + 1, n)[0]),
        [*start, first[trials.bounded > 0.0, 0].max()],
        method="SLSQP",
        jac=True,
        bounds=[*bounds, (None, None)],
        constraints={"type": "ineq", "fun": trials.left, "jac": trials.left_by},
        options=options,
    )


class _SlopedTrials:
    """Trials with derivatives, in units of the first one's greatest value; the last one is known.

    Args:
        cost: What is to be small.
        most: How many trials there may be.

    Attributes:
        bounded: 1 in rows of a trial of whose values the greatest is to be small; 0 in those of conditions.
    """

    def __init__(self, cost: TrialCost, most: int) -> None:
        self._cost, self._left, self._unit = cost, most, 0.0
        self._x = self.bounded = np.empty(0)
        self._found: Array | None = None

    def __call__(self, x: Array) -> Array | None:
        """The rows at shares of bounds; None of a trial that fails, or that is one too many."""
        if not np.array_equal(x, self._x):
            self._left, self._x, self._found = self._left - 1, x.copy(), None
            if self._left >= 0 and np.isfinite(self._cost(x[None, :])[0]):
                values, excesses = self._cost.slopes(x)
                self._unit = self._unit or abs(values[:, 0]).max() or 1.0
                excesses[:, 0] += KEPT
                self._found = self._sound = np.nan_to_num(np.vstack([values / self._unit, excesses]), nan=FAILED)
                self.bounded = np.where(np.arange(len(self._sound)) < len(values), 1.0, 0.0)
        return self._found

    def one(self, x: Array) -> tuple[float, Array]:
        """The value of a trial, and its gradient."""
        found = self(x)
        return (FAILED, np.zeros_like(x)) if found is None else (found[0, 0], found[0, 1:])

    def left(self, z: Array) -> Array:
        """What is left of a bound of the values, the last of z, and of the conditions; not negative where they are kept."""
        found = self(z[:-1])
        return z[-1] * self.bounded - (FAILED if found is None else found[:, 0])

    def left_by(self, z: Array) -> Array:
        """Its derivatives; of a trial that fails those of the last that did not."""
        self(z[:-1])
        return np.column_stack([-self._sound[:, 1:], self.bounded])


def population_of(n: int, most: int | None = None) -> int:
    """Trials of a generation: a power of 2, which `most` is not below; 8 at least."""
    wanted = 1 << (max(LEAST, EACH * n) - 1).bit_length()
    return wanted if most is None or most >= wanted else 1 << (max(most, FEWEST).bit_length() - 1)


def most_trials(method: str, n: int, most: int | None) -> int:
    """How many trials a search of n numbers makes at most."""
    if method != "differential_evolution":
        return most or (PER_NUMBER if method == "nelder_mead" else PER_GRADIENT) * n
    population = population_of(n, most)
    return population * (1 + (GENERATIONS if most is None else max(0, most // population - 1)))


METHODS: dict[str, SearchMethod] = {
    "nelder_mead": nelder_mead,
    "differential_evolution": differential_evolution,
    "gradient": gradient,
}
