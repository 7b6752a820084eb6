"""Forces from outside that come and go, against the impulse and the work that they do."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim.integrate import METHODS

H, MASS = 0.01, 2.0
PUSHES = [(7.0, 0, 0.05), (-4.0, 0.03, 0.11), (12.0, 0.19, None)]  # N along the slider, from and to


def pushed(method: str, friction=None, axes="world"):
    """The run of a slider along x, thrown at 1 m/s, that pushes meet."""
    joint = {"name": "x", "type": "prismatic", "origin": {"axis": [1, 0, 0]}, "bodies": [{"point": {"mass": MASS}}]}
    joint |= {"friction": friction} if friction else {}
    external = [{"link": "x", "force": [F, 0, 0], "axes": axes, "from": begin} for F, begin, _ in PUSHES]
    for entry, (_, _, end) in zip(external, PUSHES, strict=True):
        entry |= {} if end is None else {"to": end}
    robot = {
        "format": "armsim/robot/1",
        "name": "slider",
        "gravity": [0, 0, 0],
        "convention": "origin",
        "joints": [joint],
    }
    scenario = {
        "format": "armsim/scenario/1",
        "robot": robot,
        "duration": 0.25,
        "integrator": {"method": method, "dt": H},
        "initial": {"qd": [1]},
        "external": external,
        "log": {"every": H},
    }
    return armsim.simulate(scenario)


@pytest.mark.parametrize("friction", [None, {"coulomb": 0.5}], ids=["smooth", "dry"])
@pytest.mark.parametrize("axes", ["world", "local"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(3)
def test_a_force_gives_its_impulse_from_its_first_step_to_the_one_before_its_end(method, axes, friction):
    run = pushed(method, friction, axes)
    force = sum(F * ((run.t >= begin - H / 9) & (run.t < (end or 1) - H / 9)) for F, begin, end in PUSHES)
    force = force - (0.5 if friction else 0.0)  # it slides forward all the time
    v = np.concatenate([[1.0], 1.0 + np.cumsum(force[:-1]) * H / MASS])
    assert (v > 0.5).all()
    assert run.qd[:, 0] == pytest.approx(v, rel=1e-12)  # constant within steps: exact by every method
    assert run.qdd[:, 0] == pytest.approx(force / MASS, rel=1e-12)
    if METHODS[method].order > 1:
        assert run.q[:, 0] == pytest.approx(np.concatenate([[0.0], np.cumsum(v[:-1] + v[1:]) * H / 2]), rel=1e-12)
        work = MASS / 2 * (v[-1] ** 2 - 1.0) + (0.5 * run.q[-1, 0] if friction else 0.0)
        assert run.summary()["audit"]["external"] == pytest.approx(work, rel=1e-12)
