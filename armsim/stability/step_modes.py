"""Linear stability of a fixed-step method: the modes that its step destabilises, and its largest stable step.

The method's own step is applied to the linearised plant, so that the result holds for the code that runs. A mode that is unstable
in continuous time, such as that of an inverted pendulum, may be unstable under the step; one that is stable must stay so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from armsim.actuation.motor import relaxed
from armsim.integrate import METHODS, Motion, System, advanced
from armsim.plant import Linearization
from armsim.plant.equations import Damped
from armsim.plant.state import Further
from armsim.stability.closed_loop import Array, gains, with_feedback

Modes = npt.NDArray[np.complex128]

NEUTRAL = 1e-7  # of the spectral radius: smaller real parts count as zero
DRIFTING = 1e-5  # of the spectral radius: smaller eigenvalues are left aside, as rounding moves them
ROUNDING = 1e-9  # error of an amplification factor by rounding
RESOLVED = 0.5  # h |λ|: up to here a step resolves a mode
UNDAMPED = 0.1  # of the growth rate under the step: an oscillation whose decay rate is less counts as undamped
CLOSENESS = 1e-4  # relative precision of a largest stable step
SHORTEST, LONGEST = 1e-9, 10.0  # s: range of the search for largest stable steps
TERMS = 10  # of the exponential series

# R(h λ), of methods that treat all modes alike; for the others exp(h λ) stands in, to match eigenvalues with modes
STABILITY_FUNCTIONS: dict[str, Callable[[Modes], Modes]] = {
    "explicit_euler": lambda z: 1 + z,
    "rk4": lambda z: 1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))),
    "implicit_midpoint": lambda z: (2 + z) / (2 - z),
}


@dataclass(frozen=True)
class DestabilisedMode:
    """A mode that the step destabilises: stable or neutral in continuous time, growing under the step.

    Attributes:
        growth: Growth rate under the step, ln|μ| / h with μ its amplification factor [1/s].
        rate: Its eigenvalue λ in continuous time [1/s].
        h: Length of the step, or the sampling period [s].
        joint: Index of the joint with the most kinetic energy in it.
    """

    growth: float
    rate: complex
    h: float
    joint: int

    @property
    def decays(self) -> bool:
        """Whether it decays in continuous time, however slowly."""
        return self.rate.real < 0.0

    @property
    def is_undamped_oscillation(self) -> bool:
        """Whether it is an oscillation, undamped or nearly so, that the step resolves but amplifies."""
        return self.h * abs(self.rate) <= RESOLVED and -self.rate.real <= UNDAMPED * self.growth

    @property
    def frequency(self) -> float:
        """Frequency of its oscillation [Hz]."""
        return abs(self.rate.imag) / (2 * math.pi)


class LinearPlant(System):
    """A linearised plant, as a `System` whose scalars are rows: one step of the identity gives the step's matrix.

    States are positions, velocities, the integrals of a continuous controller, armature currents, and under sampled feedback
    the held commands. Joints that dry friction holds are taken as free, as they may slip later.

    Args:
        about: The linearisation.
    """

    def __init__(self, about: Linearization) -> None:
        super().__init__(self._rates_of)
        self.about = replace(about, held=(False,) * about.n)
        self.n, k, m = about.n, len(about.currents), len(about.u)
        self.law = None if about.law is None else gains(about.law, m, 2 * self.n + k)
        self.sampled = about.law is not None and about.plant.sampled
        z = 0 if self.law is None or self.sampled else len(self.law.Z)
        self.moving = 2 * self.n + z + k  # states that change within a step
        self.size = self.moving + (m if self.sampled else 0)
        self.parts = np.cumsum([self.n, self.n, z, k])[:-1]

        x = np.eye(self.size)
        q, v, integrals, currents = np.split(x[: self.moving], self.parts)
        u = x[self.moving :] if self.sampled else np.zeros((m, self.size))
        own = np.vstack([q, v, currents])
        if self.law is not None and not self.sampled:
            u = self.law.K @ own + self.law.Kz @ integrals
        self.M = np.array(about.M)
        self.force = np.hstack([about.Fq, about.Fv, np.reshape(about.Fi, (self.n, k))]) @ own + np.array(about.Fu) @ u
        self.currents = np.reshape(about.I, (k, 2 * self.n + k + m)) @ np.vstack([own, u])
        self.integrals = np.zeros((0, self.size))
        if z and self.law is not None:
            self.integrals = self.law.Z @ own + self.law.Zz @ integrals
        self.D = np.maximum(-np.diag(self.force[:, self.n : 2 * self.n]), 0.0).tolist()
        self.rest = x[2 * self.n + z :]  # constant within a step: currents advance by themselves

    def _rates_of(self, t: float, y: Motion) -> Motion:
        x = np.array([*y.q, *y.v, *y.z, *self.rest])
        return Motion(y.v, list(np.linalg.solve(self.M, self.force @ x)), list(self.integrals @ x), [])

    def implicit_kick(self, t: float, y: Motion, h: float) -> Motion:
        """A kick implicit in the velocities, as of an arm; see `armsim.plant.equations.Damped`."""
        x = np.array([*y.q, *y.v, *y.z, *self.rest])
        M = [row[: i + 1] for i, row in enumerate(self.M.tolist())]
        now = Damped(M, list(self.force @ x), self.D, [], Further(list(self.integrals @ x), []))
        v, _, _ = now.velocities_after(y.v, h)
        return Motion(y.q, v, advanced(y.z, h, now.z.integrals), [])

    @cached_property
    def matrix(self) -> Array:
        """The system matrix A of dx/dt = A x [1/s], shape (size, size); zero rows for held commands."""
        v = np.eye(self.size)[self.n : 2 * self.n]
        rates = [v, np.linalg.solve(self.M, self.force), self.integrals, self.currents]
        return np.vstack([*rates, np.zeros((self.size - self.moving, self.size))])

    @cached_property
    def modes(self) -> Modes:
        """The eigenvalues λ of A [1/s]; under sampled feedback those of the plant, commands held."""
        return np.linalg.eigvals(self.matrix[: self.moving, : self.moving]).astype(complex)

    @property
    def fastest(self) -> float:
        """The spectral radius of A: the largest |λ| [1/s]."""
        return float(np.abs(self.modes).max(initial=0.0))

    def step_matrix(self, method: str, h: float) -> Array:
        """The matrix of a step of h seconds, from state to state, shape (size, size)."""
        start = np.eye(self.size)
        q, v, z, currents = np.split(start[: self.moving], self.parts)
        if method == "implicit_midpoint":  # of a linear system its step is the Cayley transform of h A
            ahead = h / 2 * self.matrix
            ahead[2 * self.n + len(z) :] = 0.0
            moved = np.linalg.solve(start - ahead, start + ahead)[: 2 * self.n + len(z)]
        else:
            step = METHODS[method].step
            assert step is not None
            after = step(self, 0.0, Motion(list(q), list(v), list(z), []), h)
            moved = np.array([*after.q, *after.v, *after.z])
        return np.vstack([moved, self._currents_after(currents, h), start[self.moving :]])

    def _currents_after(self, currents: Array, h: float) -> Array:
        """The currents after a step, each by its exact exponential at constant voltage and speed."""
        if not len(currents):
            return currents
        rates = np.diag(self.currents[:, self.moving - len(currents) : self.moving])[:, None]
        settled = currents - self.currents / rates  # the steady value of each
        return np.asarray(relaxed(currents, settled, np.exp(rates * h)))

    def destabilised(self, method: str, h: float) -> list[DestabilisedMode]:
        """The modes that steps of h seconds destabilise, the fastest growing first."""
        within = self.step_matrix(method, h)[: self.moving, : self.moving]
        return self._compared(self.modes, STABILITY_FUNCTIONS.get(method, np.exp)(h * self.modes), within, h)

    def loop(self, flow: Array, period: float) -> Array:
        """The closed-loop matrix from sample to sample: of positions, velocities, currents and the controller's integrals.

        Args:
            flow: The plant's matrix over a period, commands held (zero-order hold), shape (size, size).
            period: Sampling period [s].
        """
        assert self.law is not None
        return with_feedback(flow[: self.moving, : self.moving], flow[: self.moving, self.moving :], self.law, period)

    def loop_rates(self, period: float) -> Modes:
        """The eigenvalues of the exact sampled loop, as log(z) / period [1/s]."""
        factors = np.linalg.eigvals(self.loop(exponential(self.matrix, period), period)).astype(complex)
        return np.asarray(np.log(np.where(np.abs(factors) < ROUNDING, ROUNDING, factors)) / period, dtype=complex)

    @cached_property
    def continuous_rates(self) -> Modes:
        """The eigenvalues of the loop if its sampled controller were continuous [1/s]."""
        assert self.law is not None
        A, B = self.matrix[: self.moving, : self.moving], self.matrix[: self.moving, self.moving :]
        return np.linalg.eigvals(with_feedback(A, B, self.law)).astype(complex)

    def destabilised_loop(self, method: str, h: float, period: float) -> list[DestabilisedMode]:
        """As `destabilised`, of the sampled loop: its modes that are stable if the plant moves exactly between samples."""
        rates = self.loop_rates(period)
        flow = np.linalg.matrix_power(self.step_matrix(method, h), max(1, round(period / h)))
        return self._compared(rates, np.exp(period * rates), self.loop(flow, period), period)

    def _compared(self, rates: Modes, expected: Modes, stepped: Array, h: float) -> list[DestabilisedMode]:
        """The modes that a step destabilises, its eigenvalues matched to those of continuous time.

        Args:
            rates: Eigenvalues in continuous time [1/s].
            expected: Amplification factors to match, about those of the step.
            stepped: The step's matrix.
            h: Its length [s].
        """
        factors, shapes = np.linalg.eig(stepped)
        left = list(range(len(factors)))
        found = []
        for i in np.argsort(np.abs(rates)):  # slow modes first: their factors are best predicted
            taken = min(left, key=lambda j: abs(factors[j] - expected[i]))
            left.remove(taken)
            size, rate = abs(factors[taken]), complex(rates[i])
            if abs(rate.real) <= NEUTRAL * self.fastest:
                rate = complex(0.0, rate.imag)
            if size > 1.0 + ROUNDING and rate.real <= 0.0 and abs(rate) > DRIFTING * self.fastest:
                speeds = np.sqrt(np.diag(self.M)) * np.abs(shapes[self.n : 2 * self.n, taken])
                found.append(DestabilisedMode(math.log(size) / h, rate, h, int(speeds.argmax())))
        return sorted(found, key=lambda mode: -mode.growth)

    def least_real_eigenvalue(self, method: str, h: float) -> float:
        """The least real eigenvalue of the step's matrix; 0 if none is negative."""
        factors = np.linalg.eigvals(self.step_matrix(method, h)[: self.moving, : self.moving])
        return float(factors.real[np.abs(factors.imag) <= ROUNDING].min(initial=0.0))

    def amplifies_oscillations(self, method: str) -> bool:
        """Whether a method amplifies undamped oscillations at any step."""
        short = RESOLVED / self.fastest / 2 if self.fastest else LONGEST
        return any(mode.is_undamped_oscillation and not mode.decays for mode in self.destabilised(method, short))

    def is_stable(self, method: str, h: float) -> bool:
        """Whether steps of h seconds destabilise no mode, undamped oscillations left aside."""
        return all(mode.is_undamped_oscillation and not mode.decays for mode in self.destabilised(method, h))


