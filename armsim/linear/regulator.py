"""A linear-quadratic regulator of an arm: full state feedback, and decentralised gains joint by joint.

Where the scenario's commands arrive late, those on their way are states of the plant. Its encoders are part of the closed loops,
not of the problem: gains are those of positions and velocities as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armsim import document
from armsim.arrays import Array
from armsim.compile import evaluated
from armsim.control import Constant, Controller, FeedbackLaw, Pid, StateFeedback
from armsim.document.timing import WHOLE
from armsim.errors import UsageError
from armsim.linear.feedback import closed_by, delayed, delayed_cost, predictive_gains
from armsim.linear.lqr import Cost, cost_of, gains_of
from armsim.linear.system import LinearSystem
from armsim.loading import Scenario
from armsim.loading.scenario_file import MOST_DELAY
from armsim.plant import Linearization, Linearizer
from armsim.plant.statics import steady_state

DIGITS = 6  # significant digits of the decentralised gains
NOISE = 1e-9  # of the largest gain: smaller ones are rounding of the Riccati equation
TARGET_DECIMALS = 6  # of the proposed target: as precise as the gains
SLOWER = 20  # halvings of a joint's frequency, until it is given up


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
    given: dict[str, float | list[float]]

    def __repr__(self) -> str:
        time = "in continuous time" if self.period is None else f"every {self.period:g} s"
        return f"Regulator({self.scenario.name}: {time})"

    @cached_property
    def _plant(self) -> tuple[LinearSystem, Cost]:
        """Plant and cost, in discrete time if the regulator is sampled."""
        if self.period is None:
            return self.model, self.weights
        return self.model.sampled(self.period), self.weights.sampled(self.model, self.period)

    @property
    def _controller(self) -> Controller | None:
        """The scenario's own, if it is sampled as the regulator is."""
        command = self.scenario.command
        return command if isinstance(command, Controller) and command.period and self.period else None

    @cached_property
    def delay(self) -> int:
        """From a sample to its command, in periods: the scenario's delay.

        Raises:
            UsageError: That is no whole number of them.
        """
        own = self._controller
        if own is None or not own.delay:
            return 0
        assert own.period is not None
        assert self.period is not None
        late = own.delay * own.period
        periods = round(late / self.period)
        if abs(late / self.period - periods) > WHOLE * max(periods, 1) or not 1 <= periods <= MOST_DELAY:
            raise UsageError.of(
                "period",
                f"a time of which the delay of commands, {late:g} s, is {MOST_DELAY} periods at most, and a whole number of them",
                f"{self.period:g} s",
                f"take {own.period:g}, or another `control.delay`",
            )
        return periods

    @cached_property
    def K(self) -> Array:
        """Gains of the state feedback u = -K x, shape (inputs, states + inputs * delay): last those of commands on their way."""
        return predictive_gains(self._plant[0], gains_of(*self._plant), self.delay)

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the states that `K` feeds back."""
        return delayed(self._plant[0], self.delay).states

    @property
    def inductive(self) -> bool:
        """Whether currents are among them."""
        return len(self.model.states) > 2 * self.about.n

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
            gains[i] = _best_late(pair, cost, gains_of(pair, cost), self.delay)[0]
        return np.array([[float(f"{x:.{DIGITS}g}") for x in row] for row in gains])

    @cached_property
    def _diagonal(self) -> Array:
        """The decentralised gains as a matrix K, shape (inputs, states)."""
        n = self.about.n
        K = np.zeros_like(self.K)
        K[:, :n], K[:, n : 2 * n] = np.diag(self.joints[:, 0]), np.diag(self.joints[:, 1])
        K[:, : len(self.model.A)][:, ~self.model.free] = 0.0
        return K

    def closed(self) -> LinearSystem:
        """The closed loop under u = -K x; that of a scenario with `full_control`, whose encoders and delay it has."""
        return self._closed(StateFeedback(tuple(map(tuple, self.K.tolist()))))

    @cached_property
    def closed_by_joints(self) -> LinearSystem:
        """The closed loop of the whole plant under the decentralised gains; that of a scenario with `control`."""
        n, (kp, kd) = self.about.n, self.joints.T.tolist()
        return self._closed(Pid("pd", tuple(kp), (0.0,) * n, tuple(kd), (None,) * n))

    def _closed(self, law: FeedbackLaw) -> LinearSystem:
        about, own = self.about, self._controller
        n, encoder = about.n, None if own is None else own.encoder
        output = "torque" if about.plant.command is None else about.plant.command.output
        command = Controller(
            law, output, Constant(tuple(about.q)), (None,) * n, period=self.period, encoder=encoder, delay=self.delay
        )
        plant = replace(about.plant, command=command)
        state = plant.parts(steady_state(plant, about.t, about.q, about.qd))
        feedback = Linearizer(plant, evaluated).law_at(about.t, state)
        assert feedback is not None
        return closed_by(self._plant[0], feedback, replace(about, plant=plant, law=feedback).remembered)

    @property
    def extra_cost(self) -> float:
        """Relative excess cost of the decentralised gains over the optimal K; infinite if they do not stabilise the arm.

        Averaged over the directions of an initial displacement of the joints, positions and velocities measured as they are.
        """
        n, (plant, cost) = self.about.n, self._plant
        late = delayed(plant, self.delay), delayed_cost(cost, self.delay)
        own, best = cost_of(*late, self._diagonal), cost_of(*late, self.K)
        if own is None or best is None or not self.closed_by_joints.stable:
            return math.inf
        return float(np.trace(own[:n, :n]) / np.trace(best[:n, :n]) - 1)

    @property
    def offset(self) -> Array:
        """Target of `control` less the pose [rad or m], shape (n,): the steady-state error under gravity that it compensates."""
        u, kp = np.array(self.about.u), self.joints[:, 0]
        return np.divide(u, kp, out=np.zeros_like(u), where=kp != 0)

    @property
    def control(self) -> document.Control:
        """The `control` block of a scenario file with the decentralised gains, in the file's units.

        Its target is the pose plus `offset`, so that the arm comes to rest in the pose itself.
        """
        kp, kd = self.joints.T.tolist()
        return self._control("pd", self.about.q + self.offset, kp=kp, kd=kd)

    @property
    def full_control(self) -> document.Control:
        """The `control` block with the full matrix K; what holds the pose is fed forward, the same wherever the arm is."""
        noise = NOISE * np.abs(self.K).max()
        K = [[float(f"{k:.{DIGITS}g}") if abs(k) > noise else 0.0 for k in row] for row in self.K.tolist()]
        return self._control("state_feedback", np.array(self.about.q), K=K, feedforward="inverse_dynamics")

    def _control(self, law: str, place: Array, **gains: Any) -> document.Control:
        """A `control` block with a target [rad or m], in the file's units; limit, delay and encoders are the scenario's."""
        command, scenario = self.about.plant.command, self.scenario
        turns = [scenario.degrees and joint.kind.turns for joint in self.about.plant.arm.joints]
        target = np.where(turns, np.degrees(place), place)
        given = scenario.file.document.control
        limit = [*getattr(scenario.command, "limit", ())]
        return document.Control(
            law=law,
            output="torque" if command is None else command.output,
            **gains,
            target=[round(x, TARGET_DECIMALS) + 0.0 for x in target.tolist()],
            limit=limit if any(limit) else None,
            period=self.period,
            delay=float(f"{self.delay * self.period:.15g}") if self.delay and self.period else None,
            encoder=None if given is None or self._controller is None else given.encoder,
        )


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


def _best_late(pair: LinearSystem, cost: Cost, K: Array, delay: int) -> Array:
    """Gains of a joint alone, without those of commands on their way, that cost least where commands arrive late.

    Found from K, that of commands in time, made slower until it stabilises the joint; K itself where nothing does.

    Args:
        pair: The joint, sampled.
        cost: On its states.
        K: Shape (1, 2).
        delay: In samples.
    """
    if not delay:
        return K
    from scipy.optimize import minimize

    late = delayed(pair, delay), delayed_cost(cost, delay)

    def spent(factors: Array) -> float:
        found = cost_of(*late, np.hstack([K * factors, np.zeros((1, delay))]))
        return math.inf if found is None else float(found[0, 0])

    slower = (np.array([part * part, part]) for part in 0.5 ** np.arange(SLOWER))  # of the same damping ratio
    start = next((factors for factors in slower if math.isfinite(spent(factors))), None)
    if start is None:
        return K
    fine = {"xatol": 1e-7, "fatol": 1e-12 * spent(start)}
    return np.array(K * minimize(spent, start, method="Nelder-Mead", options=fine).x)
