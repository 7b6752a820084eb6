"""Adaptive step-size control with event location, in a loop that expression graphs can hold.

The loop is one `armsim.expr.loop`: in machine code it is native, every lane of a batch has its own time and step. The last step
ends exactly at a landing, the end of the interval. A step that would pass an event (a stop is met, a joint comes to rest or
begins to slip) ends at the event, so that every step is smooth. Guards are searched along its continuous extension too, for
events that are met and left within it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from armsim.expr import (
    Scalar,
    Scalars,
    absolute,
    both,
    chosen,
    clip,
    either,
    exp,
    leaves,
    log,
    loop,
    mapped,
    maximum,
    minimum,
    negated,
    when,
    where,
    zeros,
)
from armsim.integrate.bracket import ROUNDING, Bracket
from armsim.integrate.events import first_met, least
from armsim.integrate.extension import OPEN, Ahead, Extension, SmoothStep, interpolated
from armsim.integrate.method import EXHAUSTED, FAILED, Tolerance
from armsim.integrate.motion import Motion, calmed
from armsim.integrate.quadrature import Integrand, refined
from armsim.integrate.system import System
from armsim.records import mutable_record, record

MEMORY = ("step_length", "step_error", "steps_taken", "steps_refused")

FIRST = 1e-3  # initial step, relative to an interval up to 1 s, else in s; an accurate one grows fivefold at once
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0  # safety factor, and bounds of the ratio of successive steps
BETA = 0.04  # of PI step-size control (Hairer, Norsett and Wanner, section II.4, DOPRI5)
VAGUE = 1e3  # error of a step that is too long to tell whether events fall within it
LEAST_AHEAD = 200  # steps between landings, of a system that depends on time in unknown ways
LEAST_ERROR = 1e-4  # lower bound of the last error in it
VANISHED = 1e-15  # s: least step; one that would have to be smaller has failed
MOST = 1_000_000  # attempted steps in one advance


def steps_chosen(slots: Sequence[str], state: Sequence[float]) -> tuple[int, int] | None:
    """Numbers of steps that an adaptive method accepted and rejected, from a state's slots and values; None for others."""
    named = dict(zip(slots, state, strict=True))
    return (int(named["steps_taken"]), int(named["steps_refused"])) if "steps_taken" in named else None


class Trial(NamedTuple):
    """An attempted step, to be accepted or rejected.

    Attributes:
        end: The state at its end.
        error: Embedded error estimate of q, v and z.
        inner: Coefficients c0, c1, ... of its continuous extension; see `interpolated`.
    """

    end: Motion
    error: Motion
    inner: Sequence[Motion]


TrialStep = Callable[[System, Scalar, Motion, Scalar], Trial]  # on a smooth system: time, state, step


@mutable_record
class Attempt:
    """The state of the loop over attempted steps.

    Attributes:
        done: Time since the last landing [s].
        length: Step size that the control proposes [s].
        error: Norm of the last accepted step's error, relative to the tolerance.
        accepted: Number of accepted steps.
        rejected: Number of rejected steps.
        bracket: Of the event at which the step is to end.
        y: The motion.
        extension: Of the last accepted step; None where it is not wanted.
    """

    done: Scalar
    length: Scalar
    error: Scalar
    accepted: Scalar
    rejected: Scalar
    bracket: Bracket
    y: Motion
    extension: Extension | None


