"""Factors of large matrices: scans with the bits of what is written out, and text that grows with the square of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.dynamics import solve_held, solve_ldl
from armsim.expr import replay, trace
from armsim.loading import scenario_of
from armsim.simulation.engine import NativeEngine, PythonEngine
from armsim.simulation.loop_plan import LoopPlan
from tests.dynamics.test_recursion import large


def numbers(n, seed):
    """A positive definite matrix as a lower triangle, a right-hand side, and which rows are held."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    A = B @ B.T + np.eye(n)
    return [
        *A[np.tril_indices(n)].tolist(),
        *rng.normal(size=n).tolist(),
        *(rng.random(n) < 0.4).astype(float).tolist(),
    ]


def solved(n):
    """The solutions with and without held rows, of flat numbers."""

    def flat(*x):
        A = [x[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2] for i in range(n)]
        b, held = x[-2 * n : -n], [flag > 0.5 for flag in x[-n:]]
        return [*solve_ldl(A, b), *solve_held(A, b, held)]

    return flat


def traced(n):
    return trace(solved(n), [f"x{i}" for i in range(n * (n + 1) // 2 + 2 * n)])


def test_rolled_factors_have_the_bits_of_those_written_out(evaluate):
    n = 17
    function, rows = traced(n), [numbers(n, seed) for seed in range(5)]
    assert any(node.op == "scan" for node in function.live())
    expected = [solved(n)(*row) for row in rows]  # on numbers they are written out
    assert [replay(function, row) for row in rows] == expected
    columns = np.array(rows).T.tolist()
    assert evaluate(function, columns).T.tolist() == evaluate(function, columns, lanes=1).T.tolist() == expected
    for row, x in zip(rows, expected, strict=True):
        free = [i for i in range(n) if row[i - n] < 0.5]
        A = np.zeros((n, n))
        A[np.tril_indices(n)] = row[: -2 * n]
        A, b = A + np.tril(A, -1).T, np.array(row[-2 * n : -n])
        assert x[:n] == pytest.approx(np.linalg.solve(A, b), rel=1e-9)
        assert np.array(x[n:])[free] == pytest.approx(np.linalg.solve(A[np.ix_(free, free)], b[free]), rel=1e-9)
        assert not any(x[n + i] for i in range(n) if i not in free)


def test_the_text_of_factors_grows_with_the_square_of_the_rows():
    assert len(traced(16).live()) > 16**3 / 3
    assert len(traced(40).live()) < 8 * 40**2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["chain", "tree"])
@pytest.mark.parametrize("method", ["velocity_implicit", "semi_implicit_euler"])
def test_dry_friction_of_40_joints_has_the_bits_of_numbers(method, kind, drive):
    robot = large(40, kind)
    for joint in robot["joints"]:
        joint["friction"] = {"coulomb": 0.02, "viscous": 0.05}
    file = {
        "format": "armsim/scenario/1",
        "robot": robot,
        "duration": 0.003,
        "integrator": {"method": method, "dt": 1e-3},
    }
    plan = LoopPlan.of_run(scenario_of(file, None))
    q, qd = [0.1] * 40, [0.3 * (i % 3 - 1) for i in range(40)]
    native, text = (drive(e(plan), plan.plant, q, qd, 3, (1, 1000)) for e in (NativeEngine, PythonEngine))
    assert native.state.tolist() == text.state.tolist()
    assert native.rows.tolist() == text.rows.tolist()
    assert 0 < sum(x == 0.0 for x in native.state[40:80]) < 40  # some joints stick
