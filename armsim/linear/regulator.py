"""A linear-quadratic regulator of an arm: full state feedback, and decentralised gains joint by joint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armsim.control import Controller
from armsim.linear.lqr import Cost, cost_of, gains_of
from armsim.linear.system import Array, LinearSystem
from armsim.loading import Scenario
from armsim.plant import Linearization

DIGITS = 6  # significant digits of the decentralised gains
TARGET_DECIMALS = 9  # of the proposed target


@dataclass(frozen=True, eq=False)
class Regulator:
    """A linear-quadratic regulator, as full state feedback and as decentralised gains joint by joint.

    Attributes:
        model: The plant in continuous time.
        about: The operating point, with mass matrix, stiffness and damping.
        scenario: The scenario it is from.
        weights: The cost.
        period: Sampling period [s]; None in continuous time.
        given: The weights q, qd, r as they were given.
    """

    model: LinearSystem
    about: Linearization
    scenario: Scenario
    weights: Cost
    period: float | None
    given: dict[str, Any]

    def __repr__(self) -> str:
        time = "in continuous time" if self.period is None else f"every {self.period:g} s"
        return f"Regulator({self.scenario.name}: {time})"

    @cached_property
    def _plant(self) -> tuple[LinearSystem, Cost]:
        """Plant and cost, in discrete time if the regulator is sampled."""
        if self.period is None:
            return self.model, self.weights
        return self.model.sampled(self.period), self.weights.sampled(self.model, self.period)

    @cached_property
    def K(self) -> Array:
        """Gains of the state feedback u = -K x, shape (inputs, states)."""
        return gains_of(*self._plant)

    @cached_property
    def joints(self) -> Array:
        """Decentralised gains (kp, kd): each joint's own regulator with the other joints held, shape (n, 2).

        To `DIGITS` digits, as they are proposed. An armature current that is a state is taken as quasi-steady.
        """
        about = self.about
        gains = np.zeros((about.n, 2))
        for i in range(about.n):
            if about.held[i]:
                continue
            pair = _joint_alone(about, i)
            keep = [i, about.n + i]
            cost = Cost(self.weights.Q[np.ix_(keep, keep)], self.weights.R[i : i + 1, i : i + 1], np.zeros((2, 1)))
            if self.period is not None:
                cost, pair = cost.sampled(pair, self.period), pair.sampled(self.period)
            gains[i] = gains_of(pair, cost)[0]
        return np.array([[float(f"{x:.{DIGITS}g}") for x in row] for row in gains])

    @cached_property
    def _diagonal(self) -> Array:
        """The decentralised gains as a matrix K, shape (inputs, states)."""
        n = self.about.n
        K = np.zeros_like(self.model.B.T)
        K[:, :n], K[:, n : 2 * n] = np.diag(self.joints[:, 0]), np.diag(self.joints[:, 1])
        K[:, ~self.model.free] = 0.0
        return K

    def closed(self, K: Array | None = None) -> LinearSystem:
        """The closed loop under u = -K x, with the regulator's own K unless another is given."""
        plant, _ = self._plant
        return with_dynamics(plant, plant.A - plant.B @ (self.K if K is None else K))

    @property
    def closed_by_joints(self) -> LinearSystem:
        """The closed loop of the whole plant under the decentralised gains."""
        return self.closed(self._diagonal)

    @property
    def extra_cost(self) -> float:
        """Relative excess cost of the decentralised gains over the optimal K; infinite if they do not stabilise the arm.

        Averaged over the directions of an initial displacement of the joints.
        """
        n = self.about.n
        own, best = cost_of(*self._plant, self._diagonal), cost_of(*self._plant, self.K)
        if own is None or best is None:
            return math.inf
        return float(np.trace(own[:n, :n]) / np.trace(best[:n, :n]) - 1)

    @property
    def offset(self) -> Array:
        """Target of `control` less the pose [rad or m], shape (n,): the steady-state error under gravity that it compensates."""
        u, kp = np.array(self.about.u), self.joints[:, 0]
        return np.divide(u, kp, out=np.zeros_like(u), where=kp != 0)

    @property
    def control(self) -> dict[str, Any]:
        """The `control` block of a scenario file with the decentralised gains, in the file's units.

        Its target is the pose plus `offset`, so that the arm comes to rest in the pose itself.
        """
        kp, kd = self.joints.T
        return self._block({"law": "pd", "kp": kp.tolist(), "kd": kd.tolist()}, np.array(self.about.q) + self.offset)

    @property
    def full_control(self) -> dict[str, Any]:
        """The `control` block with the full matrix K; gravity, fed forward, is carried in the pose itself."""
        K = [[float(f"{k:.6g}") for k in row] for row in self.K]
        return self._block({"law": "state_feedback", "K": K, "feedforward": "gravity"}, np.array(self.about.q))

    def _block(self, law: dict[str, Any], place: Array) -> dict[str, Any]:
        """A `control` block with a target [rad or m], in the file's units; limit and period are the scenario's."""
        command, scenario = self.about.plant.command, self.scenario
        block: dict[str, Any] = {
            "law": law.pop("law"),
            "output": "torque" if command is None else command.output,
            **law,
        }
        turns = [scenario.degrees and joint.kind.turns for joint in self.about.plant.arm.joints]
        target = np.where(turns, np.degrees(place), place)
        block["target"] = [round(x, TARGET_DECIMALS) + 0.0 for x in target.tolist()]
        original = scenario.command
        if isinstance(original, Controller) and any(limit is not None for limit in original.limit):
            block["limit"] = list(original.limit)
        if self.period is not None:
            block["period"] = self.period
        return block


def _joint_alone(about: Linearization, i: int) -> LinearSystem:
    """A joint with the others held: states q and qd, one input; its current, if a state, quasi-steady."""
    n, k, joint = about.n, len(about.currents), about.plant.arm.joints[i]
    stiffness, damping, gain = about.Fq[i][i], about.Fv[i][i], about.Fu[i][i]
    if i in about.plant.inductive:
        place = list(about.plant.inductive).index(i)
        row = about.I[place]
        per_current, own = about.Fi[i][place], row[2 * n + place]
        damping -= per_current * row[n + i] / own
        gain -= per_current * row[2 * n + k + i] / own
    M = about.M[i][i]
    A, B = np.array([[0.0, 1.0], [stiffness / M, damping / M]]), np.array([[0.0], [gain / M]])
    names = (f"q_{joint.name}", f"qd_{joint.name}"), ("u",), ("q", "qd")
    return LinearSystem(A, B, np.eye(2), np.zeros((2, 1)), *names, None, np.full(2, True), np.array([1.0, 0.0]))


def with_dynamics(system: LinearSystem, A: Array) -> LinearSystem:
    """The system with another system matrix A."""
    names = system.states, system.inputs, system.outputs
    return LinearSystem(A, system.B, system.C, system.D, *names, system.dt, system.free, system.weight)