def stable_steps(about: Linearization) -> dict[str, float]:
    """The largest stable step of every fixed-step method at a state [s]; see `largest_stable_step`.

    0 also for a method that amplifies an undamped oscillation at any step. With sampled control, the commands are held.
    """
    small, found = LinearPlant(about), {}
    for name, method in METHODS.items():
        if method.step is not None:
            found[name] = 0.0 if small.amplifies_oscillations(name) else largest_stable_step(small, name)
    return found


def largest_stable_step(plant: LinearPlant, method: str) -> float:
    """The largest step that destabilises no mode, undamped oscillations left aside [s].

    Args:
        plant: The linearised plant.
        method: A fixed-step method.

    Returns:
        Infinity if there is no limit up to `LONGEST`, 0 if no step is short enough.
    """
    return largest_step(lambda h: plant.is_stable(method, h), plant.fastest)


def largest_step(holds: Callable[[float], bool], fastest: float) -> float:
    """The largest step up to which a condition holds, by bisection [s].

    Args:
        holds: The condition on a step [s].
        fastest: The spectral radius [1/s].

    Returns:
        Infinity if it holds up to `LONGEST`, 0 if no step is short enough.
    """
    low = min(RESOLVED / fastest, LONGEST) if fastest else LONGEST
    while not holds(low):
        low /= 2
        if low < SHORTEST:
            return 0.0
    high = low
    while holds(high):  # from below, as stability may return beyond the limit
        if high >= LONGEST:
            return math.inf
        low, high = high, min(1.5 * high, LONGEST)
    while high - low > CLOSENESS * low:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def exponential(matrix: Array, t: float) -> Array:
    """exp(matrix t), by scaling and squaring of its Taylor series (Golub and Van Loan, *Matrix Computations*, section 9.3)."""
    halvings = max(0, math.ceil(math.log2(max(float(np.abs(matrix).sum(axis=1).max()) * t, 1e-9))) + 2)
    part = matrix * (t / 2**halvings)
    total = np.eye(len(matrix))
    for k in reversed(range(1, TERMS + 1)):
        total = np.eye(len(matrix)) + part @ total / k
    for _ in range(halvings):
        total = total @ total
    return total
