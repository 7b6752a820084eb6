"""What the panels of a run's figure show: curves of columns, with references, targets and limits. Nothing is drawn here."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any

from armsim.errors import UsageError, spelled
from armsim.figures.drawn_run import DrawnRun
from armsim.figures.envelope import Sum
from armsim.figures.style import with_unit
from armsim.files.faults import suggestion
from armsim.model import Joint
from armsim.plant.column_kinds import KINDS
from armsim.plant.columns import in_degrees, read_heading
from armsim.records import record

TITLES = {
    "q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque in all", "tau_motor": "motor torque",
    "tau_friction": "friction", "tau_limit": "stops", "voltage": "voltage", "current": "current", "power": "power",
    "prev_qd": "velocity before", "tau_coupling": "coupling", "error": "tracking error", "energy": "energy", "tool": "tool",
    "tool_velocity": "tool velocity", "frame": "frame", "frame_velocity": "frame velocity",
}  # fmt: skip
DEFAULT = ("q", "qd", "tau_motor", "voltage", "current", "error", "energy")
REFERENCE = re.compile(r"(q|qd)_ref_(.+)")
ERROR_FLOOR = {"rad": 1e-3, "deg": 0.05, "m": 1e-4}  # least height of a panel of tracking errors
ENERGIES = {"kinetic": "kinetic_energy_J", "potential": "potential_energy_J"}


@record
class Curve:
    """A quantity of a joint or a part over time.

    Attributes:
        kind: The quantity, as tolerances call it; "error" and "energy" for those.
        of: The joint, or the part.
        unit: As printed.
        value: What is drawn, in that unit; a constant has no terms.
        look: The joint's or part's number, see `armsim.figures.style.look`.
        heading: Of its column; empty for what has none.
        reference: Whether it is what others follow.
    """

    kind: str
    of: str
    unit: str
    value: Sum
    look: int = 0
    heading: str = ""
    reference: bool = False


@record
class Panel:
    """A panel: curves of one quantity in one unit.

    Attributes:
        kind: See `Curve`.
        unit: Likewise.
        curves: Over time.
        references: What curves are to follow: columns, or constant targets.
        limits: Bounds of curves: number of a look, and the value.
        note: Said above it.
    """

    kind: str
    unit: str
    curves: tuple[Curve, ...]
    references: tuple[Curve, ...] = ()
    limits: tuple[tuple[int, float], ...] = ()
    note: str = ""

    @property
    def joints(self) -> bool:
        """Whether its curves are joints' or parts'."""
        return of_joint(self.kind)

    @property
    def label(self) -> str:
        """What its axis says."""
        title = TITLES.get(self.kind, self.kind)
        if self.unit == "N":
            title = title.replace("torque", "force")
        return with_unit(title, self.unit)

    @property
    def least(self) -> float:
        """Its least height, where its unit alone does not decide it."""
        return ERROR_FLOOR.get(self.unit, 0.0) if self.kind == "error" else 0.0

    def of_looks(self, chosen: Sequence[int]) -> Panel:
        """The same of some joints alone."""
        curves, references = (tuple(c for c in cs if c.look in chosen) for cs in (self.curves, self.references))
        limits = tuple(limit for limit in self.limits if limit[0] in chosen)
        return replace(self, curves=curves, references=references, limits=limits)


class Panels:
    """The panels of a run.

    Args:
        run: The run.
        angle: Unit of angles, "rad" or "deg"; empty for those of the run.

    Attributes:
        arm: Of the run; None where it is not known.
        joints: Names of joints, in order.
    """

    def __init__(self, run: DrawnRun, angle: str = "") -> None:
        self.run, self.angle = run, angle
        found = run.drawn_arm()
        self.arm = None if found is None else found.arm
        read = [self._read(heading) for heading in run.headings]
        seen = [curve.of for curve in read if of_joint(curve.kind)]
        self.joints = list(dict.fromkeys(seen) if self.arm is None else self.arm.names)
        numbers = {name: i for i, name in enumerate(self.joints)}
        self._columns = [replace(curve, look=numbers.get(curve.of, len(numbers))) for curve in read]
        self._targets = run.control("target", len(numbers) if self.arm is None else self.arm.n) or []
        self._known = [*self._columns, *filter(None, map(self._error, self._columns))]

    def default(self) -> list[Panel]:
        """Positions, velocities, motor torques, voltages, currents, tracking errors and energies, as far as there are any."""
        made = []
        for kind in DEFAULT:
            of_kind = [curve for curve in self._known if curve.kind == kind]
            made += self._energy() if kind == "energy" else self._panels(of_kind)
        return made or self._panels(self._columns)

    def chosen(self, patterns: Sequence[str]) -> list[Panel]:
        """Panels of the columns that patterns such as `q_*` name, with or without their unit; a panel a quantity and unit.

        Raises:
            UsageError: A pattern names none.
        """
        wanted: list[Curve] = []
        for pattern in patterns:
            named = [c for c in self._known if any(fnmatchcase(name, pattern) for name in _names(c))]
            if not named:
                where = spelled(f"--columns {pattern}", f"columns: {pattern!r}")
                mend = suggestion(pattern, [column.heading for column in self._known])
                mend += "\npatterns such as q_* take all that begin so"
                raise UsageError.of(where, f"columns of {self.run.name}", "none of this name", mend)
            wanted += [column for column in named if column not in wanted]
        return self._panels(wanted)

    def _read(self, heading: str) -> Curve:
        match = REFERENCE.fullmatch(heading)
        followed = f"{match[1]}_{match[2]}" if match else ""
        reference = followed in self.run.headings
        kind, of, unit = read_heading(followed if reference else heading) or (heading, "", "")
        factor = 1.0
        if self.angle and unit[:3] in ("rad", "deg") and unit[:3] != self.angle:
            unit, factor = self.angle + unit[3:], turn(self.angle) / turn(unit)
        return Curve(kind, of or heading, unit, Sum(((heading, factor),)), 0, heading, reference)

    def _panels(self, curves: Sequence[Curve]) -> list[Panel]:
        """A panel for every quantity and unit."""
        grouped: dict[tuple[str, str], list[Curve]] = {}
        for curve in curves:
            grouped.setdefault((curve.kind, curve.unit), []).append(curve)
        return [self._panel(kind, unit, found) for (kind, unit), found in grouped.items()]

    def _panel(self, kind: str, unit: str, found: Sequence[Curve]) -> Panel:
        if not of_joint(kind):
            return Panel(kind, unit, tuple(replace(curve, look=i) for i, curve in enumerate(found)))
        curves, references = ([c for c in found if c.reference == which] for which in (False, True))
        shown = dict.fromkeys(curve.look for curve in curves or references if curve.look < len(self.joints))
        if kind == "q" and not references and self._targets:
            targets = {i: Sum((), turn(unit) * self._targets[i]) for i in shown if i < len(self._targets)}
            references = [Curve(kind, self.joints[i], unit, x, i) for i, x in targets.items()]
        limits = [(i, bound) for i in shown for bound in self._bounds(kind, i, unit)]
        return Panel(kind, unit, tuple(curves), tuple(references), tuple(limits))

    def _bounds(self, kind: str, i: int, unit: str) -> list[float]:
        """The bounds of a joint's quantity, in a unit."""
        if self.arm is None:
            return []
        limits = dict(enumerate(self.run.control("limit", self.arm.n) or ()))
        joint = [*self.arm.joints, *(link for link in self.arm.links_in_range if link.mimic)][i]
        output = self.run.controller.get("output")
        return [turn(unit) * x for x in bounds(kind, joint, limits.get(i), output)]

    def _error(self, curve: Curve) -> Curve | None:
        """Reference or target less position: `e_R1_rad`; None for anything but positions that are to be somewhere."""
        if curve.kind != "q" or curve.reference or curve.of not in self.joints:
            return None
        wanted = [c.value for c in self._columns if c.reference and (c.kind, c.of) == ("q", curve.of)]
        wanted += [Sum((), turn(curve.unit) * self._targets[curve.look])] if curve.look < len(self._targets) else []
        if not wanted:
            return None
        minus = tuple((heading, -factor) for heading, factor in curve.value.terms)
        error = Sum((*wanted[0].terms, *minus), wanted[0].constant)
        return replace(curve, kind="error", value=error, heading=curve.heading.replace("q", "e", 1))

    def _energy(self) -> list[Panel]:
        """Kinetic and potential energy, and their sum; what the audit leaves unexplained is said above."""
        if not all(heading in self.run.headings for heading in ENERGIES.values()):
            return []
        parts = {name: Sum(((heading, 1.0),)) for name, heading in ENERGIES.items()}
        parts["their sum"] = Sum(tuple(chain.from_iterable(one.terms for one in parts.values())))
        curves = tuple(Curve("energy", name, "J", value, i) for i, (name, value) in enumerate(parts.items(), 4))
        note = "" if self.run.audit is None else f"residual {self.run.audit.unexplained(2)}"
        return [Panel("energy", "J", curves, note=note)]


