"""`armsim compare`"""

from __future__ import annotations

import click

from armsim.cli.options import Display, Matching, angle_options, flag, grouped, tolerance_option
from armsim.cli.pictures import plot_option
from armsim.reports.comparison import compared_series

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
    display.print(result.data, lambda: compared_series(result, display.verbose), plot)
    return UNWELL if comparison.differs else 0
