"""The forward model: state and inputs in, next state out."""

from __future__ import annotations

import math
from array import array as doubles
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from armsim.actuation import OUTPUTS
from armsim.arm.arrays import LEAST, evaluate, number_array, row_array, row_count
from armsim.arm.integration import check_creep, check_dt, check_method, check_tolerance
from armsim.arm.robot import Robot, arm_of
from armsim.arrays import Array, ArrayLike
from armsim.compile import BatchKernel
from armsim.compile.single import SingleKernel
from armsim.compile.threads import check_threads
from armsim.errors import Diverged, ShapeError, UsageError
from armsim.expr import Expr, Function
from armsim.integrate import METHODS
from armsim.integrate.method import no_step, stall_of
from armsim.loading import Given
from armsim.loading.open_robot import OpenRobot
from armsim.loading.voltage import check_motors
from armsim.model import Arm
from armsim.plant.driven import Output
from armsim.recording.applied import applied_wrenches
from armsim.recording.open_values import OpenValues
from armsim.recording.rollout import MeasuredRollout
from armsim.recording.single_step import StepKernel, open_step, plain_step
from armsim.recording.state_vector import StateVector
from armsim.recording.step_functions import StepFunctions
from armsim.simulation.loop_plan import bounds

if TYPE_CHECKING:
    from armsim.compile.target import Target

