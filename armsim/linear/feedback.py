"""Linear systems under feedback, and with commands that arrive late."""

from __future__ import annotations

import numpy as np

from armsim.arrays import Array
from armsim.linear.lqr import Cost
from armsim.linear.system import LinearSystem
from armsim.plant import LinearFeedback
from armsim.stability.closed_loop import gains, with_feedback


def closed_by(plant: LinearSystem, law: LinearFeedback, remembered: list[str]) -> LinearSystem:
    """The closed loop of a plant under a linear feedback, whose memory is its last states; its inputs are added to the command.

    Args:
        plant: In discrete time, if the law acts on samples.
        law: The feedback.
        remembered: Names of what it remembers.
    """
    z, (n, m) = len(law.Z), plant.B.shape
    return _with_memory(
        plant, with_feedback(plant.A, plant.B, gains(law, m, n)), np.vstack([plant.B, np.zeros((z, m))]), remembered
    )


def _with_memory(plant: LinearSystem, A: Array, B: Array, names: list[str]) -> LinearSystem:
    """A plant with further states of these names, which its outputs do not show."""
    more = len(names)
    return LinearSystem(
        A,
        B,
        np.hstack([plant.C, np.zeros((len(plant.C), more))]),
        plant.D,
        (*plant.states, *names),
        plant.inputs,
        plant.outputs,
        plant.dt,
        np.concatenate([plant.free, np.full(more, True)]),
        np.concatenate([plant.weight, np.zeros(more)]),
    )


def delayed(plant: LinearSystem, delay: int) -> LinearSystem:
    """A sampled plant whose inputs arrive some samples late: those on their way are its last states, the next ones first."""
    n, m = plant.B.shape
    late = m * delay
    if not delay:
        return plant
    A, B = np.zeros((n + late, n + late)), np.zeros((n + late, m))
    A[:n, :n], A[:n, n : n + m] = plant.A, plant.B
    A[n : n + late - m, n + m :] = np.eye(late - m)
    B[n + late - m :] = np.eye(m)
    joints = [name.partition("_")[2] for name in plant.inputs]
    return _with_memory(plant, A, B, [f"queued_{joint}_{k}" for k in range(delay) for joint in joints])


def delayed_cost(cost: Cost, delay: int) -> Cost:
    """The same cost of the states of `delayed`: an input costs when it arrives."""
    if not delay:
        return cost
    n, m = cost.N.shape
    size = n + m * delay
    Q = np.zeros((size, size))
    Q[: n + m, : n + m] = np.block([[cost.Q, cost.N], [cost.N.T, cost.R]])
    return Cost(Q, np.zeros((m, m)), np.zeros((size, m)))


def predictive_gains(plant: LinearSystem, K: Array, delay: int) -> Array:
    """The gains of `delayed` that are those of u = -K x on the state in which the plant will be when u arrives.

    What it costs until then is decided, so they are optimal where K is: they solve the Riccati equation of the delayed plant.

    Args:
        plant: In discrete time.
        K: Shape (inputs, states).
        delay: In samples.

    Returns:
        Shape (inputs, states + inputs * delay); zero columns for states that cannot change.
    """
    columns, ahead = [], K
    for _ in range(delay):
        columns.append(ahead @ plant.B)
        ahead = ahead @ plant.A
    ahead = np.where(plant.free, ahead, 0.0)
    return np.hstack([ahead, *reversed(columns)])
