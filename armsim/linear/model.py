"""The linear model of a scenario's arm and drives about a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armsim.actuation import motor as dc
from armsim.arm.arrays import number_array
from armsim.arm.overload import needs
from armsim.arrays import Array, ArrayLike
from armsim.compile import evaluated
from armsim.control import OpenLoop
from armsim.dynamics import two_mass_systems
from armsim.errors import UsageError
from armsim.expr import Scalar
from armsim.formulas.bounds import BOUNDS
from armsim.linear.feedback import closed_by
from armsim.linear.loop import JointLoop
from armsim.linear.lqr import Cost
from armsim.linear.regulator import Regulator
from armsim.linear.system import LinearSystem
from armsim.loading import Scenario
from armsim.model import Joint
from armsim.plant import Linearization
from armsim.plant import linearize as linearize_plant
from armsim.plant.statics import commands_for, drive_forces
from armsim.records import record

AT_REST = 1e-6  # rad/s and rad/s², or m/s and m/s²: largest velocity and acceleration of an equilibrium


@record
class CouplingModes:
    """The pair of frequencies of an elastic coupling.

    Attributes:
        joint: Name of the joint.
        antiresonance: A zero from the motor's torque to the rotor's motion: of the swing with the rotor held [Hz]; None for none.
        resonance: Of the swing against the rotor, a pair of poles [Hz]; None for none.
        ratio: Inertia ratio, of what moves with the joint by the rotor.
    """

    joint: str
    antiresonance: float | None
    resonance: float | None
    ratio: float


@dataclass(frozen=True, eq=False)
class LinearModel(LinearSystem):
    """An arm with its drives linearised about a state, open loop; x, u, y are deviations from there.

    Attributes:
        about: The operating point, with mass matrix, stiffness and damping.
        scenario: The scenario it is from.
        place: The operating point, in words.
    """

    about: Linearization
    scenario: Scenario
    place: str

    def __repr__(self) -> str:
        return f"LinearModel({self.scenario.name} at {self.place}: {self._sizes})"

    @property
    def held(self) -> list[str]:
        """Names of the joints that stick: they are taken as welded."""
        joints = self.about.plant.arm.mechanism.joints
        return [joint.name for joint, stuck in zip(joints, self.about.held, strict=True) if stuck]

    @property
    def mass_matrix(self) -> Array:
        """M with the armatures, shape (n, n) [kg m², kg m or kg]."""
        return np.array(self.about.M)

    @cached_property
    def couplings(self) -> list[CouplingModes]:
        """Antiresonance and resonance of every elastic coupling, both without damping and without feedback."""
        about, arm = self.about, self.about.plant.arm
        inertias = {of.joint: of.ratio for of in two_mass_systems(arm.at(about.t), about.q[: arm.n])}
        free = [i for i, held in enumerate(about.held) if not held]
        pairs = [(j, i, coupling.stiffness) for j, i, coupling in about.plant.loads.elastic]
        return [
            CouplingModes(
                arm.joint_names[j],
                self._swing([k for k in free if k != i], j, i, stiffness),
                self._swing(free, j, i, stiffness),
                inertias[arm.joint_names[j]],
            )
            for j, i, stiffness in pairs
        ]

    def _swing(self, moving: list[int], joint: int, rotor: int, stiffness: float) -> float | None:
        """Frequency of the undamped mode of some coordinates that has most of its energy in a coupling [Hz]; None for none."""
        M, K = (sign * np.array(x)[np.ix_(moving, moving)] for sign, x in ((1.0, self.about.M), (-1.0, self.about.Fq)))
        squares, modes = np.linalg.eig(np.linalg.solve(M, K))
        twist = sum(np.sign(at - joint - 0.5) * modes[moving.index(at)] for at in (joint, rotor) if at in moving)
        kinetic = squares.real * np.einsum("ik,ij,jk->k", modes.conj(), M, modes).real
        swings = squares.real > 0.0
        shares = np.where(swings, stiffness * np.abs(twist) ** 2 / np.where(swings, kinetic, 1.0), 0.0)
        k = int(shares.argmax()) if len(shares) else 0
        return float(np.sqrt(squares.real[k]) / (2 * np.pi)) if shares.any() else None

    @property
    def driven(self) -> bool:
        """Whether the scenario drives the arm; otherwise its inputs are torques from outside."""
        return self.about.plant.command is not None

    @property
    def output(self) -> str:
        """What its inputs are: "voltage", "current" or "torque"."""
        return self.inputs[0].partition("_")[0]

    @property
    def is_equilibrium(self) -> bool:
        """Whether the operating point is an equilibrium; otherwise the equations hold along its motion, for a short time."""
        return max(map(abs, [*self.about.qd, *self.about.qdd])) <= AT_REST

    @property
    def unstable_pose(self) -> bool:
        """Whether the pose is an unstable equilibrium under constant commands; never so with dry friction."""
        if any(self.about.plant.loads.dry):
            return False
        try:
            return any(mode.rate.real > 0 for mode in self.at_rest.modes())
        except UsageError:  # no command within its limits holds the pose
            return False

    @property
    def period(self) -> float | None:
        """Sampling period of the scenario's command [s]; None where it is continuous, or there is none."""
        command = self.about.plant.command
        return None if command is None else command.period

    def sampled(self, period: float | None = None) -> LinearSystem:
        """The system in discrete time, its inputs held between samples (zero-order hold).

        Args:
            period: Sampling period [s]; the scenario's own unless given.

        Raises:
            UsageError: There is no period, or it is not positive.
        """
        if period is None and self.period is None:
            raise UsageError.of(
                "period", "a time between samples", "a scenario with a continuous command", "give a period"
            )
        return super().sampled(self.period if period is None else period)  # type: ignore[arg-type]

    @cached_property
    def closed_loop(self) -> LinearSystem | None:
        """The closed loop under the scenario's feedback, what the controller remembers its last states; None without feedback.

        Its inputs are added to the command. Under sampled feedback it is a system in discrete time.
        """
        law = self.about.law
        if law is None:
            return None
        return closed_by(self if self.period is None else self.sampled(), law, self.about.remembered)

    @cached_property
    def loops(self) -> dict[str, JointLoop]:
        """The loop of every joint by its name, broken at its command, the other loops closed; none without feedback."""
        law, closed = self.about.law, self.closed_loop
        if law is None or closed is None:
            return {}
        stable = all(mode.rate.real <= 0.0 for mode in closed.modes())
        loops = zip(self.about.plant.arm.joint_names, closed.B.T, -np.hstack([law.K, law.Kz]), strict=True)
        return {name: JointLoop(closed.A + np.outer(B, C), B, C, closed.dt, stable) for name, B, C in loops}

    @cached_property
    def at_rest(self) -> LinearModel:
        """The model at rest in the same pose under the commands that hold it there, without dry friction.

        Where the scenario has no command, joint torques hold it.

        Raises:
            UsageError: No commands within their limits hold the pose.
        """

        def smooth(link: Joint) -> Joint:
            motor = None if link.motor is None else replace(link.motor, coulomb=None, efficiency=None)
            return replace(link, coulomb=None, motor=motor)

        plant = replace(self.about.plant, arm=self.about.plant.arm.map_links(smooth))
        t, q, command = self.about.t, self.about.q[: plant.arm.n], self.about.plant.command
        still = [0.0] * len(q)
        tau = drive_forces(plant, t, q, still, still)
        u = commands_for(plant, tau, still)
        output = "torque" if command is None else command.output
        plant = replace(plant, command=OpenLoop(output, tuple(map(constant, u)), self.period))
        x = plant.parts(plant.sample(t, plant.initial_state(q, still)))
        x.currents = [dc.current_under(motor, dc.supplied(motor, u[i]), 0.0) for i, motor in plant.inductive.items()]
        x.q = [*q, *plant.wound(q, tau)]
        model = linear_model(linearize_plant(plant, t, x.flat(), evaluated), self.scenario, f"{self.place}, at rest")
        if not model.is_equilibrium:
            left = np.abs(model.mass_matrix @ model.about.qdd).tolist()
            short = int(np.argmax(plant.arm.mechanism.of_drivers(left)))
            raise _not_held(plant.arm.joints[short], output, u[short])
        return model

    def lqr(self, q: ArrayLike, r: ArrayLike, qd: ArrayLike = 0.0, period: float | None = None) -> Regulator:
        """The linear-quadratic regulator: the state feedback u = -K x that minimises the integral of Σ q q² + Σ qd qd² + Σ r u².

        From `model.at_rest` it stabilises the pose; from a state in motion, it regulates deviations from that motion.

        Args:
            q: Weights of the joint positions [1/rad² or 1/m²], one for all or n.
            r: Weights of the commands [1/V², 1/(N·m)² or 1/N²], one for all or n.
            qd: Weights of the joint velocities [s²/rad² or s²/m²], one for all or n.
            period: Sampling period of the regulator [s]; the scenario's own unless given.

        Raises:
            UsageError: A weight is not positive (of velocities: negative), or not for n joints.
        """
        n = self.about.n
        if n > self.about.plant.arm.n:
            expected, mend = "an arm whose gears are rigid", "leave out `motor.coupling`"
            raise UsageError.of("lqr", expected, "elastic couplings", mend)
        weights = [_weights(name, x, n, name != "qd") for name, x in (("q", q), ("qd", qd), ("r", r))]
        states = np.zeros(len(self.A))
        states[:n], states[n : 2 * n] = weights[0], weights[1]
        cost = Cost.of(states, weights[2])
        period = self.period if period is None else period
        given = {name: np.array(x, dtype=float).tolist() for name, x in (("q", q), ("qd", qd), ("r", r))}
        return Regulator(self, self.about, self.scenario, cost, period, given)


