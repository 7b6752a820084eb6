"""What was run, as a result tells it."""

from __future__ import annotations

from typing import Protocol

from armsim.loading import Scenario
from armsim.plant import Plant
from armsim.plant.columns import Layout
from armsim.records import record
from armsim.stability.advice import Advice


class Setup(Protocol):
    """What was run."""

    @property
    def scenario(self) -> Scenario:
        """The scenario."""

    @property
    def plant(self) -> Plant:
        """The arm with its drives."""

    @property
    def advice(self) -> Advice:
        """The advice on the step, which may be partial."""

    @property
    def layout(self) -> Layout:
        """What the numbers of a row are."""


@record
class KnownSetup:
    """A `Setup` that is known from the start."""

    scenario: Scenario
    plant: Plant
    advice: Advice

    @property
    def layout(self) -> Layout:
        """What the numbers of a row are."""
        return self.plant.layout
