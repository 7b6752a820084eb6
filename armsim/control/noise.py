"""Random numbers by counting: a number for every (seed, stream, sample), whoever asks, in whatever order, on every machine.

A Feistel network on two words of 24 bits, after Philox (Salmon, Moraes, Dror and Shaw 2011, *Parallel random numbers: as easy as
1, 2, 3*), in double arithmetic alone: products of two words are below 2**48 and hence exact, and where Philox has an exclusive
or, this has an addition modulo 2**24.
"""

from __future__ import annotations

from armsim.expr import Scalar, cos, log, rounded, shared, sqrt

WORD = 2.0**24
ROUNDS = 12
MULTIPLIER = 13842103.0  # odd, without structure: 0xD3 37 17
KEY_STEPS = (10368889.0, 12250981.0)  # the words of the golden ratio and of the root of 3, made odd
LARGEST_SEED = 2.0**47


def normal(seed: Scalar, stream: Scalar, sample: Scalar) -> Scalar:
    """A number of the standard normal distribution, by Box and Muller; at most 5.9 in magnitude.

    Args:
        seed: A whole number from 0 to `LARGEST_SEED`.
        stream: A whole number below 4096, of the sensor.
        sample: A whole number from 0 to 2**36.
    """
    return _normal(seed, stream, sample)


def uniform(seed: Scalar, stream: Scalar, sample: Scalar) -> Scalar:
    """A number from 0 to 1, without 1, evenly distributed; arguments as of `normal`."""
    return _words(seed, stream, sample)[0] / WORD


def _drawn(seed: Scalar, stream: Scalar, sample: Scalar) -> Scalar:
    a, b = _words(seed, stream, sample)
    radius = sqrt(-2.0 * log((a + 0.5) / WORD))
    return radius * cos((b + 0.5) * (6.283185307179586 / WORD))


_normal = shared(_drawn, "normal")  # written once in a graph, however many sensors there are


def _words(seed: Scalar, stream: Scalar, sample: Scalar) -> tuple[Scalar, Scalar]:
    """Two words, each uniform from 0 to 2**24 - 1."""
    high, low = _split(seed)
    keys = [low, high]
    b, a = _split(sample)
    b = b + 4096.0 * stream
    for k in range(ROUNDS):
        upper, lower = _split(a * MULTIPLIER)
        a, b = _wrapped(upper + b + keys[k % 2]), lower
        keys[k % 2] = _wrapped(keys[k % 2] + KEY_STEPS[k % 2])
    return a, b


def _split(x: Scalar) -> tuple[Scalar, Scalar]:
    """The upper and the lower word of a whole number from 0 to 2**48 - 1."""
    upper = _floor(x * (1.0 / WORD))
    return upper, x - upper * WORD


def _wrapped(x: Scalar) -> Scalar:
    """A sum of words modulo 2**24."""
    return x - _floor(x * (1.0 / WORD)) * WORD


def _floor(x: Scalar) -> Scalar:
    """The whole part of a number from 0 to 2**24 with 24 binary places; nothing rounded here is half-way between integers."""
    return rounded(x - (0.5 - 2.0**-26))
