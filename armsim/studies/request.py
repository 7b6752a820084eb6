"""What is asked of `armsim.sweep`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from armsim.loading import Overrides
from armsim.records import record


@record
class StudyRequest:
    """What a study of a scenario is to be, as its user says it; see `armsim.sweep`.

    A study file says all of it but overrides and table, which may be said besides.

    Attributes:
        vary: Values by path.
        measure: Names of measures.
        seed: Of the draws.
        force_step: Whether runs are made even with a step that is refused.
        random: How many runs are drawn independently.
        latin: As a Latin hypercube.
        sobol: As a Sobol' sequence.
        overrides: Values in place of the file's, by path.
        table: Format of the results.
    """

    vary: Mapping[str, Any] | None = None
    measure: tuple[str, ...] = ()
    seed: int | None = None
    force_step: bool = False
    random: int | None = None
    latin: int | None = None
    sobol: int | None = None
    overrides: Overrides = field(default_factory=dict)
    table: str | None = None


NOTHING = StudyRequest()


@record
class Workers:
    """What carries a study out.

    Attributes:
        threads: How many; as many as there are processors if None.
        cluster: Address of a scheduler, or "local"; None for this process alone.
    """

    threads: int | None = None
    cluster: str | None = None
