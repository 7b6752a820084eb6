"""An identification on one page: what was found, the fit drawn, and the arm with the numbers found."""

from __future__ import annotations

import os

from armsim.figures.identification import identification_figure
from armsim.identification.identification import Identification
from armsim.reports.drawn_section import drawn
from armsim.reports.html import html
from armsim.reports.identification import report
from armsim.viewing.page import Section, page_text
from armsim.viewing.view import page_data, write_page

PAGE = "report.html"


def write_identification_page(found: Identification, folder: str, robot: str, degrees: bool = False) -> str:
    """Write a page about an identification into a folder, beside the robot's file with what was found; its path.

    Raises:
        UsageError: It cannot be written.
    """
    described = "Measured positions, and those of the model with the file's numbers (before) and those found (after)."
    picture = drawn("Measured, before and after", lambda: identification_figure(found), described)
    above = [Section("What was found", html(report(found, degrees))), picture]
    path = os.path.join(folder, PAGE)
    write_page(path, page_text(f"{found.arm.name} - armsim identify", page_data([robot], degrees), above))
    return path
