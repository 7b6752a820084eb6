"""What several commands print about a state of an arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from armsim.actuation import limit_torques
from armsim.actuation.elastic_drive import elastic_joints, rigid_reasons
from armsim.arm.overload import AboveNominal, LastingOverload, Overload
from armsim.dynamics import Wrench
from armsim.model import JOINT_TYPES, Arm, Joint
from armsim.model.angles import in_unit
from armsim.reports.table import Report, ReportTable, Row, force_unit, joint_unit, number, numbers, wrapped

if TYPE_CHECKING:
    from armsim.arm.inverse import Derived
    from armsim.arm.robot_overview import JointFacts


RATES = {"q": "", "q motor": "", "qd": "/s", "qdd": "/s²"}


def state_table(
    joints: Sequence[Joint | JointFacts],
    columns: Mapping[str, tuple[str, Sequence[float | None]]],
    degrees: bool,
    digits: int,
    notes: Sequence[str] = (),
) -> Report:
    """Numbers of an arm's state, joint by joint, without columns that no joint has, and notes below.

    Args:
        joints: The joints.
        columns: By heading what a column has, of `RATES` or "voltage", "current" or "torque", and its numbers as they are shown.
        degrees: Whether angles are degrees.
        digits: Significant digits.
        notes: Lines.
    """
    rows: list[Row] = [[joint.name] for joint in joints]
    wanted = {heading: column for heading, column in columns.items() if any(x is not None for x in column[1])}
    for what, values in wanted.values():
        texts = numbers([0.0 if x is None else x for x in values], digits)
        for row, joint, text, value in zip(rows, joints, texts, values, strict=True):
            kind = joint.type
            unit = joint_unit(kind, degrees, RATES[what]) if what in RATES else JOINT_TYPES[kind].unit_of(what)
            row.append("-" if value is None else (text, unit))
    return [ReportTable(["joint", *wanted], rows), *notes]


def wrench_table(wrenches: Mapping[str, Wrench], digits: int) -> ReportTable:
    """What base, joints and frames carry: a line each.

    Args:
        wrenches: Moment [N·m] and force [N], by name.
        digits: Significant digits.
    """
    rows: list[Row] = [
        [name, *zip(numbers([*f, *n], digits), ["N"] * 3 + ["N·m"] * 3, strict=True)]
        for name, (n, f) in wrenches.items()
    ]
    from armsim.plant.column_kinds import WRENCH

    return ReportTable(["at", *WRENCH], rows)


def friction_notes(slipping: Sequence[str] | None, count: int) -> list[str]:
    """Which joints dry friction holds without drive.

    Args:
        slipping: The joints that it does not hold; None for an arm without dry friction.
        count: Joints in all.
    """
    if slipping is None:
        return []
    if not slipping:
        return ["* friction alone holds all joints there"]
    rest = "" if len(slipping) == count else ", and the others stay"
    return [f"* with nothing driving, {', '.join(slipping)} would move{rest}"]


def outside_notes(arm: Arm, q: Sequence[float], qd: Sequence[float], degrees: bool) -> list[str]:
    """One line or two for every joint outside its range, whose stop acts in the numbers.

    Args:
        arm: The arm.
        q: Joint positions [rad or m].
        qd: Joint velocities [rad/s or m/s].
        degrees: Whether angles are shown in degrees.
    """
    notes = []
    for joint, q_i, push in zip(arm.joints, q, limit_torques(arm, q, qd), strict=True):
        type = joint.type
        if joint.limit is None or joint.limit.holds(q_i):
            continue
        limit = in_unit(joint.limit, [joint], degrees)
        span = f"{number(limit.lower)} to {number(limit.upper)} {joint_unit(type, degrees)}"
        act = f"its stop pushes with {number(push)} {force_unit(type)}, which is counted in"
        if limit.stiffness is None:
            act = "its limits have no stiffness, so nothing pushes back"
        note = f"! {joint.name} is outside its range, {span}; {act}"
        notes.append(wrapped(note))
    return notes


def rigid_notes(arm: Arm) -> list[str]:
    """A line or two where the arm has elastic couplings: a question about one state takes them as rigid."""
    names = ", ".join(joint.name for joint in arm.joints if joint.coupling is not None)
    note = f"! the coupling of {names} to its motor twists; here it is rigid; `simulate` and `inverse --trajectory` count it in"
    return [wrapped(note)] if names else []


def elastic_notes(arm: Arm, instant: bool) -> list[str]:
    """Which couplings count as rigid in a motion, and why; and of one instant, that its torques are those of rigid gears."""
    reasons = rigid_reasons(arm, instant)
    notes = [f"! {name} {reason}: here its gear is rigid" for name, reason in reasons.items()]
    names = ", ".join(elastic_joints(arm, instant))
    if instant and names:
        notes.append(
            f"! torque, voltage and current of {names} are those of a rigid gear: the motors' take jerk and snap, which "
            "--trajectory knows"
        )
    return [wrapped(note) for note in notes]


def overload_notes(overloads: Sequence[Overload], rows: int = 1) -> list[str]:
    """One line or two for every limit of a motor that a motion exceeds.

    Args:
        overloads: As of `overloads` or `overloads_along` of `armsim.arm.overload`.
        rows: Instants of the motion.
    """
    notes = []
    for of in overloads:
        shaft = " at the motor's shaft" if of.quantity in ("torque", "speed") else ""
        where = share = ""
        if isinstance(of, LastingOverload):
            where = f" at t = {number(of.t_s)} s (line {of.line})"
            share = f"; too much in {of.rows} of {rows} rows, from t = {number(of.from_s)} s on"
        need, limit = (f"{number(x)} {of.unit}" for x in (of.needed, of.limit))
        notes.append(wrapped(f"! {of.joint} needs {need}{shaft}{where}, more than its limit of {limit}{share}"))
    return notes


def nominal_notes(found: Sequence[AboveNominal], what: str) -> list[str]:
    """A line for every motor of which more than its nominal current is asked.

    Args:
        found: As of `armsim.arm.overload.above_nominal`.
        what: What asks for it, for example "this pose".
    """
    return [
        wrapped(
            f"! {of.joint} takes {number(of.current)} A for {what}, {of_nominal(of.current, of.nominal)}: "
            "its winding does not stand that for long"
        )
        for of in found
    ]


def of_nominal(current: float, nominal: float) -> str:
    """A current [A] against a nominal one, in words."""
    return f"{number(100 * current / nominal, 3)} % of its nominal {number(nominal)} A"


def derived_notes(arm: Arm, derived: Derived | None) -> list[str]:
    """What of a motion was differentiated, how, and the estimated error of the torques; empty for nothing."""
    if derived is None:
        return []
    from armsim.stability.advice import listed

    follow = "follow" if len(derived.quantities) > 1 else "follows"
    what = f"{listed(derived.quantities)} {follow} from {derived.source}"
    how = f"as derivatives of polynomials through {derived.rows} rows"
    errors = zip(numbers(derived.error, 2), arm.joints, strict=True)
    error = ", ".join(f"{joint.name} {size} {force_unit(joint.type)}" for size, joint in errors)
    return [wrapped(f"* {what}, {how}; estimated error of the torques, noise of the rows included: {error}")]
