"""An arm between two events: a smooth vector field, and the guards whose signs say how long it is the right one.

What jumps with a joint's velocity (dry friction at rest, the current at the limit of speed) has a sliding mode: the joint is held
at that velocity by a force between those on both sides. Which joints are held is found by trying all combinations; M is positive
definite and the forces only fall with the velocity, so one alone contradicts nothing.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from .branches import Branches
from .cases import Case
from .drive import Drive
from .newton_euler import Chain, solve

NAMES = {name: getattr(math, name) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "pi")}
NAMES |= {"abs": abs, "min": min, "max": max}


@dataclass(frozen=True)
class Mode:
    """What is held fast between two events.

    Attributes:
        since: Beginning of the piece of the inputs [s]; they are smooth up to the next border.
        zones: By joint: 2 k in interval k of its velocity axis, 2 k + 1 held at level k.
        clamped: Joints whose inductive current is held at its limit, and its sign.
        held: Commands as sampled, by joint; none where they are continuous.
        sides: Sides of all conditions.
    """

    since: float
    zones: tuple[int, ...]
    clamped: Mapping[int, float] = field(default_factory=dict)
    held: tuple[float, ...] = ()
    sides: dict[Hashable, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """Rates of the state, and guards by what happens when they fall below 0."""

    rates: list[float]
    guards: dict[Hashable, float]


class Hybrid:
    """A case's equations of motion, piece by piece."""

    def __init__(self, case: Case) -> None:
        self.case = case
        scenario = case.scenario
        robot = scenario["robot"]
        self.chain = Chain(robot)
        self.n = len(self.chain.links)
        self.control = scenario.get("control")
        self.inputs = scenario.get("inputs")
        asked = self.control or self.inputs
        output = None if asked is None else asked.get("output") or ("torque" if "torque" in asked else "voltage")
        self.period = None if asked is None else asked.get("period")
        self.drives = [Drive(i, joint, output) for i, joint in enumerate(robot["joints"])]
        self.coils = [i for i, drive in enumerate(self.drives) if drive.inductance and output]
        self.signals = [] if self.inputs is None else [self.signal(written) for written in self.inputs[output]]
        self.external = scenario.get("external", [])
        end = scenario["duration"]
        samples = [] if self.period is None else [k * self.period for k in range(round(end / self.period))]
        moments = [wrench[key] for wrench in self.external for key in ("from", "to") if key in wrench]
        rows = [t for times, _ in case.tables.values() for t in times]
        self.borders = sorted({t for t in (*samples, *moments, *rows, *case.corners, 0.0, end) if 0 <= t <= end})

    # ---- what drives ----

    def signal(self, written: Any) -> Any:
        """A function of the time and of the piece of the inputs that it lies in."""
        if isinstance(written, Mapping):
            times, columns = self.case.tables[written["csv"]]
            return Recorded(times, columns[written["column"]], written.get("hold", "zero") == "linear")
        code = compile(str(written), "<input>", "eval")
        return lambda t, since: float(eval(code, {"__builtins__": {}}, {**NAMES, "t": t}))

    def commands(self, t: float, y: Sequence[float], since: float, on: Branches) -> list[float]:
        """Command of each joint; a limit is a condition like others."""
        if self.inputs is not None:
            return [signal(t, since) for signal in self.signals]
        if self.control is None:
            return [0.0] * self.n
        found = []
        for i in range(self.n):
            kp, kd = (every(self.control.get(key, 0.0), i) for key in ("kp", "kd"))
            u = kp * (self.control["target"][i] - y[i]) - kd * y[self.n + i]
            limit = every(self.control.get("limit", inf), i)
            found.append(u if limit == inf else on.clip("command", i, u, -limit, limit))
        return found

    # ---- between events ----

    def at(self, t: float, y: Sequence[float], mode: Mode) -> Field:
        """Rates and guards of a mode."""
        n, on = self.n, Branches(mode.sides)
        q, v = y[:n], y[n : 2 * n]
        currents = dict(zip(self.coils, y[2 * n :]))
        u = mode.held or self.commands(t, y, mode.since, on)
        pushing = [w for w in self.external if w.get("from", 0.0) <= mode.since < w.get("to", inf)]
        M, h = self.chain.equations(q, v, pushing)
        guards: dict[Hashable, float] = {}
        forces, rates = [0.0] * n, {}
        between: dict[int, tuple[float, float]] = {}
        for i, (drive, zone) in enumerate(zip(self.drives, mode.zones)):
            sides = [
                drive.force(k, q[i], v[i], currents.get(i, 0.0), u[i], on) for k in sorted({zone // 2, (zone + 1) // 2})
            ]
            forces[i], rates[i] = sides[0].total, sides[0].current_rate
            if zone % 2:
                between[i] = sides[0].total, sides[1].total
            else:
                k = zone // 2
                if k > 0:
                    guards["zone", i, zone - 1] = v[i] - drive.levels[k - 1]
                if k < len(drive.levels):
                    guards["zone", i, zone + 1] = drive.levels[k] - v[i]
        a = self.accelerations(M, h, forces, between)
        for i, (below, above) in between.items():
            needed = sum(m * x for m, x in zip(M[i], a)) + h[i]
            guards["zone", i, mode.zones[i] + 1] = (needed - above) / M[i][i]
            guards["zone", i, mode.zones[i] - 1] = (below - needed) / M[i][i]
        flows = []
        for i in self.coils:
            sign, most = mode.clamped.get(i), self.drives[i].limits["current"]
            if sign is not None:
                guards["clamp", i, 0.0] = sign * rates[i] / most
            elif most < inf:
                for way in (1.0, -1.0):
                    guards["clamp", i, way] = 1.0 - way * currents[i] / most
            flows.append(rates[i] if sign is None else 0.0)
        return Field([*v, *a, *flows], {**guards, **on.guards})

    def accelerations(
        self, M: list[list[float]], h: list[float], forces: list[float], held: Mapping[int, Any]
    ) -> list[float]:
        """Joint accelerations, 0 of joints that are held."""
        free = [i for i in range(self.n) if i not in held]
        found = solve([[M[i][j] for j in free] for i in free], [forces[i] - h[i] for i in free])
        a = [0.0] * self.n
        for i, x in zip(free, found):
            a[i] = x
        return a

    # ---- at events ----

    def start(self) -> tuple[list[float], Mode]:
        """The state at the beginning, and its mode."""
        initial = self.case.scenario["initial"]
        y = [*map(float, initial["q"]), *map(float, initial["qd"]), *[0.0] * len(self.coils)]
        return y, self.border(0.0, y, Mode(0.0, (0,) * self.n))

    def border(self, t: float, y: Sequence[float], mode: Mode) -> Mode:
        """The mode in which a piece of the inputs begins."""
        held: tuple[float, ...] = mode.held
        if self.period is not None and abs(t / self.period - round(t / self.period)) < 1e-9:
            held = tuple(self.commands(t, y, t, Branches()))
        return self.settled(t, y, replace(mode, since=t, held=held, sides={}), {})

    def event(self, t: float, y: list[float], mode: Mode, hit: Sequence[Hashable]) -> tuple[list[float], Mode]:
        """State and mode after guards have come to 0; velocities that reach a level are set to it."""
        y, clamped, forced = list(y), dict(mode.clamped), {}
        sides = {}
        for key in hit:
            what, i, new = key if len(key) == 3 else (None, None, None)
            if what == "zone" and new % 2:
                y[self.n + i] = self.drives[i].levels[new // 2]
            elif what == "zone":
                forced[i] = new
            elif what == "clamp":
                clamped.pop(i, None)
                if new:
                    clamped[i] = new
                    y[2 * self.n + self.coils.index(i)] = new * self.drives[i].limits["current"]
            else:
                sides[key] = not mode.sides[key]
        return y, self.settled(t, y, replace(mode, clamped=clamped, sides=sides), forced)

    def kind(self, key: Hashable, mode: Mode) -> str:
        """The kind of event that a guard of a mode stands for."""
        assert isinstance(key, tuple)
        if key[0] != "zone":
            return str(key[0])
        _, i, new = key
        held = new % 2 == 1
        if self.drives[i].levels[(new if held else mode.zones[i]) // 2] != 0.0:
            return "speed"
        return "stick" if held else "slip"

    def settled(self, t: float, y: Sequence[float], mode: Mode, forced: Mapping[int, int]) -> Mode:
        """The mode that contradicts nothing, with conditions on the sides their values have, but for those in `mode.sides`."""
        choices, open_to = [], []
        for i, (drive, v) in enumerate(zip(self.drives, y[self.n : 2 * self.n])):
            k = bisect_left(drive.levels, v)
            if bisect_right(drive.levels, v) == k:
                choices.append([2 * k])
            elif i in forced:
                choices.append([forced[i]])
            else:
                choices.append([2 * k + 1, 2 * k, 2 * k + 2])
                open_to.append(i)
        best, found = -inf, mode
        for zones in itertools.product(*choices):
            tried = replace(mode, zones=zones, sides=dict(mode.sides))
            margin = self.margin(self.at(t, y, tried), tried, open_to)
            if margin > best:
                best, found = margin, tried
        return self.unclamped(t, y, found)

    def margin(self, made: Field, mode: Mode, joints: Sequence[int]) -> float:
        """By how much the accelerations bear out where joints at a level are taken to go; below 0 they contradict it."""
        least = inf
        for i in joints:
            zone = mode.zones[i]
            if zone % 2:
                least = min(least, made.guards["zone", i, zone + 1], made.guards["zone", i, zone - 1])
            else:
                at = ("zone", i, zone - 1)
                up = at in made.guards and made.guards[at] == 0.0
                least = min(least, made.rates[self.n + i] * (1.0 if up else -1.0))
        return least

    def unclamped(self, t: float, y: Sequence[float], mode: Mode) -> Mode:
        """The mode, less the limits of current from which the voltage leads away."""
        made = self.at(t, y, mode)
        kept = {i: sign for i, sign in mode.clamped.items() if made.guards["clamp", i, 0.0] > 0}
        return replace(mode, clamped=kept)


@dataclass(frozen=True)
class Recorded:
    """A column of a table, straight between its rows or held, in the piece that began at `since`."""

    times: Sequence[float]
    values: Sequence[float]
    linear: bool

    def __call__(self, t: float, since: float) -> float:
        k = bisect_right(self.times, since) - 1
        if not self.linear or k + 1 == len(self.times):
            return self.values[k]
        t0, t1 = self.times[k : k + 2]
        return self.values[k] + (self.values[k + 1] - self.values[k]) * (t - t0) / (t1 - t0)


def every(written: Any, i: int) -> float:
    """A joint's number: one for all joints, or one per joint."""
    return float(written[i] if isinstance(written, Sequence) else written)
