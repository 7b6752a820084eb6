"""The linear-quadratic problem by its Riccati equation, in continuous and in discrete time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armsim.arrays import Array
from armsim.errors import UsageError
from armsim.linear.system import LinearSystem
from armsim.notebook import counted


@dataclass(frozen=True, eq=False)
class Cost:
    """The integrand x' Q x + 2 x' N u + u' R u of a quadratic cost; the summand in discrete time.

    Attributes:
        Q: Shape (states, states).
        R: Shape (inputs, inputs).
        N: Shape (states, inputs).
    """

    Q: Array
    R: Array
    N: Array

    def __repr__(self) -> str:
        return f"Cost({counted(len(self.Q), 'state')}, {counted(len(self.R), 'input')})"

    @staticmethod
    def of(states: Array, inputs: Array) -> Cost:
        """A diagonal cost, from the weights of the states and of the inputs."""
        return Cost(np.diag(states), np.diag(inputs), np.zeros((len(states), len(inputs))))

    def sampled(self, system: LinearSystem, period: float) -> Cost:
        """The equivalent discrete cost of a continuous system whose inputs are held between samples (zero-order hold).

        By its Taylor series over a short time, then by doubling: W(2h) = W(h) + Φ(h)' W(h) Φ(h), Φ the transition matrix.
        (Van Loan's single exponential, 1978, overflows for stiff systems.)

        Args:
            system: In continuous time.
            period: Sampling period [s].
        """
        n, m = system.B.shape
        flow = np.zeros((n + m, n + m))
        flow[:n, :n], flow[:n, n:] = system.A, system.B
        halvings = max(0, int(np.ceil(np.log2(max(float(np.linalg.norm(flow, 1)) * period, 1e-300)))) + 4)
        h = period / 2**halvings
        weight = np.block([[self.Q, self.N], [self.N.T, self.R]])
        term, total = h * weight, h * weight
        step, power = np.eye(n + m), np.eye(n + m)
        for k in range(1, 12):  # h |flow| is at most 1/16
            power = power @ flow * (h / k)
            step = step + power
            term = (flow.T @ term + term @ flow) * (h / (k + 1))
            total = total + term
        for _ in range(halvings):
            total, step = total + step.T @ total @ step, step @ step
        return Cost(total[:n, :n], total[n:, n:], total[:n, n:])


def gains_of(system: LinearSystem, cost: Cost) -> Array:
    """The optimal gains K of u = -K x, shape (inputs, states); zero columns for states that cannot change.

    From the stabilising solution of the algebraic Riccati equation, discrete for a sampled system.

    Args:
        system: The plant.
        cost: On all of its states.

    Raises:
        UsageError: There are none: nothing is free to move, the plant is not stabilisable, a mode that does not decay is not in
            the cost, or the equation is beyond doubles.
    """
    from scipy.linalg import solve_continuous_are, solve_discrete_are

    A, B = system.moving
    free = system.free
    Q, N = cost.Q[np.ix_(free, free)], cost.N[free]
    if not len(A):
        raise UsageError.of(
            "lqr",
            "a joint that is free to move",
            "none: dry friction holds them all",
            "linearise about a motion, `initial.qd`, or without dry friction",
        )
    lost = [mode for mode in system.uncontrollable() if mode.rate.real >= 0]
    if lost:
        raise UsageError.of(
            "lqr",
            "inputs that reach every mode that does not decay by itself",
            f"one out of their reach that {lost[0].words}",
            "free what keeps its command from acting: a limit of voltage, current or torque",
        )
    try:
        if system.dt is None:
            P = solve_continuous_are(A, B, Q, cost.R, s=N)
            gains = np.linalg.solve(cost.R, B.T @ P + N.T)
        else:
            P = solve_discrete_are(A, B, Q, cost.R, s=N)
            gains = np.linalg.solve(cost.R + B.T @ P @ B, B.T @ P @ A + N.T)
    except np.linalg.LinAlgError:
        raise UsageError.of(
            "lqr",
            "weights for which there are gains",
            "a motion that never ends and costs nothing",
            "give every joint a weight q above 0",
        ) from None
    except ValueError:  # of scipy: the pencil could not be reordered
        raise UsageError.of(
            "lqr",
            "equations that doubles can solve",
            "coefficients that are too far apart",
            "linearise about a slower motion, or check the numbers of the arm (`armsim check`)",
        ) from None
    K = np.zeros((B.shape[1], len(free)))
    K[:, free] = gains
    return K


def cost_of(system: LinearSystem, cost: Cost, K: Array) -> Array | None:
    """The matrix P of the cost x' P x from a state x under u = -K x, by a Lyapunov equation; None if the loop is not stable."""
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    free = system.free
    A, B = system.moving
    gains = K[:, free]
    closed = A - B @ gains
    values = np.linalg.eigvals(closed)
    if (np.abs(values).max() >= 1) if system.dt is not None else (values.real.max() >= 0):
        return None
    N = cost.N[free] @ gains
    spent = cost.Q[np.ix_(free, free)] - N - N.T + gains.T @ cost.R @ gains
    P = solve_continuous_lyapunov(closed.T, -spent) if system.dt is None else solve_discrete_lyapunov(closed.T, spent)
    whole = np.zeros((len(free), len(free)))
    whole[np.ix_(free, free)] = P
    return whole
