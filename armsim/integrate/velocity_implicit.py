"""Velocity-implicit Euler: order 1, one evaluation and one solve a step, with implicit damping.

(M + h D) v' = M v + h (f + D v), q' = q + h v', with D the damping that depends on a joint's own velocity: back-EMF, viscous
friction, dampers of stops, derivative gains of continuous control. Non-negative damping does not limit the step; Coriolis
forces, springs (proportional gains, stops), saturation and sampled feedback do. Dry friction, stops and commands that saturate
make it a box-constrained complementarity problem (`armsim.dynamics.clipped_solve`). MuJoCo's `implicitfast` is of this kind.
"""

from __future__ import annotations

from armsim.expr import Scalar
from armsim.integrate.method import Method
from armsim.integrate.motion import Motion, advanced
from armsim.integrate.system import System


def step(system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h."""
    kicked = system.implicit_kick(t, y, h)
    return kicked._replace(q=advanced(y.q, h, kicked.v))


METHOD = Method(order=1, step=step)
