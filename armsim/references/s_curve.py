"""S-curve: the time-optimal motion from rest to rest within limits of speed, acceleration and jerk."""

from __future__ import annotations

from armsim.expr import Scalar, maximum, minimum, sqrt
from armsim.references.piecewise import Piece
from armsim.references.scaling import LEAST, Scaling, ScalingBounds, cube_root


def fastest_s_curve(bounds: ScalingBounds) -> Scaling:
    """The shortest scaling of all within bounds of speed, acceleration and jerk.

    Seven segments of constant jerk j, 0, -j, 0, -j, 0, j, of which some may vanish. The jerk lasts as long as speed,
    acceleration or half the way allow; then the acceleration, then the speed, until the way is done.
    """
    V = maximum(bounds.speed, LEAST)
    A = maximum(bounds.acceleration, LEAST * LEAST)
    J = maximum(bounds.jerk, LEAST * LEAST * LEAST)
    jerking = minimum(cube_root(J / 2), minimum(sqrt(J / V), J / A))
    at_most = minimum((sqrt(jerking * jerking + 4 * J / jerking) - jerking) / 2, J / (V * jerking))
    accelerating = maximum(jerking, at_most)
    return _s_curve(maximum(accelerating + jerking, J / (accelerating * jerking)), accelerating, jerking)


def _s_curve(cruise: Scalar, accelerating: Scalar, jerking: Scalar) -> Scaling:
    """The S-curve of speed v = 1 / cruise, acceleration a = v / accelerating and jerk j = a / jerking.

    Its second half is the first, turned about (T/2, 1/2).
    """
    ramp = accelerating + jerking
    T = cruise + ramp
    v = 1.0 / cruise
    a = v / accelerating
    j = a / jerking
    risen, speed, gone = j * jerking * jerking * jerking / 6, a * jerking / 2, v * ramp / 2
    pieces = (
        Piece(0.0, 0.0, ((0.0, 0.0, 0.0, j / 6),)),
        Piece(jerking, jerking, ((risen, speed, a / 2),)),
        Piece(accelerating, ramp, ((gone, v, 0.0, -j / 6),)),
        Piece(ramp, ramp, ((gone, v),)),
        Piece(cruise, cruise, ((1.0 - gone, v, 0.0, -j / 6),)),
        Piece(cruise + jerking, T - jerking, ((1.0 - risen, speed, -a / 2),)),
        Piece(cruise + accelerating, T, ((1.0, 0.0, 0.0, j / 6),)),
    )
    return Scaling(T, pieces)
