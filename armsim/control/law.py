"""What laws of feedback are: what they see, what they remember, what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Self

from armsim.control.reference import Desired
from armsim.expr import Scalar, Scalars, fma, is_number, minus
from armsim.records import mutable_record


@mutable_record
class Seen:
    """What is known of an arm at an instant.

    Attributes:
        q: Joint positions [rad or m].
        qd: Joint velocities [rad/s or m/s].
        currents: Armature currents that are states [A], by joint.
    """

    q: Scalars
    qd: Scalars
    currents: Mapping[int, Scalar] = field(default_factory=dict)


@mutable_record
class Now:
    """What a law is told.

    Attributes:
        t: Time [s].
        seen: The arm, as it is measured.
        desired: What it should do.
        expected: Armature currents that the feedforward goes with [A], by joint; none without.
        added: Commands that are added to the law's own.
        queued: Commands on their way to the drives less those that are added to the law's own, the next one first.
        within: A time within the step [s], whose payloads are those of all of it; None where there is no step.
    """

    t: Scalar
    seen: Seen
    desired: Desired
    expected: Mapping[int, Scalar] = field(default_factory=dict)
    added: Sequence[Scalars] = ()
    queued: Sequence[Scalars] = ()
    within: Scalar | None = None

    @property
    def laden(self) -> Scalar:
        """The time at which payloads that are carried count [s]."""
        return self.t if self.within is None else self.within

    @property
    def e(self) -> Scalars:
        """Desired less measured positions [rad or m]."""
        return minus(self.desired.q, self.seen.q)

    @property
    def ed(self) -> Scalars:
        """Desired less measured velocities [rad/s or m/s]."""
        pairs = zip(self.desired.qd, self.seen.qd, strict=True)
        return [-qd if is_number(wanted, 0.0) else wanted - qd for wanted, qd in pairs]


@mutable_record
class Kept:
    """What a law remembers; or its rates.

    Attributes:
        integrals: ∫e dt of every joint [rad·s or m·s]; none if the law does not integrate.
        filtered: Low-pass filtered derivatives of every joint [rad/s or m/s]; none without a filter.
        plan: Commands to come beyond those of the reference [V, A, N·m or N], n for each stage of a horizon; none without one.
    """

    integrals: Scalars = field(default_factory=list)
    filtered: Scalars = field(default_factory=list)
    plan: Sequence[Scalars] = field(default_factory=list)


def pulled(kp: Scalars, kd: Scalars, e: Scalars, ed: Scalars, feedforward: Scalars) -> Scalars:
    """feedforward + kd ed + kp e, item by item."""
    return [fma(k, x, fma(d, xd, more)) for k, d, x, xd, more in zip(kp, kd, e, ed, feedforward, strict=True)]


class FeedbackLaw:
    """A law of feedback for n joints.

    `command` is all that a law needs. One that remembers says what, by `begin`; how that varies in continuous control, by
    `rates`, and what bounds it, by `clamped`; and in sampled control, by `filtered` before and `integrated` after the command.
    """

    name: str  # as files have it

    def begin(self) -> Kept:
        """What it remembers at the start."""
        return Kept()

    def steady(self, now: Now) -> Kept:
        """What it remembers where it has been told the same for long: filters have settled, integrals are as at the start."""
        return self.begin()

    def command(self, now: Now, kept: Kept) -> Scalars:
        """The commands before saturation, in the unit of the controller's output, n scalars."""
        raise NotImplementedError

    def rates(self, now: Now, kept: Kept, excess: Scalars) -> Kept:
        """Rates of what is remembered.

        Args:
            now: What the law is told.
            kept: What it remembers.
            excess: What saturation adds to its commands; 0 within the limits.
        """
        return Kept()

    def filtered(self, now: Now, kept: Kept, period: Scalar) -> Kept:
        """What is remembered, with the filters advanced to a sample taken one period [s] after the last."""
        return kept

    def integrated(self, now: Now, kept: Kept, excess: Scalars, period: Scalar) -> Kept:
        """What is remembered a period [s] after a sample, by explicit Euler."""
        rates = self.rates(now, kept, excess).integrals
        return replace(kept, integrals=[x + period * rate for x, rate in zip(kept.integrals, rates, strict=True)])

    def clamped(self, kept: Kept) -> Kept:
        """What is remembered, within its bounds: a step of continuous control may lead beyond them."""
        return kept

    @property
    def ideal(self) -> Self:
        """The same without what happens by chance."""
        return self

    @property
    def damps(self) -> bool:
        """Whether its commands oppose velocities."""
        return True

    def damping(self, i: int) -> Scalar | None:
        """The factor of -qd in the command of joint i, where that is all its command has of velocities; else None."""
        return None

    def stiffness(self, i: int) -> Scalar | None:
        """The factor of e in the command of joint i, where that is all its command has of positions; else None."""
        return None
