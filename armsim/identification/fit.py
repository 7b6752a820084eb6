"""The fit of unknowns to windows of logs: multiple shooting, the starts of all windows eliminated."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.optimize import lsq_linear

from armsim.arrays import Array, Indices
from armsim.identification.shooting import Shooting
from armsim.identification.unseen import UnseenDirection, independent, unseen_directions
from armsim.identification.windows import Sensor, Windows
from armsim.records import record

ROBUST = 4.0  # standard deviations from which residuals count less
TRIALS = 30  # steps of a fit
SHORTER = (0.25, 0.0)  # shares of the step of a window's start that are tried where the whole step is
WIDER = 3.0  # how many times more rows another estimate of starts takes
POOR = 1.2  # times the median of what a row of a window costs, from which other starts of it are tried
WORSE = 1.0  # by so much worse than before, in half a sum of squares
ROUGH = 1e-4  # share of the cost, by which a step must promise to lower it where the fit is rough
SAME = 0.05  # relative change of the noise, up to which it counts as settled
SETTLED = 0.03  # half a sum of squares, by which it must otherwise
EASE = (1e-3, 0.1, 30.0)  # Levenberg's damping: at first, after a step that is taken, after one that is not
HARDEST = 1e4  # of it
EASIEST = (0.0, 1e-4)  # of it, exactly and roughly: steps of rough fits would stray where little is told
DAMPED = 0.01  # what it adds at least to the information in shares of the scales; see `SEEN`
LOOSE = 20.0  # how much wider than what the sensor says a start may be
FAR = 10.0  # of an offset's scale: how much farther it may be where an offset is sought
ALONE = 0.01  # share of a number in what the log cannot see, from which it counts as a part of that
SEEN = 1.0  # share of a parameter's scale: what is less certain than that, the log cannot see
TOGETHER = 200_000  # products of numbers at once: of more, libraries share them among threads that wait for each other
HELD = 1e6  # weight of what the log cannot see at the file's value, against the rest


@record
class Known:
    """What is known of the unknowns before.

    Attributes:
        values: Their most likely values, shape (p,).
        trust: Standard deviation of each; inf for none.
        unseen: Directions, in shares of the scales, in which they stay, orthonormal, shape (k, p).
        directions: The same in words.
    """

    values: Array
    trust: Array
    unseen: Array
    directions: tuple[UnseenDirection, ...]


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
        residuals: Model less measured, shape (rows, n).
        sigma: Standard deviation of each joint's residuals, shape (n,).
        equations: At these values.
        steps: Number of steps that it took.
    """

    values: Array
    starts: Array
    residuals: Array
    sigma: Array
    equations: NormalEquations
    steps: int


