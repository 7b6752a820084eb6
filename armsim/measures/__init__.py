"""Measures: numbers of a run, gathered moment by moment, in the compiled loop over steps as on floats.

A measure is three pure functions, `begin`, `update` and `result`, over a tree of accumulators and a `Moment`. Each kind is an
entry of `catalog.KINDS`, from which docs/measures.md is written; formulas of them are measures, too.

What others use:

- `names.measures_of`: the measures of given names;
- `measure.Measure`, `moment.Moment`: their interface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened

if TYPE_CHECKING:
    from armsim.measures.measure import Measure
    from armsim.measures.moment import Moment
    from armsim.measures.names import measures_of

__all__ = ["Measure", "Moment", "measures_of"]
__getattr__ = opened(__name__, {"measure": "Measure", "moment": "Moment", "names": "measures_of"})
