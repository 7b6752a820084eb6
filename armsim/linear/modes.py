"""The modes of a linear system, in numbers and in words."""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping, Sequence

from armsim.clock import seconds
from armsim.records import record

TINY = 1e-15  # an eigenvalue z below it counts as zero (deadbeat)
MOSTLY = 0.25  # of a mode's energy: joints with at least this share are named


@record
class Mode:
    """A mode of a linear system: a real eigenvalue, or a complex pair.

    Attributes:
        rate: The eigenvalue λ [1/s], its imaginary part not negative; log(z) / dt for a sampled system.
        z: The eigenvalue in discrete time; None in continuous time.
        shares: Participation of joints, by energy, or of other states where no joint moves; largest first.
    """

    rate: complex
    z: complex | None
    shares: Mapping[str, float]

    def __repr__(self) -> str:
        return f"Mode({', '.join(self.joints)}: {self.words})"

    @property
    def time_constant(self) -> float:
        """1 / |Re λ| [s]; infinite for a neutral mode."""
        return math.inf if self.rate.real == 0 else 1 / abs(self.rate.real)

    @property
    def frequency(self) -> float:
        """Damped natural frequency, Im λ / 2π [Hz]; 0 if it does not oscillate."""
        return self.rate.imag / (2 * math.pi)

    @property
    def damping(self) -> float | None:
        """Damping ratio, -Re λ / |λ|: 1 does not oscillate, 0 is undamped, negative grows; None for λ = 0."""
        return None if self.rate == 0 else -self.rate.real / abs(self.rate) if math.isfinite(abs(self.rate)) else 1.0

    @property
    def joints(self) -> list[str]:
        """The names with the largest shares."""
        return [name for name, share in self.shares.items() if share >= MOSTLY] or list(self.shares)[:1]

    @property
    def words(self) -> str:
        """The mode in words, for example "decays in 0.29 ms" or "oscillates at 1.2 Hz, damping 0.3"."""
        real = self.rate.real
        course = f"grows with {real:.3g} 1/s" if real > 0 else f"decays in {seconds(self.time_constant)}"
        if self.z is not None and self.z.real < 0 and self.z.imag == 0:
            return f"alternates from sample to sample, {course if real else 'undamped'}"
        if self.rate.imag:
            if real < 0:
                course = f"damping {self.damping:.3g}"
            return f"oscillates at {self.frequency:.3g} Hz, {course if real else 'undamped'}"
        if real == 0:
            return "nothing brings it back"
        return "is over after one sample" if real == -math.inf else course


def modes_of(
    eigenvalues: Sequence[complex],
    errors: Sequence[float],
    shares: Sequence[Mapping[str, float]],
    dt: float | None = None,
) -> list[Mode]:
    """Modes from eigenvalues, the fastest growing first and the fastest decaying last.

    Args:
        eigenvalues: Of a real system matrix; of that in discrete time if dt is given.
        errors: Bound on each one's rounding error: a real or imaginary part of its rate below that counts as zero.
        shares: Participation of joints or states in each; see `Mode`.
        dt: Sampling period [s]; None for continuous time.
    """
    modes = []
    for x, error, where in zip(eigenvalues, errors, shares, strict=True):
        if x.imag < 0:
            continue  # its conjugate stands for both
        rate, unsure = x, error
        if dt is not None:
            rate, unsure = _rate(x, dt), error / max(abs(x), TINY) / dt
        real, imag = (0.0 if abs(part) <= unsure and math.isfinite(part) else part for part in (rate.real, rate.imag))
        modes.append(Mode(complex(real, imag), None if dt is None else complex(x), where))
    return sorted(modes, key=lambda mode: (-mode.rate.real, mode.rate.imag))


def _rate(z: complex, dt: float) -> complex:
    """The rate λ [1/s] of an eigenvalue z in discrete time."""
    return complex(-math.inf, 0.0) if abs(z) < TINY else cmath.log(z) / dt
