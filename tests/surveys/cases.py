"""Random scenarios with events, by family and seed: the same case for the same seed on every machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .draft import Draft, Table, short


@dataclass(frozen=True)
class Case:
    """A scenario without its integrator.

    Attributes:
        family: Of `FAMILIES`.
        seed: Of the draw.
        scenario: As `armsim.loading.read_scenario` takes it, its robot inline; CSV files by name.
        tables: Those files by name: times [s], and columns by heading.
        corners: Instants at which formulas of time have corners [s].
    """

    family: str
    seed: int
    scenario: dict[str, Any]
    tables: dict[str, Table] = field(default_factory=dict)
    corners: tuple[float, ...] = ()

    def written(self, folder: Path, integrator: Mapping[str, Any], rows: float | None = None) -> dict[str, Any]:
        """The whole scenario, its tables written to a folder; a row every so many seconds, or at start and end."""
        names = {}
        for name, (times, columns) in self.tables.items():
            names[name] = str(folder / f"{self.family.replace(' ', '_')}_{self.seed}_{name}")
            lines = [",".join(["t_s", *columns])]
            lines += [",".join(map(repr, row)) for row in zip(times, *columns.values())]
            Path(names[name]).write_text("\n".join(lines) + "\n")
        log = {"every": self.scenario["duration"] if rows is None else rows}
        return {**placed(self.scenario, names), "integrator": dict(integrator), "log": log}


def cases(count: int, first: int = 0, families: Sequence[str] = ()) -> Iterator[Case]:
    """So many scenarios, of all families in turn or of those that are named; `first` is the first seed."""
    names = families or list(FAMILIES)
    for k in range(count):
        yield case(names[k % len(names)], first + k // len(names))


def placed(data: Any, names: Mapping[str, str]) -> Any:
    """Plain data with the tables' names replaced."""
    if isinstance(data, dict):
        return {key: names[x] if key == "csv" else placed(x, names) for key, x in data.items()}
    return [placed(x, names) for x in data] if isinstance(data, list) else data


def case(family: str, seed: int) -> Case:
    """A random scenario of a family."""
    draft = Draft(random.Random(f"{family} {seed}"))
    FAMILIES[family](draft)
    return Case(family, seed, draft.scenario, draft.tables, tuple(draft.corners))


# ---- families ----


def gear_friction(draft: Draft) -> None:
    draft.bare_motors(coulomb=lambda i, motor: short(draft.sized(i, 1, 4) / abs(motor["gear"])))
    draft.torques()


def gear_losses(draft: Draft) -> None:
    draft.bare_motors(efficiency=lambda i, motor: draft.within(0.5, 0.9))
    draft.torques()


def limited(key: str, size: Callable[[Draft, dict[str, Any], float, float], float]) -> Callable[[Draft], None]:
    """The family of motors with one limit, under a voltage, a torque or feedback."""

    def build(draft: Draft) -> None:
        draft.motors(limits=lambda i, motor, volts, stall: {key: short(size(draft, motor, volts, stall))})
        drive = draft.rng.choice(["voltages", "torques", "pd of voltage", "pd of torque"])
        if drive == "voltages":
            draft.voltages()
        elif drive == "torques":
            draft.torques(10, 25)
        else:
            draft.pd(drive.split()[-1])

    return build


def voltage_limit(draft: Draft, motor: dict[str, Any], volts: float, stall: float) -> float:
    return volts * draft.rng.uniform(0.3, 0.6)


def current_limit(draft: Draft, motor: dict[str, Any], volts: float, stall: float) -> float:
    return volts / motor["Ra"] * draft.rng.uniform(0.2, 0.5)


def torque_limit(draft: Draft, motor: dict[str, Any], volts: float, stall: float) -> float:
    return stall / abs(motor["gear"]) * draft.rng.uniform(0.2, 0.5)


def speed_limit(draft: Draft, motor: dict[str, Any], volts: float, stall: float) -> float:
    return abs(motor["gear"]) * draft.rng.uniform(0.4, 1.2)


def command_limit(draft: Draft) -> None:
    if draft.rng.random() < 0.5:
        draft.pd(stiffness=(50, 90), limit=[draft.sized(i, 6, 16) for i in range(draft.n)])
    else:
        draft.motors()
        draft.pd("voltage", (50, 90), limit=[short(volts * draft.rng.uniform(0.5, 0.9)) for volts in draft.full])


