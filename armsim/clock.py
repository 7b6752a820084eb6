"""Times as whole numbers of steps over a rational clock, and in words."""

from __future__ import annotations

from armsim.records import record

NEVER = 2**62  # steps between rows where there are none
EXACT = 2**53  # integers up to it are exact as doubles
LARGEST_NUMERATOR = 10**6  # leaves room for 9e9 steps whose times are exact quotients


@record
class Clock:
    """When things happen in a run.

    Attributes:
        num: Step k begins at (k num + offset) / den seconds.
        den: See `num`.
        steps: Number of steps of the run.
        sample_every: Steps between samples of the command; None where the steps take none.
        log_every: Steps between rows; `NEVER` without rows.
        rare_every: Steps between the moments at which figures of merit are gathered.
        offset: See `num`.
    """

    num: int = 1
    den: int = 1
    steps: int = 0
    sample_every: int | None = None
    log_every: int = NEVER
    rare_every: int = 1
    offset: float = 0

    def at(self, step: int) -> float:
        """The time of a step [s]; without an offset the double that is nearest to the quotient."""
        return (step * self.num + self.offset) / self.den

    @property
    def end(self) -> float:
        """The duration of the run [s]."""
        return self.at(self.steps)

    def samples_at(self, step: int) -> bool:
        """Whether a sample is due."""
        return self.sample_every is not None and step % self.sample_every == 0

    def rows_before(self, step: int) -> int:
        """The number of rows that are due before a step."""
        return 0 if self.log_every == NEVER else -(-step // self.log_every)

    @property
    def rows(self) -> int:
        """The number of rows of the whole run, with that of its end."""
        return self.rows_before(self.steps + 1)


def time_ratio(dt: float) -> tuple[int, int]:
    """dt [s] as a quotient of integers, so that t_k = (k * numerator) / denominator is the decimal that people write.

    1/N where dt is 1/N; else the decimal fraction that dt is written as; else, for a dt such as 3*1e-4 or 2*pi/1e4, the
    quotient nearest to it whose numerator is small enough to count steps with, which is within 1e-12 of dt.
    """
    from fractions import Fraction  # many runs need none

    n = round(1 / dt) if dt > 1e-15 else 0
    if n > 0 and 1 / n == dt:
        return 1, n
    fraction = Fraction(repr(dt))
    if fraction.numerator > LARGEST_NUMERATOR or fraction.denominator > EXACT:
        near = Fraction(dt).limit_denominator(max(1, int(min(EXACT, LARGEST_NUMERATOR / dt))))
        if near and abs(near / Fraction(dt) - 1) < Fraction(1, 10**12):
            fraction = near
    return fraction.numerator, fraction.denominator


def seconds(time: float) -> str:
    """A time [s] to three significant digits, in the unit that reads best."""
    if time >= 999.5:
        return f"{float(f'{time:.3g}'):.0f} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if time >= 0.9995 * size:
            return f"{time / size:.3g} {unit}"
    return f"{time / 1e-9:.3g} ns"
