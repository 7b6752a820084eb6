"""Linear stability of a fixed-step method: the modes that its step destabilises, and its largest stable step.

The method's own step is applied to the linearised plant, so that the result holds for the code that runs. A mode that is unstable
in continuous time, such as that of an inverted pendulum, may be unstable under the step; one that is stable must stay so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from armsim.actuation.motor import relaxed
from armsim.arrays import Array, Indices, Mask
from armsim.integrate import METHODS, Motion, System, advanced
from armsim.plant import Linearization
from armsim.plant.equations import Damped
from armsim.plant.state import Further
from armsim.stability.closed_loop import as_continuous, with_feedback
from armsim.stability.coefficients import Coefficients
from armsim.stability.growth import RESOLVED, GrowthRates, Modes, matched
from armsim.stability.spectra import exponential, spectrum

NEUTRAL = 1e-7  # of the spectral radius: smaller real parts count as zero
DRIFTING = 1e-5  # of the spectral radius: smaller eigenvalues are left aside, as rounding moves them
ROUNDING = 1e-9  # error of an amplification factor by rounding
CLOSENESS = 1e-4  # relative precision of a largest stable step
SHORTEST, LONGEST = 1e-9, 10.0  # s: range of the search for largest stable steps
# least real eigenvalue of an implicit step with which an engaged stop settles, below which it chatters; found by trial
BOUNCE = {"velocity_implicit": -0.25, "implicit_midpoint": -0.5}

# largest h |λ| at which a further state decays that decays by a rate λ of its own; of other methods 2
SETTLES = {"rk4": 2.785}

# R(h λ), of methods that treat all modes alike; for the others exp(h λ) stands in, to match eigenvalues with modes
STABILITY_FUNCTIONS: dict[str, Callable[[Modes], Modes]] = {
    "explicit_euler": lambda z: 1 + z,
    "rk4": lambda z: 1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))),
    "implicit_midpoint": lambda z: (2 + z) / (2 - z),
}


class LinearPlant(System):
    """A linearised plant, as a `System` whose scalars are rows: one step of the identity gives the step's matrix.

    States are positions, velocities, what a continuous controller remembers, armature currents, and under sampled feedback
    the held commands. Joints that dry friction holds are taken as free, as they may slip later.

    It may be many plants of one structure; arrays then have leading axes "...", those of the coefficients.

    Args:
        about: The linearisation, or its coefficients.
    """

    def __init__(self, about: Linearization | Coefficients) -> None:
        super().__init__(self._rates_of)
        given = Coefficients.of(about) if isinstance(about, Linearization) else about
        self.coefficients, self.law = given, given.law
        self.sampled = given.law is not None and given.period is not None
        *self.axes, self.n, _ = given.Fu.shape
        k = given.I.shape[-2]
        z = 0 if self.law is None or self.sampled else self.law.Z.shape[-2]
        self.moving = 2 * self.n + z + k  # states that change within a step
        self.size = self.moving + (self.n if self.sampled else 0)
        self.advanced = 2 * self.n + z  # of these, those that the method advances
        self.M = given.M

    def __getitem__(self, which: Any) -> LinearPlant:
        """Some of the plants, by an index or mask of the leading axes; what is known of them is kept."""
        some = LinearPlant(self.coefficients[which])
        known = {name: x for name, x in vars(self).items() if isinstance(x, np.ndarray) and not name.startswith("_")}
        vars(some).update({name: x[which] for name, x in known.items()})
        return some

    @cached_property
    def saturated(self) -> LinearPlant:
        """The plants with the commands at their bounds, where they have one: constant, so without slopes."""
        given, law = self.coefficients, self.law
        if law is None:
            return self
        open_ = (given.bounds[..., 0, :, None] == 0.0) * 1.0
        Fv = given.Fv + given.bounds[..., 3, :, None] * np.eye(self.n)
        return LinearPlant(replace(given, Fv=Fv, law=law._replace(K=law.K * open_, Kz=law.Kz * open_)))

    @property
    def swinging(self) -> LinearPlant:
        """The plants under commands that swing as far as they are now, of which brushes leave a share of their slopes."""
        given = self.coefficients
        return LinearPlant(replace(given, Fu=given.Fu * given.bounds[..., 4, None, :]))

    def chatter(self, h: float, cuts: bool = False) -> Array:
        """How far joints move while commands chatter between their bounds [rad or m], the farthest, shape (...).

        All bounds f that act for h seconds move the joints by |M⁻¹| f h². A step that is cut where a command meets its bound
        leaves |k e + d v| <= f while the command is within its bounds; since e' = v, e then stays within f / k, and moves by
        f / d h. The other joints follow by their inertia.

        Args:
            h: How long a bound acts [s]: a step, or the sampling period.
            cuts: Whether steps are cut there.
        """
        given, n = self.coefficients, self.n
        per_force, gone = given.bounds[..., 0, :], given.bounds[..., 3, :]
        f = np.where(per_force > 0.0, 1.0 / np.where(per_force > 0.0, per_force, 1.0), 0.0)
        way = (np.abs(np.linalg.inv(self.M)) @ f[..., None])[..., 0] * h * h
        if not cuts or self.law is None or self.sampled:
            return np.asarray(way.max(axis=-1))
        slopes = -(given.Fu @ self.law.K)
        k, d = (np.diagonal(slopes[..., i : i + n], axis1=-2, axis2=-1) for i in (0, n))
        band = np.full(way.shape, np.inf)
        for gain, time in ((k, 1.0), (d + gone, h)):
            restores = (f > 0.0) & (gain > 0.0)
            band = np.where(restores, np.minimum(band, time * f / np.where(restores, gain, 1.0)), band)
        within = band < way
        rows = np.where(within[..., None], np.eye(n), self.M)  # of a joint that follows: M a = 0
        followed = np.abs(np.linalg.inv(rows)) @ np.where(within, band, 0.0)[..., None]
        return np.asarray(np.minimum(way, followed[..., 0]).max(axis=-1))

    @cached_property
    def _identity(self) -> Array:
        return np.broadcast_to(np.eye(self.size), (*self.axes, self.size, self.size))

    def _parts(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """The rows of positions, velocities, controller states and currents."""
        n, z = self.n, self.advanced
        return x[..., :n, :], x[..., n : 2 * n, :], x[..., 2 * n : z, :], x[..., z : self.moving, :]

    @cached_property
    def _own_and_commands(self) -> Array:
        """Positions, velocities and currents, and the commands, by the state, shape (..., 2 n + k + m, size)."""
        q, v, _, currents = self._parts(self._identity)
        u = self._identity[..., self.moving :, :]
        if self.law is None:
            u = np.zeros((*self.axes, self.n, self.size))
        elif not self.sampled:
            of_own, n = self.law.K, self.n
            u = np.concatenate([of_own[..., : 2 * n], self.law.Kz, of_own[..., 2 * n :]], axis=-1)
        return np.concatenate([q, v, currents, u], axis=-2)

    @cached_property
    def force(self) -> Array:
        """Joint forces by the state, shape (..., n, size)."""
        given = self.coefficients
        slopes = np.concatenate([given.Fq, given.Fv, given.Fi, given.Fu], axis=-1)
        return np.asarray(slopes @ self._own_and_commands)

    @cached_property
    def currents(self) -> Array:
        """Rates of the currents by the state, shape (..., k, size)."""
        return np.asarray(self.coefficients.I @ self._own_and_commands)

    @cached_property
    def remembered(self) -> Array:
        """Rates of what the controller remembers, by the state, shape (..., z, size); none under sampled feedback."""
        if self.law is None or self.sampled:
            return np.zeros((*self.axes, 0, self.size))
        own = self._own_and_commands[..., : -self.n, :]
        return np.asarray(self.law.Z @ own + self.law.Zz @ self._parts(self._identity)[2])

    @cached_property
    def _constant(self) -> list[Array]:
        """The states that are constant within a step: currents advance by themselves."""
        return rows_of(self._identity[..., self.advanced :, :])

    def _stacked(self, y: Motion) -> Array:
        return np.stack([*y.q, *y.v, *y.z, *self._constant], axis=-2)

    @cached_property
    def accelerations(self) -> Array:
        """Joint accelerations by the state, shape (..., n, size)."""
        return np.asarray(np.linalg.solve(self.M, self.force), dtype=float)

    def _rates_of(self, t: float, y: Motion) -> Motion:
        x = self._stacked(y)
        return Motion(y.v, rows_of(self.accelerations @ x), rows_of(self.remembered @ x), [])

    def implicit_kick(self, t: float, y: Motion, h: float) -> Motion:
        """A kick implicit in the velocities, as of an arm; see `armsim.plant.equations.Damped`."""
        x = self._stacked(y)
        M = [[self.M[..., i, j, None] for j in range(i + 1)] for i in range(self.n)]
        by_own = np.diagonal(self.force[..., self.n : 2 * self.n], axis1=-2, axis2=-1)
        D = rows_of(np.maximum(-by_own, 0.0)[..., None])
        now = Damped(M, rows_of(self.force @ x), D, [], Further(rows_of(self.remembered @ x), []))
        v, _, _ = now.velocities_after(y.v, h)
        return Motion(y.q, v, advanced(y.z, h, now.z.control), [])

    @cached_property
    def matrix(self) -> Array:
        """The system matrix A of dx/dt = A x [1/s], shape (..., size, size); zero rows for held commands."""
        v = self._identity[..., self.n : 2 * self.n, :]
        still = np.zeros((*self.axes, self.size - self.moving, self.size))
        return np.concatenate([v, self.accelerations, self.remembered, self.currents, still], axis=-2)

    @cached_property
    def modes(self) -> Modes:
        """The eigenvalues λ of A [1/s], shape (..., moving); under sampled feedback those of the plant, commands held."""
        return spectrum(self.matrix[..., : self.moving, : self.moving])

    @cached_property
    def spectral_radius(self) -> Array:
        """The largest |λ| of A [1/s], shape (...)."""
        return np.asarray(np.abs(self.modes).max(axis=-1, initial=0.0))

    def step_matrix(self, method: str, h: float) -> Array:
        """The matrix of a step of h seconds, from state to state, shape (..., size, size)."""
        start, last = self._identity, self.advanced
        q, v, z, currents = self._parts(start)
        if method == "implicit_midpoint":  # of a linear system its step is the Cayley transform of h A
            ahead = h / 2 * self.matrix
            ahead[..., last:, :] = 0.0
            moved = np.linalg.solve(start - ahead, start + ahead)[..., :last, :]
        else:
            step = METHODS[method].step
            assert step is not None
            after = step(self, 0.0, Motion(rows_of(q), rows_of(v), rows_of(z), []), h)
            moved = np.stack([*after.q, *after.v, *after.z], axis=-2)
        parts = [moved, self._currents_after(currents, h), start[..., self.moving :, :]]
        return np.concatenate(parts, axis=-2)

    def _currents_after(self, currents: Array, h: float) -> Array:
        """The currents after a step, each by its exact exponential at constant voltage and speed."""
        if not currents.shape[-2]:
            return currents
        by_own = self.currents[..., self.moving - currents.shape[-2] : self.moving]
        rates = np.diagonal(by_own, axis1=-2, axis2=-1)[..., None]
        settled = currents - self.currents / rates  # the steady value of each
        return np.asarray(relaxed(currents, settled, np.exp(rates * h)))

    def growing(self, method: str, h: float, joints: bool = True) -> GrowthRates:
        """What steps of h seconds do to the modes; without joints by the stability function, where that is exact."""
        expected = STABILITY_FUNCTIONS.get(method, np.exp)(h * self.modes)

        def stepped(plant: LinearPlant) -> Array:
            return plant.step_matrix(method, h)[..., : self.moving, : self.moving]

        exact = method in STABILITY_FUNCTIONS and self.advanced == self.moving
        return self._compared(self.modes, expected, stepped, h, exact, joints)

    def loop(self, flow: Array) -> Array:
        """The closed-loop matrix from sample to sample: of positions, velocities, currents and what the controller remembers.

        Args:
            flow: The plant's matrix over a period, commands held (zero-order hold), shape (..., size, size).
        """
        assert self.law is not None
        A, B = flow[..., : self.moving, : self.moving], flow[..., : self.moving, self.moving :]
        return with_feedback(A, B, self.law)

    def loop_rates(self, period: float) -> Modes:
        """The eigenvalues of the exact sampled loop, as log(z) / period [1/s], shape (..., states)."""
        factors = spectrum(self.loop(exponential(self.matrix, period)))
        return np.asarray(np.log(np.where(np.abs(factors) < ROUNDING, ROUNDING, factors)) / period, dtype=complex)

    @cached_property
    def continuous_rates(self) -> Modes:
        """The eigenvalues of the loop, if its controller is sampled as if it were continuous [1/s], shape (..., states)."""
        return spectrum(self.continuous_loop) if self.sampled else self.modes

    @property
    def continuous_loop(self) -> Array:
        """The system matrix of the loop, likewise, shape (..., states, states)."""
        moving = self.matrix[..., : self.moving, :]
        A, B = moving[..., : self.moving], moving[..., self.moving :]
        period = self.coefficients.period
        return A if self.law is None or period is None else with_feedback(A, B, as_continuous(self.law, period))

    def leading_joint(self, loop: Array, sampled: bool) -> int:
        """The joint of the fastest growing mode of a single plant's loop: of its system matrix, or from sample to sample."""
        values, shapes = np.linalg.eig(loop)
        worst = int((np.abs(values) if sampled else values.real).argmax())
        return int(self._joints(shapes[:, worst : worst + 1])[0])

    def _joints(self, shapes: Array) -> Indices:
        """The joints with the most kinetic energy in modes, of shape (..., states, modes), shape (..., modes)."""
        speeds = np.sqrt(np.diagonal(self.M, axis1=-2, axis2=-1))[..., None] * np.abs(
            shapes[..., self.n : 2 * self.n, :]
        )
        return np.asarray(speeds.argmax(axis=-2))

    def growing_loop(self, method: str, h: float, rates: Modes | None = None) -> GrowthRates:
        """As `growing`, of the sampled loop; `rates` are its `loop_rates`, if known."""
        period = self.coefficients.period
        assert period is not None
        rates = self.loop_rates(period) if rates is None else rates

        def stepped(plant: LinearPlant) -> Array:
            flow = np.linalg.matrix_power(plant.step_matrix(method, h), max(1, round(period / h)))
            return plant.loop(flow)

        return self._compared(rates, np.exp(period * rates), stepped, period)

    def _compared(
        self,
        rates: Modes,
        expected: Modes,
        stepped: Callable[[LinearPlant], Array],
        h: float,
        exact: bool = False,
        joints: bool = True,
    ) -> GrowthRates:
        """The modes that a step destabilises, its eigenvalues matched to those of continuous time.

        Args:
            rates: Eigenvalues in continuous time [1/s], shape (..., modes).
            expected: Amplification factors to match, about those of the step.
            stepped: Of some of the plants the matrices of the step.
            h: Its length [s].
            exact: Whether `expected` are the step's factors but for rounding.
            joints: Whether joints are wanted, for which the step's eigenvectors are found.
        """
        if not exact or joints:
            slow_first = np.argsort(np.abs(rates), axis=-1)  # slow modes' factors are best predicted
            rates, expected = (np.take_along_axis(x, slow_first, axis=-1) for x in (rates, expected))
        fastest = self.spectral_radius[..., None]
        rates = np.where(np.abs(rates.real) <= NEUTRAL * fastest, 1j * rates.imag, rates)
        judged = (rates.real <= 0.0) & (np.abs(rates) > DRIFTING * fastest)
        growth, joint = np.full(rates.shape, -math.inf), np.zeros(rates.shape, dtype=np.int64)

        if exact and not joints:
            sizes = np.where(judged, np.abs(expected), 0.0)
            growth = np.where(sizes > 1.0 + ROUNDING, np.log(np.maximum(sizes, 1.0)) / h, -math.inf)
            return GrowthRates(growth, rates, h, joint)
        factors = expected
        if not exact:
            every = stepped(self)
            factors = spectrum(every)
        # a mode that is not judged may grow as it does in continuous time
        may = judged if exact else judged.any(axis=-1, keepdims=True)
        some = np.asarray(((np.abs(factors) > 1.0 + ROUNDING / 2) & may).any(axis=-1))
        if not some.any():
            return GrowthRates(growth, rates, h, joint)
        factors = factors[some]
        if joints:
            there = stepped(self[some]) if exact else every[some]
            factors, shapes = np.linalg.eig(there)
        taken = matched(factors, expected[some])
        sizes = np.take_along_axis(np.abs(factors), taken, axis=-1)
        grows = judged[some] & (sizes > 1.0 + ROUNDING)
        growth[some] = np.where(grows, np.log(np.maximum(sizes, 1.0)) / h, -math.inf)
        if joints:
            joint[some] = np.take_along_axis(self[some]._joints(shapes), taken, axis=-1)
        return GrowthRates(growth, rates, h, joint)

    def bounce(self, method: str, h: float) -> Mask:
        """Whether an implicit step reverses the motion into a stop so strongly that contact is lost and made again, for ever.

        Of plants with a stop engaged, shape (...).
        """
        if method not in BOUNCE:
            return np.zeros(self.axes, dtype=bool)
        factors = spectrum(self.step_matrix(method, h)[..., : self.moving, : self.moving])
        real = np.where(np.abs(factors.imag) <= ROUNDING, factors.real, 0.0)
        return np.asarray(real.min(axis=-1, initial=0.0) < BOUNCE[method])

    def amplifies_oscillations(self, method: str) -> bool:
        """Whether a method amplifies undamped oscillations of a single plant at any step."""
        fastest = float(self.spectral_radius)
        found = self.growing(method, RESOLVED / fastest / 2 if fastest else LONGEST)
        return bool((found.swings & ~(found.rate.real < 0.0)).any())

    def are_stable(self, method: str, h: float) -> Mask:
        """Whether steps of h seconds destabilise no mode of each plant, undamped oscillations left aside, shape (...)."""
        found = self.growing(method, h, joints=False)
        harmless = (found.growth == -math.inf) | (found.swings & ~(found.rate.real < 0.0))
        return np.asarray(harmless.all(axis=-1))