def brushes(draft: Draft) -> None:
    def drop(i: int, motor: dict[str, Any], volts: float, stall: float) -> dict[str, float]:
        return {"max": short(volts * draft.rng.uniform(0.05, 0.2)), "half": short(volts * draft.rng.uniform(0.01, 0.2))}

    draft.motors(brush_drop=drop)
    if draft.rng.random() < 0.6:
        draft.voltages()
    else:
        draft.pd("voltage")


def inductance(draft: Draft) -> None:
    limits = draft.rng.choice([("current",), ("voltage",), ("current", "voltage")])
    sizes = {"current": lambda m, v: v / m["Ra"] * draft.rng.uniform(0.2, 0.5), "voltage": lambda m, v: v * 0.7}
    draft.motors(
        inductance=lambda i, motor, volts, stall: short(motor["Ra"] * draft.rng.uniform(0.005, 0.05)),
        limits=lambda i, motor, volts, stall: {key: short(sizes[key](motor, volts)) for key in limits},
    )
    draft.voltages()


def smooth(draft: Draft) -> None:
    """Nothing happens: what a method does without events."""
    draft.torques()


def friction(draft: Draft) -> None:
    draft.friction()
    draft.torques()


def soft_stops(draft: Draft) -> None:
    draft.stops((30, 150))
    draft.torques()


def damped_stops(draft: Draft) -> None:
    draft.stops((200, 2000), (0.1, 0.9))
    draft.torques()


def stiff_stops(draft: Draft) -> None:
    draft.stops((3000, 30000), (0.05, 0.4))
    draft.torques()


def linear_tables(draft: Draft) -> None:
    draft.recorded("linear")


def stepped_tables(draft: Draft) -> None:
    draft.recorded("zero")


def tables_and_friction(draft: Draft) -> None:
    draft.recorded(draft.rng.choice(["linear", "zero"]))
    draft.friction()


def kinked(draft: Draft) -> None:
    draft.kinked()


def pushes(draft: Draft) -> None:
    draft.pushes()
    draft.friction(0.5, 2.0)


def sampled(draft: Draft) -> None:
    """Controller or torques that are held between samples."""
    if draft.rng.random() < 0.7:
        draft.pd()
    else:
        draft.torques()
    asked = draft.scenario.get("control") or draft.scenario["inputs"]
    asked["period"] = draft.rng.choice([0.02, 0.03, 0.05, 0.1])
    draft.friction(0.5, 3.0)


def combined(draft: Draft) -> None:
    """Friction, stops, a lossy gear and two limits at once, and pushes of some."""
    limits = {"voltage": voltage_limit, "current": current_limit, "torque": torque_limit, "speed": speed_limit}
    keys = draft.rng.sample(sorted(limits), 2)
    more: dict[str, Any] = {}
    if draft.rng.random() < 0.6:
        more["efficiency"] = lambda i, motor, volts, stall: draft.within(0.6, 0.95)
    draft.motors(
        limits=lambda i, motor, volts, stall: {key: short(limits[key](draft, motor, volts, stall)) for key in keys},
        **more,
    )
    if draft.rng.random() < 0.6:
        draft.friction(0.5, 3.0)
    if draft.rng.random() < 0.5:
        draft.stops((200, 2000), (0.1, 0.9))
    if draft.rng.random() < 0.3:
        draft.pushes()
    output = draft.rng.choice(["voltage", "torque"])
    if draft.rng.random() < 0.5:
        draft.pd(output)
    elif output == "voltage":
        draft.voltages()
    else:
        draft.torques(8, 20)


FAMILIES: dict[str, Callable[[Draft], None]] = {
    "smooth": smooth,
    "friction": friction,
    "gear friction": gear_friction,
    "gear losses": gear_losses,
    "soft stops": soft_stops,
    "damped stops": damped_stops,
    "stiff stops": stiff_stops,
    "voltage limit": limited("voltage", voltage_limit),
    "current limit": limited("current", current_limit),
    "torque limit": limited("torque", torque_limit),
    "speed limit": limited("speed", speed_limit),
    "command limit": command_limit,
    "brushes": brushes,
    "inductance": inductance,
    "linear tables": linear_tables,
    "stepped tables": stepped_tables,
    "tables and friction": tables_and_friction,
    "kinked inputs": kinked,
    "pushes": pushes,
    "sampled": sampled,
    "combined": combined,
}
