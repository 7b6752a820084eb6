"""Write the table of docs/batches.md from the shipped files: `python docs/write_batches_md.py`."""

from __future__ import annotations

import re
from pathlib import Path

from armsim.document import base
from armsim.document.paths import parse_path
from armsim.errors import UsageError
from armsim.formulas.quantity import Quantity, plain_number
from armsim.loading import load_scenario_file
from armsim.loading.checked import ScenarioFile
from armsim.loading.settle import numbers_at

PAGE = Path(__file__).with_name("batches.md")
CONFIGS = Path(__file__).parent.parent / "configs"
STRUCTURE = {
    "dt": "all times are multiples of it",
    "duration": "the number of steps",
    "every": "the number of steps between rows",
    "period": "the number of steps between samples",
    "from": "the first step of the force",
    "to": "the last step of the force",
    "axis": "the form of the joint's frame",
    "stages": "the number of commands of a plan",
    "normal": "the form of the plane",
}
GROUPS = {
    "lower": "-.inf, no end of the range, is a group of its own",
    "upper": ".inf, no end of the range, is a group of its own",
    "positive": "0 on both sides, no dry friction, is a group of its own",
    "negative": "0 on both sides, no dry friction, is a group of its own",
    "viscous": "with `method: auto` 0, which damps nothing, is a group of its own",
    "kd": "with `method: auto` 0, which damps nothing, is a group of its own",
}
ABSENCES = {
    "times": "no way to the first point",
    "coulomb": "no dry friction",
    "efficiency": "a lossless gear",
    "inductance": "no current of its own, as it must be without `Kp` and `Ra`",
    "max": "no brush drop",
    "backlash": "no backlash",
}
OPEN = {  # by the first key on the way that is here
    "parameters": "an operand of the formulas that have it",
    "initial": "the state at the start",
    "world": "an operand of the contacts",
    "contacts": "an operand of the contacts",
    "control": "an operand of the feedback law",
    "inputs": "a constant command, in place of a formula or a table",
    "external": "an operand of the applied load",
    "motor": "an operand of the motor",
    "friction": "an operand of the friction",
    "limits": "an operand of the stop",
    "bodies": "an operand of the inertias",
    "payload": "an operand of the inertias",
    "gravity": "an operand of the dynamics",
    "base": "an operand of the kinematics",
    "tool": "an operand of the kinematics",
    "frames": "an operand of the kinematics",
    "mdh": "an operand of the kinematics",
    "origin": "an operand of the kinematics",
    "mimic": "an operand of the coupling",
}


def numbers(file: ScenarioFile) -> dict[str, Quantity]:
    """All numbers of a scenario and its robot, given or by default, by path; not those that nothing is computed from."""
    found = dict(base.numbers(file.document)) | dict(base.numbers(file.robot.document, "robot"))
    return {path: number for path, number in found.items() if not path.startswith(("robot.about.", "plan."))}


def key(path: str) -> str:
    """A path with `[*]` for all indices."""
    return re.sub(r"\[\d+\]", "[*]", path)


def is_open(file: ScenarioFile, path: str) -> bool:
    """Whether a number may be left open."""
    try:
        numbers_at(file.whole, path)
    except UsageError:
        return False
    return True


def follows_a_path(file: ScenarioFile) -> bool:
    """Whether a reference is computed by numbers of the arm, which makes these structure."""
    control = file.document.control
    if control is None or control.reference is None:
        return False
    return control.reference.of_tool or control.reference.fastest


def line(path: str, opened: bool, absent: float | None) -> str:
    """The line of a number; `absent` is its value that means that something is not there."""
    keys = [step for step in parse_path(path.replace("[*]", "[0]")) if isinstance(step, str)]
    if not opened:
        return f"| `{path}` | structure | {STRUCTURE[keys[-1]]} | a kernel for each value |"
    why = next(OPEN[key] for key in keys if key in OPEN)
    if "parameters" in keys:
        pass
    elif keys[-1] in GROUPS:
        why += f"; {GROUPS[keys[-1]]}"
    elif absent is not None:
        why += f"; {plain_number(absent)}, {ABSENCES[keys[-1]]}, is a group of its own"
    return f"| `{path}` | open | {why} | of the number written in |"


def table() -> str:
    """All numbers of the shipped files."""
    found: dict[str, tuple[bool, float | None]] = {}
    for config in sorted(path for path in CONFIGS.glob("*.yaml") if not path.name.endswith(".study.yaml")):
        file = load_scenario_file(config)
        if follows_a_path(file):
            continue
        found |= {key(path): (is_open(file, path), number.kind.absent) for path, number in numbers(file).items()}
    own, robot = ([path for path in found if path.startswith("robot.") == of_robot] for of_robot in (False, True))
    lines = [line(path, *found[path]) for path in [*sorted(own), *sorted(robot)]]
    return "\n".join(["| number | | because it is | bits |", "| --- | --- | --- | --- |", *lines])


def with_tables(page: str) -> str:
    """The page with its table as it is today."""
    return re.sub(r"(<!-- numbers -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}{table()}\n{m[2]}", page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