def rows_of(matrix: Array) -> list[Array]:
    """The rows of matrices, each of shape (..., columns)."""
    return [matrix[..., i, :] for i in range(matrix.shape[-2])]


@np.errstate(all="ignore")  # of modes far too fast, exponentials overflow
def stable_steps(about: Linearization) -> dict[str, float]:
    """The largest stable step of every fixed-step method at a state [s]; see `largest_stable_step`.

    0 also for a method that amplifies an undamped oscillation at any step. With sampled control, the commands are held.
    """
    small, found = LinearPlant(about), {}
    for name, method in METHODS.items():
        if method.step is not None:
            found[name] = largest_stable_step(small, name, decays=False)
    return found


def largest_stable_step(plant: LinearPlant, method: str, stop: bool = False, decays: bool = True) -> float:
    """The largest step that destabilises no mode, undamped oscillations left aside, by bisection [s].

    Args:
        plant: A single linearised plant.
        method: A fixed-step method.
        stop: Whether a stop is engaged, on which the step must not bounce either.
        decays: Whether the motion in question is damped; if not, 0 for a method that amplifies undamped oscillations at any step.

    Returns:
        Infinity if there is no limit up to `LONGEST`, 0 if no step is short enough.
    """

    def holds(h: float) -> bool:
        return bool(plant.are_stable(method, h)) and not (stop and plant.bounce(method, h))

    if not decays and plant.amplifies_oscillations(method):
        return 0.0
    fastest = float(plant.spectral_radius)
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
