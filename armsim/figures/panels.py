"""What the panels of a run's figure show: curves of columns, with references, targets and limits. Nothing is drawn here."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any

from armsim.errors import UsageError, spelled
from armsim.figures.drawn_run import DrawnRun
from armsim.figures.envelope import Sum
from armsim.figures.style import tick
from armsim.files.faults import suggestion
from armsim.model import Arm, Joint
from armsim.plant.columns import KINDS, in_degrees, read_heading

TITLES = {
    "q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque in all", "tau_motor": "motor torque",
    "tau_friction": "friction", "tau_limit": "stops", "voltage": "voltage", "current": "current", "power": "power",
    "prev_qd": "velocity before", "error": "tracking error", "energy": "energy", "tool": "tool",
    "tool_velocity": "tool velocity",
}  # fmt: skip
DEFAULT = ("q", "qd", "tau_motor", "voltage", "current", "error", "energy")
REFERENCE = re.compile(r"(q|qd)_ref_(.+)")
ERROR_FLOOR = {"rad": 1e-3, "deg": 0.05, "m": 1e-4}  # least height of a panel of tracking errors
ENERGIES = {"kinetic": "kinetic_energy_J", "potential": "potential_energy_J"}


@dataclass(frozen=True)
class Curve:
    """A curve of a panel.

    Attributes:
        of: The joint, or the part.
        value: What is drawn over time; a constant has no terms.
        look: The joint's or part's number, see `armsim.figures.style.look`.
    """

    of: str
    value: Sum
    look: int


@dataclass(frozen=True)
class Panel:
    """A panel: curves of one quantity in one unit.

    Attributes:
        kind: The quantity, as tolerances call it; "error" and "energy" for those.
        unit: As printed.
        curves: Over time.
        references: What curves are to follow: columns, or constant targets.
        limits: Bounds of curves: number of a look, and the value.
        joints: Whether its curves are joints' or parts'.
        note: Said above it.
    """

    kind: str
    unit: str
    curves: tuple[Curve, ...]
    references: tuple[Curve, ...] = ()
    limits: tuple[tuple[int, float], ...] = ()
    joints: bool = True
    note: str = ""

    @property
    def label(self) -> str:
        """What its axis says."""
        title = TITLES.get(self.kind, self.kind)
        if self.unit == "N":
            title = title.replace("torque", "force")
        return f"{title} [{self.unit}]" if self.unit else title

    @property
    def least(self) -> float:
        """Its least height, where its unit alone does not decide it."""
        return ERROR_FLOOR.get(self.unit, 0.0) if self.kind == "error" else 0.0

    def of_looks(self, chosen: Sequence[int]) -> Panel:
        """The same of some joints alone."""
        curves, references = (tuple(c for c in cs if c.look in chosen) for cs in (self.curves, self.references))
        limits = tuple(limit for limit in self.limits if limit[0] in chosen)
        return Panel(self.kind, self.unit, curves, references, limits, self.joints, self.note)


@dataclass(frozen=True)
class _Column:
    """A column of a run: its quantity, joint or part, its unit, and its value in that unit."""

    heading: str
    kind: str
    of: str
    unit: str
    value: Sum
    reference: bool = False


@dataclass
class Panels:
    """The panels of a run.

    Args:
        run: The run.
        degrees: Whether angles are drawn in degrees; those that the run has in degrees are in any case.
        unit: Of angles, "rad" or "deg", in place of the run's own; for runs that are drawn together.

    Attributes:
        arm: Of the run; None where it is not known.
        joints: Names of joints, in order.
    """

    run: DrawnRun
    degrees: bool = False
    unit: str = ""
    arm: Arm | None = field(init=False)
    joints: list[str] = field(init=False)

    def __post_init__(self) -> None:
        found = self.run.drawn_arm()
        self.arm = None if found is None else found.arm
        self._columns = [self._column(heading) for heading in self.run.headings]
        seen = [column.of for column in self._columns if _of_joint(column.kind)]
        self.joints = list(dict.fromkeys(seen)) if self.arm is None else [joint.name for joint in self.arm.joints]

    def default(self) -> list[Panel]:
        """Positions, velocities, motor torques, voltages, currents, tracking errors and energies, as far as there are any."""
        made = []
        for kind in DEFAULT:
            if kind == "energy":
                made += self._energy()
            elif kind == "error":
                made += self._panels(self._errors())
            else:
                made += self._panels([column for column in self._columns if column.kind == kind])
        return made or self._panels(self._columns)

    def chosen(self, patterns: Sequence[str]) -> list[Panel]:
        """Panels of the columns that patterns such as `q_*` name, with or without their unit; a panel a quantity and unit.

        Raises:
            UsageError: A pattern names none.
        """
        wanted: list[_Column] = []
        known = [*self._columns, *self._errors()]
        for pattern in patterns:
            named = [c for c in known if any(fnmatchcase(name, pattern) for name in _names(c))]
            if not named:
                where = spelled(f"--columns {pattern}", f"columns: {pattern!r}")
                mend = (
                    suggestion(pattern, [column.heading for column in known])
                    + "\npatterns such as q_* take all that begin so"
                )
                raise UsageError.of(where, f"columns of {self.run.name}", "none of this name", mend)
            wanted += [column for column in named if column not in wanted]
        return self._panels(wanted)

    def _column(self, heading: str) -> _Column:
        match = REFERENCE.fullmatch(heading)
        followed = f"{match[1]}_{match[2]}" if match else ""
        reference = followed in self.run.headings
        kind, of, unit = read_heading(followed if reference else heading) or (heading, "", "")
        factor = 1.0
        if unit.startswith("rad") and (self.degrees or self.unit == "deg"):
            unit, factor = f"deg{unit[3:]}", math.degrees(1.0)
        elif unit.startswith("deg") and self.unit == "rad":
            unit, factor = f"rad{unit[3:]}", math.radians(1.0)
        return _Column(heading, kind, of, unit, Sum(((heading, factor),)), reference)

    def _panels(self, columns: Sequence[_Column]) -> list[Panel]:
        """A panel for every quantity and unit."""
        grouped: dict[tuple[str, str], list[_Column]] = {}
        for column in columns:
            grouped.setdefault((column.kind, column.unit), []).append(column)
        return [self._panel(kind, unit, found) for (kind, unit), found in grouped.items()]

    def _panel(self, kind: str, unit: str, columns: Sequence[_Column]) -> Panel:
        if not _of_joint(kind):
            curves = [Curve(column.of or column.heading, column.value, i) for i, column in enumerate(columns)]
            return Panel(kind, unit, tuple(curves), joints=False)
        curves = [Curve(column.of, column.value, self._look(column.of)) for column in columns if not column.reference]
        names = [curve.of for curve in curves] or [column.of for column in columns]
        references = [Curve(column.of, column.value, self._look(column.of)) for column in columns if column.reference]
        if kind == "q" and not references:
            targets = [(name, self._target(name, unit)) for name in names]
            references = [Curve(name, Sum((), x), self._look(name)) for name, x in targets if x is not None]
        limits = [(self._look(name), bound) for name in names for bound in self._bounds(kind, name, unit)]
        return Panel(kind, unit, tuple(curves), tuple(references), tuple(limits))

    def _look(self, name: str) -> int:
        return self.joints.index(name) if name in self.joints else len(self.joints)

    def _target(self, name: str, unit: str) -> float | None:
        """The constant target of a joint, in a unit; None where there is none."""
        targets = self.run.control("target", len(self.joints))
        if targets is None or name not in self.joints:
            return None
        return targets[self.joints.index(name)] * (math.degrees(1.0) if unit.startswith("deg") else 1.0)

    def _bounds(self, kind: str, name: str, unit: str) -> list[float]:
        """The bounds of a joint's quantity, in a unit."""
        if self.arm is None or name not in self.joints:
            return []
        i = self.joints.index(name)
        limits = self.run.control("limit", len(self.joints))
        output = (self.run.scenario.get("control") or {}).get("output")
        turn = math.degrees(1.0) if unit.startswith("deg") else 1.0
        return [turn * x for x in bounds(kind, self.arm.joints[i], None if limits is None else limits[i], output)]

    def _errors(self) -> list[_Column]:
        """Reference or target less position: `e_R1_rad`."""
        made = []
        for column in self._columns:
            if column.kind != "q" or column.reference or column.of not in self.joints:
                continue
            minus = column.value.scaled(-1.0).terms
            reference = next((c for c in self._columns if c.reference and (c.kind, c.of) == ("q", column.of)), None)
            target = self._target(column.of, column.unit)
            if reference is not None:
                error = Sum((*reference.value.terms, *minus))
            elif target is not None:
                error = Sum(minus, target)
            else:
                continue
            made.append(_Column(column.heading.replace("q", "e", 1), "error", column.of, column.unit, error))
        return made

    def _energy(self) -> list[Panel]:
        """Kinetic and potential energy, and their sum; what the audit leaves unexplained is said above."""
        if not all(heading in self.run.headings for heading in ENERGIES.values()):
            return []
        parts = {name: Sum(((heading, 1.0),)) for name, heading in ENERGIES.items()}
        parts["their sum"] = Sum(tuple(chain.from_iterable(one.terms for one in parts.values())))
        curves = tuple(Curve(name, value, i) for i, (name, value) in zip((4, 5, 6), parts.items(), strict=True))
        note = "" if self.run.audit is None else audit_note(self.run.audit)
        return [Panel("energy", "J", curves, joints=False, note=note)]


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
        ends = () if joint.limit is None else (joint.limit.lower, joint.limit.upper)
        return [float(end) for end in ends if math.isfinite(end)]
    motor, least = joint.motor, []
    if motor is not None:
        gear = abs(motor.gear)
        volts, amps, torque, speed = (getattr(motor.limits, x) for x in ("voltage", "current", "torque", "speed"))
        of_motor = {
            "voltage": [volts],
            "current": [amps],
            "tau_motor": [
                None if torque is None else torque * gear,
                None if amps is None or motor.Kp is None else amps * abs(motor.Kp) * gear,
            ],
            "qd": [None if speed is None else speed / gear],
        }
        least = [float(x) for x in of_motor.get(kind, []) if x is not None]
    if limit is not None and kind == {"voltage": "voltage", "torque": "tau_motor"}.get(output or ""):
        least.append(limit)
    return [] if not least else [-min(least), min(least)]


def audit_note(audit: Mapping[str, Any]) -> str:
    """What an energy balance leaves unexplained, in words."""
    share = audit.get("relative")
    of = "" if share is None else f", {tick(float(f'{100 * share:.2g}'))} % of the energy exchanged"
    return f"no work explains {tick(audit['residual'], 2)} J{of}"


def _of_joint(kind: str) -> bool:
    return kind in ("prev_qd", "error") or any(kind == known.prefix for known in KINDS.values() if known.prefix)


def _names(column: _Column) -> list[str]:
    """What a column may be called: its heading, in degrees too, and either without the unit."""
    headings = [column.heading, *filter(None, [in_degrees(column.heading)])]
    unit = column.unit.replace("·", "").replace("/", "_").replace("²", "2")
    return [*headings, *(heading.removesuffix(f"_{unit}") for heading in headings)]