LEAST_DIFFERENTIATED = 1024  # rows of derivatives worth a thread


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
    - states of an adaptive method: step_length [s], step_error, steps_taken and steps_refused;
    - on request current1 ... currentn: currents of the electric motors [A], due as the accelerations are; those that are states
      of the drives stay there.

    It is complete: a step depends on its arguments alone, not on time or earlier calls. Accelerations, tool and currents are
    outputs, and a step ignores their slots unless the drive model has them among its states. Single steps have the bits of
    `armsim.simulate` with the same robot, method and dt, its inputs sampled at every step.

    Numbers of the robot file that are left open are given to every step, and the step has the bits of a model of a file with
    these numbers:

        model = ForwardModel("arm5", dt=1e-3, open=["joints[R2].motor.Kp", "payload.mass"], external=[{"link": "R5"}])
        state = model.step(state, voltages, values=[11.5, 0.2], wrench=[[0, 0, 0, 0, 0, -5]])

    Args:
        robot: A robot file, the name of a shipped robot, a file's content as plain data, an `armsim.Robot` or its `Arm`.
        dt: Length of a step [s]; an adaptive method divides it as its tolerance requires.
        method: Integrator, one of `armsim.integrate.METHODS`.
        output: What the inputs are: "voltage" [V] or "current" [A] of every motor, or "torque" of every drive [N·m, N].
        target: The machine to compile for; the host unless given. The bits do not depend on it.
        rtol: Relative tolerance of an adaptive method; 1e-6 unless given.
        atol: Absolute tolerance, likewise; rtol / 1000 unless given.
        open: Paths of numbers of the robot file that are left open, as `--set` names them without the prefix `robot.`:
            "joints[R2].motor.Kp", "gravity" for all of a list, "joints[*].motor.Kp". They stand for p numbers, in this order. The
            robot is then a file, a name or plain data.
        external: Where k wrenches act, as in a scenario's `external` without force, moment and times: mappings
            {link: R5, point: [0, 0, 0], axes: world or local}.
        currents: Whether the currents of the electric motors are among the outputs.
        outputs: Whether accelerations and the tool are. Without them steps take less time.
        creep: Smooths dry friction in derivatives: a velocity well below which it counts as viscous [rad/s or m/s].
        threads: How many share the rows of many states; as many as there are processors unless given.

    Attributes:
        arm: The arm, n joints; with the numbers of the file where they are left open.
        dt: Length of a step [s].
        method: Name of the integrator.
        output: What the inputs are.
        tolerance: Relative and absolute tolerance of an adaptive method.
        slots: Names of the numbers of the state.
        open: Paths of the p open numbers.

    Raises:
        FileFaults: The robot or an item of `external` cannot be used; says where and why.
        UsageError: dt, method, output, a tolerance or a path is invalid; or a joint has no motor for the inputs.
    """

    def __init__(
        self,
        robot: Given | Robot | Arm,
        dt: float,
        method: str = "semi_implicit_euler",
        output: Output = "voltage",
        target: Target | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        open: Sequence[str] = (),
        external: Sequence[Mapping[str, Any]] = (),
        currents: bool = False,
        outputs: bool = True,
        creep: float | None = None,
        threads: int | None = None,
    ) -> None:
        self._numbers = OpenValues(OpenRobot(_source_of(robot), open), target) if open else None
        self.open = () if self._numbers is None else self._numbers.robot.paths
        self.arm = arm_of(robot) if self._numbers is None else self._numbers.robot.arm
        if self.arm.timed:
            mend = "give it `arm.at(t)`, which carries what the arm carries at t"
            raise UsageError.of("ForwardModel", "an arm without times: a step knows none", "payloads with times", mend)
        self.dt = check_dt(dt)
        self.method = check_method(method)
        self.output = _check_output(output, self.arm if self._numbers is None else self._numbers.robot.structure)
        self.tolerance = check_tolerance(self.method, rtol, atol)
        check_threads(threads)
        self._threads = threads
        self._functions = StepFunctions(
            self.arm,
            None if self._numbers is None else self._numbers.robot,
            self.dt,
            self.method,
            self.output,
            self.tolerance,
            applied_wrenches(self.arm, external),
            currents,
            outputs,
            check_creep(creep),
        )
        self._target = target
        self.slots = self._functions.vector.names
        self._n, self._size = self.arm.n, len(self.slots)
        self._batches: dict[str, BatchKernel] = {}
        self._singles: dict[str, Callable[..., Array]] = {}
        self._rollouts: dict[str | tuple[str, ...], MeasuredRollout] = {}

    def __getstate__(self) -> object:
        """Without what is compiled or traced: kernels are fetched again."""
        kept = {key: x for key, x in vars(self).items() if key != "_once"}
        return {**kept, "_batches": {}, "_singles": {}, "_rollouts": {}}

    def __repr__(self) -> str:
        return f"ForwardModel({self.arm.name}, dt={self.dt!r}, method={self.method!r}, output={self.output!r})"

    @property
    def joints(self) -> list[str]:
        """Names of the joints, from base to tip."""
        return [joint.name for joint in self.arm.joints]

    @property
    def headings(self) -> list[str]:
        """The heading of every number of the state in a file, with its unit."""
        return self._vector.headings()

    @property
    def state_headings(self) -> list[str]:
        """The heading of every number of the state that a step depends on: what `derivatives` are taken by, and of."""
        headings = self.headings
        return [headings[i] for i, _ in self._vector.carried]

    @property
    def input_headings(self) -> list[str]:
        """The heading of every input, with its unit."""
        return self._vector.input_headings()

    def state(
        self,
        q: ArrayLike | None = None,
        qd: ArrayLike | None = None,
        inputs: ArrayLike | None = None,
        values: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
    ) -> Array:
        """The state at joint positions and velocities, shape (len(slots),); or (m, len(slots)) if one argument has m rows.

        NaN where an argument is NaN or infinite, of m states for its row alone.

        Args:
            q: Joint positions [rad or m], shape (n,) or (m, n); the robot's initial pose if not given.
            qd: Joint velocities [rad/s or m/s], likewise; zero if not given.
            inputs: Inputs that the accelerations of the state are due to, likewise; zero if not given.
            values: Of the open numbers, as `step` takes them.
            wrench: Wrenches that the accelerations are due to, as `step` takes them.

        Raises:
            FileFaults: Values would be refused in the file.
            UsageError: An argument is no array of numbers, or a value means that something is absent.
            ShapeError: An array has another shape; says both.
        """
        n = self._n
        if q is None and any(isinstance(x, Expr) for x in self._functions.structure.initial):
            expected = "joint positions, as the initial ones are left open"
            raise UsageError.of("q", expected, "none", "give the positions of the joints")
        given = {"q": self.arm.initial if q is None else q, "qd": qd, "inputs": inputs}
        arrays = {key: np.zeros(n) if x is None else row_array(key, x, n) for key, x in given.items()}
        arrays |= self._open_arguments(values, wrench)
        rows = row_count("state", arrays)
        states = evaluate(self._batch("begin"), list(arrays.values()), self._threads)
        return states if rows is not None else states[0]

    def step(
        self,
        state: ArrayLike,
        inputs: ArrayLike,
        values: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
    ) -> Array:
        """The state one step later, the inputs held during the step.

        Args:
            state: Shape (len(slots),), or (m, len(slots)) for m arms at once.
            inputs: Voltages [V] or torques [N·m or N], shape (n,), or (m, n).
            values: Of the p open numbers, in the units of the file, shape (p,), or (m, p); those of the file unless given.
            wrench: Moments [N·m] and forces [N] at the k places of `external`, held during the step, shape (k, 6), or (m, k, 6),
                the moment first; zero unless given.

        Returns:
            A new array, of the shape of `state`; of m arms, NaN for one that diverged, or has a NaN or infinite number in its
            state, inputs, values or wrench. What the step ignores of a state does not count.

        Raises:
            FileFaults: Values would be refused in the file.
            UsageError: An argument is no array of numbers, or a value means that something is absent (friction of 0, a lossless
                gear), which is structure.
            ShapeError: An array has another shape; says both.
            Diverged: A single arm left its bounds, or its state, an input or a wrench is NaN or infinite.
        """
        try:  # lists are quicker so than by numpy
            if type(inputs) is list:
                inputs = doubles("d", inputs)
            if values is None and wrench is None:
                return self._once(state, inputs)
            if type(values) is list:
                values = doubles("d", values)
        except (TypeError, OverflowError):  # several rows, or no numbers
            return self._other("step", state, inputs, values, wrench)
        one = self._functions.more and getattr(state, "ndim", 1) == 1  # a batch asks for no code of single steps
        return self._once(state, inputs, values, wrench) if one else self._other("step", state, inputs, values, wrench)

    @cached_property
    def _once(self) -> Callable[..., Array]:
        """The compiled single step."""
        return self._single("step")

    def _single(self, name: str) -> Callable[..., Array]:
        """A function of `traced` that begins with the state after a step, compiled once for one arm."""
        found = self._singles.get(name)
        if found is not None:
            return found
        vector, size, traced = self._vector, self._size, self.traced(name)
        limits = bounds(vector.plant)
        magnitudes = [math.inf if slot.source is None else limits[slot.source] for slot in vector.slots]
        more = len(traced.outputs) - size
        call = SingleKernel(traced, [*magnitudes, *[math.inf] * more], self._target).call

        def refused(bad: int, *given: Any) -> Diverged | None:
            return self._divergence(bad, *given) if bad < size else None  # a derivative may be infinite

        kernel = StepKernel(call, size, self._n, size + more, partial(self._other, name), refused)
        found = plain_step(kernel)
        if self._functions.more:
            found = open_step(kernel, len(self._functions.places), self._numbers)
        self._singles[name] = found
        return found

    def _other(
        self,
        name: str,
        state: ArrayLike,
        inputs: ArrayLike,
        values: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
    ) -> Array:
        """A function of `traced` from arguments that are not buffers of doubles, or have several rows."""
        one, arrays = self._arguments(name.removesuffix(" by values"), state, inputs, values, wrench)
        if not one:
            least = LEAST if name == "step" else LEAST_DIFFERENTIATED
            return evaluate(self._batch(name), list(arrays.values()), self._threads, least)
        if "wrench" in arrays:
            arrays["wrench"] = arrays["wrench"].reshape(-1, 6)
        return self._single(name)(**arrays)

    def _arguments(
        self, name: str, state: ArrayLike, inputs: ArrayLike, values: ArrayLike | None, wrench: ArrayLike | None
    ) -> tuple[bool, dict[str, Array]]:
        """Whether the arguments of a step are of a single arm; and they as arrays, checked."""
        states, all_inputs = number_array("state", state), number_array("inputs", inputs)
        n, size = self._n, self._size
        one = states.shape == (size,) and all_inputs.shape == (n,)
        if not one and (states.ndim != 2 or states.shape[1] != size or all_inputs.shape != (len(states), n)):
            raise ShapeError(
                f"{name}: expected state ({size},) with inputs ({n},), or state (m, {size}) with inputs (m, {n}), "
                f"found state {states.shape} with inputs {all_inputs.shape}"
            )
        arrays = {"state": states, "inputs": all_inputs, **self._open_arguments(values, wrench)}
        row_count(name, arrays, one)
        return one, arrays

    def derivatives(
        self,
        state: ArrayLike,
        inputs: ArrayLike,
        values: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        by_values: bool = False,
    ) -> tuple[Array, ...]:
        """The state one step later, and its exact derivatives by the state, the inputs and the open numbers.

        They are derivatives of the step that the method takes, not of the continuous motion. At a kink (a stop's edge, a
        command at its limit) they are those of the branch taken; those of dry friction are smoothed if the model has `creep`.

        Args:
            state: As `step` takes it.
            inputs: Likewise.
            values: Likewise.
            wrench: Likewise.
            by_values: Whether derivatives by the p open numbers are wanted.

        Returns:
            (next, A, B), or (next, A, B, C): `next` as of `step`, with its bits. Of the k numbers of `state_headings` then A, by
            the same before, shape (k, k); B, by the n inputs, shape (k, n); C, by the open numbers, in units of the file,
            shape (k, p). Of m states each has a leading m, and is NaN for one that diverged.

        Raises:
            UsageError: As of `step`; or the method is adaptive: its steps follow from an error estimate.
            FileFaults: As of `step`.
            ShapeError: As of `step`.
            Diverged: As of `step`.
        """
        name = "derivatives by values" if by_values else "derivatives"
        found = self._single(name)(state, inputs, values, wrench)
        first, k, rows = self._size, len(self._vector.carried), found.shape[:-1]
        parts = [found[..., :first]]
        for width in self._functions.differentiated(name).values():
            parts.append(found[..., first : first + k * width].reshape(*rows, k, width))
            first += k * width
        return tuple(parts)

    def rollout(
        self,
        states: ArrayLike,
        inputs: ArrayLike,
        values: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        measure: Sequence[str] | str = (),
    ) -> Array | dict[str, Array]:
        """The states that sequences of inputs lead through, each input held for a step; or measures of these motions.

        The steps have the bits of `step`.

        Args:
            states: The first states, shape (m, len(slots)), or (len(slots),) for one or the same for all.
            inputs: Shape (m, T, n), or (T, n) for one, T at least 1.
            values: As `step` takes them.
            wrench: Likewise, held all the time.
            measure: Names or formulas of what is measured instead, of those that need no target; see docs/measures.md.

        Returns:
            Shape (m, T + 1, len(slots)), or (T + 1, len(slots)), the first states included; NaN from the step on that led out of
            bounds. With `measure` for each name an array of shape (m,), or (); NaN where the motion does.

        Raises:
            FileFaults: Values would be refused in the file.
            UsageError: An argument is no array of numbers, or a measure is unknown or needs a target.
            ShapeError: An array has another shape; says both.
        """
        starts, given = number_array("states", states), number_array("inputs", inputs)
        n, size, steps = self._n, self._size, given.shape[-2] if given.ndim in (2, 3) else 0
        if not steps or given.shape[-1] != n or starts.shape not in ((size,), (*given.shape[:-2], size)):
            raise ShapeError(
                f"rollout: expected states ({size},) with inputs (T, {n}) or (m, T, {n}), or (m, {size}) with (m, T, {n}), "
                f"T at least 1, found states {starts.shape} with inputs {given.shape}"
            )
        one = given.ndim == 2
        every = np.broadcast_to(starts, (*given.shape[:-2], *starts.shape[-1:])) if starts.ndim == 1 else starts
        arrays = self._arguments("rollout", every, given[..., 0, :], values, wrench)[1]
        arrays["inputs"] = given.reshape(*given.shape[:-2], -1)
        least = max(1, LEAST // steps)
        if measure == ():
            kernel = self._batch("step", repeats=True)
            found = evaluate(kernel, list(arrays.values()), self._threads, least, steps, every=True)
            states = found.reshape(len(found), steps + 1, self._size)
            return states[0] if one else states
        key = measure if isinstance(measure, str) else tuple(measure)
        if key not in self._rollouts:
            self._rollouts[key] = MeasuredRollout(self._functions, measure, self._target)
        results = self._rollouts[key].evaluate(list(arrays.values()), self._threads, least, steps)
        return {name: x[0] if one else x for name, x in results.items()}

    def _open_arguments(self, values: ArrayLike | None, wrench: ArrayLike | None) -> dict[str, Array]:
        """Values and wrenches, checked, each of shape (width,) or (m, width); only those that a step of this model takes."""
        numbers, k = self._numbers, len(self._functions.places)
        found = {}
        if numbers is not None:
            array = row_array("values", numbers.robot.written if values is None else values, len(self.open))
            numbers.admit(array)
            found["values"] = array
        elif values is not None:
            raise UsageError.of("values", "none, as no number is open", "some", "name the numbers: open=[...]")
        if k:
            array = np.zeros((k, 6)) if wrench is None else number_array("wrench", wrench)
            if array.ndim not in (2, 3) or array.shape[-2:] != (k, 6):
                raise ShapeError(f"wrench: expected shape ({k}, 6) or (m, {k}, 6), found {array.shape}")
            found["wrench"] = array.reshape(*array.shape[:-2], 6 * k)
        elif wrench is not None:
            raise UsageError.of("wrench", "none, as no place is named", "some", "name the places: external=[...]")
        return found

    def _batch(self, name: str, repeats: bool = False) -> BatchKernel:
        """The kernel of `traced` on arrays, compiled once; or of its repetition."""
        key = f"{name} repeated" if repeats else name
        kernel = self._batches.get(key)
        if kernel is None:
            traced, widths = self.traced(name, bounded=True), [*self._functions.widths(name).values()]
            kernel = self._batches[key] = BatchKernel(traced, self._target, widths=widths, repeats=repeats)
        return kernel

    def traced(self, name: str, bounded: bool = False) -> Function:
        """See `StepFunctions.traced`."""
        return self._functions.traced(name, bounded)

    @property
    def _vector(self) -> StateVector:
        return self._functions.vector

    def _divergence(self, bad: int, value: float, state: Sequence[float], inputs: Sequence[float]) -> Diverged:
        given = {f"state[{i}]": state[i] for i, _ in self._vector.carried} | {
            f"inputs[{i}]": x for i, x in enumerate(inputs)
        }
        spoilt = [f"{name} = {x:g}" for name, x in given.items() if not math.isfinite(x)]
        if spoilt or not math.isfinite(value):
            found = ", ".join(spoilt) or f"{self._vector.slots[bad].name} = {value:g} after it"
            return Diverged.of(
                "step: not finite", "finite numbers in state, inputs and wrench", found, "check what is given"
            )
        slot = self._vector.slots[bad]
        where = "" if slot.joint is None else f" (joint {self.joints[slot.joint]})"
        found = f"{slot.name} = {value:.6g}{where}"
        mend = f"take a smaller step than dt = {self.dt:g} s with {self.method}, or check the inputs"
        if METHODS[self.method].adaptive is not None:
            mend = "check the inputs"
            stalled = stall_of([value])
            if stalled is not None:
                found = no_step(self.method, stalled)
                mend = "check the inputs, or take a greater rtol or a shorter dt"
        return Diverged.of("step: the state diverged", "a state within all bounds", found, mend)


def _source_of(robot: Given | Robot | Arm) -> Given:
    """A robot whose numbers can be left open.

    Raises:
        UsageError: It is an arm, which has been built.
    """
    if isinstance(robot, (Arm, Robot)):
        mend = "give the file that it was read from"
        raise UsageError.of("open", "a robot file, a name or plain data", f"an {type(robot).__name__}", mend)
    return robot


def _check_output(output: Output, arm: Arm) -> Output:
    """The kind of inputs, checked.

    Raises:
        UsageError: It is no such kind; or it is voltage or current, and a joint has no motor.
    """
    if output not in OUTPUTS:
        raise UsageError.of("output", "voltage, current or torque", repr(output), "write for example output='voltage'")
    check_motors(arm, output, "output", ", or write output='torque'")
    return output
