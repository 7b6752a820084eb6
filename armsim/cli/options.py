"""Options and arguments that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from armsim.errors import UsageError
from armsim.model import Arm

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

robot_argument = click.argument("robot")
json_option = click.option("--json", "as_json", is_flag=True, help="Print results as JSON, in SI units unless --deg.")
deg_option = click.option("--deg", "degrees", is_flag=True, help="Take and print joint angles in degrees.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Say more: methods, algorithms, times.")


def joint_option(name: str, what: str) -> Callable[[Any], Any]:
    """An option that takes one number per joint, separated by commas."""
    return click.option(f"--{name}", metavar="X,X,...", help=f"{what}, one per joint, separated by commas.")


def assignments(items: tuple[str, ...]) -> dict[str, str]:
    """The paths and values of `--set path=value`."""
    values = {}
    for item in items:
        path, equals, value = item.partition("=")
        if not equals or not path.strip():
            example = "for example --set control.kp[0]=80"
            raise UsageError(f"--set {item}\n  expected: path=value, {example}\n  found:    no `=` with a path before it")
        values[path.strip()] = value.strip()
    return values


def joint_values(option: str, text: str, arm: Arm, degrees: bool) -> list[float]:
    """The numbers of an option, one per joint; each may be a formula such as -pi/2. With degrees, converted to rad.

    Raises:
        UsageError: Their number is not that of the joints, or one is not a number; says how to mend it.
    """
    names = ", ".join(joint.name for joint in arm.joints)
    parts = text.split(",")
    if len(parts) != arm.n:
        raise UsageError(
            f"--{option} {text}\n  expected: {arm.n} numbers separated by commas, one per joint ({names})\n"
            f"  found:    {len(parts)}\n  mend:     for example --{option} {','.join(['0'] * arm.n)}"
        )
    values = []
    for part, joint in zip(parts, arm.joints, strict=True):
        value = number_value(option, part)
        values.append(math.radians(value) if degrees and joint.type == "revolute" else value)
    return values


def number_value(option: str, text: str) -> float:
    """The number of an option; a formula such as -pi/2 counts as one."""
    from armsim.spec.formula import FormulaError, parse_formula

    try:
        formula = parse_formula(text)
        unknown = sorted(formula.names - {"pi"})
        if unknown:
            raise FormulaError(f"`{unknown[0]}` has no value here")
        value = float(formula.evaluate({"pi": math.pi}))
        if math.isfinite(value):
            return value
        problem = "it is not finite"
    except FormulaError as error:
        problem = error.problem
    raise UsageError(
        f"--{option} {text}\n  expected: a number, or a formula of numbers and pi\n"
        f"  found:    `{text.strip()}`: {problem}\n  mend:     for example --{option} 0.5 or -pi/2"
    )
