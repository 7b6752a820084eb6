"""What `armsim linearize` prints."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from armsim.files.yaml_writer import yaml_text
from armsim.reports.state import state_table
from armsim.reports.table import Cell, joint_unit, number, table, wrapped
from armsim.spec.timing import seconds
from armsim.stability.advice import listed

FAR = 1.0  # rad or m, of a target from the pose that it is to hold


def report(summary: dict[str, Any], output: str | None, digits: int) -> str:
    """The modes of a linear model, and what else was asked for, as text."""
    inputs = len(summary["inputs"])
    kind = f"{summary['output']}{'s' if inputs > 1 else ''}"
    title = (
        f"{summary['scenario']}: {summary['robot']} near {summary['place']}, "
        f"{len(summary['states'])} states, {inputs} {kind}"
    )
    parts = [wrapped(title), _joints(summary, digits), *_notes(summary)]
    parts += ["", _modes("without feedback" if summary["closed_loop"] else "mode", summary, digits)]
    closed = summary["closed_loop"]
    if closed is not None:
        every = "" if closed["dt"] is None else f", every {closed['dt']:g} s"
        parts += ["", _modes(f"under its control{every}", closed, digits), "", *_margins(summary["margins"], digits)]
    parts += ["", *_reach(summary)]
    if summary["unstable"]:
        under = "commands" if summary["driven"] else "torques"
        parts.append(f"pose     unstable: under constant {under} a small deviation from it grows")
    parts.append(wrapped(_steps(summary)))
    if summary["sampled"] is not None:
        parts.append(wrapped(f"sampled  every {summary['sampled']['dt']:g} s, commands held in between"))
    parts.append(f"written  {output}" if output else "matrices --json prints them, -o FILE.npz writes them")
    if summary["bode"] is not None:
        parts += ["", _bode(summary["bode"], digits)]
    if summary["lqr"] is not None:
        parts += ["", _lqr(summary["lqr"], summary["joints"])]
    return "\n".join(parts)


def _joints(summary: dict[str, Any], digits: int) -> str:
    """The operating point: positions and commands, and velocities and accelerations unless it is an equilibrium."""
    joints = summary["joints"]
    keys = ["q"] if summary["equilibrium"] else ["q", "qd", "qdd"]
    columns = {key: (key, _settled([joint[key] for joint in joints])) for key in keys}
    if summary["driven"]:
        columns[summary["output"]] = (summary["output"], _settled([joint["command"] for joint in joints]))
    return "\n" + state_table([(joint["name"], joint["type"]) for joint in joints], columns, False, digits)


def _settled(values: list[float]) -> list[float]:
    """Numbers of one kind; those that a simulation has not quite brought to rest count as 0."""
    least = 1e-9 * max(map(abs, values))
    return [0.0 if abs(x) <= least else x for x in values]


def _notes(summary: dict[str, Any]) -> list[str]:
    notes = []
    held = [joint["name"] for joint in summary["joints"] if joint["held"]]
    if held:
        notes.append(wrapped(f"* dry friction holds {', '.join(held)}: taken as welded"))
    if not summary["driven"]:
        notes.append(wrapped("* nothing drives it: the inputs of B are torques from outside"))
    if not summary["equilibrium"]:
        notes.append(
            wrapped(
                "* no equilibrium: the equations hold for deviations from the motion that goes on from there, "
                "for as long as it stays near"
            )
        )
    return notes


def _modes(heading: str, system: dict[str, Any], digits: int) -> str:
    """A table of modes."""
    rows: list[list[Cell]] = []
    for mode in system["modes"]:
        real, imag = mode["rate"]
        rate = f"{number(real, digits)} ± {number(imag, digits)}i" if imag else number(real, digits)
        rows.append([mode["words"], rate, ", ".join(mode["joints"])])
    return table([heading, "rate 1/s", "mostly"], rows) if rows else f"{heading}: nothing can move"


def _margins(margins: dict[str, Any], digits: int) -> list[str]:
    rows: list[list[Cell]] = []
    for name, found in margins.items():
        row: list[Cell] = [name]
        for key, unit in (("gain", "dB"), ("lower_gain", "dB"), ("phase", "deg")):
            row += [(number(x, digits), in_) for x, in_ in zip(found[key], (unit, "Hz"))]
        row.append((number(1e3 * found["delay"][0], digits), "ms"))
        rows.append(row + [number(found[key][0], digits) for key in ("Ms", "Mt")])
    headings = ["margins", "gain", "at", "lower gain", "at", "phase", "at", "delay", "Ms", "Mt"]
    unstable = "! the closed loop is unstable: these are crossovers, and no margins"
    return [table(headings, rows), *([] if found["stable"] else [unstable])]


def _bode(bode: dict[str, Any], digits: int) -> str:
    columns = zip(bode["frequencies"], bode["magnitude"], bode["phase"])
    rows: list[list[Cell]] = [
        [f"{f:g} Hz", (number(size, digits), "dB"), (number(phase, digits), "deg")] for f, size, phase in columns
    ]
    return table([f"loop of {bode['joint']}", "magnitude", "phase"], rows)


def _reach(summary: dict[str, Any]) -> list[str]:
    reach = summary["controllable"]
    if not reach["states"]:
        return []
    if reach["reached"] == reach["states"]:
        lines = [f"control  all {reach['states']} states that can change are within reach of the inputs"]
    else:
        out = "; ".join(mode["words"] for mode in reach["out_of_reach"])
        lines = [
            wrapped(
                f"control  {reach['reached']} of {reach['states']} states that can change are within reach of the "
                f"inputs; a mode out of reach {out}"
            )
        ]
    return lines


def _steps(summary: dict[str, Any]) -> str:
    """How long steps may be."""
    limits = summary["stable_steps"]
    closed = summary["closed_loop"]
    between = " between samples" if closed is not None and closed["dt"] is not None else ""
    bounded = [f"{seconds(most)} with {method}" for method, most in limits.items() if most]
    any_step = [method for method, most in limits.items() if most is None]
    none = [method for method, most in limits.items() if most == 0]
    parts = [f"stable{between} up to {', '.join(bounded)}"] if bounded else []
    parts += [f"of any length stable{between} with {', '.join(any_step)}"] if any_step else []
    parts += [f"of no length stable{between} with {', '.join(none)}"] if none else []
    return f"steps    {'; '.join(parts)}"


def _lqr(lqr: dict[str, Any], arm: list[dict[str, Any]]) -> str:
    joints = lqr["joints"]
    weights = ", ".join(f"{name} = {_weight(value)}" for name, value in lqr["weights"].items() if value != 0)
    every = "" if lqr["period"] is None else f", sampled every {lqr['period']:g} s"
    intro = f"lqr: {weights}{every}, for every joint by itself with its inertia at rest in this pose."
    slowest = joints["modes"][0]["words"]
    if joints["extra_cost"] is None and not lqr["stable"]:
        worst = lqr["modes"][0]["words"]
        text = f"{intro} Measured by its encoders the arm is not held, neither by that nor by the full matrix K: a mode {worst}."
        return wrapped(f"{text} Take a larger r, or encoders whose `filter` is faster.")
    if joints["extra_cost"] is None:
        text = wrapped(f"{intro} The whole arm is not held by that: a mode {slowest}. Use the full matrix K:")
        return f"{text}\n\n{_block(lqr['control'])}"
    extra = f"{100 * joints['extra_cost']:.3g} % more than the full matrix K"
    text = wrapped(f"{intro} That holds the whole arm: its slowest mode {slowest}. It costs {extra}.")
    far, worst = max(zip(map(abs, joints["offset"]), arm, strict=True), key=lambda pair: pair[0])
    if far > FAR:
        unit = joint_unit(worst["type"], False)
        soft = f"! these gains are soft: to carry gravity {worst['name']} needs a target {number(far, 4)} {unit} off the pose"
        text += "\n" + wrapped(f"{soft}; a larger q or a smaller r makes them stiffer")
    comment = "the target is off the pose by what gravity takes, so that the arm rests in the pose"
    full = f"# or the full matrix, on {_fed_back(lqr)}\n{_block(lqr['control'])}"
    return f"{text}\n\n# {comment}\n{_block(joints['control'])}" + f"\n\n{full}" * lqr["stable"]


def _fed_back(lqr: dict[str, Any]) -> str:
    """What the full matrix multiplies."""
    more = ["currents"] * lqr["currents"] + ["commands on their way"] * (lqr["delay"] > 0)
    return listed(["positions", "velocities", *more]) if more else "positions, velocities"


def _block(control: dict[str, Any]) -> str:
    """A `control` block."""
    return f"control:\n{indent(yaml_text(control), '  ').rstrip()}"


def _weight(value: Any) -> str:
    return ", ".join(map(number, value)) if isinstance(value, list) else number(value)
