"""The heat of a motor's winding: losses of its resistance, and a first-order thermal model.

The temperature rise x above the ambient obeys T dx/dt = R p - x, with the loss p, the thermal resistance R to the ambient and the
thermal time constant T. The resistance of copper is taken as constant; it grows by 0.39 % a kelvin.
"""

from __future__ import annotations

from armsim.actuation.motor import relaxed
from armsim.expr import exp
from armsim.model import Motor, Thermal
from armsim.spatial import Scalar


def loss(motor: Motor, i: Scalar) -> Scalar:
    """Loss of a motor's winding [W] at a current [A]."""
    return motor.Ra * (i * i)


def steady_rise(thermal: Thermal, p: Scalar) -> Scalar:
    """Temperature rise [K] that a constant loss [W] leads to."""
    return thermal.resistance * p


def rise_after(thermal: Thermal, x: Scalar, p: Scalar, h: Scalar) -> Scalar:
    """Temperature rise [K] after h seconds at a constant loss [W], x before: the exact solution."""
    return relaxed(x, steady_rise(thermal, p), exp(-(h / thermal.time_constant)))
