"""Where arm, loads and integrator meet: a plant's step and row, as pure functions of time and state."""

from armsim.plant.build import make_plant
from armsim.plant.columns import Column
from armsim.plant.driven import driven_plant, held
from armsim.plant.dynamechs import DynaMechsPlant, emulates
from armsim.plant.linearize import LinearFeedback, Linearization, Linearizer, linearize, with_stop
from armsim.plant.plant import Plant
from armsim.plant.stiction import accelerations

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
    "with_stop",
]
