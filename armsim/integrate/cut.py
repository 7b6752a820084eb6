"""Steps of a fixed length that are cut at events: in every part all is smooth, so a method keeps its order."""

from __future__ import annotations

from collections.abc import Callable

from armsim.expr import (
    Scalar,
    as_constant,
    both,
    chosen,
    either,
    implicit,
    loop,
    mapped,
    minimum,
    negated,
    when,
    where,
    with_jacobian,
)
from armsim.integrate.bracket import Bracket
from armsim.integrate.events import least
from armsim.integrate.graze import first_graze
from armsim.integrate.motion import Motion
from armsim.integrate.system import System
from armsim.records import mutable_record

MOST = 400  # parts tried in a step; where events accumulate (Zeno) it is carried out whole

# on a smooth system: from time, state and step to the state then, and an estimate of it at which rates have been evaluated
SmoothStep = Callable[[System, Scalar, Motion, Scalar], tuple[Motion, Motion]]


@mutable_record
class Part:
    """The state of the loop over the parts of a step.

    Attributes:
        done: Time since the step's start [s].
        y: The motion then.
        bracket: Of the event at which the next part is to end.
    """

    done: Scalar
    y: Motion
    bracket: Bracket


def cut_step(trial: SmoothStep, system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h, by as many steps of a method as events and corners of the rates cut it into.

    Events are located to `bracket.EVENT`; those that are met and left within a part are seen by `first_graze` alone. A step with
    more than `MOST` attempts is carried out whole, and what friction has stopped within it is at rest at its end.

    Args:
        trial: The method's step.
        system: The system.
        t: Time at the step's start [s].
        y: The state then.
        h: Length of the step [s].
    """
    smooth = system.branch(t, y, h)
    whole, near = trial(smooth, t, y, h)
    guards = [*smooth.slips(whole), *smooth.spares(t + h, whole), *smooth.holding(t + h, near)]
    corner = system.until_corner(t)
    if not guards and corner is None:
        return whole
    _, grazed = first_graze(smooth, y, whole, h, lambda tried: trial(smooth, t, y, tried)[0])
    smooth_so_far = least([grazed, *guards]) >= 0.0
    uncut = smooth_so_far if corner is None else both(smooth_so_far, corner >= h)

    def body(now: Part) -> list[Part]:
        left = h - now.done
        begin = t + now.done
        corner = system.until_corner(begin)
        proposed = left if corner is None else minimum(left, corner)
        located = now.bracket.located(h)
        tried = where(now.bracket.locating, now.bracket.estimate(located), proposed)
        part = system.branch(begin, now.y, tried)
        end, _ = trial(part, begin, now.y, tried)
        met, grazed = first_graze(part, now.y, end, tried, lambda within: trial(part, begin, now.y, within)[0])
        guard = least(part.guards(begin + tried, now.y, end))
        tried, end = implicit((tried, end), lambda: at_root(part, begin, now, tried, end, guard))
        lowest = where(met < tried, grazed, guard)
        at_event = both(now.bracket.locating, located)
        passed = both(lowest < 0.0, negated(at_event))
        narrowing = either(passed, both(now.bracket.locating, negated(at_event)))
        closer = now.bracket.narrowed(tried, lowest, passed, met)
        end = part.arrest(now.y, end, tried)
        return [
            Part(
                done=where(narrowing, now.done, where(tried >= left, h, now.done + tried)),
                y=chosen(narrowing, now.y, end),
                bracket=as_constant(chosen(narrowing, closer, Bracket())),
            )
        ]

    def at_root(
        part: System, begin: Scalar, now: Part, tried: Scalar, end: Motion, guard: Scalar
    ) -> tuple[Scalar, Motion]:
        """Length and end of a part, for derivatives: where it ends at an event, that is where the guard is zero."""

        def passed(tried: Scalar) -> tuple[Motion, Scalar]:
            end, _ = trial(part, begin, now.y, tried)
            return end, least(part.guards(begin + tried, now.y, end))

        _, (rates, rise) = as_constant(with_jacobian(passed, (0,), "passed")(tried))
        at_event = both(now.bracket.locating, both(now.bracket.located(h), either(rise[0] > 0.0, rise[0] < 0.0)))
        later = where(at_event, -guard / where(at_event, rise[0], 1.0), 0.0)
        return tried + later, mapped(lambda x, rate: x + rate[0] * later, end, rates)

    first = Part(where(uncut, h, 0.0), chosen(uncut, whole, y), Bracket())
    (end,) = loop([first], body, lambda now: now.done >= h, MOST)

    return when(end.done < h, lambda _: [smooth.arrest(y, whole, h)], end.y)[0]
