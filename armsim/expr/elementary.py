"""Sine, cosine, exponential and logarithm of our own, so that every machine computes the same bits.

The functions below are plain arithmetic. On numbers they run as they stand; in a graph sin, cos, exp and log stay single
nodes, and `armsim.compile` runs the same functions on expressions when it lowers the graph to machine operations.

Coefficients of the polynomials for sine, cosine, logarithm and arctangent: FreeBSD's msun (k_sin.c, k_cos.c, e_log.c, s_atan.c).
"""

from __future__ import annotations

import math
from functools import lru_cache

from armsim.expr.graph import NUMBERS, Expr
from armsim.expr.scalar import SHIFT, bit, fma, scale2, split2, sqrt, symbolic, where

TWO_OVER_PI = 2 / math.pi
HALF_PI = (1.5707963267948966, 6.123233995736766e-17)  # pi/2 to 107 bits
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)

LOG2_E = 1 / math.log(2)
LN_2 = (0.6931471805599453, 2.3190468138462996e-17)  # ln 2 to 106 bits
EXPONENTIAL = tuple(1 / math.factorial(i) for i in range(2, 14))
LOGARITHM = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
ARCTANGENT = (
    -3.33333333333329318027e-01,
    1.99999999998764832476e-01,
    -1.42857142725034663711e-01,
    1.11111104054623557880e-01,
    -9.09088713343650656196e-02,
    7.69187620504482999495e-02,
    -6.66107313738753120669e-02,
    5.83357013379057348645e-02,
    -4.97687799461593236017e-02,
    3.65315727442169155270e-02,
    -1.62858201153657823623e-02,
)
SMALLEST_NORMAL = 2.0**-1022


def sincos(x):
    """(sin x, cos x), each at most 2 ulp off for |x| up to 1e6, or 1e-17 near a zero.

    Argument reduction by integer multiples k of pi/2 to |r| <= pi/4: the first step is exact, because x - k pi/2 is then
    a multiple of 2**-53 below 1. The two polynomials serve all four quadrants.
    """
    shifted = fma(x, TWO_OVER_PI, SHIFT)
    k = shifted - SHIFT
    r = fma(k, -HALF_PI[1], fma(k, -HALF_PI[0], x))
    z = r * r
    s = fma(r * z, polynomial(SINE, z), r)
    c = fma(z * z, polynomial(COSINE, z), fma(z, -0.5, 1.0))
    odd, upper = bit(shifted, 0), bit(shifted, 1)
    sine, cosine = where(odd, c, s), where(odd, s, c)
    return where(upper, -sine, sine), where(upper, where(odd, cosine, -cosine), where(odd, -cosine, cosine))


def exponential(x):
    """exp(x) = 2**k exp(r), |r| <= ln 2 / 2: the power of two by its bits, exp(r) by its Taylor polynomial."""
    x = where(x > 720.0, 720.0, where(x < -750.0, -750.0, x))
    k = fma(x, LOG2_E, SHIFT) - SHIFT
    r = fma(k, -LN_2[1], fma(k, -LN_2[0], x))
    p = fma(r * r, polynomial(EXPONENTIAL, r), r) + 1.0
    half = (k * 0.5 + SHIFT) - SHIFT  # in two steps: 2**k itself may be out of range where exp(x) is not
    return scale2(scale2(p, half), k - half)


def logarithm(x):
    """log(x) = e ln 2 + log(m) for x > 0: the exponent e by its bits, log(m) = 2 artanh((m - 1) / (m + 1)) by a polynomial."""
    subnormal = x < SMALLEST_NORMAL
    m, e = split2(where(subnormal, x * 2.0**54, x))
    e = where(subnormal, e - 54.0, e)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    half = f * f * 0.5
    return fma(e, LN_2[0], f - (half - fma(e, LN_2[1], s * (half + z * polynomial(LOGARITHM, z)))))


def arctangent_quotient(z):
    """arctan(x) / x for z = x², x up to 7/16."""
    return fma(z, polynomial(ARCTANGENT, z), 1.0)


def polynomial(coefficients, x):
    """The sum of coefficients[i] x**i by Estrin's scheme: pairs first, for a short dependency chain."""
    terms = list(coefficients)
    while len(terms) > 1:
        pairs = [fma(high, x, low) for low, high in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[2 * len(pairs) :]
        x = x * x
    return terms[0]


_sincos_of_number = lru_cache(maxsize=256)(sincos)


def sin(x):
    """Sine of an angle [rad], at most 2 ulp off for |x| up to 1e6."""
    if isinstance(x, Expr):
        return -sin(x.args[0]) if x.op == "neg" else x.graph.node("sin", x)
    return _sincos_of_number(float(x))[0] if isinstance(x, NUMBERS) else symbolic("sin", x)


def cos(x):
    """Cosine of an angle [rad], at most 2 ulp off for |x| up to 1e6."""
    if isinstance(x, Expr):
        return x.graph.node("cos", x.args[0] if x.op == "neg" else x)
    return _sincos_of_number(float(x))[1] if isinstance(x, NUMBERS) else symbolic("cos", x)


def tan(x):
    """Tangent of an angle [rad]."""
    return sin(x) / cos(x)


def exp(x):
    """Exponential, at most 2 ulp off."""
    if isinstance(x, Expr):
        return x.graph.node("exp", x)
    if isinstance(x, NUMBERS):
        return exponential(float(x)) if x == x else math.nan
    return symbolic("exp", x)


def log(x):
    """Natural logarithm, at most 2 ulp off; -inf at 0, NaN below."""
    if isinstance(x, Expr):
        return where(x > 0, where(x < math.inf, x.graph.node("log", x), x), sqrt(x) - math.inf)
    if isinstance(x, NUMBERS):
        return (logarithm(float(x)) if x < math.inf else math.inf) if x > 0 else sqrt(x) - math.inf
    return symbolic("log", x)