def bounds(kind: str, joint: Joint, limit: float | None = None, output: str | None = None) -> list[float]:
    """The bounds of a joint's quantity, by its stops or range, its motor and its controller.

    Args:
        kind: The quantity.
        joint: The joint.
        limit: Of its controller's output.
        output: What that is, "voltage" or "torque".

    Returns:
        Of positions the ends of the range that there are [rad or m]; else the least bound of magnitude, of either sign.
    """
    if kind == "q":
        return [end for end in joint.bounds if end is not None]
    motor, known = joint.motor, list[tuple[Any, float]]()
    if motor is not None:
        gear, limits = abs(motor.gear), motor.limits
        factors = {
            "voltage": [(limits.voltage, 1.0)],
            "current": [(limits.current, 1.0)],
            "tau_motor": [
                (limits.torque, gear),
                *([] if motor.Kp is None else [(limits.current, abs(motor.Kp) * gear)]),
            ],
            "qd": [(limits.speed, 1.0 / gear)],
        }
        known = factors.get(kind, [])
    least = [float(x) * factor for x, factor in known if x is not None]
    if limit is not None and kind == {"voltage": "voltage", "torque": "tau_motor"}.get(output or ""):
        least.append(limit)
    return [] if not least else [-min(least), min(least)]


def turn(unit: str) -> float:
    """A unit of angles, or of their rates, in one of radians."""
    return math.degrees(1.0) if unit.startswith("deg") else 1.0


def of_joint(kind: str) -> bool:
    """Whether a quantity is of joints."""
    return kind in ("prev_qd", "error") or any(kind == known.prefix for known in KINDS.values() if known.prefix)


def _names(column: Curve) -> list[str]:
    """What a column may be called: its heading, in degrees too, and either without the unit."""
    headings = [column.heading, *filter(None, [in_degrees(column.heading)])]
    unit = column.unit.replace("·", "").replace("/", "_").replace("²", "2")
    return [*headings, *(heading.removesuffix(f"_{unit}") for heading in headings)]
