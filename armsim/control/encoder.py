"""Encoders: positions in steps, with noise, and velocities by difference."""

from __future__ import annotations

from math import pi

from armsim.control.law import Seen
from armsim.control.noise import normal
from armsim.expr import Scalar, Scalars, exp, rounded, where
from armsim.model import Arm
from armsim.records import mutable_record, record


@mutable_record
class Encoded:
    """What encoders have read.

    Attributes:
        positions: At the last sample [rad or m].
        velocities: Then, filtered [rad/s or m/s].
        samples: Number of samples so far.
    """

    positions: Scalars
    velocities: Scalars
    samples: Scalar


@record
class Encoder:
    """Encoders on all joints, which a sampled controller reads.

    Attributes:
        steps: Joint position of one count [rad or m], None for positions that are not quantised.
        noise: Standard deviations of the positions [rad or m], which are added before they are quantised; 0 for none.
        filter_time: Time constants of a first-order low-pass filter of the velocities [s], None for no filter.
        seed: Of the noise, a whole number.
        on_motor: Whether they are on the motors' shafts, at the rotors' side of elastic couplings.
    """

    steps: tuple[Scalar | None, ...]
    noise: tuple[Scalar, ...]
    filter_time: tuple[Scalar | None, ...]
    seed: Scalar = 0.0
    on_motor: bool = False

    def begin(self) -> Encoded:
        """Nothing has been read."""
        n = len(self.steps)
        return Encoded([0.0] * n, [0.0] * n, 0.0)

    def read(self, q: Scalars, before: Encoded, period: Scalar) -> Encoded:
        """What is read at joint positions q, one period [s] after the reading before.

        Velocities are differences of positions, filtered by the exact exponential; zero at the first sample.
        """
        positions = [self._position(i, x, before.samples) for i, x in enumerate(q)]
        velocities = []
        for i, (now, then) in enumerate(zip(positions, before.positions, strict=True)):
            speed, slow = (now - then) / period, self.filter_time[i]
            if slow is not None:
                speed = speed + (before.velocities[i] - speed) * exp(-(period / slow))
            velocities.append(where(before.samples > 0.0, speed, 0.0))
        return Encoded(positions, velocities, before.samples + 1.0)

    def steady(self, q: Scalars, qd: Scalars, period: Scalar) -> Encoded:
        """What is read before a sample at joint positions q of a motion of constant velocities qd; see `ideal`."""
        return Encoded([x - period * v for x, v in zip(q, qd, strict=True)], [*qd], 1.0)

    @property
    def ideal(self) -> Encoder:
        """The same without counts and noise."""
        n = len(self.steps)
        return Encoder((None,) * n, (0.0,) * n, self.filter_time, on_motor=self.on_motor)

    def _position(self, i: int, q: Scalar, sample: Scalar) -> Scalar:
        noise, step = self.noise[i], self.steps[i]
        if not (isinstance(noise, float) and noise == 0.0):
            q = q + noise * normal(self.seed, float(i), sample)
        return q if step is None else step * rounded(q / step)

    def seen(self, read: Encoded, seen: Seen) -> Seen:
        """The arm as it is measured; currents are measured as they are."""
        return Seen(read.positions, read.velocities, seen.currents)


def step_of(arm: Arm, i: int, counts: Scalar, on_motor: bool) -> Scalar:
    """The joint position of one count [rad or m].

    Args:
        arm: The arm.
        i: Index of the joint.
        counts: Per revolution of the joint or of its motor, all four edges of a quadrature encoder counted; of a joint that
            slides, with the encoder on the joint, per metre.
        on_motor: Whether the encoder is on the motor's shaft.
    """
    joint = arm.joints[i]
    turn = 2 * pi if joint.kind.turns or on_motor else 1.0
    gear = joint.motor.gear if on_motor and joint.motor is not None else 1.0
    return turn / (counts * abs(gear))
