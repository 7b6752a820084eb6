"""An arm's questions, answered on arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armsim import dynamics
from armsim.actuation import drive_torques, kinetic_energy, limit_torque, mass_matrix
from armsim.actuation import motor as dc
from armsim.compile import BatchKernel
from armsim.errors import ShapeError, UsageError
from armsim.expr import Scalar, trace
from armsim.model import Arm
from armsim.run.arrays import number_array
from armsim.run.engine import ENGINES
from armsim.spatial import quaternion
from armsim.spec import read_robot
from armsim.sticking import accelerations

LARGEST_POSITION = 1e6  # rad or m; up to there sine and cosine are exact to 2 ulp
Array = NDArray[np.float64]
Body = Callable[..., Sequence[Scalar]]


class Frames(NamedTuple):
    """Where one or more frames stand in the world.

    Attributes:
        position: Origins [m], shape (..., 3).
        quaternion: Unit quaternions w, x, y, z, shape (..., 4).
    """

    position: Array
    quaternion: Array


def load_robot(
    robot: str | PathLike[str], overrides: Mapping[str, Any] | None = None, engine: Literal["llvm", "python"] = "llvm"
) -> Robot:
    """The arm of a robot file, or a shipped one by its name.

    Args:
        robot: Path or name.
        overrides: Values in place of the file's, by path: {"joints[R2].motor.Kp": 12, "parameters.upper": 0.4}.
        engine: What answers: "llvm" compiles each question when it is first asked, "python" runs on floats.

    Raises:
        FileFaults: The file cannot be used; says where and why.
    """
    arm, _ = read_robot(robot, overrides)
    return Robot(arm, engine)


class Robot:
    """An arm of n joints that answers for one state, shape (n,), or for m states at once, shape (m, n).

    Joint positions are in rad (m for prismatic joints), forces in N·m (N). What a drive gives a joint is the torque
    here: rotor inertia, friction of joint and motor, and the joint's stops are the arm's own, on both sides:
    `forward_dynamics(q, qd, inverse_dynamics(q, qd, qdd))` is qdd, but for joints at rest that dry friction holds.

    All questions raise `UsageError` for what is no array of numbers, and `ShapeError` for one of another shape.

    Args:
        arm: The arm.
        engine: "llvm" or "python"; both give the same bits.
    """

    def __init__(self, arm: Arm, engine: Literal["llvm", "python"] = "llvm") -> None:
        if engine not in ENGINES:
            raise UsageError(f"engine: expected one of {', '.join(ENGINES)}, found {engine!r}")
        self.arm = arm
        self.engine = engine
        self._algorithm = dynamics.fewest_operations(arm)
        self._kernels: dict[str, BatchKernel] = {}

    def __repr__(self) -> str:
        return f"Robot({self.arm.name}: {', '.join(self.joints)})"

    @property
    def joints(self) -> list[str]:
        """Names of the joints, from base to tip."""
        return [joint.name for joint in self.arm.joints]

    @property
    def initial(self) -> Array:
        """The joint positions at which the file gives the arm, shape (n,)."""
        return np.array(self.arm.initial, dtype=float)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None) -> Array:
        """Torques that the drives must give for a motion [N·m or N], shape of q. Without qd and qdd: holding torques.

        Args:
            q: Joint positions [rad or m].
            qd: Joint velocities [rad/s or m/s]; zero if not given.
            qdd: Joint accelerations [rad/s² or m/s²]; zero if not given.
        """

        def body(q, qd, qdd):
            return drive_torques(self.arm, q, qd, qdd)

        return self._ask("inverse_dynamics", body, q=q, qd=qd, qdd=qdd)

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None) -> Array:
        """Joint accelerations under torques of the drives [rad/s² or m/s²], shape of q.

        Args:
            q: Joint positions [rad or m].
            qd: Joint velocities [rad/s or m/s]; zero if not given.
            tau: Torques of the drives [N·m or N]; zero if not given.
        """

        def body(q, qd, tau):
            return accelerations(self.arm, q, qd, tau, self._algorithm)

        return self._ask("forward_dynamics", body, q=q, qd=qd, tau=tau)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix with the rotors' reflected inertia [kg m², kg m or kg], shape (..., n, n)."""
        n = self.arm.n

        def body(q):
            M = mass_matrix(self.arm, q)
            return [M[max(i, j)][min(i, j)] for i in range(n) for j in range(n)]

        return self._ask("mass_matrix", body, (n, n), q=q)

    def bias(self, q: ArrayLike, qd: ArrayLike | None = None) -> Array:
        """Coriolis, centrifugal and gravity torques C qd + g [N·m or N], shape of q."""
        return self._ask("bias", lambda q, qd: dynamics.bias(self.arm, q, qd), q=q, qd=qd)

    def gravity_torque(self, q: ArrayLike) -> Array:
        """Torques that hold the arm against gravity [N·m or N], shape of q; stops not counted."""
        return self._ask("gravity_torque", lambda q: dynamics.gravity_torque(self.arm, q), q=q)

    def limit_torque(self, q: ArrayLike, qd: ArrayLike | None = None) -> Array:
        """Torques of the joints' stops [N·m or N], shape of q."""

        def body(q, qd):
            return [limit_torque(joint.limit, *x) for joint, *x in zip(self.arm.joints, q, qd, strict=True)]

        return self._ask("limit_torque", body, q=q, qd=qd)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Kinetic energy of links, payload and rotors [J], shape (...)."""

        def body(q, qd):
            return [kinetic_energy(self.arm, q, qd)]

        return self._ask("kinetic_energy", body, (), q=q, qd=qd)

    def potential_energy(self, q: ArrayLike) -> Array:
        """Potential energy in gravity [J], shape (...); zero where all mass lies at the world's origin."""
        return self._ask("potential_energy", lambda q: [dynamics.potential_energy(self.arm, q)], (), q=q)

    def forward_kinematics(self, q: ArrayLike) -> Frames:
        """The tool in the world: position (..., 3) [m] and quaternion (..., 4)."""

        def body(q):
            pose = dynamics.tool_pose(self.arm, q)
            return [*pose.position, *quaternion(pose.rotation)]

        pose = self._ask("forward_kinematics", body, (7,), q=q)
        return Frames(pose[..., :3], pose[..., 3:])

    def link_poses(self, q: ArrayLike) -> Frames:
        """The frames of all links in the world: positions (..., n, 3) [m] and quaternions (..., n, 4)."""

        def body(q):
            poses = dynamics.link_poses(self.arm, q)
            return [x for pose in poses for x in (*pose.position, *quaternion(pose.rotation))]

        poses = self._ask("link_poses", body, (self.arm.n, 7), q=q)
        return Frames(poses[..., :3], poses[..., 3:])

    def jacobian(self, q: ArrayLike) -> Array:
        """Geometric Jacobian of the tool in world axes, angular velocity first, shape (..., 6, n)."""

        def body(q):
            return [x for row in dynamics.tool_jacobian(self.arm, q) for x in row]

        return self._ask("jacobian", body, (6, self.arm.n), q=q)

    def motor_demand(self, qd: ArrayLike, tau: ArrayLike) -> tuple[Array, Array]:
        """What the motors take to give torques at joint velocities: voltages [V] and currents [A], NaN without one.

        Args:
            qd: Joint velocities [rad/s or m/s], shape (n,) or (m, n).
            tau: Torques of the drives [N·m or N], likewise.
        """
        qd, tau = np.broadcast_arrays(self._array("qd", qd), self._array("tau", tau))
        motors = [(i, joint.electric_motor) for i, joint in enumerate(self.arm.joints) if joint.electric_motor]

        def body(qd, tau):
            demands = [dc.demand(motor, tau[i], qd[i]) for i, motor in motors]
            return [x for column in zip(*demands, strict=True) for x in column]

        voltage, current = np.full(tau.shape, math.nan), np.full(tau.shape, math.nan)
        if motors:
            powered = [i for i, _ in motors]
            found = self._ask("motor_demand", body, (2, len(motors)), qd=qd, tau=tau)
            voltage[..., powered], current[..., powered] = found[..., 0, :], found[..., 1, :]
        return voltage, current

    def _array(self, name: str, values: ArrayLike) -> Array:
        array = number_array(name, values)
        n = self.arm.n
        if array.ndim not in (1, 2) or array.shape[-1] != n:
            raise ShapeError(f"{name}: expected shape ({n},) or (m, {n}), found {array.shape}")
        if name == "q" and array.size and not np.max(np.abs(array)) <= LARGEST_POSITION:
            raise UsageError(f"q: expected positions up to {LARGEST_POSITION:g}, found {np.max(np.abs(array)):g}")
        return array

    def _ask(self, name: str, body: Body, shape: tuple[int, ...] | None = None, **given: ArrayLike | None) -> Array:
        """Evaluate `body`, which takes one list of n scalars per keyword, for every row of the arrays.

        Args:
            name: Of the question; its kernel is kept under it.
            body: The question over scalars.
            shape: What each row's results are reshaped to; (n,) if not given.
            given: The arrays; None stands for zeros.
        """
        n = self.arm.n
        arrays = {key: np.zeros(n) if v is None else self._array(key, v) for key, v in given.items()}
        rows = {array.shape[0] for array in arrays.values() if array.ndim == 2}
        if len(rows) > 1:
            shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
            raise ShapeError(f"{name}: expected as many rows in each array, found {shapes}")
        count = rows.pop() if rows else 1
        columns = np.concatenate([np.broadcast_to(array, (count, n)) for array in arrays.values()], axis=1)
        flat = self._evaluate(name, body, columns, len(arrays))
        single = all(array.ndim == 1 for array in arrays.values())
        result = flat.reshape((count, *(shape if shape is not None else (n,))))
        return result[0] if single else result

    def _evaluate(self, name: str, body: Body, rows: Array, groups: int) -> Array:
        n = self.arm.n

        def grouped(*x):
            return body(*(x[i * n : (i + 1) * n] for i in range(groups)))

        if self.engine == "python":
            return np.array([[float(y) for y in grouped(*row)] for row in rows.tolist()]).reshape(len(rows), -1)
        kernel = self._kernels.get(name)
        if kernel is None:
            names = [f"x{i}" for i in range(groups * n)]
            kernel = self._kernels[name] = BatchKernel(trace(grouped, names, name))
        count, padded = len(rows), -(-len(rows) // kernel.lanes) * kernel.lanes
        args = np.empty((groups * n, padded))
        args[:, :count] = rows.T
        args[:, count:] = rows[-1:].T if count else 0.0
        results = np.empty((len(kernel.function.outputs), padded))
        kernel(args.ctypes.data, results.ctypes.data, padded)
        return np.ascontiguousarray(results[:, :count].T)
