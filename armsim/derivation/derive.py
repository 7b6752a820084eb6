"""`armsim.derive`: the equations of motion of an arm in symbols, counted and checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any

import sympy

from armsim import document
from armsim.arm.robot import Robot
from armsim.derivation.agreement import compare_engine, compare_points, compare_polynomials
from armsim.derivation.closed import closed_forms, polynomials
from armsim.derivation.exact import ExactArm, exact_arm
from armsim.derivation.lagrange import LagrangeEquations, lagrange
from armsim.derivation.literature import published
from armsim.derivation.module import Constants, PrintedModule, Routine, numbered, operations_of
from armsim.derivation.motion import MotionRing, TooLarge
from armsim.derivation.program import Program
from armsim.derivation.recursion import ALGORITHMS, in_ring, labelled, unrolled
from armsim.derivation.written import LETTERS, Written
from armsim.errors import UsageError
from armsim.loading import build_robot, load_robot_file
from armsim.loading.robot_file import refuse_undetermined
from armsim.records import Json, as_plain


class Derivation:
    """The equations of motion of an arm: M(q) qdd + C(q, qd) qd + g(q) = tau.

    Friction and stops are left out; rotor inertia is part of M.

    Attributes:
        name: Of the arm.
        joints: Names of its joints, without those that mimic others.
        symbols: What stayed symbols, by name, with their values in the file.
        q, qd, qdd, tau: SymPy symbols of joint positions, velocities, accelerations and forces.
        equations: Lagrange's equations as polynomials; None where they are too long, then only programs are there.
        inverse: Inverse dynamics as a program.
        forward: Forward dynamics as a program.
        checks: What was compared with what.
        notes: What the reader should know, a sentence each.
    """

    def __init__(self, exact: ExactArm, robot: document.Robot) -> None:
        self.exact = exact
        self.name = exact.arm.name
        self.joints = exact.arm.joint_names
        self.symbols = exact.values
        self.motion = MotionRing(exact)
        self.q, self.qd, self.qdd = self.motion.q, self.motion.qd, self.motion.qdd
        self.tau = self.motion.tau
        self.notes = _notes(robot)
        self.equations: LagrangeEquations | None = None
        forces: Sequence[Any] = ()
        try:
            forces = in_ring(exact, ALGORITHMS["inverse_dynamics"], self.motion)
            self.equations = lagrange(exact, self.motion)
            self.checks = compare_polynomials(self.motion, self.equations, forces, exact.rounded)
        except TooLarge as large:
            self.equations = None
            self.notes.append(
                f"Too large for a closed form ({large}): programs of the recursive algorithms stand for it."
            )
            self.checks = compare_points(exact)
        self.inverse, self.forward = self._solutions(forces)

    def __repr__(self) -> str:
        counted = self.inverse.operations
        return (
            f"Derivation({self.name}: inverse dynamics in {counted.multiplications} multiplications, "
            f"{counted.additions} additions, {counted.trigonometric} sines and cosines)"
        )

    def _repr_latex_(self) -> str | None:
        from armsim.derivation.document import typeset

        return None if self.equations is None else typeset(self)

    @cached_property
    def operations(self) -> Json:
        """Operation counts: of inverse_dynamics, forward_dynamics and constants, each with multiplications, additions,
        trigonometric and divisions; divisions are among the multiplications. published: others' counts for such an arm."""
        constants = Constants([])
        names = constants.add(self.inverse)
        wanted = {str(names.get(sympy.Symbol(name), name)) for name in self.inverse.used}
        return {
            "inverse_dynamics": {**self.inverse.operations._asdict(), "form": self.inverse.form},
            "forward_dynamics": {**self.forward.operations._asdict(), "form": self.forward.form},
            "constants": operations_of(constants.assignments(wanted))._asdict(),
            "published": as_plain(published(self.exact.arm)),
        }

    @cached_property
    def written(self) -> Written:
        """The closed form with grouped constants, ready to be printed.

        Raises:
            UsageError: The arm is too large for a closed form.
        """
        if self.equations is None:
            raise UsageError.of(
                self.name,
                "an arm whose equations can be written out",
                "more terms than that",
                "take its programs: `module`",
            )
        return Written(self.exact, self.motion, self.equations, self.inverse)

    @property
    def mass_matrix(self) -> sympy.Matrix:
        """M(q), n x n [kg m², kg m or kg], in the file's symbols."""
        return self.written.matrix("M")

    @property
    def coriolis(self) -> sympy.Matrix:
        """C(q, qd), n x n, of Christoffel symbols: dM/dt - 2 C is skew-symmetric."""
        return self.written.matrix("C")

    @property
    def gravity(self) -> sympy.Matrix:
        """g(q), n x 1 [N·m or N]."""
        return self.written.matrix("g")

    @property
    def kinetic_energy(self) -> sympy.Expr:
        """Kinetic energy of links, payload and rotors [J]."""
        return self.written.matrix("T")[0]

    @property
    def potential_energy(self) -> sympy.Expr:
        """Potential energy in gravity [J]; zero with all mass at the world's origin."""
        return self.written.matrix("V")[0]

    @property
    def forward_kinematics(self) -> sympy.Matrix:
        """The pose of the tool in the world, 4 x 4."""
        return self.written.matrix("P")

    @property
    def jacobian(self) -> sympy.Matrix:
        """Geometric Jacobian of the tool in world axes, angular velocity first, 6 x n."""
        return self.written.matrix("J")

    @cached_property
    def constants(self) -> list[Json]:
        """The grouped constants of inverse dynamics: name, value (an expression of the symbols), number, and meaning."""
        at = {sympy.Symbol(name, real=True): x for name, x in self.symbols.items()}
        return [
            {"name": name, "value": value, "number": float(value.subs(at)), "meaning": self._meaning(name)}
            for name, value in self.inverse.given.items()
        ]

    @cached_property
    def module(self) -> PrintedModule:
        """Routines with one set of constants: dynamics, kinematics, and M, C and g where there is a closed form."""
        vectors = {"q": self.q, "qd": self.qd, "qdd": self.qdd, "tau": self.tau}
        taken = [str(x) for xs in vectors.values() for x in xs] + [*self.symbols]
        constants = Constants(taken)
        routines: list[Routine] = []
        n = len(self.joints)
        for name, doc, inputs, output, shape in (
            ("inverse_dynamics", "Joint forces [N.m or N] of a motion.", ("q", "qd", "qdd"), "tau", (n,)),
            (
                "forward_dynamics",
                "Joint accelerations [rad/s2 or m/s2] under joint forces.",
                ("q", "qd", "tau"),
                "qdd",
                (n,),
            ),
            ("mass_matrix", "Mass matrix M [kg.m2, kg.m or kg].", ("q",), "mass", (n, n)),
            ("coriolis", "Coriolis matrix C: dM/dt - 2 C is skew-symmetric.", ("q", "qd"), "cor", (n, n)),
            ("gravity", "Gravity forces g [N.m or N].", ("q",), "grav", (n,)),
            ("forward_kinematics", "Pose of the tool in the world, homogeneous [m].", ("q",), "pose", (4, 4)),
            (
                "jacobian",
                "Geometric Jacobian of the tool in world axes, angular velocity first.",
                ("q",),
                "jac",
                (6, n),
            ),
        ):
            solved = self._solution(name, inputs, shape)
            if solved is not None:
                given = tuple((x, tuple(map(str, vectors[x]))) for x in inputs)
                body, results = numbered(solved, constants.add(solved), (x for _, items in given for x in items))
                routines.append(Routine(name, doc, given, output, shape, body, results))
        used = set().union(*(f.symbols for f in routines))
        shared = tuple(name for name in (*constants.values, *constants.later) if name in used)
        body = tuple(constants.assignments(set(shared)))
        if not shared:
            shared, body = ("none",), (("none", sympy.Integer(0)),)
        needed = {str(x) for _, value in body for x in value.free_symbols} | used
        parameters = {name: x for name, x in self.symbols.items() if name in needed}
        given = (("numbers", tuple(parameters)),) if parameters else ()
        results = tuple(map(sympy.Symbol, shared))
        doc = "What the other functions need of the arm, worked out once."
        made = Routine("constants", doc, given, "r", (len(shared),), body, results)
        routines = [replace(f, inputs=(*f.inputs, ("r", shared))) for f in routines]
        return PrintedModule(self.name, parameters, made, routines)

    def summary(self) -> Json:
        """The derivation as plain data; expressions as text that SymPy reads."""
        closed = {}
        if self.equations is not None:
            for key, letter in LETTERS.items():
                rows, columns = self.written.shapes[letter]
                entries = [str(x) for x in self.written.matrix(letter)]
                listed = [entries[i * columns : (i + 1) * columns] for i in range(rows)]
                closed[key] = listed[0][0] if rows == columns == 1 and letter in "TV" else listed
        constants = [{**constant, "value": str(constant["value"])} for constant in self.constants]
        return {
            "robot": self.name,
            "joints": self.joints,
            "symbols": dict(self.symbols),
            "operations": self.operations,
            "constants": constants,
            "equations": closed or None,
            "checks": [vars(check) for check in self.checks],
            "notes": self.notes,
        }

    def to(self, form: str, everything: bool = False) -> str:
        """The derivation as text: "text", "latex", "markdown", or a program in "python", "c" or "fortran".

        Args:
            form: Which of them.
            everything: Whether entries of very many terms are written out, in the first three.

        Raises:
            UsageError: There is no such form.
        """
        from armsim.derivation.code import LANGUAGES, code
        from armsim.derivation.document import DOCUMENTS, document

        if form in LANGUAGES:
            return code(self.module, form)
        if form not in DOCUMENTS:
            raise UsageError.of(
                "derive: to", f"one of {', '.join((*DOCUMENTS, *LANGUAGES))}", repr(form), "take one of them"
            )
        return document(self, form, everything)

    def _solutions(self, forces: Sequence[Any]) -> tuple[Program, Program]:
        """Inverse and forward dynamics in the fewest operations found."""
        q, qd, qdd, tau = ([str(x) for x in symbols] for symbols in (self.q, self.qd, self.qdd, self.tau))
        inverses = [unrolled(self.exact, ALGORITHMS["inverse_dynamics"], [*q, *qd, *qdd], tau)]
        forwards = [unrolled(self.exact, ALGORITHMS["forward_dynamics"], [*q, *qd, *tau], qdd)]
        for closed in closed_forms(self.exact, self.motion, forces) if self.equations is not None else ():
            inverses.append(closed.program(tau))
            forwards.append(closed.forward_dynamics(qdd, tau))
        return min(inverses, key=_cost), min(forwards, key=_cost)

    def _solution(self, name: str, inputs: Sequence[str], shape: tuple[int, ...]) -> Program | None:
        """The program of a routine in the fewest operations found; None for what has only a closed form, where there is none."""
        if name in ("inverse_dynamics", "forward_dynamics"):
            return self.inverse if name == "inverse_dynamics" else self.forward
        outputs = [f"%out{i}" for i in range(math.prod(shape))]
        found: list[Program] = []
        if name in ALGORITHMS:
            found.append(unrolled(self.exact, ALGORITHMS[name], [str(x) for x in self.q], outputs))
        if self.equations is not None:
            found += polynomials(self.exact, self.motion, self.written.items[LETTERS[name]], outputs)
        return min(found, key=_cost, default=None)

    def _meaning(self, name: str) -> str:
        if self.inverse.form == "recursive":
            return labelled(self.exact).get(name, ("", ""))[1]
        return self.written.meaning(name)


