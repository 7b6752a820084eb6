"""`Robot`: kinematics and dynamics of an arm on arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from armsim import document, dynamics
from armsim.actuation import (
    drive_columns,
    drive_parameters,
    drive_regressor,
    drive_torques,
    limit_torques,
    motor_demands,
)
from armsim.arm.advance import Advanced, advanced, check_adaptive, check_finite
from armsim.arm.approach import Approach, approaches
from armsim.arm.arrays import brief, number_array, row_count
from armsim.arm.integration import check_tolerance
from armsim.arm.motor_motion import MotorMotion, motor_motion
from armsim.arm.row_evaluator import RowEvaluator
from armsim.arrays import Array, ArrayLike
from armsim.display import Shown
from armsim.dynamics import RegressorColumn
from armsim.errors import ShapeError, UsageError
from armsim.files.faults import suggestion
from armsim.loading import Given, Overrides, read_robot
from armsim.model import BASE, Arm
from armsim.plant import accelerations

if TYPE_CHECKING:
    from armsim.arm.pose_search import PoseSolutions
    from armsim.arm.workspace import Workspace


class Frames(NamedTuple):
    """Poses of one or more frames in the world.

    Attributes:
        position: Origins [m], shape (..., 3).
        quaternion: Unit quaternions w, x, y, z, shape (..., 4).
    """

    position: Array
    quaternion: Array

    def __repr__(self) -> str:
        return f"Frames(position={brief(self.position)}, quaternion={brief(self.quaternion)})"


def load_robot(
    robot: Given,
    overrides: Overrides | None = None,
    engine: Literal["llvm", "python"] = "llvm",
    threads: int | None = None,
) -> Robot:
    """The arm of a robot file, or a shipped one by its name.

    Args:
        robot: Path or name, or a file's content: an `armsim.document.Robot` or plain data.
        overrides: Values in place of the file's, by path: {"joints[R2].motor.Kp": 12, "parameters.upper": 0.4}; None
            takes a key out.
        engine: "llvm" compiles each method when it is first called, "python" runs on floats.
        threads: How many share the rows of many states; as many as there are processors unless given.

    Raises:
        FileFaults: The file cannot be used; says where and why.
    """
    arm, document = read_robot(robot, overrides)
    return Robot(arm, engine, document, threads)


def arm_of(robot: Given | Robot | Arm) -> Arm:
    """The arm of a robot, a file or what a file holds; arguments and errors as of `load_robot`."""
    if isinstance(robot, Robot):
        return robot.arm
    return robot if isinstance(robot, Arm) else read_robot(robot)[0]


class Robot(Shown, RowEvaluator):
    """An arm of n joints; its methods take one state, shape (n,), or m states at once, shape (m, n).

    Joint positions are in rad (m for prismatic joints), forces in N·m (N). Torques are those that the drives give the joints:
    rotor inertia, friction of joint and motor, and stops are part of the arm, in inverse and forward dynamics alike, so
    `forward_dynamics(q, qd, inverse_dynamics(q, qd, qdd))` is qdd, except for joints that dry friction holds at rest.

    All methods raise `UsageError` for arguments that are not numeric, such as None for one that must be given, and `ShapeError`
    for wrong shapes. Results are NaN for a state with a NaN or infinite number, of many states for its row alone;
    positions must be finite.

    Args:
        arm: The arm.
        engine: "llvm" or "python"; both give the same bits.
        document: Its file, as `armsim.loading.load_robot_file` reads it; what the arm looks like is taken from it.
        threads: How many share the rows of many states; as many as there are processors unless given.
    """

    def __init__(
        self,
        arm: Arm,
        engine: Literal["llvm", "python"] = "llvm",
        document: document.Robot | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(arm, engine, threads)
        self.document = document

    def __repr__(self) -> str:
        return f"Robot({self.arm.name}: {', '.join(self.joints)})"

    @property
    def joints(self) -> list[str]:
        """Names of the joints in the order of the file; those that mimic others have no coordinate, and are left out."""
        return self.arm.joint_names

    @property
    def link_names(self) -> list[str]:
        """Names of all joints, those that mimic others too."""
        return self.arm.link_names

    @property
    def initial(self) -> Array:
        """The initial joint positions of the file [rad or m], shape (n,)."""
        return np.array(self.arm.initial, dtype=float)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None) -> Array:
        """Inverse dynamics: torques of the drives for a motion [N·m or N], shape of q. Without qd and qdd: holding torques.

        Args:
            q: Joint positions [rad or m].
            qd: Joint velocities [rad/s or m/s]; zero if not given.
            qdd: Joint accelerations [rad/s² or m/s²]; zero if not given.
        """
        return self._ask("inverse_dynamics", drive_torques, q=q, qd=qd, qdd=qdd)

    def motor_motion(
        self,
        q: ArrayLike,
        qd: ArrayLike | None = None,
        qdd: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
        snap: ArrayLike | None = None,
        t: ArrayLike | None = None,
    ) -> MotorMotion:
        """Inverse dynamics with elastic couplings: motions and torques of the motors for a motion of the joints.

        Exact but for damped couplings, which twist by what went before: their rows follow each other at times t.
        Couplings with backlash, and of joints that have dry friction of their own, are taken as rigid unless all is at rest.

        Args:
            q: Joint positions [rad or m], shape (n,) or (m, n).
            qd: Joint velocities [rad/s or m/s]; zero if not given.
            qdd: Joint accelerations [rad/s² or m/s²]; zero if not given.
            jerk: Their rates [rad/s³ or m/s³]; zero if not given.
            snap: The rates of these [rad/s⁴ or m/s⁴]; zero if not given.
            t: Times of m rows [s], increasing; without them damped couplings in motion are taken as rigid.

        Raises:
            UsageError: The times do not increase.
            ShapeError: There are not as many times as rows.
        """
        given = {"q": q, "qd": qd, "qdd": qdd, "jerk": jerk, "snap": snap}
        arrays = {key: self._given(key, x) for key, x in given.items()}
        many = row_count("motor_motion", arrays)
        times = None if t is None else number_array("t", t)
        if times is not None and times.shape != (many,):
            raise ShapeError(f"motor_motion: expected t (m,) and q (m, n), found {times.shape} and {arrays['q'].shape}")
        if times is not None and not (np.diff(times) > 0.0).all():
            raise UsageError("t: expected times that increase")
        rows = {key: np.atleast_2d(np.broadcast_to(x, (many or 1, self.arm.n))) for key, x in arrays.items()}
        found = motor_motion(self.arm, self._ask, times, rows)
        return found if many is not None else replace(found, **{key: x[0] for key, x in vars(found).items()})

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None) -> Array:
        """Forward dynamics: joint accelerations under torques of the drives [rad/s² or m/s²], shape of q.

        Args:
            q: Joint positions [rad or m].
            qd: Joint velocities [rad/s or m/s]; zero if not given.
            tau: Torques of the drives [N·m or N]; zero if not given.
        """
        return self._ask("forward_dynamics", accelerations, q=q, qd=qd, tau=tau)

    def advance(
        self,
        q: ArrayLike,
        qd: ArrayLike | None,
        torque: ArrayLike | None,
        duration: ArrayLike,
        rtol: float = 1e-5,
        atol: float | None = None,
        method: str = "auto",
    ) -> Advanced:
        """The motion under constant torques of the drives: state and accelerations after exactly the given time.

        Integrated with adaptive steps, for every row of a batch its own. A row of a batch that diverges is NaN.

        Args:
            q: Joint positions [rad or m], shape (n,) or (m, n).
            qd: Joint velocities [rad/s or m/s], likewise; zero if None.
            torque: Of the drives [N·m or N], as `forward_dynamics` takes them, likewise; zero if None.
            duration: How long [s], one for all or shape (m,); 0 gives the state itself with its accelerations.
            rtol: Relative error in a step.
            atol: Absolute error in a step [rad, m, rad/s or m/s]; a thousandth of rtol unless given.
            method: An adaptive method; "auto" takes rk54.

        Returns:
            q, qd and qdd at the end, each of shape (n,), or (m, n) if any argument has m rows.

        Raises:
            ShapeError: An array has another shape; says both.
            UsageError: A number is not finite, a duration negative, a tolerance out of range, or the method not adaptive.
            Diverged: The motion of a single state leaves all bounds.
        """
        method = check_adaptive(method)
        tolerance = check_tolerance(method, rtol, atol)
        given = {"q": q, "qd": qd, "torque": torque}
        arrays = {key: self._given(key, x) for key, x in given.items()}
        return advanced(self.arm, self._evaluate, arrays, duration, method, tolerance)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix with the rotors' reflected inertia [kg m², kg m or kg], shape (..., n, n)."""
        return self._ask("mass_matrix", dynamics.mass_matrix, (self.arm.n, self.arm.n), q=q)

    def bias(self, q: ArrayLike, qd: ArrayLike | None = None) -> Array:
        """Coriolis, centrifugal and gravity torques C qd + g [N·m or N], shape of q."""
        return self._ask("bias", dynamics.bias, q=q, qd=qd)

    @property
    def inertial_parameters(self) -> Array:
        """Of each link in turn, about its own frame's origin and payload included: mass M [kg], first moments MX MY MZ [kg m],
        moments of inertia XX YY ZZ XY XZ YZ and armature Ia [kg m²]; shape (11 k,) of k links."""
        return np.array([float(x) for x in dynamics.inertial_parameters(self.arm)])

    @property
    def drive_parameters(self) -> Array:
        """Of each joint with a coordinate in turn: viscous friction, dry friction against motion in its positive and negative
        direction, the gear's losses likewise, stiffness and offset of its spring (`DRIVE_PARAMETERS`); shape (7 n,)."""
        return np.array([float(x) for x in drive_parameters(self.arm)])

    def regressor_columns(self, drives: bool = False) -> list[RegressorColumn]:
        """Joint, parameter and unit of each column of `regressor`, with the columns of the drives if asked for."""
        return [*dynamics.inertial_columns(self.arm), *(drive_columns(self.arm) if drives else [])]

    def regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike | None = None,
        qdd: ArrayLike | None = None,
        tau: ArrayLike | None = None,
    ) -> Array:
        """The regressor Y(q, qd, qdd), shape (..., n, 11 k): Y @ inertial_parameters are M qdd + bias, without friction.

        With the torques of the drives it has 7 columns more for each joint, those of `drive_parameters`. Then
        Y @ [*inertial_parameters, *drive_parameters] is tau, where tau is the inverse dynamics of q, qd and qdd; stops, contacts
        and the part of static friction above Coulomb's have no columns. Losses of gears are proportional to tau.

        Args:
            q: Joint positions [rad or m].
            qd: Joint velocities [rad/s or m/s]; zero if not given.
            qdd: Joint accelerations [rad/s² or m/s²]; zero if not given.
            tau: Torques of the drives [N·m or N]; without them the columns of the drives are left out.
        """
        n, columns = self.arm.n, len(self.regressor_columns(tau is not None))
        if tau is None:
            return self._ask("regressor", dynamics.regressor, (n, columns), q=q, qd=qd, qdd=qdd)

        def body(arm, q, qd, qdd, tau):
            inertial, of_drives = dynamics.regressor(arm, q, qd, qdd), drive_regressor(arm, q, qd, tau)
            return [[*row, *more] for row, more in zip(inertial, of_drives, strict=True)]

        return self._ask("regressor with drives", body, (n, columns), q=q, qd=qd, qdd=qdd, tau=tau)

    def gravity_torque(self, q: ArrayLike) -> Array:
        """Torques that hold the arm against gravity [N·m or N], shape of q, without those of its stops."""
        return self._ask("gravity_torque", dynamics.gravity_torque, q=q)

    def limit_torque(self, q: ArrayLike, qd: ArrayLike | None = None) -> Array:
        """Torques of the joints' stops [N·m or N], shape of q."""
        return self._ask("limit_torque", limit_torques, q=q, qd=qd)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Kinetic energy of links, payload and rotors [J], shape (...)."""
        return self._ask("kinetic_energy", dynamics.kinetic_energy, (), q=q, qd=self._array("qd", qd))

    def potential_energy(self, q: ArrayLike) -> Array:
        """Potential energy in gravity [J], shape (...); zero where all mass lies at the world's origin."""
        return self._ask("potential_energy", dynamics.potential_energy, (), q=q)

    def forward_kinematics(self, q: ArrayLike, frame: str = "tool") -> Frames:
        """The pose of a frame in the world, the tool's unless named: position (..., 3) [m] and quaternion (..., 4)."""

        def body(arm, q, of):
            return dynamics.frame_pose(arm, q, of).coordinates

        pose = self._of_frame("forward_kinematics", body, (7,), q, frame)
        return Frames(pose[..., :3], pose[..., 3:])

    def link_poses(self, q: ArrayLike) -> Frames:
        """The poses of all link frames in the world, by `link_names`: positions (..., k, 3) [m] and quaternions (..., k, 4)."""

        def body(arm, q):
            return [pose.coordinates for pose in dynamics.link_poses(arm, q)]

        poses = self._ask("link_poses", body, (len(self.link_names), 7), q=q)
        return Frames(poses[..., :3], poses[..., 3:])

    @property
    def pairs(self) -> list[str]:
        """What `distances` are between: two links with solids but for neighbours, or a link and a thing of the world.

        Links that touch in the initial pose are left out, and those on the base that touch the world there.
        """
        return [name for name, watched in dynamics.watched_pairs(self.arm).items() if watched]

    def distances(self, q: ArrayLike, pairs: Sequence[str] | None = None) -> Array:
        """Least distances of pairs [m], shape (..., k): 0 or less where they touch.

        Args:
            q: Joint positions [rad or m].
            pairs: By names as R5_floor; `pairs` unless given.

        Raises:
            UsageError: There is no such pair.
        """
        names = self.pairs if pairs is None else list(pairs)
        for name in names:
            if name not in self.arm.pairs:
                raise UsageError.of("pairs", "names of pairs", repr(name), suggestion(name, self.arm.pairs))
        body = partial(dynamics.distances, pairs=names)
        return self._ask(f"distances of {', '.join(names)}", body, (len(names),), q=q)

    def approaches(
        self, t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, pairs: Sequence[str] | None = None
    ) -> list[Approach]:
        """How near each pair comes in a motion, and when it first touches; between the rows, too. The nearest is first.

        Args:
            t: Times of m rows [s], increasing.
            q: Joint positions [rad or m], shape (m, n).
            qd: Joint velocities [rad/s or m/s], likewise; between rows the motion is cubic then, and else a straight line.
            pairs: As of `distances`.
        """
        names = self.pairs if pairs is None else list(pairs)
        times, positions = number_array("t", t), self._array("q", q)
        rates = None if qd is None else self._array("qd", qd)
        if {(*times.shape, self.arm.n)} != {x.shape for x in (positions, rates) if x is not None}:
            raise ShapeError(f"approaches: expected t (m,), q and qd (m, n), found {times.shape} and {positions.shape}")
        if not (np.diff(times) > 0.0).all():
            raise UsageError("t: expected times that increase")
        return approaches(self.arm, partial(self.distances, pairs=names), times, positions, rates, names)

    def jacobian(self, q: ArrayLike, frame: str = "tool") -> Array:
        """Geometric Jacobian of a frame, the tool unless named, in world axes, angular velocity first, shape (..., 6, n)."""
        return self._of_frame("jacobian", dynamics.frame_jacobian, (6, self.arm.n), q, frame)

    def inverse_kinematics(
        self,
        pose: Frames | ArrayLike,
        near: ArrayLike | None = None,
        all: bool | Literal["turns"] = False,
        limits: bool = True,
        frame: str = "tool",
        axis: tuple[Literal["x", "y", "z"], ArrayLike] | None = None,
        weights: tuple[float, float] = (1.0, 1.0),
        report: bool = False,
    ) -> Array | PoseSolutions:
        """Joint positions that bring a frame to a pose [rad or m], shape (n,), or (m, n) for many; exact to rounding.

        Levenberg-Marquardt from `near`, then from starts around it, further and further away, until one leads to the pose;
        without it from the middle of the joints' ranges. Every step is of least norm where there are more
        joints than conditions. The solution is near `near`, not always the nearest: that is the first of `all`. Joints that do
        not carry the frame stay at `near`, or at their initial positions. A row of many that has no solution is NaN.

        Args:
            pose: `Frames` as `forward_kinematics` gives them, (position, quaternion), or positions alone [m], shape (3,) or
                (m, 3).
            near: Joint positions to begin with [rad or m], shape (n,), or (m, n) of one pose or m; of `all` one.
            all: Whether to return all solutions of one pose, shape (k, n), those next to `near` first; of arms with no more
                joints than conditions. Joints are turned to next to `near`, or by "turns" in every way within their limits.
            limits: Whether the joints' limits hold.
            frame: Its name.
            axis: An axis of the frame and the direction in the world along which it is to point, such as ("z", [0, 0, -1]), of
                shape (3,) or (m, 3); beside positions alone.
            weights: Of position [1/m] and angle [1/rad], positive, by which the nearest pose is told where there is no solution.
            report: Whether to return `PoseSolutions`, with what is missing; of a row without a solution at the nearest pose.

        Raises:
            NoSolution: There is none of a single pose; says why, and has the nearest pose.
            UsageError: All are asked for, and there are infinitely many; an orientation comes with `axis`; or a number is none,
                or out of range.
            ShapeError: Shapes do not fit.
        """
        from armsim.arm.pose_search import PoseSearch, every_solution, pointing_axis, pose_goals, solve_poses

        own, along, sizes = self._frame(frame), pointing_axis(axis), number_array("weights", weights)
        search = PoseSearch(self.arm, self._evaluate, own, along, limits, sizes)
        start = None if near is None else self._array("near", near)
        if start is not None:
            check_finite("near", start)
        goals = pose_goals(pose, axis)
        found = every_solution(search, goals, start, all == "turns") if all else solve_poses(search, goals, start)
        return found if report else found.q

    def workspace(
        self,
        plane: Literal["xz", "xy", "yz"] = "xz",
        at: float | None = None,
        resolution: int = 61,
        quaternion: ArrayLike | None = None,
        axis: tuple[Literal["x", "y", "z"], ArrayLike] | None = None,
    ) -> Workspace:
        """Where in a plane of the world the tool can be, how well it moves there, and what the motors hold there.

        Args:
            plane: Of two of the world's axes.
            at: Where it lies along the third [m]; through the first joint on the tool's path unless given.
            resolution: Points along each side of a square as wide as the arm reaches.
            quaternion: The tool's orientation, shape (4,); any will do unless it or an axis is given.
            axis: An axis of the tool and the direction in the world along which it is to point, as of `inverse_kinematics`.

        Raises:
            UsageError: There is no such plane, the resolution is out of range, or the arm reaches infinitely far.
        """
        from armsim.arm.workspace import workspace

        return workspace(self, plane, at, resolution, quaternion, axis)

    def wrenches(
        self,
        q: ArrayLike,
        qd: ArrayLike | None = None,
        qdd: ArrayLike | None = None,
        at: str | Sequence[str] | None = None,
    ) -> Array:
        """What base, bearings and force-torque sensors carry in a motion: moment [N·m] first, then force [N].

        Each is about the origin of a frame and along its axes. Of "base": what the ground exerts on the arm, in the base's frame.
        Of a joint: what the link before exerts on its link, bearing and drive together, in the joint's own frame, whose z axis is
        the joint's. Of a frame, for example "tool": what a force-torque sensor there exerts on the frame's payloads, in it.

        Recursive Newton-Euler algorithm, Craig, *Introduction to Robotics*, section 6.5. Rotor inertia is not of the links.

        Args:
            q: Joint positions [rad or m].
            qd: Joint velocities [rad/s or m/s]; zero if not given.
            qdd: Joint accelerations [rad/s² or m/s²]; zero if not given.
            at: One name or several; all joints unless given. A joint may be called "base" or "tool", and is meant then.

        Returns:
            Shape (..., 6) for one name, (..., k, 6) for k of them.

        Raises:
            UsageError: A name is none of "base", a joint and a frame.
        """
        names = [at] if isinstance(at, str) else self.arm.link_names if at is None else list(at)
        known = (BASE, *self.arm.link_names, *(frame.name for frame in self.arm.frames))
        for name in names:
            if name not in known:
                expected = "base, or the name of a joint or a frame"
                raise UsageError.of("at", expected, repr(name), suggestion(name, known))

        def body(arm, q, qd, qdd):
            touching = partial(dynamics.contact_wrenches, arm, q, qd)
            internal = dynamics.InternalWrenches(arm, q, qd, qdd, touching)
            return [internal.at(name) for name in names]

        shape = (6,) if isinstance(at, str) else (len(names), 6)
        return self._ask(f"wrenches at {', '.join(names)}", body, shape, q=q, qd=qd, qdd=qdd)

    def motor_demand(self, qd: ArrayLike, tau: ArrayLike) -> tuple[Array, Array]:
        """Voltages [V] and currents [A] of the motors for torques at joint velocities; NaN without an electric motor.

        Args:
            qd: Joint velocities [rad/s or m/s], shape (n,) or (m, n).
            tau: Torques of the drives [N·m or N], likewise.
        """
        qd, tau = np.broadcast_arrays(self._array("qd", qd), self._array("tau", tau))
        powered = [i for i, joint in enumerate(self.arm.joints) if joint.electric_motor]
        voltage, current = np.full(tau.shape, math.nan), np.full(tau.shape, math.nan)
        if powered:
            found = self._ask("motor_demand", motor_demands, (2, len(powered)), qd=qd, tau=tau)
            voltage[..., powered], current[..., powered] = found[..., 0, :], found[..., 1, :]
        return voltage, current
