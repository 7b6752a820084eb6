"""Motions that show parameters: within all limits, as informative as a search makes them, with the intervals to expect."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize

from armsim.actuation import Output
from armsim.arm.arrays import number_array
from armsim.arm.inverse import motion_table
from armsim.arm.overload import needs
from armsim.arm.robot import Robot, load_robot
from armsim.arrays import Array, ArrayLike
from armsim.display import Shown
from armsim.document.scenario import FORMAT
from armsim.errors import UsageError, refusing
from armsim.files.csv_writer import write_rows
from armsim.files.new_file import write_files
from armsim.files.yaml_writer import yaml_text
from armsim.identification.command_model import CommandModel
from armsim.identification.fit import Fitting, Known
from armsim.identification.fourier import FourierMotion, MotionFamily, MotionLimits
from armsim.identification.identify import HELD_BACK, QUICK, SHARE, WINDOW
from armsim.identification.linear import seen_numbers
from armsim.identification.shooting import Shooting
from armsim.identification.unknowns import FRICTION, JointScale, Unknowns
from armsim.identification.unseen import UnseenDirection
from armsim.identification.windows import Sensor, cut, step_of
from armsim.loading import Given
from armsim.recording.command_history import CommandHistory
from armsim.recording.forward_model import ForwardModel
from armsim.recording.measured_log import MeasuredLog
from armsim.records import Json, record
from armsim.studies.study import called

NORMAL = 1.96  # standard deviations on either side of a 95 % interval
MARGIN = 0.02  # of a range at either end, for what a controller leaves
SPEED, ACCELERATION = {"rad": 2.0, "m": 0.2}, {"rad": 10.0, "m": 1.0}  # of joints, unless given
LONGEST_PERIOD, HARMONICS = 10.0, (3, 10)  # s; at least and at most
DRAWS, STARTS, ITERATIONS = 64, 2, 40  # of the search: first vectors, those that are followed, steps
STEP = 1e-6  # of numerical gradients of the search
SLOW = 0.05  # of the greatest speed, below which a row with dry friction counts less in the search
RIDGE = 1e-12  # of information, in which numbers have the size 1
PENALTY = 1e3  # of exceeding a motor's limit
FINE = 8  # times as many samples where motors' limits are held
NEARLY = 0.98  # of a motor's limit, which is all that samples may need
FEWEST = 100  # rows of a motion
LOGS = 4  # of the motion, whose windows tell the intervals
SCENARIO, TABLE = "excite.yaml", "excite.csv"
RATE, SLOWER = (
    20.0,
    0.1,
)  # 1/s, with which errors of the controller die away; of its samples' rate, what it must be below


@record
class Expected:
    """What an estimate of a number from the motion is expected to be.

    Attributes:
        path: Of the number.
        unit: Of the file.
        value: In the file.
        deviation: Standard deviation of what `armsim.identify` finds; infinite for a number that the motion cannot see.
    """

    path: str
    unit: str
    value: float
    deviation: float

    @property
    def interval(self) -> float:
        """Half the width of its 95 % interval."""
        return NORMAL * self.deviation


@record
class Excitation(Shown):
    """A motion, and what it tells.

    Attributes:
        robot: Name of the arm.
        joints: Names of its joints.
        types: Of its joints, of `armsim.model.JOINT_TYPES`.
        motion: The motion, a whole number of periods.
        duration: [s].
        rate: Rows of the log a second [Hz].
        measured: What the log has besides positions.
        numbers: The open numbers.
        unseen: Changes of them that the motion cannot see.
        condition: Condition number of the slopes of the log by those that are seen, all scaled to one length.
        share: Of the best motion within limits of joints, to which motors' limits reduce it; 1 where they do not.
        loads: Greatest needs of the motors by joint and quantity, relative to their limits.
    """

    robot: str
    joints: tuple[str, ...]
    types: tuple[str, ...]
    motion: FourierMotion
    duration: float
    rate: float
    measured: str
    numbers: tuple[Expected, ...]
    unseen: tuple[UnseenDirection, ...]
    condition: float
    share: float
    loads: dict[str, float]

    @property
    def t(self) -> Array:
        """Times of the rows [s], shape (m,)."""
        return np.arange(round(self.duration * self.rate) + 1) / self.rate

    def scenario(self, arm: Robot, named: Any) -> Json:
        """A scenario that follows the rows of `TABLE` by PD control beside feedforward, a sample a row, as plain data.

        Args:
            arm: The arm.
            named: What the scenario calls it: a path, a name, or plain data.
        """
        state = self.motion.at(self.t[: round(self.motion.period * self.rate)])[0]
        inertia = arm.mass_matrix(state).diagonal(axis1=1, axis2=2).max(axis=0)
        fast = min(RATE, SLOWER * self.rate)
        gains = {"kp": (fast**2 * inertia).tolist(), "kd": (2 * fast * inertia).tolist()}
        law = {"law": "pd", "output": "torque", **gains, "feedforward": "inverse_dynamics", "period": 1 / self.rate}
        return {
            "format": FORMAT,
            "robot": named,
            "duration": self.duration,
            "integrator": {"method": "auto", "dt": 0.5 / self.rate},
            "initial": {"q": state[0].tolist()},
            "control": {**law, "reference": {"csv": TABLE}},
            "log": {"every": 1 / self.rate},
        }


def excite(
    robot: Given,
    open: Sequence[str] | str = FRICTION,
    duration: float = 10.0,
    noise: ArrayLike = 1e-4,
    command_noise: ArrayLike = 0.0,
    measured: Output = "torque",
    rate: float = 1000.0,
    speed: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    seed: int = 0,
) -> Excitation:
    """A motion that tells numbers of a robot file, D-optimal among Fourier series as far as a local search finds them.

    Swevers et al. 1997, *Optimal robot excitation and identification*, IEEE Trans. Robotics and Automation 13(5). It keeps to
    ranges, speeds and accelerations of joints and to the motors' limits, and is at rest at both ends. It is blind to collisions.

    Args:
        robot: A robot file, the name of a shipped robot, or plain data.
        open: Paths of the numbers, patterns of them, and names of sets, as `armsim.identify` takes them.
        duration: [s].
        noise: Standard deviation of measured positions [rad or m], one or n.
        command_noise: Of measured torques, currents or voltages, likewise.
        measured: "torque", "current" or "voltage": what the log will have besides positions.
        rate: Rows of the log a second [Hz].
        speed: Greatest speed [rad/s or m/s], one or n; `SPEED` unless given, and never more than the motors'.
        acceleration: Greatest acceleration [rad/s² or m/s²], likewise.
        seed: Of the search.

    Raises:
        FileFaults: The robot cannot be used.
        UsageError: There is no number at a path, a joint that slides has no range, motors cannot hold the arm, or an argument is
            out of range.
    """
    for name, x in (("duration", duration), ("rate", rate)):
        _each(name, x, 1)
    if duration * rate < FEWEST:
        raise UsageError.of(
            "duration", f"{FEWEST} rows or more", f"{duration * rate:.0f}", f"give {FEWEST / rate:g} s or more"
        )
    arm = load_robot(robot)
    n = arm.arm.n
    unknowns = Unknowns(robot, open, measured, [JointScale(1.0, 1.0)] * n, delay=False, offsets=False)
    model = CommandModel(unknowns.robot, measured)
    limits = motion_limits(arm, speed, acceleration)
    periods = max(math.ceil(duration / LONGEST_PERIOD - 1e-9), 1)
    duration = round(duration * rate) / rate
    period = duration / periods
    fastest = float((limits.acceleration / limits.speed).max()) * period / math.tau
    family = MotionFamily(limits, period, min(max(round(fastest), HARMONICS[0]), HARMONICS[1]))
    values = model.start
    best = family.motions(_search(model, arm, family, values, seed)[None])[0]
    share = within_motors(arm, best, family)
    motion = best.scaled(share)
    sigma, of_commands = _each("noise", noise, n), _each("command noise", command_noise, n, zero=True)
    t = np.arange(round(duration * rate) + 1) / rate
    deviations, unseen, condition = expectation(unknowns, motion, t, measured, LogNoise(sigma, of_commands, seed))
    numbers = zip(
        *(unknowns.column(x).tolist() for x in ("path", "unit")), values.tolist(), deviations.tolist(), strict=True
    )
    return Excitation(
        robot=model.arm.name,
        joints=tuple(arm.joints),
        types=tuple(joint.type for joint in arm.arm.joints),
        motion=motion,
        duration=duration,
        rate=rate,
        measured=measured,
        numbers=tuple(Expected(*row) for row in numbers),
        unseen=unseen,
        condition=condition,
        share=share,
        loads={key: float(x) for key, x in motor_loads(arm, *motion.at(_fine(family))).items()},
    )


def save(found: Excitation, robot: Given, folder: str) -> list[str]:
    """Write a scenario that follows the motion, and the motion as rows for another controller; their paths."""
    named = called("robots", os.fspath(robot), folder) if isinstance(robot, (str, os.PathLike)) else robot
    arm = load_robot(robot)
    state = found.motion.at(found.t)
    headings, table = motion_table(arm, found.t, state, arm.inverse_dynamics(*state))
    rows = partial(write_rows, headings=headings, values=table.ravel())
    with refusing(folder, "a folder that can be written", "check its name and its permissions"):
        return write_files(folder, {SCENARIO: yaml_text(found.scenario(arm, named)), TABLE: rows})


def motion_limits(arm: Robot, speed: ArrayLike | None, acceleration: ArrayLike | None) -> MotionLimits:
    """The file's ranges, or half a turn about the initial position; speeds and accelerations given, or the defaults."""
    lower, upper = arm.initial - math.pi, arm.initial + math.pi
    fastest = np.full(arm.arm.n, math.inf)
    for i, joint in enumerate(arm.arm.joints):
        low, high = joint.bounds
        if None in (low, high) and not joint.kind.turns:
            mend = f"give joint {joint.name} `limits: {{lower: ..., upper: ...}}` in the robot file"
            raise UsageError.of("excite", f"a range of {joint.name}, which slides", "none", mend)
        lower[i], upper[i] = lower[i] if low is None else low, upper[i] if high is None else high
        motor = joint.motor
        if motor is not None and motor.limits.speed is not None:
            fastest[i] = motor.limits.speed / abs(motor.gear)
    lengths = [joint.kind.length for joint in arm.arm.joints]
    defaults = ([of[x] for x in lengths] for of in (SPEED, ACCELERATION))
    given = (("speed", speed), ("acceleration", acceleration))
    most = [_each(name, of if x is None else x, len(lengths)) for (name, x), of in zip(given, defaults, strict=True)]
    apart = MARGIN * (upper - lower)
    return MotionLimits(lower + apart, upper - apart, np.minimum(most[0], fastest), most[1])


