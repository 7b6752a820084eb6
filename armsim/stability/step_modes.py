"""How a fixed-step method takes small motions: which modes its step makes grow, and how long a step may be.

The method's own step is applied to the linearised plant, so that what is said holds for the code that runs. A mode that grows by
itself, such as an arm's that stands upside down, may grow under the step as well; one that does not must not.
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

NEUTRAL = 1e-7  # of the fastest mode: slower growth or decay counts as none
DRIFTING = 1e-5  # of the fastest mode: modes as slow as this are left aside, for rounding moves them
SHARP = 1e-9  # what rounding may add to an amplification
FOLLOWED = 0.5  # h |λ|: up to here a step follows a mode closely
UNDAMPED = 0.1  # of the growth by a step: a swing whose own damping is less counts as undamped
CLOSENESS = 1e-4  # of a largest stable step
SHORTEST, LONGEST = 1e-9, 10.0  # seconds: between them largest stable steps are looked for
TERMS = 10  # of the exponential series

# by what a step multiplies a mode, of h λ, for methods that treat all modes alike; others about as time does
FACTORS: dict[str, Callable[[Modes], Modes]] = {
    "explicit_euler": lambda z: 1 + z,
    "rk4": lambda z: 1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))),
    "implicit_midpoint": lambda z: (2 + z) / (2 - z),
}


@dataclass(frozen=True)
class Spoiled:
    """A mode that does not grow by itself and that a step makes grow.

    Attributes:
        growth: How fast it grows under the step [1/s].
        rate: What it does by itself: λ of exp(λ t) [1/s].
        h: Length of the step, or of the time between samples [s].
        joint: Index of the joint that moves most in it.
    """

    growth: float
    rate: complex
    h: float
    joint: int

    @property
    def decays(self) -> bool:
        """Whether it decays by itself, however slowly."""
        return self.rate.real < 0.0

    @property
    def is_swing(self) -> bool:
        """Whether it is a swing, undamped or nearly so, that the step follows but feeds with energy."""
        return self.h * abs(self.rate) <= FOLLOWED and -self.rate.real <= UNDAMPED * self.growth

    @property
    def hertz(self) -> float:
        """Frequency of its swing [Hz]."""
        return abs(self.rate.imag) / (2 * math.pi)


class LinearPlant(System):
    """A plant's small motions, as a system whose scalars are rows of numbers: one for every state to begin with.

    States are positions, velocities, the integrals of a continuous controller, armature currents, and under sampled feedback
    the commands, which are held. Joints that dry friction holds are taken as free, for they may be set free later.

    Args:
        about: The linearised plant.
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
        self.rest = x[2 * self.n + z :]  # stays as it is while the joints move

    def _rates_of(self, t: float, y: Motion) -> Motion:
        x = np.array([*y.q, *y.v, *y.z, *self.rest])
        return Motion(y.v, list(np.linalg.solve(self.M, self.force @ x)), list(self.integrals @ x), [])

    def implicit_kick(self, t: float, y: Motion, h: float) -> Motion:
        """As of an arm: `armsim.plant.equations.Damped`."""
        x = np.array([*y.q, *y.v, *y.z, *self.rest])
        M = [row[: i + 1] for i, row in enumerate(self.M.tolist())]
        now = Damped(M, list(self.force @ x), self.D, [], Further(list(self.integrals @ x), []))
        v, _, _ = now.velocities_after(y.v, h)
        return Motion(y.q, v, advanced(y.z, h, now.z.integrals), [])

    @cached_property
    def matrix(self) -> Array:
        """The rates of the states by the states; held commands do not change."""
        v = np.eye(self.size)[self.n : 2 * self.n]
        rates = [v, np.linalg.solve(self.M, self.force), self.integrals, self.currents]
        return np.vstack([*rates, np.zeros((self.size - self.moving, self.size))])

    @cached_property
    def modes(self) -> Modes:
        """The eigenvalues λ of exp(λ t) [1/s]; under sampled feedback those between samples."""
        return np.linalg.eigvals(self.matrix[: self.moving, : self.moving]).astype(complex)

    @property
    def fastest(self) -> float:
        """The largest |λ| [1/s]."""
        return float(np.abs(self.modes).max(initial=0.0))

    def step_matrix(self, method: str, h: float) -> Array:
        """The states after a step of h seconds by the states before."""
        start = np.eye(self.size)
        q, v, z, currents = np.split(start[: self.moving], self.parts)
        if method == "implicit_midpoint":  # its step solves equations; for linear ones they are these
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
        settled = currents - self.currents / rates  # where the rest of the state would bring each of them
        return np.asarray(relaxed(currents, settled, np.exp(rates * h)))

    def spoiled(self, method: str, h: float) -> list[Spoiled]:
        """The modes that do not grow by themselves, but do under steps of h seconds; the fastest growing first."""
        within = self.step_matrix(method, h)[: self.moving, : self.moving]
        return self._compared(self.modes, FACTORS.get(method, np.exp)(h * self.modes), within, h)

    def loop(self, flow: Array, period: float) -> Array:
        """The map from sample to sample of sampled feedback; of positions, velocities, currents and the controller's integrals.

        Args:
            flow: The states a period later by the states, commands held.
            period: Time between samples [s].
        """
        assert self.law is not None
        return with_feedback(flow[: self.moving, : self.moving], flow[: self.moving, self.moving :], self.law, period)

    def loop_rates(self, period: float) -> Modes:
        """What the modes of the sampled loop do by themselves: λ of exp(λ t) at the samples [1/s]."""
        factors = np.linalg.eigvals(self.loop(exponential(self.matrix, period), period)).astype(complex)
        return np.asarray(np.log(np.where(np.abs(factors) < SHARP, SHARP, factors)) / period, dtype=complex)

    @cached_property
    def continuous_rates(self) -> Modes:
        """What the modes of the loop of a sampled controller would do if it were continuous [1/s]."""
        assert self.law is not None
        A, B = self.matrix[: self.moving, : self.moving], self.matrix[: self.moving, self.moving :]
        return np.linalg.eigvals(with_feedback(A, B, self.law)).astype(complex)

    def spoiled_loop(self, method: str, h: float, period: float) -> list[Spoiled]:
        """As `spoiled`, of the sampled loop: the modes that would not grow if the plant moved exactly between samples."""
        rates = self.loop_rates(period)
        flow = np.linalg.matrix_power(self.step_matrix(method, h), max(1, round(period / h)))
        return self._compared(rates, np.exp(period * rates), self.loop(flow, period), period)

    def _compared(self, rates: Modes, expected: Modes, stepped: Array, h: float) -> list[Spoiled]:
        """What a step makes of modes.

        Args:
            rates: What they do by themselves [1/s].
            expected: By what, about, the step multiplies them.
            stepped: The step's matrix.
            h: Its length [s].
        """
        factors, shapes = np.linalg.eig(stepped)
        left = list(range(len(factors)))
        found = []
        for i in np.argsort(np.abs(rates)):  # slow modes are hardly changed by a step, and leave the others
            taken = min(left, key=lambda j: abs(factors[j] - expected[i]))
            left.remove(taken)
            size, rate = abs(factors[taken]), complex(rates[i])
            if abs(rate.real) <= NEUTRAL * self.fastest:
                rate = complex(0.0, rate.imag)
            if size > 1.0 + SHARP and rate.real <= 0.0 and abs(rate) > DRIFTING * self.fastest:
                speeds = np.sqrt(np.diag(self.M)) * np.abs(shapes[self.n : 2 * self.n, taken])
                found.append(Spoiled(math.log(size) / h, rate, h, int(speeds.argmax())))
        return sorted(found, key=lambda spoiled: -spoiled.growth)

    def most_negative(self, method: str, h: float) -> float:
        """The least factor, as a real number, by which a step multiplies a mode; 0 if there is no negative one."""
        factors = np.linalg.eigvals(self.step_matrix(method, h)[: self.moving, : self.moving])
        return float(factors.real[np.abs(factors.imag) <= SHARP].min(initial=0.0))

    def feeds(self, method: str) -> bool:
        """Whether steps of any length make an undamped swing grow."""
        short = FOLLOWED / self.fastest / 2 if self.fastest else LONGEST
        return any(spoiled.is_swing and not spoiled.decays for spoiled in self.spoiled(method, short))

    def is_stable(self, method: str, h: float) -> bool:
        """Whether under steps of h seconds no mode grows that does not do so by itself, undamped swings left aside."""
        return all(spoiled.is_swing and not spoiled.decays for spoiled in self.spoiled(method, h))


