"""The heat of a motor's winding: losses of its resistance, and a first-order thermal model.

The temperature rise x above the ambient obeys T dx/dt = R p - x, with the loss p, the thermal resistance R to the ambient and the
thermal time constant T. Copper's resistance grows by 0.39 % of that at the ambient a kelvin, here where `Thermal.drift` says so.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from armsim.actuation.motor import relaxed
from armsim.expr import exp, fma
from armsim.model import Motor, Thermal
from armsim.spatial import Scalar

COPPER = 0.0039  # 1/K


def warm(motor: Motor, temperature: Scalar) -> Motor:
    """A motor with its winding at a temperature [°C], resistance `Ra` being that at the ambient's."""
    thermal = motor.thermal
    assert thermal is not None
    return replace(motor, Ra=motor.Ra * fma(COPPER, temperature - thermal.ambient, 1.0))


def warming_rate(motor: Motor, temperature: Scalar, i: Scalar) -> Scalar:
    """The rate of a winding's temperature [K/s] at a temperature [°C] and a current [A]."""
    thermal = motor.thermal
    assert thermal is not None
    steady = thermal.ambient + steady_rise(thermal, loss(warm(motor, temperature), i))
    return (steady - temperature) / thermal.time_constant


def loss(motor: Motor, i: Scalar) -> Scalar:
    """Loss of a motor's winding [W] at a current [A]."""
    return motor.Ra * (i * i)


def steady_rise(thermal: Thermal, p: Scalar) -> Scalar:
    """Temperature rise [K] that a constant loss [W] leads to."""
    return thermal.resistance * p


def rise_at(thermal: Thermal, p: float) -> float:
    """Temperature rise [K] that a constant current leads to, p its loss [W] at the ambient's temperature; of numbers.

    Infinite where a winding whose resistance drifts gains more loss by a kelvin than it gives off.
    """
    rise: float = steady_rise(thermal, p)
    gained = COPPER * rise if thermal.drift else 0.0
    return rise / (1.0 - gained) if gained < 1.0 else inf


def rise_after(thermal: Thermal, x: Scalar, p: Scalar, h: Scalar) -> Scalar:
    """Temperature rise [K] after h seconds at a constant loss [W], x before: the exact solution."""
    return relaxed(x, steady_rise(thermal, p), exp(-(h / thermal.time_constant)))
