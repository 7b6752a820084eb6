"""Figures of merit in the summary of a run."""

from __future__ import annotations

from dataclasses import field

from armsim.actuation import LIMITS
from armsim.control import Constant, Controller
from armsim.measures.figures import ENERGY, OF_JOINT, RESPONSE, TOOL, every, limits_of
from armsim.model.angles import FIGURE, SQUARE
from armsim.records import optional, record
from armsim.simulation.result import Result

INSTANTS = 100  # at which a reference's travel is looked for


@record(kw_only=True)
class ArmFigures:
    """Figures of the whole arm.

    Attributes:
        moments: Number of moments at which figures were gathered.
        every: Time between them [s].
        follows: Whether its reference moves.
        rms_tool_error: Of the tool, root mean square [m]; None without a reference.
        peak_tool_error: Its peak [m].
        energy_drawn: By all motors [J]; None without any.
        energy_fed_back: By all motors [J].
    """

    moments: int
    every: float
    follows: bool
    rms_tool_error: float | None = optional(default=None)
    peak_tool_error: float | None = optional(default=None)
    energy_drawn: float | None = optional(default=None)
    energy_fed_back: float | None = optional(default=None)


@record
class TimeAtLimit:
    """How long a joint was at a limit.

    Attributes:
        time: In all [s].
        share: Of the run.
        first: When it first was [s].
    """

    time: float
    share: float
    first: float


@record
class LimitShare:
    """How near to a limit a joint's drive ran.

    Attributes:
        share: Of the limit, at most.
        time: When that was [s].
    """

    share: float
    time: float


@record(kw_only=True)
class JointFigures:
    """Figures of a joint; None where it has none.

    Attributes:
        rise_time: Of its response [s]; infinite where it does not rise. None, as the next two, without a way to go.
        overshoot: Share of the way.
        settling_time: Within 2 % of the way [s].
        rms_error: Of its tracking, root mean square [rad or m].
        peak_error: The largest [rad or m].
        iae: Integral of the absolute error.
        ise: Of its square.
        itae: Of the absolute error times the time.
        disturbance_peak: Largest displacement by a disturbance [rad or m].
        recovery_time: From it [s].
        rms_torque: Root mean square [N·m or N].
        rms_current: Root mean square [A].
        winding_temperature: At the end [°C].
        peak_winding_temperature: The highest [°C].
        energy_drawn: By its motor [J].
        energy_fed_back: By its motor [J].
        of_nominal: Share of the nominal current that `rms_current` is.
        limits: By kind, "stop" among them.
        shares: Of limits by kind, of a run along a fastest motion; else None. "jerk" is that of the motion, not of the run.
    """

    rise_time: float | None
    overshoot: float | None
    settling_time: float | None
    rms_error: float | None = field(metadata=FIGURE)
    peak_error: float | None = field(metadata=FIGURE)
    iae: float | None = field(metadata=FIGURE)
    ise: float | None = field(metadata=SQUARE)
    itae: float | None = field(metadata=FIGURE)
    disturbance_peak: float | None = field(metadata=FIGURE)
    recovery_time: float | None
    rms_torque: float | None
    rms_current: float | None
    winding_temperature: float | None
    peak_winding_temperature: float | None
    energy_drawn: float | None
    energy_fed_back: float | None
    of_nominal: float | None
    limits: dict[str, TimeAtLimit]
    shares: dict[str, LimitShare] | None = optional(default=None)


def of_run(run: Result) -> ArmFigures:
    """The figures of the whole arm."""
    steps, scenario = run.steps, run.scenario
    apart = every(steps) if scenario.moments == 1 else 1
    moments = -(-steps * scenario.moments // apart) + 1
    known = {name: run.figures[name] for name in (*TOOL, *ENERGY) if name in run.figures}
    step = scenario.clock.at(apart) / scenario.moments
    return ArmFigures(moments=moments, every=step, follows=any(travels(run)), **known)


def of_joint(run: Result, i: int) -> JointFigures:
    """The figures of a joint."""
    joint = run.plant.arm.joints[i]

    def figure(kind: str) -> float | None:
        return run.figures.get(f"{kind}_{joint.name}")

    found = {name: figure(name) for name in OF_JOINT}
    if not way(run, i):
        found |= dict.fromkeys(RESPONSE)
    motor, current = joint.electric_motor, found["rms_current"]
    nominal = None if motor is None else motor.nominal_current
    kinds = {kind: f"{kind}_limit" for kind in limits_of(run.plant)[i]} | ({"stop": "stop"} if joint.limit else {})
    end = run.end_time
    limits = {
        kind: TimeAtLimit(time, time / end if end else 0.0, run.figures[f"first_at_{name}_{joint.name}"])
        for kind, name in kinds.items()
        if (time := figure(f"time_at_{name}"))
    }
    found["of_nominal"] = None if nominal is None or current is None else current / nominal
    shares = {
        kind: LimitShare(share, run.figures[f"nearest_{kind}_limit_{joint.name}"])
        for kind in LIMITS
        if (share := figure(f"share_of_{kind}_limit")) is not None
    }
    stages = getattr(getattr(run.plant.command, "reference", None), "stages", ())
    jerks = [LimitShare(share, t) for stage in stages for share, t in stage.jerk_shares(i) if t <= end]
    shares |= {"jerk": max(jerks, key=lambda it: it.share)} if jerks else {}
    return JointFigures(**found, limits=limits, shares=shares or None)


def way(run: Result, i: int) -> float:
    """From where a joint starts to where its reference ends [rad or m]; 0 without one that does."""
    command = run.plant.command
    if not isinstance(command, Controller) or not command.reference.ends:
        return 0.0
    from armsim.measures.moment import END

    return float(command.reference.at(END).q[i]) - float(run.scenario.initial_q[i])


def travels(run: Result) -> list[float]:
    """How far the reference moves each joint [rad or m]: zeros where it does not move."""
    command, n = run.plant.command, run.plant.arm.n
    if not isinstance(command, Controller) or isinstance(command.reference, Constant):
        return [0.0] * n
    end = run.end_time
    path = [command.reference.at(end * k / INSTANTS).q for k in range(INSTANTS + 1)]
    return [float(max(column) - min(column)) for column in zip(*path, strict=True)]
