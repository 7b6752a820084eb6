"""The forward model: state and inputs in, next state out."""

from __future__ import annotations

import math
from array import array as doubles
from collections.abc import Callable, Mapping
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armsim.arm.arrays import evaluate, number_array
from armsim.arm.integration import check_dt, check_method, check_tolerance
from armsim.arm.robot import Robot
from armsim.compile import BatchKernel
from armsim.compile.single import SingleKernel
from armsim.errors import Diverged, ShapeError, UsageError
from armsim.expr import Function, trace
from armsim.integrate import METHODS
from armsim.integrate.method import FAILED
from armsim.loading import read_robot
from armsim.loading.voltage import voltage_refusal
from armsim.model import Arm
from armsim.plant import driven_plant
from armsim.plant.driven import Output
from armsim.recording.state_vector import StateVector
from armsim.simulation.engine import bounds

if TYPE_CHECKING:
    from armsim.compile.target import Target

Array = NDArray[np.float64]
OUTPUTS = ("voltage", "torque")
Room = tuple[memoryview, memoryview, Array, int, int]  # state, inputs, results, addresses of arguments and results


class ForwardModel:
    """An arm with its drives as a function from state and inputs to the state a step later, in machine code.

        model = ForwardModel("arm5", dt=1e-3)
        state = model.state(q, qd)
        for voltages in ...:
            state = model.step(state, voltages)

    The state is one flat vector; `slots` names its numbers, in this order:

    - q1 ... qn: joint positions [rad or m];
    - qd1 ... qdn: joint velocities [rad/s or m/s];
    - qdd1 ... qddn: joint accelerations [rad/s² or m/s²] at these positions and velocities under the inputs of the step
      that led there;
    - x, y, z: the tool in the world frame [m];
    - further states of the drives, each named by kind and joint number;
    - states of an adaptive method: step_length [s], step_error, steps_taken and steps_refused.

    It is complete: a step depends on state and inputs alone, not on time or earlier calls. Accelerations and tool are outputs,
    and a step ignores their slots unless the drive model has accelerations among its states. Single steps have the bits of
    `armsim.simulate` with the same robot, method and dt, its inputs sampled at every step.

    Args:
        robot: A robot file, the name of a shipped robot, a file's content as plain data, an `armsim.Robot` or its `Arm`.
        dt: Length of a step [s]; an adaptive method divides it as its tolerance requires.
        method: Integrator, one of `armsim.integrate.METHODS`.
        output: What the inputs are: "voltage" at every motor [V], or the "torque" that every drive gives its joint [N·m, N].
        target: The machine to compile for; the host unless given. The bits do not depend on it.
        rtol: Relative tolerance of an adaptive method; 1e-6 unless given.
        atol: Absolute tolerance, likewise; rtol / 1000 unless given.

    Attributes:
        arm: The arm, n joints.
        dt: Length of a step [s].
        method: Name of the integrator.
        output: What the inputs are.
        tolerance: Relative and absolute tolerance of an adaptive method.
        slots: Names of the numbers of the state.

    Raises:
        FileFaults: The robot cannot be used; says where and why.
        UsageError: dt, method, output or a tolerance is invalid; or inputs are voltages and a joint has no motor.
    """

    def __init__(
        self,
        robot: str | PathLike[str] | Mapping[str, Any] | Robot | Arm,
        dt: float,
        method: str = "semi_implicit_euler",
        output: Output = "voltage",
        target: Target | None = None,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        self.arm = robot if isinstance(robot, Arm) else robot.arm if isinstance(robot, Robot) else read_robot(robot)[0]
        self.dt = check_dt(dt)
        self.method = check_method(method)
        self.output = check_output(output, self.arm)
        self.tolerance = check_tolerance(self.method, rtol, atol)
        self._vector = StateVector(driven_plant(self.arm, self.method, self.output, self.tolerance))
        self.slots = self._vector.names
        self._target = target
        self._n, self._size = self.arm.n, len(self.slots)
        self._batches: dict[str, BatchKernel] = {}

    def __repr__(self) -> str:
        return f"ForwardModel({self.arm.name}, dt={self.dt!r}, method={self.method!r}, output={self.output!r})"

    @property
    def joints(self) -> list[str]:
        """Names of the joints, from base to tip."""
        return [joint.name for joint in self.arm.joints]

    def state(self, q: ArrayLike | None = None, qd: ArrayLike | None = None, inputs: ArrayLike | None = None) -> Array:
        """The state at joint positions and velocities, shape (len(slots),); or (m, len(slots)) if one argument has m rows.

        Args:
            q: Joint positions [rad or m], shape (n,) or (m, n); the robot's initial pose if not given.
            qd: Joint velocities [rad/s or m/s], likewise; zero if not given.
            inputs: Inputs that the accelerations of the state are due to, likewise; zero if not given.

        Raises:
            UsageError: An argument is no array of numbers.
            ShapeError: An array has another shape; says both.
        """
        n = self._n
        given = {"q": self.arm.initial if q is None else q, "qd": qd, "inputs": inputs}
        arrays = {key: np.zeros(n) if x is None else number_array(key, x) for key, x in given.items()}
        for key, array in arrays.items():
            if array.ndim not in (1, 2) or array.shape[-1] != n:
                raise ShapeError(f"{key}: expected shape ({n},) or (m, {n}), found {array.shape}")
        rows = {len(array) for array in arrays.values() if array.ndim == 2}
        if len(rows) > 1:
            shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
            raise ShapeError(f"state: expected as many rows in each array, found {shapes}")
        states = evaluate(self._batch("begin"), list(arrays.values()))
        return states if rows else states[0]

    def step(self, state: ArrayLike, inputs: ArrayLike) -> Array:
        """The state one step later, the inputs held during the step.

        Args:
            state: Shape (len(slots),), or (m, len(slots)) for m arms at once.
            inputs: Voltages [V] or torques [N·m or N], shape (n,), or (m, n).

        Returns:
            A new array, of the shape of `state`; of m arms, NaN for one that diverged.

        Raises:
            UsageError: An argument is no array of numbers.
            ShapeError: An array has another shape; says both.
            Diverged: A single arm left its bounds, or its state or an input is NaN.
        """
        if type(inputs) is list:  # quicker than by numpy
            try:
                inputs = doubles("d", inputs)
            except TypeError:  # several rows, or no numbers
                return self._step_other(state, inputs)
        return self._once(state, inputs)

    @cached_property
    def _once(self) -> Callable[[ArrayLike, ArrayLike], Array]:
        """The compiled single step, with a pool of buffers for arguments and results, one for each concurrent thread.

        A closure, as attribute lookups show in a step of some microseconds. Its memory views accept doubles of the right shape
        only; `_step_other` takes the rest.
        """
        vector, size = self._vector, self._size
        limits = dict(zip(vector.plant.slots, bounds(vector.plant), strict=True))
        found = [math.inf if slot.source is None else limits[vector.plant.slots[slot.source]] for slot in vector.slots]
        magnitudes = [None if limit == math.inf else limit for limit in found]
        call = SingleKernel(self._trace("step"), magnitudes, self._target).call
        rooms: list[Room] = []

        def room() -> Room:
            arguments, results = np.zeros(size + self._n), np.zeros(size)
            addresses = arguments.ctypes.data, results.ctypes.data
            return memoryview(arguments[:size]), memoryview(arguments[size:]), results, *addresses  # type: ignore[arg-type]

        def once(state: ArrayLike, inputs: ArrayLike) -> Array:
            try:
                own = rooms.pop()
            except IndexError:
                own = room()
            state_in, inputs_in, results, arguments_at, results_at = own
            try:
                state_in[:] = state  # type: ignore[assignment]
                inputs_in[:] = inputs  # type: ignore[assignment]
            except (TypeError, ValueError):
                rooms.append(own)
                return self._step_other(state, inputs)
            bad = call(arguments_at, results_at)
            after: Array = results.copy()
            rooms.append(own)
            if bad >= 0:
                raise self._divergence(bad, after[bad])
            return after

        return once

    def _step_other(self, state: ArrayLike, inputs: ArrayLike) -> Array:
        """A step from arguments that are not buffers of doubles, or have several rows."""
        states, all_inputs = number_array("state", state), number_array("inputs", inputs)
        if states.shape == (self._size,) and all_inputs.shape == (self._n,):
            return self._once(states, all_inputs)
        return self._step_batch(states, all_inputs)

    def _step_batch(self, states: Array, inputs: Array) -> Array:
        size, n = self._size, self._n
        if states.ndim != 2 or inputs.ndim != 2 or states.shape[1] != size or inputs.shape != (len(states), n):
            raise ShapeError(
                f"step: expected state ({size},) with inputs ({n},), or state (m, {size}) with inputs (m, {n}), "
                f"found state {states.shape} with inputs {inputs.shape}"
            )
        after = evaluate(self._batch("step"), [states, inputs])
        own = [i for i, _ in self._vector.carried]
        limits = bounds(self._vector.plant)
        sound = np.abs(after[:, own]) <= [limits[source] for _, source in self._vector.carried]
        after[~sound.all(axis=1)] = math.nan
        return after

    def _batch(self, name: str) -> BatchKernel:
        """The kernel of `_trace` on arrays, compiled once."""
        kernel = self._batches.get(name)
        if kernel is None:
            kernel = self._batches[name] = BatchKernel(
                self._trace(name), self._target, widths=[self._size, self._n] if name == "step" else [self._n] * 3
            )
        return kernel

    def _trace(self, name: str) -> Function:
        """The plant's "step", or "begin" (its initial state), as a function of vectors."""
        vector, plant, n, size = self._vector, self._vector.plant, self._n, self._size

        def step(*x):
            after = plant.step(0.0, vector.state(x[:size], x[size:]), self.dt)
            return vector.vector(0.0, after)

        def begin(*x):
            state = plant.initial_state(list(x[:n]), list(x[n : 2 * n]))
            return vector.vector(0.0, vector.with_inputs(state, x[2 * n :]))

        if name == "step":
            return trace(step, [*self.slots, *(f"u{i + 1}" for i in range(n))], "step")
        return trace(begin, [f"{kind}{i + 1}" for kind in ("q", "qd", "u") for i in range(n)], "begin")

    def _divergence(self, bad: int, value: float) -> Diverged:
        slot = self._vector.slots[bad]
        where = "" if slot.joint is None else f" (joint {self.joints[slot.joint]})"
        found = f"{slot.name} = {value:.6g}{where}"
        mend = f"take a smaller step than dt = {self.dt:g} s with {self.method}, or check the inputs"
        if METHODS[self.method].adaptive is not None:
            mend = "check the inputs"
            if value == FAILED:
                found = f"no step of {self.method} that is short enough for the tolerance"
                mend = "check the inputs, or take a greater rtol"
        return Diverged.of("step: the state diverged", "a state within all bounds", found, mend)


def check_output(output: Output, arm: Arm) -> Output:
    """The kind of inputs, checked.

    Raises:
        UsageError: It is neither voltage nor torque, or voltage and a joint has no motor.
    """
    if output not in OUTPUTS:
        raise UsageError.of("output", "voltage or torque", repr(output), "write output='voltage' or output='torque'")
    refusal = voltage_refusal(arm) if output == "voltage" else None
    if refusal is not None:
        raise UsageError.of(
            "output",
            refusal.expected,
            refusal.found,
            f"{refusal.mend} in the robot file, or write output='torque'",
        )
    return output
