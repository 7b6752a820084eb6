"""How a fixed-step method takes a linear motion: which modes its step makes grow, and how long a step may be.

The method's own step is applied to the linearised plant, so that what is said holds for the code that runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from armsim.integrate import METHODS, Motion, System, advanced
from armsim.linear import Linearization, Rows

Array = npt.NDArray[np.float64]
Modes = npt.NDArray[np.complex128]

NEUTRAL = 1e-7  # of the fastest mode: slower growth or decay counts as none
SHARP = 1e-9  # how far beyond 1 an amplification must be to count
STEPS_DOWN = 60  # halvings of the search for the largest stable step
CLOSENESS = 1e-4  # of the largest stable step


class LinearPlant(System):
    """A plant's small motions, as a system whose scalars are rows of numbers.

    Args:
        about: The linearised plant; under sampled control its commands are held.
    """

    def __init__(self, about: Linearization) -> None:
        super().__init__(self._rates_of)
        n, k = about.n, len(about.currents)
        m, law = len(about.u), None if about.plant.sampled else about.law
        further = 0 if law is None else len(law.Z)
        nothing: Rows = []
        gain = _matrix(nothing if law is None else law.K, m, 2 * n + k)
        by_z = _matrix(nothing if law is None else law.Kz, m, further)
        Fu = np.array(about.Fu)
        forces = np.hstack([about.Fq, about.Fv, _matrix(about.Fi, n, k)]) + Fu @ gain
        self.held = np.array(about.held)
        self.M = np.array(about.M)
        self.F = np.hstack([forces[:, : 2 * n], Fu @ by_z])  # by q, v, z
        self.Fi = forces[:, 2 * n :]
        self.D = np.diag(np.maximum(-np.diag(self.F[:, n : 2 * n]), 0.0))
        by_x = _matrix(nothing if law is None else law.Z, further, 2 * n + k)[:, : 2 * n]
        self.Z = np.hstack([by_x, _matrix(nothing if law is None else law.Zz, further, further)])
        of_currents = _matrix(about.I, k, 2 * n + k + m)
        self.I = of_currents[:, : 2 * n + k] + of_currents[:, 2 * n + k :] @ gain
        self.Iz = of_currents[:, 2 * n + k :] @ by_z
        self.pushed: Array = np.zeros((n, 0))  # forces of the currents within a step
        self.n = n

    @property
    def size(self) -> int:
        """Number of states: q, v, controller integrals, currents."""
        return 2 * self.n + len(self.Z) + len(self.I)

    def _accelerate(self, mass: Array, force: Array) -> Array:
        free = ~self.held
        a = np.zeros_like(force)
        a[free] = np.linalg.solve(mass[np.ix_(free, free)], force[free])
        return a

    def _force(self, y: Motion) -> Array:
        return self.F @ np.array([*y.q, *y.v, *y.z]) + self.pushed

    def _rates_of(self, t: float, y: Motion) -> Motion:
        z = self.Z @ np.array([*y.q, *y.v, *y.z])
        return Motion(y.v, list(self._accelerate(self.M, self._force(y))), list(z), [])

    def implicit_kick(self, t: float, y: Motion, h: float) -> Motion:
        """As of `armsim.mechanics.Mechanics`."""
        v = np.array(y.v)
        after = self._accelerate(self.M + h * self.D, self.M @ v + h * (self._force(y) + self.D @ v))
        return Motion(y.q, list(after), advanced(y.z, h, list(self.Z @ np.array([*y.q, *y.v, *y.z]))), [])

    def matrix(self) -> Array:
        """The rates of the states by the states, currents among them."""
        n, k = self.n, len(self.Z)
        unit = np.eye(self.size)
        self.pushed = self.Fi @ unit[2 * n + k :]
        rates = self._rates_of(0.0, self._motion(unit))
        x = unit[[*range(2 * n), *range(2 * n + k, self.size)]]
        v = np.array(rates.q)
        v[self.held] = 0.0
        return np.vstack([v, rates.v, *rates.z, self.I @ x + self.Iz @ unit[2 * n : 2 * n + k]])

    def step_matrix(self, method: str, h: float) -> Array:
        """The states after a step of h seconds by the states before."""
        n, k = self.n, len(self.Z)
        unit = np.eye(self.size)
        if method == "implicit_midpoint":
            after = self._implicit_midpoint(h)
        else:
            self.pushed = self.Fi @ unit[2 * n + k :]
            step = METHODS[method].step
            assert step is not None
            after = step(self, 0.0, self._motion(unit), h)
        v = np.array(after.v)
        v[self.held] = 0.0
        decay = np.diag(self.I[:, 2 * n :]) if len(self.I) else np.zeros(0)  # each current by its exact exponential
        kept = np.exp(decay * h)[:, None]
        coupled = self.I.copy()
        coupled[:, 2 * n :] -= np.diag(decay)
        x = unit[[*range(2 * n), *range(2 * n + k, self.size)]]
        fed = coupled @ x + self.Iz @ unit[2 * n : 2 * n + k]
        currents = kept * unit[2 * n + k :] + (kept - 1.0) / np.where(decay == 0.0, 1.0, decay)[:, None] * fed
        return np.vstack([after.q, v, *after.z, currents])

    def _implicit_midpoint(self, h: float) -> Motion:
        """The step of a method that solves equations; for linear ones, driven by currents that stay, they are these."""
        size = 2 * self.n + len(self.Z)
        rates = self.matrix()[:size]
        half, after = h / 2 * rates[:, :size], np.eye(self.size)[:size] + h * rates
        after[:, :size] -= half
        return self._motion(np.asarray(np.linalg.solve(np.eye(size) - half, after), dtype=float))

    def _motion(self, unit: Array) -> Motion:
        n, k = self.n, len(self.Z)
        return Motion(list(unit[:n]), list(unit[n : 2 * n]), list(unit[2 * n : 2 * n + k]), [])


def with_stop(about: Linearization, i: int, stiffness: float, damping: float) -> Linearization:
    """The same small motions with a stop of joint i engaged."""
    Fq, Fv = ([list(row) for row in block] for block in (about.Fq, about.Fv))
    Fq[i][i] -= stiffness
    Fv[i][i] -= damping
    return replace(about, Fq=Fq, Fv=Fv)


@dataclass(frozen=True)
class Amplified:
    """What a step does to the modes of a linear motion.

    Attributes:
        decaying: The largest amplification, in a step, of a mode that decays by itself.
        joint: The joint that moves most in that mode.
        growth: How fast the step makes an undamped mode grow [1/s]; zero for none.
        undamped: That mode's circular frequency [rad/s].
    """

    decaying: float
    joint: int
    growth: float
    undamped: float

    @property
    def stable(self) -> bool:
        """Whether all modes that decay still do so."""
        return self.decaying <= 1.0 + SHARP


def amplified(plant: LinearPlant, modes: Modes, method: str, h: float) -> Amplified:
    """What a step of h seconds does to modes; those that grow by themselves are left out.

    Args:
        plant: The linear motion.
        modes: The eigenvalues of its matrix [1/s].
        method: A method of fixed steps.
        h: Length of the step [s].
    """
    scale = NEUTRAL * max(np.abs(modes).max(initial=0.0), 1e-3)
    by_step, shapes = np.linalg.eig(plant.step_matrix(method, h))
    left = list(range(len(by_step)))

    def take(mode: complex) -> complex:
        """What becomes of a mode: the amplification next to the exact one."""
        exact = np.exp(h * mode)
        found = min(left, key=lambda i: abs(by_step[i] - exact))
        left.remove(found)
        return complex(by_step[found])

    for mode in modes[modes.real > scale]:
        take(mode)
    growth, undamped = 0.0, 0.0
    for mode in modes[np.abs(modes.real) <= scale]:
        size = abs(take(mode))
        speed = np.log(size) / h if size > 0.0 else -np.inf
        if abs(mode) > 1e3 * scale and speed > growth:
            growth, undamped = float(speed), abs(float(mode.imag))
    if not left:
        return Amplified(0.0, 0, growth, undamped)
    worst = max(left, key=lambda i: abs(by_step[i]))
    weights = np.sqrt(np.diag(plant.M)) * np.abs(shapes[plant.n : 2 * plant.n, worst])
    return Amplified(float(abs(by_step[worst])), int(np.argmax(weights)), growth, undamped)


def largest_stable_step(plant: LinearPlant, modes: Modes, method: str, beyond: float) -> float:
    """The longest step under which all modes that decay still do so [s], looked for below `beyond`, which is too long."""
    high, low = beyond, beyond / 2
    for _ in range(STEPS_DOWN):
        if amplified(plant, modes, method, low).stable:
            break
        high, low = low, low / 2
    while high - low > CLOSENESS * low:
        middle = (low + high) / 2
        low, high = (middle, high) if amplified(plant, modes, method, middle).stable else (low, middle)
    return low


def _matrix(rows: Rows, height: int, width: int) -> Array:
    """A matrix by its rows; zero where none are given."""
    return np.array(rows).reshape(height, width) if rows else np.zeros((height, width))