class Fitting:
    """A fit to some windows, roughly: residuals are those of the simulation that gives the slopes.

    Args:
        shooting: Simulates them.
        windows: The windows.
        sensors: Of each joint.
        look: Called after each step, with words for it.
    """

    def __init__(
        self,
        shooting: Shooting,
        windows: Windows,
        sensors: list[Sensor],
        look: Callable[[str], object] = lambda said: None,
    ) -> None:
        self.shooting, self.windows, self.look = shooting, windows, look
        self.exact, self.rough = shooting, True
        self.floor = np.array([max(sensor.floor, 1e-12) for sensor in sensors])
        self.scale = shooting.unknowns.column("scale")
        self.lower, self.upper = (shooting.unknowns.column(name) for name in ("lower", "upper"))
        self.guess = windows.starts()
        joint = np.maximum(self.floor, 1e-7)
        off = FAR * self.scale[shooting.unknowns.offsets] if shooting.unknowns.offsets else 0.0
        sensor = np.concatenate([LOOSE * joint + off, LOOSE * joint / max(windows.h, 1e-3) ** 0.5])
        self.loose = sensor + LOOSE * np.abs(self.guess - windows.starts(WIDER))

    def exactly(self, exact: Shooting) -> Fitting:
        """The same fit with residuals of another simulation."""
        other = copy(self)
        other.exact, other.rough = exact, False
        return other

    def begun(self, values: Array, starts: Array | None = None, both: bool = False) -> Fit:
        """Unknowns that are not fitted yet, with the starts from which the windows fit best unless others are given.

        Slopes are to both sides on request.
        """
        starts = self._best_starts(values) if starts is None else starts
        residuals = self._residuals(values, starts)
        sigma = np.maximum(self.floor, self._spread(residuals))
        return Fit(values, starts, residuals, sigma, self._equations(values, starts, residuals, sigma, both), 0)

    def fit(self, begun: Fit, known: Known) -> Fit:
        """The most likely unknowns, by Levenberg and Marquardt's method.

        The noise follows from the residuals after each step. Slopes are exact to one side at first.
        """
        found, ease, both, settled = begun, EASE[0] if self.rough else 0.0, False, self.rough
        while found.steps < begun.steps + TRIALS:
            each = self._costs(found.starts[None], found.residuals[None], found.sigma)[0]
            cost = self._far(found.values, known) + float(each.sum())
            enough, tried = ROUGH * cost if self.rough else SETTLED, None
            while ease < HARDEST:
                step, gain = self._step(found.equations, found.values, known, ease)
                if gain < enough and settled:
                    break
                new = np.clip(found.values + step * self.scale, self.lower, self.upper)
                tried = self._tried(found, new, each)
                if tried is not None and tried[2] + self._far(new, known) <= cost:
                    break
                tried, ease = None, max(ease * EASE[2], EASE[0])
            step_now = found.steps - begun.steps + 1
            self.look(f"{'rough' if self.rough else 'exact'} fit, step {step_now} of {TRIALS} at most ...")
            if tried is not None:
                sigma = np.maximum(self.floor / 4.0, self._spread(tried[1]))
                settled = self.rough or bool(np.all(np.abs(np.log(sigma / found.sigma)) < SAME))
                found = Fit(new, *tried[:2], sigma, found.equations, found.steps + 1)
                ease = max(ease * EASE[1], EASIEST[self.rough])
            elif both or self.rough:
                break
            else:
                ease, settled = 0.0, True
            both = not self.rough
            equations = self._equations(found.values, found.starts, found.residuals, found.sigma, both)
            found = replace(found, equations=equations)
        return found

    def _best_starts(self, values: Array) -> Array:
        """Starts from which the windows fit best: as estimated from few rows, from more, and at rest."""
        tried = np.stack([self.guess, self.windows.starts(WIDER), self._still(self.guess)])
        residuals = self.shooting.candidates(self.windows, values, tried) - self.windows.q
        costs = self._costs(tried, residuals, self.floor + self._spread(residuals[0]))
        self.guess = tried[np.argmin(costs, axis=0), np.arange(len(self.guess))]
        return self.guess

    def _still(self, starts: Array) -> Array:
        """Starts with joints at rest that may be, as far as the sensors tell."""
        n = self.shooting.n
        slow = np.abs(starts) < self.loose
        slow[:, :n] = False
        return np.where(slow, 0.0, starts)

    def _tried(self, found: Fit, new: Array, before: Array) -> tuple[Array, Array, float] | None:
        """Starts, residuals and cost of other values, each window from the best of some starts; None where they are impossible.

        A step that is good for most windows may lead in one of them beyond where a joint stops, and thus be too long there.

        Args:
            found: The step's beginning.
            new: Values of the unknowns.
            before: The windows' costs at its beginning.
        """
        if not self.shooting.unknowns.admits(new):
            return None
        windows, own = self.windows, found.equations.starts
        follows = found.starts + found.equations.back @ ((new - found.values) / self.scale)
        tried = (follows + own)[None]
        residuals = self._residuals(new, tried[0])[None]
        costs = self._costs(tried, residuals, found.sigma)
        usual = POOR * np.median(before / np.bincount(windows.of)) * np.bincount(windows.of)
        worse = np.flatnonzero(~(costs[0] <= np.minimum(before + WORSE, usual)))
        if len(worse):
            shorter = (follows + share * own for share in SHORTER)
            arrived = np.roll(self.exact.arrivals(windows, new, tried[0], worse - 1), 1, axis=0)
            more = np.stack([*shorter, found.starts, self._still(follows), arrived, self._still(arrived)])
            others = self.exact.candidates(windows, new, more, worse) - windows.q
            tried, residuals = np.concatenate([tried, more]), np.concatenate([residuals, others])
            costs = self._costs(tried, residuals, found.sigma)
        best = np.argmin(costs, axis=0)
        each, rows = np.arange(len(best)), np.arange(len(windows.q))
        return tried[best, each], residuals[best[windows.of], rows], float(costs[best, each].sum())

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
        units = np.concatenate([self.scale, np.ones(size + 1)])
        weights = np.sqrt(_weights(residuals / sigma)) / sigma

        def products_of(rows: Indices, slopes: list[Array]) -> Array:
            """Products of the columns of some windows."""
            columns = np.concatenate([*slopes, residuals[None, rows]])
            columns *= weights[rows]
            ends = np.flatnonzero(np.diff(windows.of[rows], append=-1)) + 1
            found = []
            for begin, end in pairwise([0, *ends.tolist()]):
                own = columns[:, begin:end].reshape(len(units), -1)
                found.append(_products(own))
                if not np.isfinite(found[-1]).all():  # a motion that diverges tells nothing
                    found[-1] = _products(np.nan_to_num(own, posinf=0.0, neginf=0.0))
            return np.array(found)

        products = self.shooting.slopes(windows, values, starts, both, products_of)
        products *= np.outer(units, units)
        whole, mixed, own = products[:, :p, :p], products[:, p:-1, :p], products[:, p:-1, p:-1]
        right, of_own = products[:, :p, -1], products[:, p:-1, -1]
        own = own + np.eye(size) * self.loose[:, None] ** -2.0
        of_own = of_own + (starts - self.guess) * self.loose**-2.0
        back = np.asarray(-np.linalg.solve(own, mixed), dtype=float)
        alone = np.asarray(-np.linalg.solve(own, of_own[..., None])[..., 0], dtype=float)
        turned = np.swapaxes(mixed, 1, 2)
        each = right + (turned @ alone[..., None])[..., 0]
        info = whole + turned @ back
        return NormalEquations(info.sum(axis=0), each.sum(axis=0), info, each, back, alone)

    def _step(self, equations: NormalEquations, values: Array, known: Known, ease: float) -> tuple[Array, float]:
        """A step of the unknowns in shares of their scales, within their bounds; and by how much it should lower the cost."""
        far = (values - known.values) / self.scale
        trust = (self.scale / known.trust) ** 2
        matrix = equations.matrix + np.diag(trust) + HELD * known.unseen.T @ known.unseen
        right = equations.right + trust * far + HELD * known.unseen.T @ (known.unseen @ far)
        eased = matrix + np.diag(np.maximum(ease * np.diag(matrix), DAMPED))
        values_of, vectors = np.linalg.eigh((eased + eased.T) / 2.0)
        roots = np.sqrt(np.maximum(values_of, max(1e-14 * float(values_of[-1]), 1e-12)))
        factor = roots[:, None] * vectors.T
        lower, upper = (self.lower - values) / self.scale, (self.upper - values) / self.scale
        target = -(vectors.T @ right) / roots
        found = lsq_linear(factor, target, (np.minimum(lower, -1e-12), np.maximum(upper, 1e-12)), method="bvls")
        step = np.asarray(found.x)
        return step, -float(step @ right + 0.5 * step @ matrix @ step)

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

    def unseen(self, equations: NormalEquations, known: Known) -> Known:
        """What is known, with the directions of which too little is, from the log and before; see `SEEN`."""
        sizes, vectors = np.linalg.eigh(equations.matrix + np.diag((self.scale / known.trust) ** 2))
        columns = np.sqrt(np.maximum(sizes, 0.0))[:, None] * vectors.T  # whose products are that matrix
        longest = np.linalg.norm(columns, axis=0).max()
        chosen, factors = independent(columns, 1.0 / (SEEN * max(longest, 1e-300)), 0.0)
        hidden = sorted(set(range(len(columns))) - set(chosen))
        along = np.eye(len(columns))[hidden]
        along[:, chosen] = -factors[:, hidden].T
        parts = np.where(np.abs(factors) > ALONE, factors, 0.0) * self.scale[chosen][:, None] / self.scale
        paths = [item.path for item in self.shooting.unknowns.items]
        told = tuple(unseen_directions(chosen, parts, paths))
        return replace(known, unseen=np.linalg.qr(along.T)[0].T, directions=told)


def _products(columns: Array) -> Array:
    """Products of columns of shape (k, m) with each other, shape (k, k)."""
    parts = np.array_split(columns, 1 + columns.size * len(columns) // TOGETHER, axis=1)
    return np.asarray(sum(part @ part.T for part in parts))


def _weights(scaled: Array) -> Array:
    """How much residuals count, in standard deviations."""
    return 1.0 / np.sqrt(1.0 + (scaled / ROBUST) ** 2)