def stable_steps(about: Linearization) -> dict[str, float]:
    """The largest stable step of every method of fixed steps at a state [s]; see `largest_stable_step`.

    0 also for a method that makes an undamped swing grow at any step. With sampled control, the commands are held.
    """
    small, found = LinearPlant(about), {}
    for name, method in METHODS.items():
        if method.step is not None:
            found[name] = 0.0 if small.feeds(name) else largest_stable_step(small, name)
    return found


def largest_stable_step(plant: LinearPlant, method: str) -> float:
    """The longest step under which no mode grows that does not do so by itself, undamped swings left aside [s].

    Args:
        plant: The small motions.
        method: A method of fixed steps.

    Returns:
        Infinity if there is no limit up to `LONGEST`, 0 if no step is short enough.
    """
    return largest_step(lambda h: plant.is_stable(method, h), plant.fastest)


def largest_step(holds: Callable[[float], bool], fastest: float) -> float:
    """The longest step for which a condition holds, as it does for all shorter ones [s].

    Args:
        holds: The condition.
        fastest: The rate of the fastest mode [1/s].

    Returns:
        Infinity if it holds up to `LONGEST`, 0 if no step is short enough.
    """
    low = min(FOLLOWED / fastest, LONGEST) if fastest else LONGEST
    while not holds(low):
        low /= 2
        if low < SHORTEST:
            return 0.0
    high = low
    while holds(high):  # from below: beyond a step that is too long there may be one that is not
        if high >= LONGEST:
            return math.inf
        low, high = high, min(1.5 * high, LONGEST)
    while high - low > CLOSENESS * low:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def exponential(matrix: Array, t: float) -> Array:
    """exp(matrix t), by its series over a short time, squared (Golub and Van Loan, *Matrix Computations*, section 9.3)."""
    halvings = max(0, math.ceil(math.log2(max(float(np.abs(matrix).sum(axis=1).max()) * t, 1e-9))) + 2)
    part = matrix * (t / 2**halvings)
    total = np.eye(len(matrix))
    for k in reversed(range(1, TERMS + 1)):
        total = np.eye(len(matrix)) + part @ total / k
    for _ in range(halvings):
        total = total @ total
    return total
