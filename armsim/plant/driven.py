"""Plants driven by external inputs, which are part of their state."""

from __future__ import annotations

from dataclasses import replace

from armsim.actuation import Output
from armsim.control import OpenLoop
from armsim.dynamics import ExternalWrench
from armsim.expr import Scalar
from armsim.integrate import Tolerance
from armsim.model import Arm
from armsim.plant.build import make_plant
from armsim.plant.columns import RowExtras
from armsim.plant.plant import Plant
from armsim.records import record

USUAL = Tolerance()


@record
class Driven:
    """What `armsim.plant.make_plant` asks of a scenario, for an arm with external inputs.

    Attributes:
        arm: The arm.
        command: Takes the inputs; None for open terminals.
        method: Name of the integrator.
        tolerance: Of an adaptive one.
        external: Applied loads.
        logged: What rows have besides what they always have.
    """

    arm: Arm
    command: OpenLoop | None
    method: str
    tolerance: Tolerance
    external: tuple[ExternalWrench, ...] = ()
    logged: RowExtras = RowExtras()


def driven_plant(
    arm: Arm,
    method: str,
    output: Output | None,
    tolerance: Tolerance = USUAL,
    external: tuple[ExternalWrench, ...] = (),
) -> Plant:
    """The plant of an arm with external inputs, and with applied loads; see `held`."""
    return make_plant(Driven(arm, outside(arm.n, output), method, tolerance, external))


def held(plant: Plant, output: Output | None) -> Plant:
    """The same plant with external inputs: its commands are those in its state, held.

    Args:
        plant: Any plant.
        output: What the inputs are: motor voltages, motor currents or joint torques; None for open terminals.
    """
    return replace(plant, command=outside(plant.arm.n, output))


def outside(n: int, output: Output | None) -> OpenLoop | None:
    """The command of n drives with external inputs: held, and never sampled; None for open terminals."""
    return None if output is None else OpenLoop(output, (_no_signal,) * n, period=1.0)


def _no_signal(t: Scalar) -> Scalar:
    raise AssertionError("inputs from outside are never sampled")
