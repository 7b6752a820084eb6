"""Where arm, loads and integrator meet: a plant's step and row, as pure functions of time and state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened

if TYPE_CHECKING:
    from armsim.plant.build import make_plant
    from armsim.plant.columns import Column
    from armsim.plant.driven import driven_plant, held
    from armsim.plant.dynamechs import DynaMechsPlant, emulates
    from armsim.plant.linearization import LinearFeedback, Linearization, Linearizer, linearize, with_stop
    from armsim.plant.plant import Plant
    from armsim.plant.stiction import accelerations, slipping

_HOMES = {
    "Column": "columns",
    "DynaMechsPlant": "dynamechs",
    "LinearFeedback": "linearization",
    "Linearization": "linearization",
    "Linearizer": "linearization",
    "Plant": "plant",
    "accelerations": "stiction",
    "driven_plant": "driven",
    "emulates": "dynamechs",
    "held": "driven",
    "linearize": "linearization",
    "make_plant": "build",
    "slipping": "stiction",
    "with_stop": "linearization",
}

__all__ = [
    "Column",
    "DynaMechsPlant",
    "LinearFeedback",
    "Linearization",
    "Linearizer",
    "Plant",
    "accelerations",
    "driven_plant",
    "emulates",
    "held",
    "linearize",
    "make_plant",
    "slipping",
    "with_stop",
]
__getattr__ = opened(__name__, _HOMES)
