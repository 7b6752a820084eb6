"""What `armsim derive --base-parameters` prints; the equations are printed by `armsim.derivation` itself."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from armsim.derivation.base import BaseParameters
from armsim.derivation.document import shown
from armsim.reports.table import Report, wrapped
from armsim.text_columns import WIDTH

MEANING = (
    "M mass, MX MY MZ first moments, XX to YZ moments of inertia of a link about its own frame's origin, payload included; "
    "Ia the armature of its joint."
)


def base_report(found: BaseParameters, output: str | None = None, changed: Sequence[str] | None = None) -> Report:
    """The base parameters of an arm as text, and which links a file that has been written changes."""
    count = len(found.parameters)
    title = (
        f"{found.robot}: {count} base parameters of {found.of} inertial parameters; "
        f"the regressor at random states has rank {found.rank}"
    )
    lines: Report = [wrapped(title), wrapped(MEANING), *map(wrapped, found.notes), ""]
    for k, parameter in enumerate(found.parameters, 1):
        text = f"{k:3}  {shown(parameter.combination)}"
        value = shown(parameter.value)
        number = f"{parameter.number:g} {parameter.unit}"
        text += (
            f" = {number}"
            if value == f"{parameter.number:g}" or not parameter.value.free_symbols
            else f" = {value} = {number}"
        )
        lines += wrap(text, WIDTH, subsequent_indent=" " * 7, break_long_words=False, break_on_hyphens=False)
    if found.unseen:
        lines += ["", wrapped(f"no motion shows {', '.join(found.unseen)}")]
    if output is not None:
        links = (
            f"other bodies on {', '.join(changed)}, a choice that no motion can tell" if changed else "no link changed"
        )
        lines += ["", wrapped(f"written {output}: {links}")]
    return lines
