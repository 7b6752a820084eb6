"""What is asked of `armsim.tune`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from armsim.loading import Overrides
from armsim.records import record


@record
class TuningRequest:
    """What a tuning of a scenario is to be, as its user says it; see `armsim.tune`, whose arguments these are.

    A study file says all of it but overrides, which may be said besides.
    """

    open: Mapping[str, Any] | None = None
    minimise: str | Mapping[str, float] | None = None
    subject_to: Sequence[str] | str = ()
    over: str | None = None
    stage: Sequence[Sequence[str]] | str | None = None
    case: Mapping[str, Any] | None = None
    draw_cases: int | None = None
    method: str | None = None
    trials: int | None = None
    seed: int | None = None
    holds: Sequence[str] | str | None = None
    test: Mapping[str, Any] | None = None
    draw_test: int | None = None
    force_step: bool = False
    overrides: Overrides = field(default_factory=dict)


NOTHING = TuningRequest()
