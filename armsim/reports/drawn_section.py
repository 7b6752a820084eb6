"""A picture as a section of a page, where matplotlib is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armsim.errors import UsageError
from armsim.figures.picture import check_matplotlib, png_of
from armsim.reports.html import html
from armsim.viewing.page import Section

DPI = 110


def drawn(title: str, make: Callable[[], Any], described: str) -> Section:
    """A section with a figure; where it cannot be drawn, with the reason.

    Args:
        title: Its heading.
        make: Makes the figure, if there is matplotlib.
        described: What it shows, for those who do not see it.
    """
    try:
        check_matplotlib(title)
    except UsageError as error:
        return Section(title, html([str(error)]))
    return Section(title, "", png_of(make(), DPI), described)
