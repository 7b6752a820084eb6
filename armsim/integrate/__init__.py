"""Ways to make a step of a motion, one method a file. They know nothing of robots."""

from collections.abc import Callable

from armsim.expr import Scalar
from armsim.integrate import explicit_euler, rk4, semi_implicit_euler
from armsim.integrate.motion import Motion
from armsim.integrate.system import Rates, System

Step = Callable[[System, Scalar, Motion, Scalar], Motion]  # system, time, state, step to the state a step later

METHODS: dict[str, Step] = {
    "explicit_euler": explicit_euler.step,
    "semi_implicit_euler": semi_implicit_euler.step,
    "rk4": rk4.step,
}

__all__ = ["METHODS", "Motion", "Rates", "Step", "System"]
