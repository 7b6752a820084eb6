"""Ratings of a motor that contradict each other: warnings."""

from __future__ import annotations

from collections.abc import Iterator

from armsim import document
from armsim.actuation.winding import rise_at
from armsim.files.faults import Fault
from armsim.formulas.quantity import Quantity
from armsim.model import Thermal


def ratings_doubts(motor: document.Motor, path: str) -> Iterator[Fault]:
    """A nominal current that cannot flow or that overheats the winding, and a winding that may be no warmer than its ambient.

    Args:
        motor: The motor.
        path: Its path.
    """
    nominal, limits, thermal = motor.nominal_current, motor.limits, motor.thermal
    if nominal is not None:
        yield from _above(nominal, limits, motor.Ra, f"{path}.nominal_current")
    if thermal is None or thermal.max is None:
        return
    ambient, most = thermal.ambient, thermal.max
    if most.value <= ambient.value:
        yield Fault(
            most.place,
            f"{path}.thermal.max",
            f"more than the ambient's {ambient.value:g} °C",
            most.of("°C"),
            "write the winding's greatest temperature, for example `max: 155`",
        )
    elif nominal is not None and motor.Ra is not None:
        heats = Thermal(thermal.resistance.value, 1.0, drift=thermal.drift)
        steady = ambient.value + rise_at(heats, motor.Ra.value * nominal.value**2)
        if steady > most.value:
            yield Fault(
                nominal.place,
                f"{path}.nominal_current",
                f"a current that the winding stands for long: {most.value:g} °C at most",
                f"{nominal.of('A')}, at which it comes to {steady:.4g} °C",
                "check `Ra`, `thermal.resistance` (from the winding to the ambient, in K/W) and the nominal current",
            )


def _above(nominal: Quantity, limits: document.MotorLimits, Ra: Quantity | None, path: str) -> Iterator[Fault]:
    bound = limits.current
    if bound is not None and nominal.value > bound.value:
        yield Fault(
            nominal.place,
            path,
            f"at most the limit of current, {bound.value:g} A, which flows for a while",
            nominal.of("A"),
            "check which of the two is which: the nominal current is the one that may flow for long",
        )
    elif limits.voltage is not None and Ra is not None and nominal.value > limits.voltage.value / Ra.value:
        yield Fault(
            nominal.place,
            path,
            f"at most the stall current, {limits.voltage.value / Ra.value:.4g} A at {limits.voltage.value:g} V",
            nominal.of("A"),
            f"data sheets may have mA: divided by 1000 it would be `nominal_current: {nominal.value / 1e3:.6g}`",
        )