@record
class EmbeddedPair:
    """Adaptive steps by an embedded pair.

    Attributes:
        trial: A step of the pair on a smooth system.
        order: Order of its error estimate, O(h^order).
    """

    trial: TrialStep
    order: int

    def advance(
        self, system: System, t: Scalar, y: Motion, h: Scalar, memory: Scalars, tolerance: Tolerance
    ) -> tuple[Motion, Scalars]:
        """The state at t + h; and the step size proposed next, the last error, and the numbers of accepted and rejected steps.

        Args:
            system: The system.
            t: Time [s].
            y: The state then.
            h: Length of the interval [s].
            memory: See `MEMORY`.
            tolerance: Of the local error.
        """
        begin = Attempt(0.0, *_recalled(memory, h), Bracket(), y, None)
        end, after = self._attempted(system, t, h, tolerance, begin, h)
        return after, _remembered(end)

    def follow(
        self, system: System, t: Scalar, h: Scalar, memory: Scalars, tolerance: Tolerance, ahead: Ahead
    ) -> tuple[Motion, Scalars, Ahead]:
        """As `advance`, with steps that end at landings and events alone, and the state at t + h interpolated.

        Args:
            system: The system, between the last landing and the next.
            t: Time [s].
            h: Length of the interval [s].
            memory: See `MEMORY`.
            tolerance: Of the local error.
            ahead: How far it has come, `of_instant`.
        """
        landing, since = ahead.landing, ahead.since
        wanted = (t - since) + h
        lands = wanted > landing - h / 2
        wanted = where(lands, landing, wanted)

        begin = Attempt(ahead.done, *_recalled(memory, landing), Bracket(), ahead.end, ahead.extension)
        end, after = self._attempted(system, since, landing, tolerance, begin, wanted)
        step = end.extension
        assert step is not None
        inside = end.done > wanted
        share = where(inside, (wanted - step.begin) / where(inside, end.done - step.begin, 1.0), 1.0)
        within = interpolated(after, step.coefficients, share)
        mode = [where(inside, side, OPEN) for side in step.mode]
        step = Extension(step.begin, step.coefficients, mode)
        return within, _remembered(end), Ahead(landing, since, where(lands, 0.0, end.done), after, step)

    def _attempted(
        self, system: System, t: Scalar, h: Scalar, tolerance: Tolerance, begin: Attempt, until: Scalar
    ) -> tuple[Attempt, Motion]:
        """Steps until the time `until` since a landing at t is reached, and the state then; the next landing is at t + h."""
        beta, alpha = BETA, 1 / self.order - 0.75 * BETA
        longest = h / LEAST_AHEAD if system.timed and begin.extension is not None else None

        def attempt(system: System, now: Attempt) -> tuple[Attempt, Scalars]:
            """The next attempt, and how far positions move in it at most."""
            start, bracket = now.y, now.bracket
            left = h - now.done

            # the step to try: to the event's regula falsi estimate, or as the control proposes, the last two of equal length
            locating, located = bracket.locating, bracket.located(h)
            proposed = where(now.length >= left, left, where(now.length > left / 2, left / 2, now.length))
            for most in (longest, system.until_corner(t + now.done)):
                proposed = proposed if most is None else minimum(proposed, most)
            tried = where(locating, bracket.estimate(located), proposed)

            smooth = system.branch(t + now.done, start, tried)
            reached, estimate, inner = self.trial(smooth, t + now.done, start, tried)
            error = _error_norm(start, reached, estimate, tolerance)
            guard = least([*smooth.crossings(start, reached), *smooth.holding(t + now.done + tried, reached)])
            end = smooth.arrest(start, reached._replace(w=zeros(start.w)), tried)
            arrested = end.w
            end = Motion(calmed(end.q), calmed(end.v), end.z, None)
            bare = [x.states for x in inner]
            accurate = error <= 1.0
            step = SmoothStep(smooth, t + now.done, tried, end, [end.minus(start.states), *bare])
            share, guard, vague = first_met(step, start, guard, tolerance.atol, accurate)
            error = where(vague, maximum(error, VAGUE), error)
            accurate = error <= 1.0
            at_event = both(locating, located)
            passed = both(guard < 0.0, negated(at_event))
            narrowing = either(passed, both(both(accurate, locating), negated(at_event)))  # the bracket of an event
            accepting = both(accurate, negated(narrowing))
            rejecting = negated(either(accurate, narrowing))

            bounded = clip(where(error < FAILED, error, FAILED), 1e-10, 1e10)
            factor = clip(
                SAFETY * exp(beta * log(maximum(now.error, LEAST_ERROR)) - alpha * log(bounded)), SHRINK, GROW
            )
            wanted = tried * factor
            # a step that the end or an event cuts short does not make the control propose less
            fresh = where(either(locating, tried < now.length), maximum(now.length, wanted), wanted)
            length = where(accepting, fresh, where(rejecting, minimum(wanted, SAFETY * tried), now.length))
            failing = both(rejecting, length < VANISHED + ROUNDING * h)

            still = reached.states
            integrand = Integrand(smooth, t + now.done, tried, still, [still.minus(start.states), *bare], start.w)
            w = refined(integrand, start.w, reached.w, estimate.w, tolerance, accepting)
            end = end._replace(w=mapped(lambda x, work: x + work, w, arrested))
            y = chosen(accepting, end, start)
            extension = None
            if now.extension is not None:
                change = end.minus(start)
                found = Extension(now.done, [change, *inner], list(smooth.mode))
                extension = chosen(accepting, found, now.extension)
            after = Attempt(
                done=where(failing, until, where(accepting, where(tried >= left, h, now.done + tried), now.done)),
                length=length,
                error=where(accepting, maximum(bounded, LEAST_ERROR), now.error),
                accepted=where(accepting, now.accepted + 1.0, now.accepted),
                rejected=where(rejecting, now.rejected + 1.0, now.rejected),
                bracket=mapped(
                    lambda edge: where(narrowing, edge, 0.0), bracket.narrowed(tried, guard, passed, share * tried)
                ),
                y=y._replace(v=[where(failing, FAILED, v) for v in y.v]),
                extension=extension,
            )
            return after, step.moves

        def body(now: Attempt) -> list[Attempt]:
            light = system.light
            if light is None:
                return [attempt(system, now)[0]]
            fits, tried = light.room(now.y), minimum(now.length, h - now.done)

            def lightly(_: Scalar, bare: Attempt) -> list[Any]:
                after, moves = attempt(light, bare)
                trips = [absolute(b - a) + x for a, b, x in zip(now.y.q, bare.y.q, moves, strict=True)]
                fit = fits(trips)
                return [where(fit, 1.0, 0.0), chosen(fit, after, bare)]

            begin = where(fits([tried * absolute(v) for v in now.y.v]), 1.0, 0.0)
            ends = loop([begin, _bare(light, now)], lightly, lambda fit, x: either(fit < 0.5, x.done >= until), MOST)
            after = _whole(light, now, ends[1])
            return when(after.done <= now.done, lambda now: [attempt(system, now)[0]], after)

        (end,) = loop([begin], body, lambda now: now.done >= until, MOST)
        out_of_time = end.done < until
        return end, end.y._replace(v=[where(out_of_time, EXHAUSTED, v) for v in end.y.v])


