"""Times of a scenario as whole numbers of steps."""

from __future__ import annotations

from fractions import Fraction

from armsim.spec.quantity import Context, Quantity, plain_number

MOST_STEPS = 10**13
EXACT = 2**53  # whole numbers below it are doubles
LARGEST_NUMERATOR = 10**6  # leaves room for 9e9 steps whose times are exact quotients


def time_ratio(dt: float) -> tuple[int, int]:
    """dt as a quotient of whole numbers, so that t_k = (k * numerator) / denominator prints as people write it.

    1/N where dt is 1/N; else the decimal fraction that dt is written as; else, for a dt such as 3*1e-4 or 2*pi/1e4, the
    quotient nearest to it whose numerator is small enough to count steps with, which is within 1e-12 of dt.
    """
    n = round(1 / dt) if dt > 1e-15 else 0
    if n > 0 and 1 / n == dt:
        return 1, n
    fraction = Fraction(repr(dt))
    if fraction.numerator > LARGEST_NUMERATOR or fraction.denominator > EXACT:
        near = Fraction(dt).limit_denominator(max(1, int(min(EXACT, LARGEST_NUMERATOR / dt))))
        if near and abs(near / Fraction(dt) - 1) < Fraction(1, 10**12):
            fraction = near
    return fraction.numerator, fraction.denominator


def most_steps(dt: float) -> int:
    """The most steps of dt that a run may have: times are quotients of whole numbers below 2**53."""
    return max(0, min(MOST_STEPS, EXACT // time_ratio(dt)[0] - 1))


def steps_of(time: Quantity, dt: float, path: str, context: Context, least: int = 1) -> int | None:
    """How many steps a time is; None, and a fault, if it is not a whole number of them.

    Args:
        time: [s].
        dt: [s].
        path: Of the time.
        context: Takes the fault.
        least: The least number of steps.
    """
    ratio = time.value / dt
    expected = f"a whole multiple of dt, {plain_number(dt)} s"
    found = plain_number(time.value)
    if not ratio <= (most := most_steps(dt)):
        context.report.add(time.place, path, f"at most {most:.0e} steps of dt", found, "make it shorter, or dt longer")
        return None
    steps = round(ratio)
    if steps >= least and abs(ratio - steps) <= 1e-9 * max(steps, 1):
        return steps
    below, above = int(ratio), int(ratio) + 1
    near = [f"{plain_number(time_at(k, time_ratio(dt)))}" for k in (below, above) if k >= least]
    context.report.add(time.place, path, expected, found, f"write {' or '.join(near)}")
    return None


def time_at(step: int, ratio: tuple[int, int]) -> float:
    """The time of a step [s], the same double as the rows of a run show."""
    return (step * ratio[0]) / ratio[1]
