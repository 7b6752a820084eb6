"""A model run on the inputs of a real arm's log: its drift from what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from armsim.arm.integration import check_dt, check_method, check_tolerance
from armsim.arm.robot import Robot, arm_of
from armsim.arrays import Array
from armsim.display import Shown
from armsim.errors import UsageError, spelled
from armsim.integrate import METHODS
from armsim.loading import Given, Scenario, scenario_of
from armsim.model import Arm
from armsim.model.angles import POSITION, in_unit
from armsim.plant import driven_plant
from armsim.plant.columns import spellings
from armsim.progress import Progress
from armsim.recording.comparison import Comparison, Tolerance, column_of, compared, tolerances
from armsim.recording.logged_feedback import LoggedFeedback
from armsim.recording.measured_log import MeasuredLog, read_log
from armsim.recording.playback import Playback, Played
from armsim.recording.replay import first_state
from armsim.recording.state_vector import StateVector
from armsim.records import Json, attributes, record

if TYPE_CHECKING:
    from armsim.compile.target import Target

Look = Callable[[int], None]  # rows done
HORIZONS = (0.1, 1.0)  # s, of restarts
METHOD, DT = "semi_implicit_euler", 1e-4


@record
class Horizon:
    """The model's drift from the log over a horizon, restarted from the log at the beginning of every window.

    Attributes:
        seconds: Length of the windows [s]; of the last horizon that of the log.
        whole: Whether that is all of the log.
        windows: Number of windows.
        final: Root mean square of each joint's error at the ends of the windows [rad or m], n of them; inf if it diverged.
        largest: Largest error within any window, likewise.
    """

    seconds: float
    whole: bool
    windows: int
    final: tuple[float, ...] = field(metadata=POSITION)
    largest: tuple[float, ...] = field(metadata=POSITION)


@record
class Followed(Shown):
    """A model run on the inputs of a log.

    Attributes:
        log: The log.
        arm: The model.
        method: Its integrator.
        dt: Its longest step [s]; None for an adaptive method that lands on the rows alone.
        rtol: Relative tolerance of an adaptive method; else None.
        states: Without restart, shape (rows of the log reached, len(slots)).
        slots: Names of the numbers of a state.
        comparison: Model minus log over the whole log: positions, and velocities where the log has them.
        horizons: Drift per horizon, the whole log last.
        diverged: If the model diverged, the slot that left its bounds first; else None.
        fed: The same driven by a controller that sees the log's positions; None where none was asked for.
    """

    log: MeasuredLog
    arm: Arm
    method: str
    dt: float | None
    rtol: float | None
    states: Array
    slots: tuple[str, ...]
    comparison: Comparison
    horizons: tuple[Horizon, ...]
    diverged: str | None
    fed: Followed | None = None

    def __repr__(self) -> str:
        return f"Followed({self.log.name} by {self.arm.name} with {self.method}: {self.comparison.verdict()})"

    @property
    def model(self) -> str:
        """The model, in words."""
        steps = f"steps of at most {self.dt:g} s" if self.rtol is None else f"rtol {self.rtol:g}"
        return f"{self.arm.name} by {self.method}, {steps}"

    @property
    def judged(self) -> bool:
        """Whether any tolerance was given."""
        return any(d.tolerance is not None for d in self.comparison.differences)

    @property
    def off(self) -> tuple[float, ...]:
        """Root mean square of what the controller commands less what was logged, of each drive; none of other kinds of it."""
        if self.fed is None or self.fed.log.output != self.log.output:
            return ()
        apart = self.fed.log.inputs - self.log.inputs
        return tuple(np.sqrt(np.mean(apart**2, axis=0)).tolist())

    def data(self, degrees: bool = False) -> Json:
        """As plain data; horizons by joint, their angles in degrees if so asked, to 15 digits."""
        horizons = [
            {
                key: dict(zip(self.arm.joint_names, x, strict=True)) if type(x) is tuple else x
                for key, x in vars(h).items()
            }
            for h in in_unit(self.horizons, self.arm.joints, degrees)
        ]
        return {
            "log": self.log.name,
            "robot": self.arm.name,
            **attributes(self, "method", "dt", "rtol"),
            "inputs": self.log.output,
            "inputs_from": self.log.inputs_from,
            "velocities": self.log.velocities_from,
            "notes": self.log.notes,
            "horizons": horizons,
            "diverged": self.diverged,
            **({} if self.fed is None else {"fed": {**self.fed.data(degrees), "commands_off": list(self.off)}}),
            **self.comparison.data(),
        }


def follow(
    log: str | PathLike[str] | MeasuredLog,
    robot: Given | Robot | Arm | None = None,
    columns: str | PathLike[str] | Mapping[str, str] | None = None,
    method: str = METHOD,
    dt: float | None = None,
    tolerance: Tolerance = None,
    target: Target | None = None,
    progress: Progress | None = None,
    degrees: bool = False,
    rtol: float | None = None,
    interpolate: bool = False,
    feedback: Given | Scenario | None = None,
) -> Followed:
    """Run a robot's model on the inputs of a log from its first row, and measure its drift from the log.

    Every input is held until the next row, unless it is to be interpolated. Rows need not be evenly spaced: the time between two
    is divided into equal steps of at most dt.

    Args:
        log: A CSV file, see `read_log`.
        robot: The model: a robot file, the name of a shipped robot, its content, an `armsim.Robot` or its `Arm`; that of
            `feedback` unless given.
        columns: Names of the log's columns; see `read_log`.
        method: Integrator.
        dt: Longest step [s], 1e-4 unless given. An adaptive method lands on every row and needs none.
        tolerance: Largest drift over the whole log, by quantity ("q", "qd"), or one for all; None to judge nothing.
        target: The machine to compile for; the host unless given.
        progress: Called about twenty times a second with rows done and rows in all, each counted once for every horizon.
        degrees: Compare angles in degrees, their tolerances included; horizons stay in rad.
        rtol: Relative tolerance of an adaptive method; its default unless given.
        interpolate: Whether inputs change on straight lines between rows; a step takes the mean over it.
        feedback: A scenario whose controller drives the model as well, seeing the log's positions, sample by sample; alone where
            the log has no inputs.

    Raises:
        FileFaults: A file is damaged or cannot be used; says where and why.
        UsageError: An argument is invalid; says how to mend it.
    """
    scenario = None if feedback is None else scenario_of(feedback)
    if robot is None:
        if scenario is None:
            mend = spelled(f"write for example armsim replay {log} --robot my_arm.yaml", "give it, or `feedback`")
            raise UsageError.of(
                str(log), f"{spelled('--robot ROBOT', 'robot')}, the model that is to follow the log", "none", mend
            )
        robot = scenario.arm
    arm = arm_of(robot)
    controller = None if scenario is None else LoggedFeedback(scenario, arm)
    if not isinstance(log, MeasuredLog):
        log = read_log(log, arm, columns, interpolate, controller).by_torques(arm)
    if controller is not None and log.inputs_from != controller.told:
        turns = [None if progress is None else partial(_half, progress, half) for half in (0, 1)]
        logged, fed = (
            follow(x, arm, None, method, dt, allowed, target, turn, degrees, rtol)
            for x, allowed, turn in zip((log, log.under(controller)), (tolerance, None), turns, strict=True)
        )
        return replace(logged, fed=fed)
    allowed = check_tolerance(check_method(method), rtol, None)
    adaptive = METHODS[method].adaptive is not None
    dt = check_dt(dt) if dt is not None else None if adaptive else DT
    longest = min(math.inf if dt is None else dt, float(np.diff(log.t).max()))
    vector = StateVector(driven_plant(arm, method, log.output, allowed))
    n, kinds = arm.n, ["q", "qd"] if log.qd is not None else ["q"]
    headings = [spellings(kind, joint)[0][0] for kind in kinds for joint in arm.joints]
    named = [column_of(heading) for heading in headings]
    tolerances(named, tolerance, degrees)  # refused before anything is compiled
    playback = Playback(vector, None, target)
    passes, rows = 1 + len(HORIZONS), len(log.t)

    def look(turn: int, done: int) -> None:
        """Report rows done of a pass."""
        if progress is not None:
            progress(turn * rows + done, passes * rows)

    whole = _window(playback, log, longest, 0, rows - 1, partial(look, 0))
    m = len(whole.states)
    measured = np.concatenate([log.q, log.qd], axis=1) if log.qd is not None else log.q
    nothing = {} if tolerance is None else tolerance  # a real arm is not expected to agree to the bit
    comparison = compared(log.t[:m], named, measured[:m], whole.states[:, : len(named)], nothing, degrees)
    horizons = []
    for k, seconds in enumerate(HORIZONS, 1):
        horizons.append(_horizon(playback, log, longest, seconds, partial(look, k)))
        look(k, rows)
    error = whole.states[:, :n] - log.q[:m]
    lost = whole.diverged is not None
    last = Horizon(
        seconds=float(log.t[-1] - log.t[0]),
        whole=True,
        windows=1,
        final=tuple(math.inf if lost else float(abs(x)) for x in error[-1]),
        largest=tuple(math.inf if lost else float(x) for x in np.abs(error).max(axis=0)),
    )
    return Followed(
        log=log,
        arm=arm,
        method=method,
        dt=None if dt is None else longest,
        rtol=float(allowed.rtol) if adaptive else None,
        states=whole.states,
        slots=vector.names,
        comparison=comparison,
        horizons=(*(horizon for horizon in horizons if horizon is not None), last),
        diverged=whole.diverged,
    )


def _half(progress: Progress, half: int, done: int, total: int) -> None:
    """Report one of two halves of the work."""
    progress(half * total + done, 2 * total)


def _window(playback: Playback, log: MeasuredLog, dt: float, first: int, last: int, look: Look) -> Played:
    """The model run from row `first` of the log to row `last`."""
    vector = playback.vector
    known = [slot for slot in vector.slots if slot.kind in ("q", "qd")]
    start = first_state(vector, tuple(known), np.concatenate([log.q[first], log.velocities(first)]))
    t = log.t[first : last + 1]
    times = np.diff(t)
    counts = np.maximum(1, np.ceil(times / dt * (1.0 - 1e-9))).astype(int)
    whole = np.abs(times / dt - counts) <= 1e-9 * counts
    lengths, ends = np.where(whole, dt, times / counts), np.arange(len(t))
    inputs = log.commands.at(t)
    if not log.commands.held(t):  # of each step their mean
        ends = np.concatenate([[0], np.cumsum(counts)])
        lengths = np.repeat(lengths, counts)
        begins = np.repeat(t[:-1], counts) + (np.arange(ends[-1]) - np.repeat(ends[:-1], counts)) * lengths
        inputs = np.concatenate([log.commands.means(np.append(begins, t[-1])), inputs[-1:]])
        counts = np.ones(ends[-1], dtype=int)
    played = playback.play(
        start,
        inputs,
        counts.tolist(),
        lengths=lengths.tolist(),
        look=lambda done: look(first + int(np.searchsorted(ends, done, "right")) - 1),
    )
    return replace(played, states=played.states[ends[ends < len(played.states)]])


def _horizon(playback: Playback, log: MeasuredLog, dt: float, seconds: float, look: Look) -> Horizon | None:
    """The drift over a horizon [s]; None where the log is no longer than that, or two of its rows are farther apart."""
    t, n = log.t, log.q.shape[1]
    if t[-1] - t[0] <= seconds * (1.0 + 1e-9):
        return None
    ends, largest = [], np.zeros(n)
    first = 0
    while t[-1] - t[first] >= seconds * (1.0 - 1e-9):
        last = int(np.searchsorted(t, t[first] + seconds * (1.0 + 1e-9), side="right")) - 1
        if last == first:
            return None
        played = _window(playback, log, dt, first, last, look)
        if played.diverged is not None:
            ends.append(np.full(n, math.inf))
            largest[:] = math.inf
        else:
            error = np.abs(played.states[:, :n] - log.q[first : last + 1])
            ends.append(error[-1])
            largest = np.maximum(largest, error.max(axis=0))
        first = last
    final = np.sqrt(np.mean(np.square(ends), axis=0))
    return Horizon(seconds, False, len(ends), tuple(final.tolist()), tuple(largest.tolist()))