def linear_model(about: Linearization, scenario: Scenario, place: str) -> LinearModel:
    """The linear model from a linearisation; `place` names the operating point in words."""
    n, k = about.n, len(about.currents)
    A, B, C, D = (np.array(x, dtype=float) for x in (about.A, about.B, about.C, about.D))
    free = np.array([*([not held for held in about.held] * 2), *[True] * k])
    weight = np.concatenate([np.sqrt(np.diag(about.M)), np.zeros(n + k)])
    names = tuple(about.states), tuple(about.inputs), tuple(about.outputs)
    return LinearModel(A, B, C, D, *names, None, free, weight, about, scenario, place)


def constant(value: float) -> Callable[[Scalar], Scalar]:
    """A constant signal."""
    return lambda t: value


def _not_held(joint: Joint, output: str, u: float) -> UsageError:
    """The error that a joint's command cannot hold it, with the limit of its motor that is exceeded."""
    tau, voltage, current = u, 0.0, 0.0
    motor = joint.electric_motor
    if motor is not None:
        tau = (
            u
            if output == "torque"
            else dc.torque(motor, u if output == "current" else dc.steady_current(motor, u, 0.0))
        )
        voltage, current = dc.demand(motor, tau, 0.0)
    unit = joint.kind.unit_of(output)
    found, mend = f"{joint.name}, for which it takes {abs(u):.4g} {unit}", "take another pose, or a lighter payload"
    need = next((need for need in needs(joint, 0.0, tau, voltage, current) if need.beyond), None)
    if need is not None:
        found += f": its motor would need {need.needed:.4g} {need.unit}, and may have {need.limit:.4g} {need.unit}"
        mend = f"take another pose, a lighter payload, or a motor whose `limits.{need.quantity}` is higher"
    return UsageError.of("at rest", "a pose that commands within their limits hold", found, mend)


def _weights(name: str, x: ArrayLike, n: int, positive: bool) -> Array:
    """Weights checked, shape (n,)."""
    values, largest = number_array(f"lqr {name}", x), BOUNDS[""].largest
    if values.shape not in ((), (n,)):
        raise UsageError.of(
            f"lqr {name}", f"one number, or {n}, one per joint", f"shape {values.shape}", f"write for example {name}=1"
        )
    least = BOUNDS[""].least if positive else 0.0
    if not ((values >= least) & (values <= largest)).all():
        beyond = f", {largest:g} at most" if np.isfinite(values).all() and (values > largest).any() else ""
        raise UsageError.of(
            f"lqr {name}",
            f"weights {'above 0' if positive else 'of 0 or more'}{beyond}",
            f"{values}",
            f"write for example {name}=1",
        )
    return np.broadcast_to(values, (n,)).copy()
