"""`armsim compare`"""

from __future__ import annotations

from collections.abc import Sequence

import click

from armsim.cli.options import Display, Matching, angle_options, flag, grouped, print_json, tolerance_option
from armsim.cli.pictures import plot_option
from armsim.reports.comparison import difference_table, verdict
from armsim.reports.table import wrapped
from armsim.terminal.streams import echo

UNWELL = 1


@click.command(
    "compare",
    epilog="""\b
Examples:
  armsim compare runs/arm5_hold-001 runs/arm5_hold-002
  armsim compare runs/arm5_hold-001 other.csv --interpolate --tolerance q=1e-3
  armsim compare runs/arm5_hold-001 log.csv --interpolate --columns map.yaml
""",
)
@click.argument("a")
@click.argument("b")
@grouped(
    "matching",
    Matching,
    tolerance_option,
    flag("--interpolate", help="Take B, by straight lines, at the times of A."),
    click.option("--columns", metavar="YAML", help="Which column of B is which, by formulas too; see `replay`."),
)
@plot_option("Draw both and their difference into a picture.")
@angle_options
def command(a: str, b: str, matching: Matching, plot: str | None, display: Display) -> int:
    """Compare runs, recordings or CSV files A and B in every column that both have: B minus A.

    Angles that one has in radians and the other in degrees are compared in the unit of A, or with --deg in degrees, tolerances
    too. Columns of text and rows with missing cells are left out. Exits with 1 if they differ, by a bit or by more than
    --tolerance allows.
    """
    from armsim.recording.compare import compare

    result = compare(a, b, matching.tolerance, matching.interpolate, display.degrees, matching.columns)
    comparison = result.comparison
    if plot is not None:
        from armsim.figures.comparison import comparison_figure
        from armsim.figures.picture import save

        save(comparison_figure(comparison, f"{b} against {a}", (a, b)), plot)
    if display.as_json:
        about = {"a": a, "b": b, "interpolated": result.interpolated}
        others = {"only_a": result.only_a, "only_b": result.only_b, "converted": result.converted}
        print_json({**about, **others, "notes": result.notes, **comparison.data()})
    elif not display.quiet:
        how = ", interpolated at the times of the first" if result.interpolated else ""
        lines = [f"{b} against {a}: {len(comparison.t)} instants to {comparison.t[-1]:g} s{how}"]
        if result.converted:
            lines.append(wrapped(_conversion(b, result.converted)))
        lines += [wrapped(f"* {note}") for note in result.notes]
        lines.append(verdict(comparison, bool(result.converted)))
        if not comparison.equal:
            lines += ["", difference_table(comparison, display.verbose)]
        for name, only in ((a, result.only_a), (b, result.only_b)):
            if only:
                more = f", and {len(only) - 6} more" if len(only) > 6 else ""
                lines.append(f"only in {name}: {', '.join(only[:6])}{more}")
        if plot is not None:
            lines.append(f"drawn    {plot}")
        echo("\n".join(lines))
    return UNWELL if comparison.differs else 0


def _conversion(b: str, converted: Sequence[str]) -> str:
    """What was converted, in words."""
    of, to = ("degrees", "radians") if "_deg" in converted[0][-7:] else ("radians", "degrees")
    count = len(converted)
    what = f"{count} columns" if count > 1 else converted[0]
    return f"{what} of {b} taken from {of} to {to}; what differs by the rounding of that alone counts as equal"