def _bare(light: System, now: Attempt) -> Attempt:
    """An attempt as a light system has it."""
    of = now.extension
    extension = of and replace(of, coefficients=[*map(light.bare, of.coefficients)])
    return replace(now, y=light.bare(now.y), extension=extension)


def _whole(light: System, now: Attempt, bare: Attempt) -> Attempt:
    """An attempt after steps of a light system, with what that leaves out."""
    of, moved = bare.extension, bare.done > now.done
    y, extension = light.relaxed(now.y, bare.y, bare.done - now.done), now.extension
    if extension is not None and of is not None:
        change, *bends = of.coefficients
        before = light.relaxed(now.y, bare.y.plus(-1.0, change), of.begin - now.done)
        still = zeros(y)
        coefficients = [light.whole(change, y.states.minus(before.states)), *(light.whole(c, still) for c in bends)]
        extension = chosen(moved, replace(of, coefficients=coefficients), extension)
    return replace(bare, y=chosen(moved, y, now.y), extension=extension)


def _recalled(memory: Scalars, h: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """Proposed step size, last error and counters, to begin with in an interval of length h."""
    length, last, accepted, rejected = memory
    first = where(length > 0.0, length, FIRST * minimum(h, 1.0))
    return first, where(last > 0.0, last, 1.0), accepted, rejected


def _remembered(end: Attempt) -> Scalars:
    return [end.length, end.error, end.accepted, end.rejected]


def _error_norm(start: Motion, end: Motion, estimate: Motion, tolerance: Tolerance) -> Scalar:
    """The maximum norm of an error estimate, relative to the tolerance; NaN if any component is."""
    worst: Scalar = 0.0
    for a, b, e in zip(*(leaves(x.states) for x in (start, end, estimate)), strict=True):
        allowed = tolerance.atol + tolerance.rtol * maximum(absolute(a), absolute(b))
        ratio = absolute(e) / allowed
        larger = where(ratio <= worst, worst, ratio)  # also where the ratio is NaN
        worst = where(worst <= FAILED, larger, worst)
    return worst
