"""What `armsim linearize` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence

from armsim.clock import seconds
from armsim.document.base import plain
from armsim.errors import spelled
from armsim.files.yaml_writer import block
from armsim.linear.loop import JointLoop
from armsim.linear.model import LinearModel
from armsim.linear.regulator import Regulator
from armsim.linear.system import LinearSystem
from armsim.notebook import counted
from armsim.reports.state import state_table
from armsim.reports.table import Line, Report, ReportTable, Row, joint_unit, measured, number, wrapped
from armsim.stability.advice import listed
from armsim.stability.step_modes import stable_steps

FAR = 1.0  # rad or m, of a target from the pose that it is to hold


def of_system(system: LinearSystem) -> Report:
    """The modes of a linear system that is none of an arm near a state, as a sampled one."""
    return [repr(system), "", _modes("mode", system, 4)]


def report(
    model: LinearModel,
    sampled: LinearSystem | None = None,
    regulator: Regulator | None = None,
    bode: str | None = None,
    output: str | None = None,
    digits: int = 4,
) -> Report:
    """The modes of a linear model, and what else was asked for, as text.

    Args:
        model: The model.
        sampled: The model in discrete time, if it is asked for.
        regulator: A regulator, if it is asked for.
        bode: The joint whose loop's frequency response is asked for.
        output: The file of its arrays, if there is one.
        digits: Significant digits.
    """
    inputs, closed = len(model.inputs), model.closed_loop
    near = f"{model.scenario.name}: {model.about.plant.arm.name} near {model.place}"
    title = f"{near}, {len(model.states)} states, {counted(inputs, model.output)}"
    parts: Report = [wrapped(title), "", *_joints(model, digits), *_notes(model)]
    parts += ["", _modes("without feedback" if closed else "mode", model, digits)]
    if model.couplings:
        parts += ["", _couplings(model, digits)]
    if closed is not None:
        every = "" if closed.dt is None else f", every {closed.dt:g} s"
        parts += ["", _modes(f"under its control{every}", closed, digits), "", *_margins(model, digits)]
    parts += ["", *_reach(model)]
    if model.unstable_pose:
        under = "commands" if model.driven else "torques"
        parts.append(f"pose     unstable: under constant {under} a small deviation from it grows")
    parts.append(wrapped(_steps(model)))
    if sampled is not None:
        parts.append(wrapped(f"sampled  every {sampled.dt:g} s, commands held in between"))
    matrices = spelled("--json prints them, -o FILE.npz writes them", "A, B, C and D")
    parts.append(f"written  {output}" if output else f"matrices {matrices}")
    if bode is not None:
        parts += ["", _bode(bode, model.loops[bode], digits)]
    if regulator is not None:
        parts += ["", _lqr(regulator)]
    return parts


def _joints(model: LinearModel, digits: int) -> Report:
    """The operating point: positions and commands, and velocities and accelerations unless it is an equilibrium."""
    about = model.about
    values = {"q": about.q} if model.is_equilibrium else {"q": about.q, "qd": about.qd, "qdd": about.qdd}
    arm = about.plant.arm.mechanism
    given: dict[str, Sequence[float | None]] = {key: _settled(of) for key, of in values.items()}
    if model.driven:
        at, u = arm.drivers, _settled(about.u)
        given[model.output] = [u[at.index(i)] if i in at else None for i in range(arm.n)]
    columns = {key: (key, of) for key, of in given.items()}
    return state_table(arm.joints, columns, False, digits)


def _settled(values: Sequence[float]) -> list[float]:
    """Numbers of one kind; those that a simulation has not quite brought to rest count as 0."""
    least = 1e-9 * max(map(abs, values))
    return [0.0 if abs(x) <= least else x for x in values]


def _notes(model: LinearModel) -> list[str]:
    notes = []
    if model.held:
        notes.append(wrapped(f"* dry friction holds {', '.join(model.held)}: taken as welded"))
    if model.about.plant.arm.contacts:
        notes.append("* contacts: anchors and coefficients of friction are taken as fixed")
    if model.about.plant.loads.windings.motors:
        notes.append("* windings: temperatures are taken as fixed")
    if not model.driven:
        notes.append(wrapped("* nothing drives it: the inputs of B are torques from outside"))
    if not model.is_equilibrium:
        notes.append(
            wrapped(
                "* no equilibrium: the equations hold for deviations from the motion that goes on from there, "
                "for as long as it stays near"
            )
        )
    return notes


def _modes(heading: str, system: LinearSystem, digits: int) -> Line:
    """A table of modes."""
    rows: list[Row] = []
    for mode in system.modes():
        real, imag = mode.rate.real, mode.rate.imag
        rate = f"{number(real, digits)} ± {number(imag, digits)}i" if imag else number(real, digits)
        rows.append([mode.words, rate, ", ".join(mode.joints)])
    return ReportTable([heading, "rate 1/s", "mostly"], rows) if rows else f"{heading}: nothing can move"


def _couplings(model: LinearModel, digits: int) -> ReportTable:
    """Resonance and antiresonance of every elastic coupling."""
    rows: list[Row] = []
    for of in model.couplings:
        pair = (of.antiresonance, of.resonance)
        rows.append([of.joint, *(measured(x, "Hz", digits) for x in pair), number(of.ratio, digits)])
    return ReportTable(["coupling of", "antiresonance", "resonance", "inertia ratio"], rows)


def _margins(model: LinearModel, digits: int) -> Report:
    rows: list[Row] = []
    for name, loop in model.loops.items():
        found, row = loop.margins, Row([name])
        for at, unit in ((found.gain, "dB"), (found.lower_gain, "dB"), (found.phase, "deg")):
            row += [measured(at.margin, unit, digits), measured(at.frequency, "Hz", digits)]
        row.append(measured(1e3 * found.delay.margin, "ms", digits))
        rows.append([*row, number(found.Ms.margin, digits), number(found.Mt.margin, digits)])
    headings = ["margins", "gain", "at", "lower gain", "at", "phase", "at", "delay", "Ms", "Mt"]
    unstable = "! the closed loop is unstable: these are crossovers, and no margins"
    return [ReportTable(headings, rows), *([] if found.stable else [unstable])]


def _bode(joint: str, loop: JointLoop, digits: int) -> ReportTable:
    rows: list[Row] = [
        [f"{f:g} Hz", measured(size, "dB", digits), measured(phase, "deg", digits)]
        for f, size, phase in zip(*loop.bode_by_decades())
    ]
    return ReportTable([f"loop of {joint}", "magnitude", "phase"], rows)


def _reach(model: LinearModel) -> list[str]:
    states, reached = int(model.free.sum()), model.controllable
    if not states:
        return []
    if reached == states:
        return [f"control  all {states} states that can change are within reach of the inputs"]
    out = "; ".join(mode.words for mode in model.uncontrollable())
    within = f"{reached} of {states} states that can change are within reach of the inputs"
    return [wrapped(f"control  {within}; a mode out of reach {out}")]


def _steps(model: LinearModel) -> str:
    """How long steps may be."""
    limits, closed = stable_steps(model.about), model.closed_loop
    between = " between samples" if closed is not None and closed.dt is not None else ""
    bounded = [f"{seconds(most)} with {method}" for method, most in limits.items() if 0 < most < math.inf]
    any_step = [method for method, most in limits.items() if most == math.inf]
    none = [method for method, most in limits.items() if most == 0]
    parts = [f"stable{between} up to {', '.join(bounded)}"] if bounded else []
    parts += [f"of any length stable{between} with {', '.join(any_step)}"] if any_step else []
    parts += [f"of no length stable{between} with {', '.join(none)}"] if none else []
    return f"steps    {'; '.join(parts)}"


def _lqr(regulator: Regulator) -> str:
    closed, extra = regulator.closed(), regulator.extra_cost
    weights = ", ".join(f"{name} = {_weight(value)}" for name, value in regulator.given.items() if value != 0)
    every = "" if regulator.period is None else f", sampled every {regulator.period:g} s"
    intro = f"lqr: {weights}{every}, for every joint by itself with its inertia at rest in this pose."
    slowest = regulator.closed_by_joints.modes()[0].words
    if extra == math.inf and not closed.stable:
        worst = closed.modes()[0].words
        text = f"{intro} Measured by its encoders the arm is not held, neither by that nor by the full matrix K: a mode {worst}."
        return wrapped(f"{text} Take a larger r, or encoders whose `filter` is faster.")
    if extra == math.inf:
        text = wrapped(f"{intro} The whole arm is not held by that: a mode {slowest}. Use the full matrix K:")
        return f"{text}\n\n{block('control', plain(regulator.full_control))}"
    costs = f"{100 * extra:.3g} % more than the full matrix K"
    text = wrapped(f"{intro} That holds the whole arm: its slowest mode {slowest}. It costs {costs}.")
    joints = regulator.about.plant.arm.joints
    far, softest = max(zip(map(abs, regulator.offset), joints, strict=True), key=lambda pair: pair[0])
    if far > FAR:
        unit = joint_unit(softest.type, False)
        soft = f"! these gains are soft: to carry gravity {softest.name} needs a target {number(far, 4)} {unit} off the pose"
        text += "\n" + wrapped(f"{soft}; a larger q or a smaller r makes them stiffer")
    comment = "the target is off the pose by what gravity takes, so that the arm rests in the pose"
    full = f"# or the full matrix, on {_fed_back(regulator)}\n{block('control', plain(regulator.full_control))}"
    return f"{text}\n\n# {comment}\n{block('control', plain(regulator.control))}" + f"\n\n{full}" * closed.stable


def _fed_back(regulator: Regulator) -> str:
    """What the full matrix multiplies."""
    more = ["currents"] * regulator.inductive + ["commands on their way"] * (regulator.delay > 0)
    return listed(["positions", "velocities", *more]) if more else "positions, velocities"


def _weight(value: float | list[float]) -> str:
    return ", ".join(map(number, value)) if isinstance(value, list) else number(value)