def _each(name: str, given: ArrayLike, n: int, zero: bool = False) -> Array:
    """One number for all of n joints, or one for each, above 0; perhaps 0."""
    array = number_array(name, given)
    least = 0.0 if zero else np.finfo(float).tiny
    if array.shape not in ((), (1,), (n,)) or not ((array >= least) & (array < math.inf)).all():
        expected = f"one number {'not below' if zero else 'above'} 0, or one for each of {n} joints"
        raise UsageError.of(name, expected, str(array.tolist()), "correct it")
    return np.broadcast_to(array, n)


def motor_loads(arm: Robot, q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
    """What motors need, over their limits, by joint and quantity: of states of shape (..., n) the greatest."""
    states = [x.reshape(-1, arm.arm.n) for x in (q, qd, qdd)]
    tau = arm.inverse_dynamics(*states)
    voltage, current = arm.motor_demand(states[1], tau)
    return {
        f"{need.quantity} of {joint.name}": (need.needed / need.limit).reshape(q.shape[:-1]).max(axis=-1)
        for i, joint in enumerate(arm.arm.joints)
        for need in needs(joint, *(x[:, i] for x in (states[1], tau, voltage, current)))
    }


def _fine(family: MotionFamily) -> Array:
    many = FINE * len(family.t)
    return np.linspace(0.0, family.period, many, endpoint=False)


def within_motors(arm: Robot, motion: FourierMotion, family: MotionFamily) -> float:
    """The share of a motion that motors can follow; limits of joints hold for any.

    Raises:
        UsageError: They cannot even hold the arm where it swings about.
    """
    fine = _fine(family)

    def load(share: float) -> tuple[float, str]:
        loads = motor_loads(arm, *motion.scaled(share).at(fine))
        return max(((float(x) - NEARLY, name) for name, x in loads.items()), default=(-NEARLY, ""))

    if load(1.0)[0] <= 0.0:
        return 1.0
    least, name = load(0.0)
    if least > 0.0:
        expected = "motors that hold the arm at rest within their limits"
        raise UsageError.of("excite", expected, f"{name} beyond its limit", "narrow the joints' ranges")
    return float(brentq(lambda share: load(share)[0], 0.0, 1.0))


def _search(model: CommandModel, arm: Robot, family: MotionFamily, values: Array, seed: int) -> Array:
    """The vector of the most informative motion, from the best of random ones."""
    n, slow = model.arm.n, SLOW * family.limits.speed
    draws = np.random.default_rng(seed).normal(size=(DRAWS, n * family.width))
    q, qd, qdd = (x.reshape(-1, n) for x in family.states(draws))
    sizes = 1.0 / np.sqrt((model.by_motion(values, q, qd, qdd)[:, :, 2] ** 2).sum(axis=2).mean(axis=0))
    slopes = model.by_numbers(values, q, qd, qdd)[1]
    chosen = seen_numbers(np.broadcast_to(sizes, q.shape), slopes, model.robot.paths)[0]
    lengths = np.linalg.norm((slopes[..., chosen] * sizes[:, None]).reshape(-1, len(chosen)), axis=0)
    scale = np.outer(lengths, lengths) / len(draws)

    def costs(x: Array) -> Array:
        states = family.states(x)
        slopes = model.by_numbers(values, *(s.reshape(-1, n) for s in states))[1][..., chosen]
        squares = states[1].reshape(-1, n) ** 2
        moving = np.where(model.sticking, squares / (squares + slow**2), 1.0)  # smooth where friction turns round
        rows = (slopes * (moving * sizes)[..., None]).reshape(len(x), -1, len(chosen))
        information = np.linalg.slogdet(rows.swapaxes(1, 2) @ rows / scale + RIDGE * np.eye(len(chosen)))[1]
        over = sum(
            (np.maximum(load - NEARLY, 0.0) ** 2 for load in motor_loads(arm, *states).values()), np.zeros(len(x))
        )
        total: Array = PENALTY * over - information
        return total

    def with_slope(x: Array) -> tuple[float, Array]:
        found = costs(np.concatenate([x[None], x + STEP * np.eye(len(x))]))
        return float(found[0]), (found[1:] - found[0]) / STEP

    first = draws[np.argsort(costs(draws), kind="stable")[:STARTS]]
    ends = [minimize(with_slope, x, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}) for x in first]
    best: Array = min(ends, key=lambda end: float(end.fun)).x
    return best