def derive(
    robot: str | PathLike[str] | Mapping[str, Any],
    symbols: Sequence[str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Derivation:
    """Derive the equations of motion of an arm, twice, and compare.

    By Newton and Euler's recursion, the text that simulates, and by Lagrange's equations from energies.

    Args:
        robot: Path or name of a robot file, or its content as plain data.
        symbols: What stays a symbol: names of the file's parameters, or NAME=PATH for another number, such as
            m1=joints[0].bodies[0].rod.mass; all parameters unless given.
        overrides: Values in place of the file's, by path.

    Raises:
        FileFaults: The file cannot be used; says where and why.
        UsageError: There is no such symbol.
        Disagreement: The derivations differ: a fault of armsim.
    """
    read = load_robot_file(robot, overrides).document
    arm = build_robot(read)
    refuse_undetermined(arm, read)
    found = Derivation(exact_arm(read, symbols), read)
    found.checks.append(compare_engine(found.module, Robot(arm)))
    return found


def _cost(program: Program) -> tuple[int, int]:
    return program.operations.cost


def _notes(robot: document.Robot) -> list[str]:
    """What of a file the equations leave out."""
    dry = [part for joint in robot.joints for part in (joint.friction, joint.motor) if part is not None]
    there = {
        "friction": any(getattr(x, "value", 1.0) for part in dry for x in (part.viscous, part.coulomb))
        or any(part.stribeck is not None for part in dry),
        "springs": any(joint.spring is not None for joint in robot.joints),
        "stops": any(joint.limits is not None and joint.limits.stiffness is not None for joint in robot.joints),
        "contacts": bool(robot.contacts),
    }
    found = [what for what in there if there[what]]
    return [f"Without the {' and '.join(found)} of the file."] if found else []
