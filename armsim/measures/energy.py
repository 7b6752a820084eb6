"""Energies: of the arm at the end, works by source, and what the motors' supply gives and takes back."""

from __future__ import annotations

from collections.abc import Callable

from armsim.expr import Scalars, maximum
from armsim.measures.aggregates import Final, TimeIntegral
from armsim.measures.kind import Request
from armsim.measures.measure import Measure, summed
from armsim.measures.moment import Moment
from armsim.records import record


def energy(request: Request) -> Measure:
    """Kinetic and potential energy at the end."""
    return Final(("kinetic_energy_J", "potential_energy_J"), ("J", "J"), lambda end: end.now.energies)


@record
class Work(Measure):
    """The work done on the arm by one source.

    Attributes:
        source: Of `armsim.actuation.WORKS`, or of `Loads.others`.
    """

    source: str

    @property
    def needs_work(self) -> bool:
        return True

    def result(self, kept: tuple[()], end: Moment) -> Scalars:
        works = end.x.works
        assert works is not None
        return [works.others[self.source] if self.source in works.others else getattr(works, self.source)]


def work_by(source: str) -> Callable[[Request], Measure]:
    """Makes the measure of a source's work."""
    return lambda request: Work((request.name,), ("J",), source)


def exchanged(sign: float) -> Callable[[Request], Measure]:
    """Makes the measure of the energy that the supply gives, or with the other sign takes back."""

    def make(request: Request) -> Measure:
        powered = request.powered(
            "give the motors their constants, or ask for `work_motors`, the mechanical work of the drives"
        )

        def flow(now: Moment) -> Scalars:
            return [maximum(sign * summed([now.torques[i].power for i in powered]), 0.0)]

        return TimeIntegral((request.name,), ("J",), flow)

    return make
