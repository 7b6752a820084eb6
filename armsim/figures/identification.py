"""An identification drawn: the measured motion, the model's before and after, and what is left."""

from __future__ import annotations

from typing import Any

from armsim.figures.drawn_run import columns_over_time
from armsim.figures.overlay import draw_runs
from armsim.identification.identification import Identification
from armsim.plant.columns import spellings


def identification_figure(found: Identification) -> Any:
    """A figure of an identification."""
    headings = [spellings("q", joint)[0][0] for joint in found.arm.joints]
    runs = [
        columns_over_time(
            name, {"t_s": found.fitted["t"], **dict(zip(headings, found.fitted[name].T, strict=True))}, {}
        )
        for name in ("measured", "before", "after")
    ]
    return draw_runs(runs, headings, title=found.arm.name)