class LogNoise(NamedTuple):
    """The white noise of a log.

    Attributes:
        positions: Its standard deviation [rad or m], shape (n,).
        commands: That of measured commands, likewise.
        seed: Of its draws.
    """

    positions: Array
    commands: Array
    seed: int


def expectation(
    unknowns: Unknowns, motion: FourierMotion, t: Array, measured: Output, noise: LogNoise
) -> tuple[Array, tuple[UnseenDirection, ...], float]:
    """Standard deviations that `armsim.identify` finds from such logs, unseen directions, condition number.

    The logs are simulated with the file's numbers. Each window begins on the motion, whose commands are held from row to row.

    Args:
        unknowns: What is sought.
        motion: The motion.
        t: Times of rows [s], shape (m,).
        measured: What the log has besides positions.
        noise: Of the log.
    """
    draw, values = np.random.default_rng(noise.seed), unknowns.column("before")
    q, qd, qdd = motion.at(t)
    commands = CommandModel(unknowns.robot, measured).by_numbers(values[: unknowns.opened], q, qd, qdd)[0]

    def log(size: Array) -> MeasuredLog:
        history = CommandHistory(t, commands + size * draw.normal(size=q.shape))
        return MeasuredLog("excite", t, q, None, history, measured, measured)

    fitted, h = (1.0 - HELD_BACK) * float(t[-1]), step_of([log(noise.commands)], None)
    spans = [(k, 0.0, fitted) for k in range(LOGS)]
    true, windows = (
        cut([log(size * noise.commands) for _ in spans], spans, min(WINDOW, fitted / SHARE), h) for size in (0.0, 1.0)
    )
    model = ForwardModel(unknowns.given, h, QUICK, measured, open=unknowns.places, outputs=False)
    shooting = Shooting(model, unknowns)
    starts = np.concatenate(motion.at(windows.begin)[:2], axis=1)
    simulated = shooting.positions(true, values, starts)
    windows = replace(windows, q=simulated + noise.positions * draw.normal(size=simulated.shape))
    fitting = Fitting(shooting, windows, [Sensor(float(x), 0.0) for x in noise.positions])
    equations = fitting.begun(values, starts, both=True).equations
    known = fitting.unseen(equations, Known(values, np.full(len(values), math.inf), np.zeros((0, len(values))), ()))
    variances = LOGS * np.diag(fitting.covariance(equations, known))
    named = {path for direction in known.directions for path in direction.factors}
    hidden = [item.path in named for item in unknowns.items]
    lengths = np.sqrt(np.maximum(np.diag(equations.matrix), 1e-300))
    sizes = np.linalg.eigvalsh(equations.matrix / np.outer(lengths, lengths))[len(known.unseen) :]
    deviations = np.where(hidden, math.inf, np.sqrt(variances) * fitting.scale)
    return deviations, known.directions, math.sqrt(float(sizes[-1] / sizes[0]))
