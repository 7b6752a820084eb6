"""The operating points at which a scenario is linearised, and the stability of a step there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from armsim.actuation import any_sticks, limit_torque
from armsim.actuation.motor import back_emf_damping
from armsim.control import Controller
from armsim.expr import Scalar, either, where
from armsim.formulas.formula import FormulaError
from armsim.loading import Scenario
from armsim.model import Arm
from armsim.plant import Linearization, Linearizer, Plant, with_stop
from armsim.plant.statics import steady_state
from armsim.stability.growth import DestabilisedMode, Modes
from armsim.stability.hanging import hanging
from armsim.stability.largest_step import largest_step
from armsim.stability.step_modes import LinearPlant

# least real eigenvalue of an implicit step with which an engaged stop settles, below which it chatters; found by trial
BOUNCE = {"velocity_implicit": -0.25, "implicit_midpoint": -0.5}
GROWN = 1.0  # ln of the growth over a run, above which feedback is told of that does not stabilise its target
NOTICED = 0.01  # ln of the growth over a run, below which it is negligible
START, TARGET, REST, STOP = "at the start", "at the target", "where it hangs", "at a stop"
SUPPLY = "at the supply's voltage"


class JointBranch(NamedTuple):
    """A branch of a joint's loads that a run may enter, with the stiffness and damping it adds.

    Attributes:
        joint: Index of the joint.
        where: `STOP`, engaged; or `SUPPLY`: the motor at its voltage limit, where it no longer gives the commanded torque and
            back-EMF damps it.
    """

    joint: int
    where: str

    def stiffness(self, arm: Arm) -> tuple[Scalar, Scalar]:
        """Stiffness [N·m/rad] and damping [N·m·s/rad], or per m."""
        joint = arm.joints[self.joint]
        if self.where == SUPPLY:
            assert joint.motor is not None
            return 0.0, back_emf_damping(joint.motor)
        assert joint.limit is not None
        assert joint.limit.stiffness is not None
        return joint.limit.stiffness, joint.limit.damping


def branches(plant: Plant) -> tuple[JointBranch, ...]:
    """The branches of a plant: its stops, and the motors with a supply that limits a commanded torque."""
    joints, command = plant.arm.joints, plant.command
    limits = [joint.limit for joint in joints]
    stops = [JointBranch(i, STOP) for i, x in enumerate(limits) if x is not None and x.stiffness is not None]
    if command is None or command.output != "torque":
        return tuple(stops)
    motors = [joint.electric_motor for joint in joints]
    supplies = [JointBranch(i, SUPPLY) for i, x in enumerate(motors) if x is not None and x.limits.voltage is not None]
    return (*stops, *supplies)


def entered(about: Linearization, branch: JointBranch) -> Linearization:
    """The linearisation with a joint on another branch."""
    i = branch.joint
    stiffness, damping = branch.stiffness(about.plant.arm)
    if branch.where == STOP:
        return with_stop(about, i, stiffness, damping)
    # the command's own slope is 1, or 0 if the supply limits it already, with the damping in Fv
    found = with_stop(about, i, stiffness, damping * about.Fu[i][i])
    return replace(found, Fu=[[0.0 if j == i else x for j, x in enumerate(row)] for row in about.Fu])


class OperatingPoint:
    """A state about which the plant is linearised.

    Args:
        plant: The linearised plant.
        where: In words.
        period: Sampling period of its feedback [s]; None if that is continuous, or there is none.
        duration: Of the run [s].
        joint: The joint that is on another branch there, see `JointBranch`; None for none.
    """

    def __init__(
        self, plant: LinearPlant, where: str, period: float | None, duration: float, joint: str | None = None
    ) -> None:
        self.plant, self.where, self.duration, self.joint = plant, where, duration, joint
        self.period = period if plant.sampled else None

    def destabilised(self, method: str, dt: float) -> list[DestabilisedMode]:
        """The modes that the step destabilises by so much that it shows in the run, the fastest growing first."""
        found = self.plant.destabilised(method, dt)
        return [mode for mode in found if mode.growth * self.duration > NOTICED]

    def destabilised_loop(self, method: str, dt: float) -> list[DestabilisedMode]:
        """The same for the sampled closed loop; empty if the feedback is not sampled."""
        if self.period is None:
            return []
        found = self.plant.destabilised_loop(method, dt, self.period)
        return [mode for mode in found if mode.growth * self.duration > NOTICED]

    def holds(self, method: str, dt: float) -> bool:
        """Whether the step destabilises nothing but undamped oscillations, however short the run, nor makes the stop chatter."""
        return all(mode.is_undamped_oscillation for mode in self.plant.destabilised(method, dt)) and not self._bounces(
            method, dt
        )

    def longest(self, method: str) -> float:
        """The largest stable step of a fixed-step method [s]: infinity without a limit, 0 if none is short enough."""
        plant = self.plant
        return largest_step(lambda h: plant.is_stable(method, h) and not self._bounces(method, h), plant.fastest)

    def _bounces(self, method: str, dt: float) -> bool:
        """Whether an implicit step reverses the motion into a stop so strongly that contact is lost and made again, for ever."""
        if self.where != STOP or method not in BOUNCE:
            return False
        return bool(self.plant.least_real_eigenvalue(method, dt) < BOUNCE[method])

    def takes(self, method: str, dt: float) -> bool:
        """Whether a fixed-step method is stable at this step, undamped oscillations left aside."""
        return all(
            x.is_undamped_oscillation for x in [*self.destabilised(method, dt), *self.destabilised_loop(method, dt)]
        )

    @property
    def settling_time(self) -> float:
        """Settling time of the closed loop to 5 % [s], by its slowest stable mode; 0 if there is none."""
        rates = self.plant.modes if self.period is None else self.plant.continuous_rates
        decaying = -rates.real[rates.real < -NOTICED / self.duration]
        return 3.0 / float(decaying.min()) if len(decaying) else 0.0

    def unstable_feedback(self) -> tuple[float, int] | None:
        """Growth rate [1/s] and joint of a motion that feedback leaves unstable, if it grows e-fold in the run; else None."""
        rate, joint = self.plant.fastest_growing()
        if self.period is not None and not self._grows(self.plant.loop_rates(self.period)):
            return None  # the loop as it is sampled is the one that runs
        return (rate, joint) if rate * self.duration > GROWN else None

    def _grows(self, rates: Modes) -> bool:
        """Whether a loop with these eigenvalues is unstable [1/s]."""
        return float(rates.real.max(initial=0.0)) * self.duration > NOTICED

    def longest_period(self) -> float | None:
        """The longest stable sampling period [s], 0 if there is none; None where sampling destabilises nothing."""
        if self.period is None:
            return None

        def harms(period: float) -> bool:
            return self._grows(self.plant.loop_rates(period))

        if self._grows(self.plant.continuous_rates) or not harms(self.period):
            return None
        low, high = self.period / 2, self.period
        while harms(low):
            low, high = low / 2, low
            if low < 1e-6 * self.period:
                return 0.0
        while high - low > 1e-3 * low:
            middle = (low + high) / 2
            low, high = (low, middle) if harms(middle) else (middle, high)
        return low


def operating_points(scenario: Scenario, plant: Plant) -> list[OperatingPoint]:
    """A scenario's operating points: the start, the target, the stable equilibrium of an undriven arm, and every branch.

    A stop is a point of its own, also where the target lies behind it: chatter is bounded, and no reason to refuse a step.
    Empty where the equations of motion have no finite value.
    """
    linearizer, command = Linearizer(plant), plant.command
    duration = scenario.clock.steps * scenario.dt
    period = None if command is None else command.period

    try:
        start = away_from_stops(linearizer, scenario.initial_q, scenario.initial_qd)
        seen: list[tuple[Linearization, str, str | None]] = [(start, START, None)]
        if isinstance(command, Controller) and command.aim(duration) != tuple(scenario.initial_q):
            seen.append((away_from_stops(linearizer, *aimed_at(plant, command, duration)), TARGET, None))
        for branch in branches(plant):
            seen.append((entered(start, branch), branch.where, plant.arm.joints[branch.joint].name))
        if command is None and not any_sticks(plant.arm):
            rest = hanging(linearizer, list(scenario.initial_q))
            if rest is not None:
                seen.append((rest, REST, None))
        found = [OperatingPoint(LinearPlant(near), where, period, duration, joint) for near, where, joint in seen]
    except (ArithmeticError, FormulaError, np.linalg.LinAlgError):
        return []
    return found if all(np.isfinite(point.plant.matrix).all() for point in found) else []


def aimed_at(plant: Plant, command: Controller, duration: float) -> tuple[list[Scalar], list[Scalar], float]:
    """Positions, velocities and time of the end of a controller's reference in a run; a target is there from the start on."""
    desired = command.reference.at(duration)
    return desired.q, desired.qd, duration if plant.follows else 0.0


def away_from_stops(
    linearizer: Linearizer, q: Sequence[Scalar], qd: Sequence[Scalar], t: Scalar = 0.0
) -> Linearization:
    """The linearisation at joint positions q, velocities qd and a time [s], in a steady state, without stops in contact."""
    plant = linearizer.plant
    found = linearizer.at(t, steady_state(plant, t, q, qd))
    for i, joint in enumerate(plant.arm.joints):
        limit = joint.limit
        if limit is not None and limit.stiffness is not None:
            tau = limit_torque(limit, q[i], qd[i])
            pushes = either(tau > 0.0, tau < 0.0)
            found = with_stop(found, i, -where(pushes, limit.stiffness, 0.0), -where(pushes, limit.damping, 0.0))
    return found
