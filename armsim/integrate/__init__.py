"""Ways to make a step of motion from its rates, one method a file. They know nothing of robots."""

from armsim.integrate import explicit_euler, rk4, semi_implicit_euler
from armsim.integrate.motion import Motion, Rates, Step

METHODS: dict[str, Step] = {
    "explicit_euler": explicit_euler.step,
    "semi_implicit_euler": semi_implicit_euler.step,
    "rk4": rk4.step,
}

__all__ = ["METHODS", "Motion", "Rates", "Step"]
