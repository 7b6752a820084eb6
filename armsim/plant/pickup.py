"""Payloads that are picked up and put down.

Before it is picked up, a payload rests in the world. The arm takes it up in a perfectly inelastic impact: M' v' = M v, where M is
the mass matrix without and M' that with the payload. An impact takes no time, so that no drive, gravity or dry friction has an
impulse in it, and a joint that friction held may move after it. A payload that is put down goes with the velocity that it has,
without an impulse; one that is put down when another is picked up has no part in that impact.
"""

from __future__ import annotations

from dataclasses import replace

from armsim.dynamics import crba, momenta, potential_energy, solve_ldl
from armsim.expr import Scalar, Scalars, absolute, chosen, dot, when, where
from armsim.integrate.method import FAILED
from armsim.model import Arm, Payload
from armsim.plant.state import State
from armsim.spatial import Inertia


def works_of(arm: Arm) -> tuple[str, ...]:
    """Names of the works of payloads: of each the energy that it brings and takes away, and that which the impact takes."""
    named = [(_energy(payload), *([_impact(payload)] if payload.start is not None else [])) for payload in arm.timed]
    return tuple(name for names in named for name in names)


def _energy(payload: Payload) -> str:
    return f"payload_{payload.name}"


def _impact(payload: Payload) -> str:
    return f"impact_{payload.name}"


def exchanged(arm: Arm, t: Scalar, dt: Scalar, x: State) -> State:
    """The state at the end of a step, after what is picked up and put down then: each instant's state is that after the impact.

    The works change with the energy: by what the impact takes of it, -v'ᵀ Mₖ v / 2 for each payload k of mass matrix Mₖ, by the
    potential energy of what is picked up, and by the energy of what is put down.

    Args:
        arm: The arm, n joints.
        t: Time at the step's beginning [s].
        dt: Length of the step [s]; times of payloads are multiples of it.
        x: The state at its end.
    """
    if not arm.timed:
        return x
    during, after = t + dt / 2, t + 1.5 * dt
    carried = [(payload.share(during), payload.share(after)) for payload in arm.timed]
    due: Scalar = sum((absolute(b - a) for a, b in carried), start=0.0)
    due = where(absolute(x.qd[0]) < FAILED, due, 0.0)  # or no step led there

    def exchange(v: Scalars, others: dict[str, Scalar]) -> list[object]:
        kept = replace(
            arm,
            payloads=tuple(payload.scaled(payload.share(during) * payload.share(after)) for payload in arm.payloads),
        )
        moved = solve_ldl(crba(arm.at(after), x.q), momenta(kept, x.q, v))
        entered: Scalar = sum((b * (1.0 - a) for a, b in carried), start=0.0)
        then = chosen(entered > 0.0, moved, v)
        for payload, (a, b) in zip(arm.timed, carried, strict=True):
            one, enters, leaves = alone(arm, payload), b * (1.0 - a), a * (1.0 - b)
            momentum, height = momenta(one, x.q, v), potential_energy(one, x.q)
            if _impact(payload) in others:
                others[_impact(payload)] -= enters * (dot(then, momentum) / 2)
            if others:
                others[_energy(payload)] += enters * height - leaves * (dot(v, momentum) / 2 + height)
        return [then, others]

    others = {} if x.works is None else dict(x.works.others)
    qd, others = when(due > 0.0, exchange, x.qd, others)
    return replace(x, qd=qd, works=None if x.works is None else replace(x.works, others=others))


def alone(arm: Arm, payload: Payload) -> Arm:
    """An arm without mass that carries a payload."""
    bare = arm.map_links(lambda link: replace(link, inertia=Inertia(), motor=None))
    return replace(bare, payloads=(payload.scaled(1.0),))
