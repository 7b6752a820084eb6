"""What motors have to give: root mean squares of currents, and the heat of their windings."""

from __future__ import annotations

from collections.abc import Callable

from armsim.actuation import winding
from armsim.errors import UsageError
from armsim.expr import Scalar, Scalars, maximum, where
from armsim.measures.aggregates import RootMeanSquare
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.model import Motor, Thermal
from armsim.records import mutable_record, record


def rms_current(request: Request) -> Measure:
    """The root mean square of the current of every motor asked for."""
    powered = request.powered("give the motor its constants, or ask for `rms_torque`")
    names = tuple(f"rms_current_{request.plant.arm.joints[i].name}" for i in powered)
    return RootMeanSquare(names, ("A",) * len(powered), lambda now: [_current(now, i) for i in powered])


def _current(now: Moment, i: int) -> Scalar:
    current = now.torques[i].current
    assert current is not None
    return current


@mutable_record
class Winding:
    """Up to a moment, of each winding.

    Attributes:
        rises: Temperature rises above the ambient [K].
        losses: At that moment [W].
        peaks: Highest rises so far [K].
    """

    rises: Scalars
    losses: Scalars
    peaks: Scalars


@record
class WindingTemperature(Measure):
    """The temperatures of motors' windings, which start at the ambient's: at the end.

    From moment to moment their mean loss acts: exact where losses are constant in between. A temperature that acts on the
    resistance is the state's.

    Attributes:
        indices: Of the joints, whose motors have `thermal`.
    """

    indices: tuple[int, ...]

    def begin(self) -> Winding:
        nothing = [0.0] * len(self.indices)
        return Winding(nothing, [*nothing], [*nothing])

    def update(self, kept: Winding, now: Moment) -> Winding:
        rises, losses = [], []
        states = dict(zip(now.plant.loads.windings.motors, now.x.windings, strict=True))
        for i, rise, before in zip(self.indices, kept.rises, kept.losses, strict=True):
            motor, thermal = _warm(now, i)
            losses.append(winding.loss(motor, _current(now, i)))
            later = winding.rise_after(thermal, rise, (before + losses[-1]) / 2, now.dt)
            later = states[i] - thermal.ambient if i in states else later
            rises.append(where(now.t > 0.0, later, 0.0))
        return Winding(rises, losses, [maximum(x, most) for x, most in zip(rises, kept.peaks, strict=True)])

    def result(self, kept: Winding, end: Moment) -> Scalars:
        return self._temperatures(kept.rises, end)

    def _temperatures(self, rises: Scalars, end: Moment) -> Scalars:
        return [_warm(end, i)[1].ambient + rise for i, rise in zip(self.indices, rises, strict=True)]


class PeakWindingTemperature(WindingTemperature):
    """The same at their highest."""

    def result(self, kept: Winding, end: Moment) -> Scalars:
        return self._temperatures(kept.peaks, end)


def temperature(measure: type[WindingTemperature]) -> Callable[[Request], Measure]:
    """Makes a measure of every winding asked for."""
    return lambda request: measure(*_windings(request))


def _warm(now: Moment, i: int) -> tuple[Motor, Thermal]:
    motor = now.plant.arm.joints[i].motor
    assert motor is not None
    assert motor.thermal is not None
    return motor, motor.thermal


def _windings(request: Request) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]:
    joints = request.plant.arm.joints
    motors = [(i, joints[i].electric_motor) for i in request.indices]
    known = tuple(i for i, motor in motors if motor is not None and motor.thermal is not None)
    if not known:
        raise UsageError.of(
            f"measure `{request.name}`",
            "a motor whose winding's thermal model is known",
            "none: no motor has `thermal`",
            "give the motor for example `thermal: {resistance: 6.2, time_constant: 25}`, in K/W and s",
        )
    kind = request.name.removesuffix(f"_{request.joints[0].name}") if request.joint is not None else request.name
    return tuple(f"{kind}_{joints[i].name}" for i in known), ("°C",) * len(known), known
