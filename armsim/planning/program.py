"""The quadratic program of an iteration: stages of a state and inputs, joined by the linearised dynamics.

Variables are deviations, in units of their scales. Stage i < N has dx_i, du_i and slacks, the last dx_N and slacks; a slack of 0
or more takes up by how much conditions are missed, at a price that is high enough to leave it 0 where they can be met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from armsim.arrays import Array, Indices, Mask
from armsim.errors import UsageError
from armsim.records import record

EXACT, NEAR = 1e-9, 1e-6  # residuals that are asked of the solver, and those that do where it gives up
MOST = 100  # of its iterations


@record
class ConditionBlock:
    """Linear conditions on some stages: sign (g + J d) <= bound + slack, row by row.

    Attributes:
        name: What gives g and J.
        stages: Indices of the stages.
        rows: Which rows of g and J.
        sign: 1 for an upper bound, -1 for a lower one.
        bound: sign times the bound, of each row.
        pattern: Which of the k + n numbers of J are not always 0, for each row.
        slack: Index of each row's slack among those of the stage.
    """

    name: str
    stages: Indices
    rows: Indices
    sign: float
    bound: Array
    pattern: Mask
    slack: Indices


class MultistageProgram:
    """The program's structure, and its solver.

    Args:
        k: Numbers of a state.
        n: Inputs.
        slacks: Of each stage, N + 1 of them.
        conditions: On the stages.
        fixed: How many numbers of the first state are given.
    """

    def __init__(self, k: int, n: int, slacks: Sequence[int], conditions: Sequence[ConditionBlock], fixed: int) -> None:
        piqp = _solver()
        N = self.N = len(slacks) - 1
        self.k, self.n, self.fixed, self._conditions = k, n, fixed, conditions
        widths = [k + (n if i < N else 0) + c for i, c in enumerate(slacks)]
        at = self.at = np.concatenate([[0], np.cumsum(widths)])
        self.slack_at = at[:-1] + np.array([k + n] * N + [k])
        self.size, w = int(at[-1]), k + n
        self.slack_places = np.concatenate([first + np.arange(c) for first, c in zip(self.slack_at, slacks)])
        inputs = at[:N, None] + k + np.arange(n)
        self.inputs = inputs.ravel()
        stage, own = at[:N, None] + np.arange(w), at[N] + np.arange(k)
        self._P = _Pattern(
            [np.repeat(stage, w), np.repeat(own, k)], [np.tile(stage, w).ravel(), np.tile(own, k)], self.size, self.size
        )
        rows = fixed + np.arange(N * k)
        after = (at[1 : N + 1, None] + np.arange(k)).ravel()
        self._A = _Pattern(
            [np.arange(fixed), np.repeat(rows, w), rows],
            [np.arange(fixed), np.repeat(stage, k, axis=0).ravel(), after],
            self.size,
        )
        places: tuple[list[Indices], list[Indices]] = [], []
        base = 0
        for one in conditions:
            m, r = len(one.stages), len(one.rows)
            row = base + np.arange(m * r).reshape(m, r)
            j, c = np.nonzero(one.pattern)
            places[0].extend([row[:, j].ravel(), row.ravel()])
            places[1].extend(
                [(at[one.stages][:, None] + c).ravel(), (self.slack_at[one.stages][:, None] + one.slack).ravel()]
            )
            base += m * r
        self._G = _Pattern(*places, self.size, base) if base else None
        self._piqp, self._solver = piqp, piqp.SparseSolver()
        settings = self._solver.settings
        settings.kkt_solver = piqp.sparse_multistage
        settings.eps_abs = settings.eps_rel = settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = EXACT
        settings.max_iter = MOST
        self._begun = False

    def solve(
        self,
        hessians: tuple[Array, Array],
        gradient: Array,
        price: float,
        dynamics: tuple[Array, Array],
        values: Mapping[str, tuple[Array, Array]],
        bounds: tuple[Array, Array],
    ) -> tuple[Array, Array, float, Array, dict[str, Array]] | None:
        """The solution; None where the solver finds none.

        Args:
            hessians: Of the cost, (N, k + n, k + n) and (k, k) of the last state.
            gradient: Of the cost, (N, k + n).
            price: Of the slacks.
            dynamics: Derivatives (N, k, k + n), and defects (N, k): an interval's end less the next knot.
            values: g (m, r) and J (m, r, w) by the name of conditions.
            bounds: Of the variables, (size,).

        Returns:
            Deviations of the stages (N, k + n), of the last state (k,), the sum of the slacks, multipliers of the dynamics
            (N, k), and of other conditions by name (stages, rows), those of the inputs' bounds as "inputs".
        """
        N, k, w = self.N, self.k, self.k + self.n
        c = np.zeros(self.size)
        stages = self.at[:N, None] + np.arange(w)
        c[stages] = gradient
        c[self.slack_places] = price
        given: dict[str, object] = {
            "P": self._P.filled([hessians[0].ravel(), hessians[1].ravel()]),
            "c": c,
            "A": self._A.filled([np.ones(self.fixed), dynamics[0].ravel(), -np.ones(N * k)]),
            "b": np.concatenate([np.zeros(self.fixed), -dynamics[1].ravel()]),
            "x_l": bounds[0],
            "x_u": bounds[1],
        }
        if self._G is not None:
            entries: list[Array] = []
            h: list[Array] = []
            for one in self._conditions:
                g, J = values[one.name]
                entries += [one.sign * J[:, one.rows][:, one.pattern].ravel(), np.full(len(g) * len(one.rows), -1.0)]
                h.append((one.bound - one.sign * g[:, one.rows]).ravel())
            given |= {"G": self._G.filled(entries), "h_u": np.concatenate(h)}
        (self._solver.update if self._begun else self._solver.setup)(**given)
        self._begun = True
        solved, result = self._solver.solve() == self._piqp.PIQP_SOLVED, self._solver.result
        if not solved and not max(result.info.primal_res, result.info.dual_res) < NEAR:
            return None
        d, y = np.array(result.x), np.array(result.y)[self.fixed :].reshape(N, k)
        pressure = {"inputs": (np.asarray(result.z_bu) - np.asarray(result.z_bl))[self.inputs].reshape(N, -1)}
        base = 0
        for one in self._conditions:
            m, r = len(one.stages), len(one.rows)
            into = pressure.setdefault(one.name, np.zeros((m, values[one.name][0].shape[1])))
            into[:, one.rows] += one.sign * np.asarray(result.z_u)[base : base + m * r].reshape(m, r)
            base += m * r
        last = self.at[N] + np.arange(k)
        return d[stages], d[last], float(d[self.slack_places].sum()), y, pressure


class _Pattern:
    """A sparse matrix of which only the numbers change."""

    def __init__(self, rows: Sequence[Any], columns: Sequence[Any], width: int, height: int | None = None) -> None:
        from scipy.sparse import csc_matrix

        i, j = (np.concatenate([np.ravel(x) for x in part]).astype(np.int64) for part in (rows, columns))
        height = int(i.max()) + 1 if height is None else height
        self._order = np.lexsort((i, j))
        self._matrix = csc_matrix((np.ones(len(i)), (i, j)), shape=(height, width))
        self._matrix.sort_indices()

    def filled(self, parts: Sequence[Array]) -> Any:
        """The matrix with other numbers, in the order of its places."""
        np.take(np.concatenate(parts), self._order, out=self._matrix.data)
        return self._matrix


def _solver() -> Any:
    try:
        import piqp
    except ImportError:
        found, mend = "no package piqp", 'pip install "armsim[plan]"'
        raise UsageError.of("plan", "piqp, which solves quadratic programs", found, mend) from None
    return piqp
