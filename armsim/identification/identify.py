"""From logs of a real arm to numbers of its robot file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike

import numpy as np
from scipy.special import stdtrit

from armsim.actuation.motor import torque
from armsim.arm.integration import check_dt, check_method
from armsim.arrays import Array
from armsim.errors import UsageError, spelled
from armsim.identification.estimate import Estimate
from armsim.identification.fit import ALONE, Fit, Fitting, Known
from armsim.identification.identification import CLOSE, Identification, JointResidual
from armsim.identification.shooting import Shooting
from armsim.identification.unknowns import FRICTION, JointScale, Unknowns
from armsim.identification.windows import Sensor, Windows, cut, sensors_of, step_of, without_spikes
from armsim.integrate import METHODS
from armsim.loading import Given, Scenario, read_robot
from armsim.model import Arm
from armsim.plant.driven import Output
from armsim.recording.follow import HORIZONS, Horizon
from armsim.recording.forward_model import ForwardModel
from armsim.recording.logged_feedback import LoggedFeedback
from armsim.recording.measured_log import MeasuredLog, read_log

METHOD = "rodas"  # of what is fitted: it locates where joints stop
QUICK = "implicit_midpoint"  # of the slopes
WINDOW, SHARE = 1.0, 30.0  # windows are that long [s], or that part of the log
SHORT = 5.0  # how much shorter windows are at first, which bear with wrong numbers
ENOUGH = 12_000  # rows of them are about enough
TOLERANCE = 1e-4  # of adaptive methods: far below what sensors tell
HELD_BACK = 0.2  # share of each log, its end, that is not fitted
MOVING = (12.0, 3.0)  # how many times its noise, and its resolution, a joint must move to be seen
BLOCK, LEAST_BLOCK = 20, 4  # blocks of a window, whose means show what is slow, and rows of one
NOTICED = (
    0.35,
    1.2,
)  # share of the noise, and of the resolution's own error, beyond which a slow part is none of the sensor's
SLIGHT = 1e-4  # of how far a joint moves, an error that none minds
LONGEST_DRIFT = 200.0  # s, which are simulated without restart
LEAST_ROWS = 50
MOST = 1e6  # rad, m, V, A, N·m or N, of a log


def identify(
    logs: str | PathLike[str] | MeasuredLog | Sequence[str | PathLike[str] | MeasuredLog],
    robot: Given,
    open: Sequence[str] | str = FRICTION,
    columns: str | PathLike[str] | Mapping[str, str] | None = None,
    trust: float | None = None,
    delay: bool = False,
    offsets: bool = False,
    method: str = METHOD,
    dt: float | None = None,
    window: float | None = None,
    held_back: float = HELD_BACK,
    interpolate: bool = False,
    feedback: Given | Scenario | None = None,
    inputs: Output | None = None,
    progress: Callable[[str], object] = lambda said: None,
) -> Identification:
    """Find numbers of a robot file that explain logs of a real arm: friction, motors, masses.

    The motion under the logged inputs is simulated in windows, each from a start of its own that is sought as well, and the
    numbers are those of least squares (multiple shooting). Intervals are for 95 % confidence.

    Args:
        logs: CSV or Parquet files; see `armsim.follow`. All have the same kind of input.
        robot: The model: a robot file, the name of a shipped robot, or its content.
        open: What is sought: paths of numbers of the robot file, `joints[R2].motor.Kp`, patterns, `joints[*].friction.*`, and
            sets: friction, motors, payload, masses, base (base parameters).
        columns: Names of the logs' columns; see `armsim.follow`.
        trust: How far, as a share of itself, a number of the file may be off (one standard deviation); None for any.
        delay: Whether commands take effect late, by a time that is sought as well.
        offsets: Whether the sensors' zeros are off, by angles that are sought.
        method: Integrator.
        dt: Longest step [s]; 1e-3 unless given.
        window: Length of the windows [s]; 1 unless given, less of logs under half a minute.
        held_back: Share of each log, its end, that is not fitted, but used to test.
        interpolate: Whether commands change on straight lines between rows; else each is held until the next row.
        feedback: A scenario whose controller sees the logs' positions: the drift under its commands is told as well; logs without
            commands are taken as driven by it.
        inputs: Which of several kinds of commands in the logs drive the model; see `read_log`.
        progress: Called with words for every step of the fit.

    Raises:
        FileFaults: A file is damaged or cannot be used; says where and why.
        UsageError: An argument is invalid, or the logs show nothing of what is sought; says what to move.
    """
    arm = read_robot(robot)[0]
    given = [logs] if isinstance(logs, (str, PathLike, MeasuredLog)) else list(logs)
    controller = None if feedback is None else LoggedFeedback(feedback, arm)
    read = [
        x if isinstance(x, MeasuredLog) else read_log(x, arm, columns, interpolate, controller, inputs) for x in given
    ]
    _check_logs(read)
    read = [without_spikes(log) for log in read]
    _check_options(trust, window, held_back)
    check_method(method)
    sensors = sensors_of(read)
    _check_moving(read, sensors, arm)
    h = step_of(read, None if dt is None else check_dt(dt))
    fitted = [(k, float(log.t[0]), float(log.t[-1] - held_back * (log.t[-1] - log.t[0]))) for k, log in enumerate(read)]
    tested = [(k, end, float(read[k].t[-1])) for k, _, end in fitted] if held_back else fitted
    seconds = window or min(WINDOW, sum(end - start for _, start, end in fitted) / SHARE)
    unknowns = Unknowns(robot, open, read[0].output, _scales(arm, read), delay, offsets)
    values = unknowns.column("start")
    written = np.nan_to_num(np.abs(unknowns.column("written")))
    sure = np.where(written > 0.0, trust * written, math.inf) if trust else np.full(len(values), math.inf)
    known = Known(values, sure, np.zeros((0, len(values))), ())

    def shooting_by(name: str, output: Output = read[0].output) -> Shooting:
        rtol = None if METHODS[name].adaptive is None else TOLERANCE
        model = ForwardModel(unknowns.given, h, name, output, rtol=rtol, open=unknowns.places, outputs=False)
        return Shooting(model, unknowns)

    short = cut(read, fitted, max(seconds / SHORT, 10 * h), h, ENOUGH)
    windows = cut(read, fitted, seconds, h)
    if min(len(windows.log), len(short.log)) == 0:
        mend = f"give longer windows, with {spelled('--window', 'window')}, or log more rows a second"
        raise UsageError.of(read[0].name, "windows with two rows or more", f"none, of {seconds:.3g} s", mend)
    shooting, exact = shooting_by(QUICK), shooting_by(method)
    rough = Fitting(shooting, short, sensors, progress)
    values = rough.fit(rough.begun(values), known).values
    rough = Fitting(shooting, windows, sensors, progress)
    fit, known = _seen(rough, rough.begun(values), known, read)
    fitting = rough.exactly(exact)
    fit, known = _seen(fitting, fitting.begun(fit.values, fit.starts), known, read)
    fed: tuple[Horizon, ...] = ()
    if controller is not None:
        driven = shooting_by(method, controller.controller.output)
        (fed,) = _drift(driven, [log.under(controller) for log in read], tested, [fit.values], h)
    before = unknowns.column("before")
    drifts = _drift(exact, read, tested, [before, fit.values], h)
    fitted_rows = _rows_of(windows)
    model_before = exact.positions(windows, before, windows.starts())
    return Identification(
        robot=robot,
        arm=arm,
        base=unknowns.base,
        logs=tuple(read),
        method=method,
        dt=h,
        window=windows.steps * h,
        windows=len(windows.log),
        steps=fit.steps,
        estimates=_estimates(unknowns, fit, fitting, known),
        close=_close(unknowns, fitting.covariance(fit.equations, known), known),
        unseen=known.directions,
        residuals=tuple(_residual(arm, i, fit, windows, sensors[i]) for i in range(arm.n)),
        before=drifts[0],
        after=drifts[1],
        fed=fed,
        held_back=sum(end - start for _, start, end in tested) if held_back else 0.0,
        fitted={"t": fitted_rows, "measured": windows.q, "before": model_before, "after": windows.q + fit.residuals},
    )


def _seen(fitting: Fitting, begun: Fit, known: Known, logs: Sequence[MeasuredLog]) -> tuple[Fit, Known]:
    """The fit in which what the logs do not see stays where it is known to be."""
    fit = fitting.fit(begun, known)
    finite = np.isfinite(fit.residuals)
    if not (finite.any() if fitting.rough else finite.all()):
        free = f"{spelled('--method', 'method')} and {spelled('--dt', 'dt')}"
        mend = f"open less, log a motion that shows more, trust the file more, or leave {free} out"
        raise UsageError.of(logs[0].name, "numbers with which the model moves", "numbers with which it diverges", mend)
    for _ in range(3):  # what is not seen is known where the rest is
        seen = fitting.unseen(fit.equations, known)
        if len(seen.unseen) == len(known.unseen):
            break
        if len(seen.unseen) == len(known.values):
            raise _blind(logs, fitting.shooting.unknowns)
        known = seen
        fit = fitting.fit(fit, known)
    return fit, known


def _check_logs(logs: Sequence[MeasuredLog]) -> None:
    """Refuse logs that cannot be used together."""
    if not logs:
        raise UsageError.of("logs", "one log or more", "none", "name a CSV file")
    for log in logs:
        if log.output != logs[0].output:
            found = f"{logs[0].inputs_from} in {logs[0].name}, {log.inputs_from} in {log.name}"
            raise UsageError.of("logs", "the same kind of input in all logs", found, "identify from those of one kind")
        if len(log.t) < LEAST_ROWS:
            raise UsageError.of(log.name, f"{LEAST_ROWS} rows at least", f"{len(log.t)}", "log a longer motion")
        largest = max(float(np.abs(log.q).max()), float(np.abs(log.inputs).max()))
        if largest > MOST:
            mend = "check the units of its columns, and for values that stand for none"
            raise UsageError.of(log.name, f"positions and inputs up to {MOST:g}", f"{largest:g}", mend)


def _check_options(trust: float | None, window: float | None, held_back: float) -> None:
    """Refuse numbers that mean nothing."""
    for option, name, x, most, example in (
        ("--trust", "trust", trust, math.inf, "0.2"),
        ("--window", "window", window, math.inf, "1"),
        ("--hold-back", "held_back", held_back or None, 0.9, "0.2"),
    ):
        if x is not None and not 0.0 < x < most:
            expected = "a positive number" if math.isinf(most) else f"a share of the log from 0 to {most:g}"
            raise UsageError.of(spelled(option, name), expected, f"{x:g}", f"write for example {example}")


def _check_moving(logs: Sequence[MeasuredLog], sensors: Sequence[Sensor], arm: Arm) -> None:
    """Refuse logs in which nothing moves."""
    spans = [max(float(np.ptp(log.q[:, i])) for log in logs) for i in range(arm.n)]
    most = [max(MOVING[0] * one.noise, MOVING[1] * one.quantum, 1e-6) for one in sensors]
    if not any(span > least for span, least in zip(spans, most, strict=True)):
        found = ", ".join(
            f"{joint.name} {span:.2g} {joint.kind.length}" for joint, span in zip(arm.joints, spans, strict=True)
        )
        mend = "log a motion of the joints whose numbers you seek: to and fro, at different speeds, in different poses"
        raise UsageError.of(logs[0].name, "joints that move by more than their sensors' noise", found, mend)


def _blind(logs: Sequence[MeasuredLog], unknowns: Unknowns) -> UsageError:
    """The refusal of logs that show nothing of what is sought."""
    if logs[0].output == "torque" and all(".motor." in one.path for one in unknowns.items):
        option = spelled("--inputs voltage", 'inputs="voltage"')
        mend = f"add {option} if the log has them as well"
        expected, found = "voltages or currents, on whose effect numbers of motors bear", "torques at the joints"
        return UsageError.of(logs[0].name, expected, found, mend)
    items = [Estimate(one.path, one.unit, None, one.start, None, 0.0) for one in unknowns.items]
    mend = "; ".join(dict.fromkeys(f"for {one.key}: {one.motion}" for one in items))
    found = f"nothing of {', '.join(one.path for one in items[:6])}{', ...' if len(items) > 6 else ''}"
    return UsageError.of(logs[0].name, "a motion that shows what is sought", found, mend)


def _scales(arm: Arm, logs: Sequence[MeasuredLog]) -> list[JointScale]:
    """How strongly and how fast each joint moves."""
    found = []
    for i, joint in enumerate(arm.joints):
        factor, motor = 1.0, joint.electric_motor
        if logs[0].output != "torque" and motor is not None:
            factor = abs(float(torque(motor, 1.0))) / (
                float(motor.Ra) if logs[0].output == "voltage" and motor.Ra else 1.0
            )
        drive = math.sqrt(float(np.mean(np.concatenate([log.inputs[:, i] for log in logs]) ** 2)))
        rates = [np.ptp(log.q[:, i]) / max(float(log.t[-1] - log.t[0]), 1e-9) for log in logs]
        path = [
            np.sum(np.abs(np.diff(log.q[:: max(1, len(log.t) // 200), i]))) / (log.t[-1] - log.t[0]) for log in logs
        ]
        found.append(JointScale(max(factor * drive, 1e-6), max(*rates, *path, 1e-3)))
    return found


def _rows_of(windows: Windows) -> Array:
    """Times of the rows of windows [s]; those of further logs follow the ones before."""
    t = windows.begin[windows.of] + (windows.at + windows.share) * windows.h
    lengths = np.cumsum([0.0, *(float(log.t[-1]) for log in windows.logs)])
    return np.asarray(t + lengths[windows.log[windows.of]])


def _estimates(unknowns: Unknowns, fit: Fit, fitting: Fitting, known: Known) -> tuple[Estimate, ...]:
    covariance = fitting.covariance(fit.equations, known)
    wide = np.sqrt(np.diag(covariance)) * float(stdtrit(max(len(fit.equations.each) - 1, 1), 0.975))
    blind = _shares(known)
    prior = np.minimum(np.diag(covariance) * (fitting.scale / known.trust) ** 2, 1.0)
    found = []
    for i, item in enumerate(unknowns.items):
        sees = float(min(1.0 - blind[i], 1.0 - prior[i]))
        kept, whole = blind[i] > 1.0 - ALONE, blind[i] < ALONE
        value = item.start if kept else float(fit.values[i])
        at_bound = bool(
            not kept and min(value - item.lower, item.upper - value) < 1e-3 * min(wide[i], 1.0) * item.scale
        )
        written = item.written if math.isfinite(item.written) else None
        within = float(wide[i] * item.scale) if whole else None
        found.append(Estimate(item.path, item.unit, written, value, within, 0.0 if kept else sees, at_bound))
    return tuple(found)


def _shares(known: Known) -> Array:
    """How much of each unknown the log cannot see, from 0 to 1."""
    return np.sum(known.unseen**2, axis=0) if len(known.unseen) else np.zeros(len(known.values))


def _close(unknowns: Unknowns, covariance: Array, known: Known) -> tuple[tuple[str, str, float], ...]:
    """Pairs of unknowns that the log sees, and hardly tells apart, the closest first."""
    sure = np.sqrt(np.diag(covariance))
    blind = _shares(known)
    found = []
    for i in range(len(sure)):
        for j in range(i):
            correlation = float(covariance[i, j] / (sure[i] * sure[j]))
            if abs(correlation) > CLOSE and max(blind[i], blind[j]) < ALONE:
                found.append((unknowns.items[j].path, unknowns.items[i].path, correlation))
    return tuple(sorted(found, key=lambda pair: -abs(pair[2])))


def _residual(arm: Arm, i: int, fit: Fit, windows: Windows, sensor: Sensor) -> JointResidual:
    """What is left of a joint's motion, and whether its sensor accounts for that."""
    residuals = fit.residuals[:, i]
    firsts = np.searchsorted(windows.of, windows.of)
    block = max(len(residuals) // (len(windows.log) * BLOCK), LEAST_BLOCK)
    blocks = windows.of * len(residuals) + (np.arange(len(residuals)) - firsts) // block
    _, which, counts = np.unique(blocks, return_inverse=True, return_counts=True)
    means = np.bincount(which, residuals) / counts
    enough = counts >= LEAST_BLOCK - 1
    rms = float(np.sqrt(np.mean(residuals**2)))
    noise = min(rms, float(np.sqrt(np.mean((residuals - means[which]) ** 2))))
    slow = float(np.mean(means[enough] ** 2 - noise**2 / (counts[enough] - 1))) if enough.any() else rms**2
    slow = math.sqrt(max(slow, 0.0))
    inside = np.flatnonzero(np.diff(windows.of) == 0)
    pairs = residuals[inside], residuals[inside + 1]
    neighbours = float(np.mean(pairs[0] * pairs[1]) / max(rms**2, 1e-300))
    moved = float(np.ptp(windows.q[:, i]))
    share, own = NOTICED
    explained = slow <= max(share * sensor.noise, own * sensor.quantum / math.sqrt(12.0), SLIGHT * moved, 1e-9)
    joint = arm.joints[i]
    return JointResidual(joint.name, joint.kind.length, rms, sensor.noise, sensor.quantum, slow, neighbours, explained)


def _drift(
    shooting: Shooting,
    logs: Sequence[MeasuredLog],
    spans: Sequence[tuple[int, float, float]],
    values: Sequence[Array],
    h: float,
) -> list[tuple[Horizon, ...]]:
    """How far the model drifts from logs within windows of fixed length, and within whole spans of them, by each of values."""
    found: list[list[Horizon]] = []
    longest = max(end - start for _, start, end in spans)
    for seconds in (*HORIZONS, math.inf):
        if min(seconds, longest) > LONGEST_DRIFT or (math.isfinite(seconds) and longest < 2.0 * seconds):
            continue
        windows = cut(logs, spans, seconds, h)
        starts = np.broadcast_to(windows.starts(), (len(values), len(windows.log), 2 * shooting.n))
        errors = np.abs(shooting.candidates(windows, np.array(values), starts) - windows.q)
        last, whole = np.flatnonzero(np.diff(windows.of, append=len(windows.log))), math.isinf(seconds)
        span = longest if whole else seconds
        found.append([])
        for error in errors:
            error[~np.isfinite(error).all(axis=1)] = math.inf
            final, largest = np.sqrt(np.mean(error[last] ** 2, axis=0)), error.max(axis=0)
            found[-1].append(Horizon(span, whole, len(windows.log), (*final.tolist(),), (*largest.tolist(),)))
    return [*zip(*found, strict=True)]
