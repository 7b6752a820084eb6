"""Velocity-implicit Euler: order 1, one evaluation and one solve a step, with damping taken at the new velocities.

(M + h D) v' = M v + h (f + D v), q' = q + h v', with D the damping that depends on a joint's own velocity: back-EMF, viscous
friction, dampers of stops, derivative gains of continuous control. For damping that is not negative there is no limit to the
step that it would set; what Coriolis forces, springs (proportional gains, stops), saturation and feedback held between samples
set remains. Dry friction, stops and commands that saturate are solved for in the same step (`armsim.dynamics.clipped_solve`).
Simulators of rigid bodies know it as implicit in velocity, for example MuJoCo's `implicitfast`.
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
