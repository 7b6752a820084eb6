"""Numbers of a robot file from a motion and what drove it, by weighted least squares on inverse dynamics.

The equation error of inverse dynamics is linear in most numbers (`CommandModel`): Newton's iteration on it ends after one step.
Others take a few. The errors of a smoothed motion are correlated from row to row, which the covariance counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armsim.actuation import Output
from armsim.arm.arrays import number_array
from armsim.arrays import Array, ArrayLike, Indices
from armsim.errors import ShapeError, UsageError
from armsim.identification.command_model import CommandModel
from armsim.identification.unseen import UnseenDirection, independent, unseen_directions
from armsim.loading import Given
from armsim.loading.open_robot import OpenRobot
from armsim.records import record

SLOW = 0.02  # of a joint's highest speed: below, the side of its dry friction is not known
SEEN = 1e-7  # of a column: what is left of it beside others, above the rounding of derivatives
ITERATIONS, SETTLED = 30, 1e-10  # of Newton's iteration, and its last step relative to the numbers
UNCORRELATED = 0.1  # autocorrelation of residuals
LONGER = 10  # blocks of rows, in correlation times
ROBOT = "robot."


@record
class LinearEstimate:
    """Numbers by least squares on inverse dynamics.

    Attributes:
        paths: Of the p numbers.
        units: Of the file.
        values: The estimate, shape (p,), in the file's units; along unseen directions as near to the file's values as can be.
        covariance: Of the estimate, shape (p, p); along unseen directions it is 0.
        unseen: Directions that the data cannot see.
        residual: Root mean square of what inverse dynamics leaves of the commands, shape (n,) [N·m, N, A or V].
        rows: How many rows of each joint were taken, shape (n,).
    """

    paths: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    covariance: Array
    unseen: tuple[UnseenDirection, ...]
    residual: Array
    rows: Indices

    @property
    def deviations(self) -> Array:
        """Standard deviations, shape (p,); infinite for a number that an unseen direction changes."""
        hidden = {name for direction in self.unseen for name in direction.factors}
        known = np.sqrt(np.diag(self.covariance))
        return np.where([path in hidden for path in self.paths], np.inf, known)


def without_prefix(paths: Sequence[str]) -> list[str]:
    """Paths in a robot file, from those in a scenario, which begin with `robot.`."""
    return [path.removeprefix(ROBOT) for path in paths]


def estimate(
    robot: Given | CommandModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    measured: ArrayLike,
    paths: Sequence[str] = (),
    of: Output = "torque",
    slow: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> LinearEstimate:
    """The numbers at paths of a robot file that explain a motion and its commands best.

    Args:
        robot: A file, a shipped robot's name, plain data; or what has been opened.
        q: Joint positions [rad or m], shape (m, n), in the order of time.
        qd: Joint velocities [rad/s or m/s], likewise.
        qdd: Joint accelerations [rad/s² or m/s²], likewise.
        measured: Torques of the drives [N·m or N], or currents [A] or voltages [V] of the motors, likewise.
        paths: Of the numbers, `joints[R2].friction.viscous`, with or without `robot.` before it; `[*]` for all.
        of: What `measured` is.
        slow: Speeds [rad/s or m/s] below which rows of a joint with dry friction are left out, one or shape (n,); `SLOW` of its
            highest speed unless given.
        weights: Of rows, shape (m,) or (m, n); 0 leaves them out.

    Raises:
        FileFaults: The robot cannot be used.
        UsageError: There is no number at a path, or there are fewer rows than numbers; or no row moves.
        ShapeError: An array has another shape.
    """
    model = robot if isinstance(robot, CommandModel) else CommandModel(OpenRobot(robot, without_prefix(paths)), of)
    motion = [_rows(name, x, model.arm.n) for name, x in (("q", q), ("qd", qd), ("qdd", qdd))]
    taken = _rows("measured", measured, model.arm.n)
    if len({len(x) for x in (*motion, taken)}) > 1:
        raise ShapeError(f"estimate: expected as many rows in each array, found {[len(x) for x in (*motion, taken)]}")
    weight = moving_rows(model, motion[1], slow) * _weights(weights, taken.shape)
    return _fitted(model, motion, taken, weight)


def moving_rows(model: CommandModel, qd: Array, slow: ArrayLike | None = None) -> Array:
    """1 for rows of joints that move, or that have no dry friction; 0 for the others, shape (m, n)."""
    least = SLOW * np.abs(qd).max(axis=0, initial=0.0) if slow is None else np.broadcast_to(slow, qd.shape[1:])
    return np.where(model.sticking & (np.abs(qd) <= least), 0.0, 1.0)


def _rows(name: str, values: ArrayLike, n: int) -> Array:
    array = number_array(name, values)
    if array.ndim != 2 or array.shape[1] != n:
        raise ShapeError(f"{name}: expected shape (m, {n}), found {array.shape}")
    if not np.isfinite(array).all():
        raise UsageError.of(name, "finite numbers", "one that is not", "leave its row out")
    return array


def _weights(weights: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    if weights is None:
        return np.ones(shape)
    given = number_array("weights", weights)
    if given.shape not in (shape, shape[:1]) or not (given >= 0.0).all():
        raise ShapeError(f"weights: expected numbers not below 0 of shape {shape[:1]} or {shape}, found {given.shape}")
    return np.broadcast_to(given.reshape(len(given), -1), shape)


def _fitted(model: CommandModel, motion: Sequence[Array], measured: Array, weight: Array) -> LinearEstimate:
    """Newton's iteration twice: with joints by the size of their commands, then by that of their residuals."""
    paths, values = model.robot.paths, model.start
    rows = (weight > 0.0).sum(axis=0)
    if rows.sum() < len(values):
        found = f"{rows.sum()} rows that move, of {len(measured)}, for {len(values)} numbers"
        raise UsageError.of(
            "estimate", "more rows that move than numbers", found, "give a longer motion, or open fewer"
        )
    sizes = _root_mean_square(measured, weight)
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    for scales in (sizes, None):
        if scales is None:
            left = _root_mean_square(measured - model.by_numbers(values, *motion)[0], weight)
            scales = np.maximum(left, SETTLED * sizes)
        root = np.sqrt(weight) / scales
        for _ in range(ITERATIONS):
            predicted, slopes = model.by_numbers(values, *motion)
            influence, unseen = fitted_influence(root, slopes, values, paths)
            step = np.einsum("pmn,mn->p", influence, measured - predicted)
            values = values + step
            if np.all(np.abs(step) <= SETTLED * np.maximum(np.abs(values), SETTLED)):
                break
    left = measured - model.by_numbers(values, *motion)[0]
    covariance = correlated_covariance(influence, left, weight)
    units = tuple(model.robot.units)
    return LinearEstimate(paths, units, values, covariance, tuple(unseen), _root_mean_square(left, weight), rows)


