"""A controller: a reference, a law of feedback, and what stands between the law and the drives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from armsim.actuation import Output
from armsim.control.encoder import Encoder
from armsim.control.feedforward import Feedforward
from armsim.control.law import FeedbackLaw, Kept, Now, Seen
from armsim.control.memory import Memory
from armsim.control.pid import within
from armsim.control.reference import Desired, Reference
from armsim.control.signals import OpenLoop
from armsim.expr import Scalar, Scalars, Table, absolute, both, minus, plus, where, with_jacobian
from armsim.records import record


@record
class Controller:
    """Feedback of n joints: measurement, law, feedforward, added inputs, saturation, delay, in this order.

    Attributes:
        law: The law of feedback.
        output: What the commands are: motor voltages [V], motor currents [A], or joint torques [N·m or N].
        reference: What the joints should do.
        limit: Bounds of the commands' magnitudes per joint, None where there is none.
        feedforward: Commands of a model, added to those of the law; None without.
        inputs: Commands of time, added as well; None without.
        period: Sample time [s], commands held between samples; None for continuous control.
        encoder: How positions and velocities are measured, in continuous control as they are; None for as they are at the joints.
        delay: From a sample to its command, in periods.
    """

    law: FeedbackLaw
    output: Output
    reference: Reference
    limit: tuple[Scalar | None, ...]
    feedforward: Feedforward | None = None
    inputs: OpenLoop | None = None
    period: float | None = None
    encoder: Encoder | None = None
    delay: int = 0

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.limit)

    @property
    def timed(self) -> bool:
        """Whether the commands depend on time by formulas."""
        return self.reference.timed or (self.inputs is not None and self.inputs.timed)

    @property
    def corner_tables(self) -> list[Table]:
        """The times of the next jump or corner of whatever comes from tables, after a time [s]."""
        of_inputs = [] if self.inputs is None else self.inputs.corner_tables
        return of_inputs if self.reference.corners is None else [self.reference.corners, *of_inputs]

    @property
    def target(self) -> tuple[Scalar, ...]:
        """Where the reference begins: joint positions [rad or m]."""
        return tuple(self.reference.at(0.0).q)

    def aim(self, duration: float) -> tuple[Scalar, ...]:
        """Where the reference is after that time [s]: joint positions [rad or m]."""
        return tuple(self.reference.at(duration).q)

    def begin(self) -> Memory:
        """What it remembers at the start; before the first command arrives, commands are 0."""
        encoded = None if self.encoder is None or self.period is None else self.encoder.begin()
        return Memory(self.law.begin(), encoded, [[0.0] * self.n for _ in range(self.delay)])

    def steady(self, t: Scalar, seen: Seen, needed: Callable[[Desired], Scalars]) -> Memory:
        """What it remembers where it has seen the same for long, before a sample at time t [s].

        Filters have settled, commands on their way are those of now, the integral of a joint without an error is the one that
        holds it, and that of any other is as at the start. A command on which several integrals act is taken as that of its
        joint's own.

        Args:
            t: Time [s].
            seen: The arm.
            needed: The commands that a motion takes [V, A, N·m or N].
        """
        now = self._now(t, seen)
        kept = self.law.steady(now)
        if kept.integrals:
            kept = self._holding(now, kept, needed(now.desired))
        encoded = None
        if self.encoder is not None and self.period is not None:
            encoded = self.encoder.steady(seen.q, seen.qd, self.period)
        return Memory(kept, encoded, [self._limited(self._total(now, kept))] * self.delay)

    def _holding(self, now: Now, kept: Kept, needed: Scalars) -> Kept:
        """The same with the integrals by which the commands are those needed, where there is no error."""
        total = with_jacobian(lambda integrals: self._total(now, replace(kept, integrals=integrals)), (0,), "integrals")
        given, slopes = total(kept.integrals)
        integrals = []
        for i, (u, (row,)) in enumerate(zip(given, slopes, strict=True)):
            acts = both(absolute(row[i]) > 0.0, absolute(now.e[i]) <= 0.0)
            short = (needed[i] - u) / where(acts, row[i], 1.0)
            integrals.append(kept.integrals[i] + where(acts, short, 0.0))
        return self.law.clamped(replace(kept, integrals=integrals))

    @property
    def ideal(self) -> Controller:
        """The same with encoders that have neither counts nor noise, and a law whose plans are never late."""
        return replace(self, encoder=self.encoder and self.encoder.ideal, law=self.law.ideal)

    def slots(self, joints: Sequence[str]) -> list[str]:
        """Names of what it remembers, in order, for joints of these names."""
        start = self.begin()
        names = [f"integral_{name}" for name in joints[: len(start.kept.integrals)]]
        names += [f"filtered_{name}" for name in joints[: len(start.kept.filtered)]]
        names += [f"plan_{name}_{k}" for k in range(len(start.kept.plan)) for name in joints]
        if start.encoded is not None:
            names += [f"{what}_{name}" for what in ("encoder", "velocity") for name in joints] + ["samples"]
        return names + [f"queued_{name}_{k}" for k in range(self.delay) for name in joints]

    def command(
        self, t: Scalar, seen: Seen, memory: Memory, since: Scalar | None = None, middle: Scalar | None = None
    ) -> Scalars:
        """The commands [V, A, N·m or N] in continuous control, n scalars.

        Args:
            t: Time [s].
            seen: The arm.
            memory: What the controller remembers.
            since: See `Reference.at`.
            middle: See there.
        """
        return self._limited(self.unlimited(t, seen, memory, since, middle))

    def unlimited(
        self, t: Scalar, seen: Seen, memory: Memory, since: Scalar | None = None, middle: Scalar | None = None
    ) -> Scalars:
        """The commands before saturation, n scalars."""
        return self._total(self._now(t, seen, since, middle), memory.kept)

    def rates(
        self, t: Scalar, seen: Seen, memory: Memory, since: Scalar | None = None, middle: Scalar | None = None
    ) -> Memory:
        """The rates of what it remembers, in continuous control."""
        now = self._now(t, seen, since, middle)
        return Memory(self.law.rates(now, memory.kept, self._excess(self._total(now, memory.kept))))

    def clamped(self, memory: Memory) -> Memory:
        """What it remembers after a step of continuous control, within the bounds of its law."""
        return replace(memory, kept=self.law.clamped(memory.kept))

    def sample(self, t: Scalar, seen: Seen, memory: Memory) -> tuple[Scalars, Memory]:
        """The commands that are held from a sample at time t on, n scalars; and what is remembered after it."""
        assert self.period is not None
        encoded = memory.encoded
        if self.encoder is not None and encoded is not None:
            encoded = self.encoder.read(seen.q, encoded, self.period)
            seen = self.encoder.seen(encoded, seen)
        now = self._now(t, seen, queue=memory.queue)
        kept = self.law.filtered(now, memory.kept, self.period)
        total = self._total(now, kept)
        kept = self.law.integrated(now, kept, self._excess(total), self.period)
        first, *queue = [*memory.queue, self._limited(total)]
        return first, Memory(kept, encoded, queue)

    def _now(
        self,
        t: Scalar,
        seen: Seen,
        since: Scalar | None = None,
        middle: Scalar | None = None,
        queue: Sequence[Scalars] = (),
    ) -> Now:
        now = Now(t, seen, self.reference.at(t, since, middle), within=middle if since is None else since)
        added: list[Scalars] = []
        if self.feedforward is not None:
            commands, currents = self.feedforward.commands(now)
            now = replace(now, expected=currents)
            added.append(commands)
        if self.inputs is not None:
            added.append(self.inputs.at(t, since, middle))
        return replace(now, added=added, queued=[reduce(minus, added, commands) for commands in queue])

    def _total(self, now: Now, kept: Kept) -> Scalars:
        return reduce(plus, now.added, self.law.command(now, kept))

    def _limited(self, commands: Scalars) -> Scalars:
        return [within(u, bound) for u, bound in zip(commands, self.limit, strict=True)]

    def _excess(self, commands: Scalars) -> Scalars:
        """What saturation adds to commands; 0 where nothing bounds them."""
        three = zip(self._limited(commands), commands, self.limit, strict=True)
        return [0.0 if bound is None else limited - u for limited, u, bound in three]
