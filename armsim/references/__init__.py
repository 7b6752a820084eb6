"""Motions to follow: points in time or within limits, oscillations, formulas, recorded rows."""

from armsim.references.cubic import cubic, fastest_cubic
from armsim.references.formulas import Formulas
from armsim.references.minimum_jerk import minimum_jerk
from armsim.references.oscillation import Chirp, Multisine, Sinusoid
from armsim.references.piecewise import Piece, PiecewisePolynomial
from armsim.references.point_to_point import PointToPoint, within_limits, within_times
from armsim.references.quintic import fastest_quintic, quintic
from armsim.references.recorded import Recorded, interpolated, through_rows
from armsim.references.s_curve import fastest_s_curve
from armsim.references.scaling import Limits
from armsim.references.spline import cubic_spline, spline_within
from armsim.references.steps import steps
from armsim.references.trapezoid import fastest_trapezoid, trapezoid

__all__ = [
    "Chirp",
    "Formulas",
    "Limits",
    "Multisine",
    "Piece",
    "PiecewisePolynomial",
    "PointToPoint",
    "Recorded",
    "Sinusoid",
    "cubic",
    "cubic_spline",
    "fastest_cubic",
    "fastest_quintic",
    "fastest_s_curve",
    "fastest_trapezoid",
    "interpolated",
    "minimum_jerk",
    "quintic",
    "spline_within",
    "steps",
    "through_rows",
    "trapezoid",
    "within_limits",
    "within_times",
]