def fitted_influence(
    root: Array, slopes: Array, values: Array, names: Sequence[str]
) -> tuple[Array, list[UnseenDirection]]:
    """The derivative of the numbers by the commands in a weighted fit, shape (p, m, n); and unseen directions.

    Args:
        root: Square roots of weights, shape (m, n).
        slopes: Derivatives of commands by numbers, shape (m, n, p).
        values: Of the numbers; along unseen directions their relative change is least.
        names: Of the numbers.
    """
    chosen, factors, unseen = seen_numbers(root, slopes, names)
    orthogonal, triangle = np.linalg.qr((slopes * root[..., None]).reshape(-1, len(names))[:, chosen])
    influence = _nearest(factors, values) @ np.linalg.solve(triangle, orthogonal.T)
    return influence.reshape(len(names), *root.shape) * root, unseen


def seen_numbers(root: Array, slopes: Array, names: Sequence[str]) -> tuple[list[int], Array, list[UnseenDirection]]:
    """The numbers that stand for all (see `independent`), and the directions that the weighted rows cannot see.

    Args:
        root: Square roots of weights, shape (m, n).
        slopes: Derivatives of commands by numbers, shape (m, n, p).
        names: Of the numbers.

    Raises:
        UsageError: They see none.
    """
    triangle = np.linalg.qr((slopes * root[..., None]).reshape(-1, len(names)), mode="r")
    lengths = np.linalg.norm(triangle, axis=0)
    scaled = triangle / np.where(lengths > 0.0, lengths, 1.0)
    chosen, factors = independent(scaled, most=SEEN)
    if not chosen:
        expected, found = "numbers on which the motion's commands depend", f"only {', '.join(names)}"
        raise UsageError.of(
            "open", expected, found, "open others, or give voltages or currents if these are the motors'"
        )
    factors = factors * lengths / lengths[chosen][:, None]  # of columns as they are
    return chosen, factors, unseen_directions(chosen, factors, names)


def _nearest(factors: Array, values: Array) -> Array:
    """How all numbers change with the combinations that are seen, the relative changes being least, shape (p, r)."""
    scale = np.where(values != 0.0, np.abs(values), np.abs(values).max(initial=0.0) or 1.0)
    weighted = factors * scale  # combinations = factors @ changes
    back: Array = scale[:, None] * np.linalg.pinv(weighted)
    return back


def _root_mean_square(x: Array, weight: Array) -> Array:
    total: Array = np.sqrt((weight * x**2).sum(axis=0) / np.maximum(weight.sum(axis=0), 1.0))
    return total


def correlated_covariance(influence: Array, left: Array, weight: Array) -> Array:
    """The covariance of sums of influence times error, where errors are correlated between joints and from row to row.

    Newey and West (1987, *Econometrica* 55(3)): products of rows up to some distance, with weights that fall to zero there.

    Args:
        influence: Of each error on the p sums, shape (p, m, n).
        left: The errors, shape (m, n).
        weight: 0 for rows that are left out, likewise.
    """
    scores = np.einsum("pmn,mn->mp", influence, left)
    many = len(scores)
    length = min(LONGER * _correlation_time(left * (weight > 0.0)), max(many // 4, 1))
    padded = np.concatenate([np.zeros((length, scores.shape[1])), scores, np.zeros((length, scores.shape[1]))])
    sums = np.cumsum(padded, axis=0)
    windows = sums[length:] - sums[:-length]
    covariance: Array = windows.T @ windows / length * (many / max(many - scores.shape[1], 1))
    return covariance


def _correlation_time(left: Array) -> int:
    """The first distance of rows at which no joint's errors are correlated any more; 1 for white noise."""
    many = len(left)
    spectrum = np.fft.rfft(left, 2 * many, axis=0)
    correlation = np.fft.irfft(np.abs(spectrum) ** 2, axis=0)[:many]
    correlation = correlation / np.where(correlation[0] > 0.0, correlation[0], 1.0)
    quiet = (correlation <= UNCORRELATED).all(axis=1) | (np.arange(many) >= many // 4)
    return max(int(np.argmax(quiet)), 1)
