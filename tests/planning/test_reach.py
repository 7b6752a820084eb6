"""The same reach by the search of plans, by predictive control, and by Crocoddyl where that is installed."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest


@pytest.mark.slow  # processes that compile
@pytest.mark.parametrize("way", ["predictive", "crocoddyl"])
def test_a_reach_within_torque_limits_has_one_least_cost(way, monkeypatch):
    """Of the same steps, by three methods that share no more than the arm."""
    if way == "crocoddyl":
        pytest.importorskip("crocoddyl")
        if not version("pin").startswith("4.0."):
            pytest.skip("wheels of crocoddyl 3.2.1 go with pin 4.0 and lose gravity with later ones")
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    import reach_crocoddyl

    ours, theirs = (reach_crocoddyl.found(one, 60) for one in ("plan", way))
    assert min(ours.at_limit, theirs.at_limit) > 10
    assert ours.cost == pytest.approx(theirs.cost, rel=1e-9)
