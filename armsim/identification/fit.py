"""The fit of unknowns to windows of logs: multiple shooting, the starts of all windows eliminated."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from armsim.identification.shooting import Shooting
from armsim.identification.windows import Sensor, Windows
from armsim.records import record

Array = NDArray[np.float64]
ROBUST = 4.0  # standard deviations from which residuals count less
TRIALS = 30  # steps of a fit
SHORTER = (0.25, 0.0)  # shares of the step of a window's start that are tried where the whole step is
WIDER = 3.0  # how many times more rows another estimate of starts takes
WORSE = 1.0  # by so much worse than before, in half a sum of squares
SAME = 0.05  # relative change of the noise, up to which it counts as settled
ROUGH = 0.01  # share of the cost, by which a step must lower it where the fit is rough
SETTLED = 0.01  # half a sum of squares, by which a step must lower it to go on
EASE = (
    1e-3,
    0.1,
    10.0,
    1e9,
)  # Levenberg's damping: at first, after a step that is taken, after one that is not, at most
LOOSE = 20.0  # how much wider than what the sensor says a start may be
FAR = 10.0  # of an offset's scale: how much farther it may be where an offset is sought
SEEN = 1.0  # share of a parameter's scale: what is less certain than that, the log cannot see
HELD = 1e6  # weight of what the log cannot see at the file's value, against the rest


@record
class Known:
    """What is known of the unknowns before.

    Attributes:
        values: Their most likely values, shape (p,).
        trust: Standard deviation of each; inf for none.
        unseen: Directions, in shares of the scales, in which they stay, shape (k, p).
    """

    values: Array
    trust: Array
    unseen: Array


@record
class NormalEquations:
    """The normal equations of a step from some values, in shares of the unknowns' scales, the starts eliminated.

    Attributes:
        matrix: What the log tells of the unknowns, shape (p, p).
        right: Slope of half the sum of squares, shape (p,).
        info: The matrix of each window alone, shape (w, p, p).
        each: The slope of each, shape (w, p).
        back: From a step of the unknowns to those of the starts: shape (w, 2n, p).
        starts: Steps of the starts where the unknowns stay, shape (w, 2n).
    """

    matrix: Array
    right: Array
    info: Array
    each: Array
    back: Array
    starts: Array


@record
class Fit:
    """Unknowns fitted to windows.

    Attributes:
        values: The unknowns, shape (p,).
        starts: Positions and velocities at the windows' beginnings, shape (w, 2n).
        sigma: Standard deviation of each joint's residuals, shape (n,).
        residuals: Model less measured, shape (rows, n).
        equations: At these values.
        steps: Number of steps that it took.
    """

    values: Array
    starts: Array
    sigma: Array
    residuals: Array
    equations: NormalEquations
    steps: int


@record
class TriedStep:
    """What comes of some values.

    Attributes:
        starts: The best ones, shape (w, 2n).
        residuals: From these, shape (rows, n).
        cost: Half the sum of their squares.
    """

    starts: Array
    residuals: Array
    cost: float


class Fitting:
    """A fit to some windows.

    Args:
        shooting: Simulates them, for slopes.
        exact: Simulates them, for residuals.
        windows: The windows.
        sensors: Of each joint.
        look: Called after each step.
    """

    def __init__(
        self,
        shooting: Shooting,
        exact: Shooting,
        windows: Windows,
        sensors: list[Sensor],
        look: Callable[[], None] | None = None,
    ) -> None:
        self.shooting, self.exact, self.windows, self.look = shooting, exact, windows, look
        self.floor = np.array([max(sensor.floor, 1e-12) for sensor in sensors])
        self.scale = shooting.unknowns.column("scale")
        self.lower, self.upper = (shooting.unknowns.column(name) for name in ("lower", "upper"))
        self.guess = windows.starts()
        joint = np.maximum(self.floor, 1e-7)
        off = FAR * self.scale[shooting.unknowns.offsets] if shooting.unknowns.offsets else 0.0
        sensor = np.concatenate([LOOSE * joint + off, LOOSE * joint / max(windows.h, 1e-3) ** 0.5])
        self.loose = sensor + LOOSE * np.abs(self.guess - windows.starts(WIDER))

    def fit(self, values: Array, known: Known, starts: Array | None = None, roughly: bool = False) -> Fit:
        """The most likely unknowns, from some values on; by Levenberg and Marquardt's method.

        The noise follows from the residuals after each step. Slopes are taken to one side until no step helps.
        """
        starts = self._begun(values) if starts is None else starts
        residuals = self._residuals(values, starts)
        sigma = np.maximum(self.floor, self._spread(residuals))
        ease, faster, slower, most = EASE
        done, both = 0, False
        equations = self._equations(values, starts, residuals, sigma, both)
        while done < TRIALS:
            each = self._costs(starts[None], residuals[None], sigma)[0]
            cost = self._far(values, known) + float(each.sum())
            while True:
                step = self._step(equations, values, known, ease)
                new = np.clip(values + step * self.scale, self.lower, self.upper)
                tried = self._tried(new, starts, equations, (new - values) / self.scale, sigma, each)
                lower = math.inf if tried is None else tried.cost + self._far(new, known)
                if lower <= cost or ease > most:
                    break
                ease *= slower
            gained = 0.0
            if tried is not None and lower <= cost:
                gained = cost - lower
                values, starts, residuals, ease, done = (
                    new,
                    tried.starts,
                    tried.residuals,
                    max(ease * faster, 1e-9),
                    done + 1,
                )
                before, sigma = sigma, np.maximum(self.floor / 4.0, self._spread(residuals))
                gained += float(np.abs(np.log(sigma / before)).max() > SAME)
            else:
                ease = EASE[0]
            if self.look is not None:
                self.look()
            small = gained <= (ROUGH * cost if roughly else SETTLED)
            if small and (both or roughly):
                break
            both = small
            equations = self._equations(values, starts, residuals, sigma, both)
        return Fit(values, starts, sigma, residuals, self._equations(values, starts, residuals, sigma, True), done)

    def _begun(self, values: Array) -> Array:
        """Starts from which the windows fit best: as estimated from few rows, from more, and at rest."""
        tried = np.stack([self.guess, self.windows.starts(WIDER), self._still(self.guess)])
        residuals = self.shooting.candidates(self.windows, values, tried) - self.windows.q
        costs = self._costs(tried, residuals, self.floor + self._spread(residuals[0]))
        self.guess = tried[np.argmin(costs, axis=0), np.arange(len(self.guess))]
        return self.guess

    def _still(self, starts: Array) -> Array:
        """Starts at rest."""
        return starts * np.repeat([1.0, 0.0], self.exact.n)

    def _tried(
        self, new: Array, starts: Array, equations: NormalEquations, step: Array, sigma: Array, before: Array
    ) -> TriedStep | None:
        """What comes of other values, each window from the best of some starts; None where they are impossible.

        A step that is good for most windows may lead in one of them beyond where a joint stops, and thus be too long there.
        """
        if not self.shooting.unknowns.admits(new):
            return None
        windows, follows, own = self.windows, starts + equations.back @ step, equations.starts
        shares = (*SHORTER, 1.0)
        tried = np.stack([*(follows + share * own for share in shares), starts, self._still(follows)])
        whole = len(SHORTER)
        residuals = np.full((len(tried), *windows.q.shape), np.nan)
        residuals[whole] = self._residuals(new, tried[whole])
        worse = ~(self._costs(tried, residuals, sigma)[whole] <= before + WORSE)
        others = [k for k in range(len(tried)) if k != whole]
        if worse.any():
            only = np.flatnonzero(worse)
            residuals[others] = self.exact.candidates(windows, new, tried[others], only) - windows.q
        costs = self._costs(tried, residuals, sigma)
        best = np.argmin(costs, axis=0)
        each, rows = np.arange(len(best)), np.arange(len(windows.q))
        return TriedStep(tried[best, each], residuals[best[windows.of], rows], float(costs[best, each].sum()))

    def _residuals(self, values: Array, starts: Array) -> Array:
        """Model less measured, shape (rows, n)."""
        return self.exact.positions(self.windows, values, starts) - self.windows.q

    def _spread(self, residuals: Array) -> Array:
        """Standard deviation of each joint's residuals; far ones count less."""
        found = np.sqrt(np.nanmean(residuals**2, axis=0))
        for _ in range(5):
            weights = _weights(residuals / np.maximum(found, 1e-300))
            found = np.sqrt(np.nansum(weights * residuals**2, axis=0) / np.nansum(weights, axis=0))
        rows, size = len(residuals), 2 * self.shooting.n * len(self.windows.log)
        return np.asarray(found * math.sqrt(rows / max(rows - size / self.shooting.n, 0.2 * rows)))

    def _costs(self, starts: Array, residuals: Array, sigma: Array) -> Array:
        """Half the sum of squares of every window from r starts, shape (r, w); inf where a motion diverges.

        Far residuals count less. Starts are of shape (r, w, 2n), residuals of (r, rows, n).
        """
        squares = np.sum(2.0 * ROBUST**2 * (np.sqrt(1.0 + (residuals / sigma / ROBUST) ** 2) - 1.0), axis=2)
        firsts = np.flatnonzero(np.diff(self.windows.of, prepend=-1))
        apart = np.sum(((starts - self.guess) / self.loose) ** 2, axis=2)
        return np.nan_to_num(0.5 * (np.add.reduceat(squares, firsts, axis=1) + apart), nan=math.inf)

    def _far(self, values: Array, known: Known) -> float:
        """Half the sum of squares of what is known before."""
        far = (values - known.values) / self.scale
        held = HELD * np.sum((known.unseen @ far) ** 2)
        return 0.5 * float(held + np.sum((far * self.scale / known.trust) ** 2))

    def _equations(self, values: Array, starts: Array, residuals: Array, sigma: Array, both: bool) -> NormalEquations:
        windows, p, size = self.windows, len(values), starts.shape[1]
        products, right = np.zeros((len(windows.log), p + size, p + size)), np.zeros((len(windows.log), p + size))
        units = np.concatenate([self.scale, np.ones(size)])
        weights = np.sqrt(_weights(residuals / sigma)) / sigma
        left = residuals * weights
        for rows, slopes in self.shooting.slopes(windows, values, starts, both):
            slopes *= weights[rows] * units[:, None, None]
            first, ends = rows[0], np.flatnonzero(np.diff(windows.of[rows], append=-1)) + 1
            for begin, end in pairwise([0, *ends.tolist()]):
                window, here = windows.of[rows[begin]], slice(first + begin, first + end)
                columns = slopes[:, begin:end].reshape(p + size, -1)
                products[window] = columns @ columns.T
                right[window] = columns @ left[here].ravel()
        whole, mixed, own = products[:, :p, :p], products[:, p:, :p], products[:, p:, p:]
        right, of_own = right[:, :p], right[:, p:]
        own = own + np.eye(size) * self.loose[:, None] ** -2.0
        of_own = of_own + (starts - self.guess) * self.loose**-2.0
        back = np.asarray(-np.linalg.solve(own, mixed), dtype=float)
        alone = np.asarray(-np.linalg.solve(own, of_own[..., None])[..., 0], dtype=float)
        turned = np.swapaxes(mixed, 1, 2)
        each = right + (turned @ alone[..., None])[..., 0]
        info = whole + turned @ back
        return NormalEquations(info.sum(axis=0), each.sum(axis=0), info, each, back, alone)

    def _step(self, equations: NormalEquations, values: Array, known: Known, ease: float) -> Array:
        """A step of the unknowns in shares of their scales, within their bounds."""
        far = (values - known.values) / self.scale
        trust = (self.scale / known.trust) ** 2
        matrix = equations.matrix + np.diag(trust) + HELD * known.unseen.T @ known.unseen
        right = equations.right + trust * far + HELD * known.unseen.T @ (known.unseen @ far)
        matrix = matrix + ease * np.diag(np.maximum(np.diag(matrix), 1e-12 * np.trace(matrix)))
        values_of, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
        roots = np.sqrt(np.maximum(values_of, max(1e-14 * float(values_of[-1]), 1e-12)))
        factor = roots[:, None] * vectors.T
        lower, upper = (self.lower - values) / self.scale, (self.upper - values) / self.scale
        target = -(vectors.T @ right) / roots
        found = lsq_linear(factor, target, (np.minimum(lower, -1e-12), np.maximum(upper, 1e-12)), method="bvls")
        return np.asarray(found.x)

    def covariance(self, equations: NormalEquations, known: Known) -> Array:
        """Of the unknowns, in shares of their scales, shape (p, p): the greater one by the noise, and by how windows differ.

        Residuals that go together within a window, as an encoder's at rest do, make the first too small (Liang and Zeger,
        Biometrika 73(1), 1986: windows are its clusters, each left out in turn).
        """
        prior = np.diag((self.scale / known.trust) ** 2) + HELD * known.unseen.T @ known.unseen
        inverse = np.linalg.pinv(equations.matrix + prior, hermitian=True)
        rest = np.eye(len(inverse)) - equations.info @ inverse  # what is told by all windows but one
        without = (np.linalg.pinv(rest) @ equations.each[..., None])[..., 0]
        apart = without.T @ without + prior
        clustered = inverse @ apart @ inverse
        larger = np.sqrt(np.maximum(np.diag(clustered) / np.diag(inverse), 1.0))
        return np.asarray(inverse * np.outer(larger, larger))

    def unseen(self, equations: NormalEquations, known: Known) -> Array:
        """Directions of which too little is known, from the log and before, shape (k, p); see `SEEN`."""
        told, vectors = np.linalg.eigh(equations.matrix + np.diag((self.scale / known.trust) ** 2))
        return np.asarray(vectors.T[told < SEEN**-2.0])


def _weights(scaled: Array) -> Array:
    """How much residuals count, in standard deviations."""
    return 1.0 / np.sqrt(1.0 + (scaled / ROBUST) ** 2)
