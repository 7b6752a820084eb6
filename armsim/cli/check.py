"""`armsim check`"""

from __future__ import annotations

from typing import Any

import click

from armsim.cli.options import SETTINGS, json_option, print_json, quiet_option, verbose_option

UNWELL = 1


@click.command(
    "check",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim check my_arm.yaml my_scenario.yaml
  armsim check --strict robots/*.yaml
""",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--strict", is_flag=True, help="Count warnings as faults.")
@json_option
@quiet_option
@verbose_option
def command(files: tuple[str, ...], strict: bool, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Say all that is wrong or doubtful about robot and scenario files, without running anything.

    Exits with 1 if a file has faults (or, with --strict, warnings).
    """
    from armsim.spec.check import check

    results = [check(file) for file in files]
    unwell = any(result.faults or (strict and result.warnings) for result in results)
    if as_json:
        print_json([_data(result) for result in results])
    elif not quiet:
        for result in results:
            _print(result, strict, verbose)
    return UNWELL if unwell else 0


def _print(result: Any, strict: bool, verbose: bool) -> None:
    for fault in result.faults:
        click.echo(str(fault))
    for warning in result.warnings:
        title, *rest = str(warning).splitlines()
        click.echo("\n".join([f"{title} ({'fault' if strict else 'warning'})", *rest]))
    if not result.faults and not result.warnings:
        click.echo(f"{result.file}: a sound {result.kind}")
    elif result.faults:
        click.echo(f"{result.file}: {_count(len(result.faults), 'fault')}")
    else:
        end = "counted as faults" if strict else "it can be run"
        click.echo(f"{result.file}: {_count(len(result.warnings), 'warning')}; {end}")
    if verbose and result.arm is not None:
        click.echo(f"  {result.arm.name}: {_count(result.arm.n, 'joint')}")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _data(result: Any) -> dict[str, Any]:
    def plain(fault: Any) -> dict[str, Any]:
        where = {"file": fault.where.source, "line": fault.where.line or None, "column": fault.where.column or None}
        return {**where, "path": fault.path, "expected": fault.expected, "found": fault.found, "mend": fault.mend}

    faults, warnings = ([plain(fault) for fault in group] for group in (result.faults, result.warnings))
    return {"file": result.file, "kind": result.kind, "faults": faults, "warnings": warnings}
