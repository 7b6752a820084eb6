"""Times of a scenario as whole numbers of steps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from armsim.clock import EXACT, Clock, time_ratio
from armsim.formulas.quantity import Context, Quantity, plain_number

MOST_STEPS = 10**13
WHOLE = 1e-9  # relative tolerance of a whole multiple of a step
FINEST = 1000  # a common step is at least the shortest time / FINEST
ROWS = 1000  # of a log by default, about


def most_steps(dt: float) -> int:
    """The most steps of dt that a run may have: k * numerator must stay below 2**53."""
    return max(0, min(MOST_STEPS, EXACT // time_ratio(dt)[0] - 1))


def steps_of(time: Quantity, dt: float, context: Context, least: int = 1) -> int | None:
    """A time as a number of steps; None, with a fault in the report, if it is not a whole number.

    Args:
        time: [s].
        dt: [s].
        context: Of the time.
        least: The least number of steps.
    """
    ratio = time.value / dt
    expected = f"a whole multiple of dt, {plain_number(dt)} s"
    found = time.shown
    if not ratio <= (most := most_steps(dt)):
        context.add(time.place, f"at most {most:.0e} steps of dt", found, "make it shorter, or dt longer")
        return None
    steps = round(ratio)
    if steps >= least and abs(ratio - steps) <= WHOLE * max(steps, 1):
        return steps
    below, above = int(ratio), int(ratio) + 1
    near = [f"{plain_number(Clock(*time_ratio(dt)).at(k))}" for k in (below, above) if k >= least]
    unit = " s" if time.unit else ""
    context.add(time.place, expected, found, f"write {' or '.join(near)}{unit}")
    return None


def common_step(times: Sequence[float]) -> Fraction | None:
    """The greatest common divisor of times above 0 [s]; None if it is below the shortest time / FINEST."""
    shortest = min(times)
    for parts in range(1, FINEST + 1):
        counts = [time * parts / shortest for time in times]
        if all(abs(count - round(count)) <= WHOLE * count for count in counts):
            return Fraction(*time_ratio(shortest)) / parts
    return None


def shared_step(times: dict[str, Quantity], context: Context) -> Fraction | None:
    """The `common_step` of a scenario's times; None, with a fault in the report, if there is none.

    Args:
        times: By path, all above 0; the fault is at the first that has no common step with those before it.
        context: Takes the fault.
    """
    values = [time.value for time in times.values()]
    step = common_step(values)
    if step is None:
        odd = next(i for i in range(1, len(values)) if common_step(values[: i + 1]) is None)
        path, time = list(times.items())[odd]
        fit = common_step(values[:odd])
        assert fit is not None  # up to there they fit
        below = int(Fraction(time.value) / fit)
        near = [plain_number(float(k * fit)) for k in (below, below + 1) if k]
        others = " and ".join(list(times)[:odd])
        expected = (
            f"a whole multiple of {plain_number(float(fit))} s, the longest step for {others}, or of a round part of it"
        )
        unit = " s" if time.unit else ""
        context.report.add(time.place, path, expected, time.shown, f"write {' or '.join(near)}{unit}")
    return step


def logged_step(step: Fraction, duration: float) -> Fraction:
    """The step, divided by a round number if the log would have fewer than about `ROWS` rows."""
    parts = step / (Fraction(duration) / ROWS)
    if parts <= 1:
        return step
    power = Fraction(10) ** (len(str(int(parts))) - 1)
    return step / min((k * power for k in (1, 2, 4, 5, 8, 10)), key=lambda k: max(k / parts, parts / k))
