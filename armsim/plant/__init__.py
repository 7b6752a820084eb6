"""Where arm, loads and integrator meet: a plant's step and row, as pure functions of time and state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened

if TYPE_CHECKING:
    from armsim.plant.build import make_plant, plant_type
    from armsim.plant.columns import Column
    from armsim.plant.driven import driven_plant, held
    from armsim.plant.linearization import LinearFeedback, Linearization, Linearizer, linearize, with_stop
    from armsim.plant.plant import Plant
    from armsim.plant.stiction import accelerations, slipping

_HOMES = {
    "columns": "Column",
    "linearization": "LinearFeedback Linearization Linearizer linearize with_stop",
    "plant": "Plant",
    "stiction": "accelerations slipping",
    "driven": "driven_plant held",
    "build": "make_plant plant_type",
}

__all__ = [
    "Column",
    "LinearFeedback",
    "Linearization",
    "Linearizer",
    "Plant",
    "accelerations",
    "driven_plant",
    "held",
    "linearize",
    "make_plant",
    "plant_type",
    "slipping",
    "with_stop",
]
__getattr__ = opened(__name__, _HOMES)
