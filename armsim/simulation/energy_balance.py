"""Energy balance of a run: the work done on an arm against the change of its energy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from armsim.actuation import WORKS
from armsim.loading import Scenario
from armsim.notebook import percent
from armsim.plant import Plant
from armsim.records import optional, record
from armsim.simulation.result import Result

LARGE = 0.05  # relative residual, above which it is noted
BETWEEN = (
    1e-3  # of the largest motor torques times ways, that counts as exchanged: of a stiff motion rows may show nothing
)


@record
class EnergyBalance:
    """The energy balance of a motion [J].

    Attributes:
        motors: Their work from the start to the state reached, a quadrature by the same method.
        friction: Its work.
        stops: Their work.
        external: The work of external forces.
        others: The works of what not every arm has, such as springs, by name; None without any.
        error: Estimated error of all works together; None of fixed steps, which do not estimate it.
        change: Of kinetic plus potential energy.
        residual: The change less all work, made or lost by the integrator. That it is small does not show that the motion is
            right: at constant mass matrix the balance of the Euler methods closes by construction, and what an event within a
            step does to the motion never enters.
        relative: Its magnitude over the energy exchanged: the largest of the works, the kinetic energy and the change of
            potential energy in any row, and `BETWEEN` times the throughput; 0 where all vanish.
        note: What a large residual means, or a large error; None where they are small.
    """

    motors: float
    friction: float
    stops: float
    external: float
    error: float | None
    change: float
    residual: float
    relative: float
    note: str | None
    others: dict[str, float] | None = optional(default=None)

    @property
    def works(self) -> dict[str, float]:
        """All works by their source."""
        return {of: getattr(self, of) for of in WORKS} | (self.others or {})

    def unexplained(self, digits: int) -> str:
        """The residual to some significant digits, in words."""
        return f"{joules(self.residual, digits)}, {percent(self.relative)} of the energy exchanged"


def joules(value: float, digits: int) -> str:
    """A change of energy to some significant digits."""
    return f"{value:+.{digits}g} J" if value else "0 J"


def audit(run: Result) -> EnergyBalance:
    """The energy balance of a run, from its start to the state reached."""
    parts = []
    for part in (run.totals.kinetic, run.totals.potential):
        rows = [run.totals.first[part.column], part.least, part.most] if run.count else []
        parts.append([*rows, run.end[part.column]])
    spans = [way.most - way.least for way in run.totals.ways] if run.count else []
    throughput = sum(peak * span for peak, span in zip(run.peaks, spans, strict=False))
    found = balance(run.scenario, run.plant, run.state, *parts, throughput=throughput)
    return found if run.status != "diverged" else replace(found, note=None)  # what to mend is said of the divergence


def balance(
    scenario: Scenario,
    plant: Plant,
    state: Sequence[float],
    kinetic: Sequence[float],
    potential: Sequence[float],
    *,
    throughput: float = 0.0,
) -> EnergyBalance:
    """The energy balance: work by source, change of energy, and the residual.

    Args:
        scenario: What was run.
        plant: The plant, with work among its states.
        state: The state reached.
        kinetic: Energy at the start, extremes of it in rows, and at the end [J].
        potential: Likewise.
        throughput: Largest motor torques times the ways of their joints [J].
    """
    named = dict(zip(plant.slots, state, strict=True))
    own, others = ({of: named[f"work_{of}"] for of in names} for names in (WORKS, plant.loads.others))
    works = own | others
    change = (kinetic[-1] + potential[-1]) - (kinetic[0] + potential[0])
    residual = change - sum(works.values())
    seen = [*map(abs, works.values()), *kinetic, *(abs(x - potential[0]) for x in potential)]
    largest = max(*seen, BETWEEN * throughput)
    relative = abs(residual) / largest if largest else 0.0
    error = named["work_error"] if plant.integrator.adaptive is not None else None
    note = _note(scenario, plant, relative)
    if note is None and error is not None and error > LARGE * max(*map(abs, works.values()), BETWEEN * throughput):
        note = f"the works may be off by {error:.2g} J: powers vary faster than the steps show, take a smaller rtol"
    return EnergyBalance(
        **own, error=error, change=change, residual=residual, relative=relative, note=note, others=others or None
    )


def _note(scenario: Scenario, plant: Plant, relative: float) -> str | None:
    """What a large residual means; None where it is small."""
    if plant.energy_note is not None or relative <= LARGE:
        return plant.energy_note
    if scenario.adaptive:
        mend = f"a smaller rtol than {scenario.tolerance.rtol:g}"
    else:
        mend = f"a shorter step than {scenario.dt:g} s, or a method of higher order"
    return f"the residual is energy that the integrator made or lost, and it is large: take {mend}"
