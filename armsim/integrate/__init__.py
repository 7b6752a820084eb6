"""Time integration of second-order systems, one method a file. Nothing here knows of robots."""

from armsim.integrate import (
    explicit_euler,
    implicit_midpoint,
    rk4,
    rk54,
    rodas,
    semi_implicit_euler,
    velocity_implicit,
    velocity_verlet,
)
from armsim.integrate.extension import OPEN, Ahead
from armsim.integrate.method import Method, Step, Tolerance
from armsim.integrate.momentum_equation import MomentumEquation
from armsim.integrate.motion import Motion, advanced, calmed
from armsim.integrate.rate_jacobian import RateJacobian
from armsim.integrate.system import Rates, System

METHODS: dict[str, Method] = {
    "explicit_euler": explicit_euler.METHOD,
    "semi_implicit_euler": semi_implicit_euler.METHOD,
    "velocity_implicit": velocity_implicit.METHOD,
    "velocity_verlet": velocity_verlet.METHOD,
    "implicit_midpoint": implicit_midpoint.METHOD,
    "rk4": rk4.METHOD,
    "rk54": rk54.METHOD,
    "rodas": rodas.METHOD,
}

__all__ = [
    "METHODS",
    "OPEN",
    "Ahead",
    "Method",
    "MomentumEquation",
    "Motion",
    "RateJacobian",
    "Rates",
    "Step",
    "System",
    "Tolerance",
    "advanced",
    "calmed",
]
