"""A page: data, script, style and three.js in one HTML file, which asks the network for nothing."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from armsim.escaping import in_html
from armsim.records import record

# the parts of the script, in order
PARTS = (
    *("kinematics", "shapes", "arm", "camera", "world", "plots", "parts"),
    *("forces", "contacts", "history", "push", "run", "robot", "scenario", "main"),
)
MODULE = re.compile(r"^(?:import .*|export )", re.MULTILINE)  # what of a part only makes sense in a file of its own


@record
class Section:
    """What a page says above or below the arm.

    Attributes:
        title: Its heading.
        body: In HTML.
        picture: A PNG; none if empty.
        described: What the picture shows, for those who do not see it.
    """

    title: str
    body: str = ""
    picture: bytes = b""
    described: str = ""


def page_text(title: str, data: Mapping[str, Any], above: Sequence[Section] = (), below: Sequence[Section] = ()) -> str:
    """A page.

    Args:
        title: Of the window.
        data: What it shows, see `armsim.viewing.view.page_data`.
        above: Sections above the arm.
        below: Sections below it.
    """
    parts = {
        "title": in_html(title),
        "style": _own("page", "page.css"),
        "above": "\n".join(map(_section, above)),
        "below": "\n".join(map(_section, below)),
        "licence": in_html(_own("vendor", "three.LICENSE"), "\n"),
        "data": embedded(data),
        "three": embedded(_own("vendor", "three.module.min.js")),
        "script": "\n".join(MODULE.sub("", _own("page", f"{part}.js")) for part in PARTS),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _own("page", "page.html"))


def _section(section: Section) -> str:
    parts = [f"<h2>{in_html(section.title)}</h2>"]
    if section.picture:
        parts.append(
            f'<img alt="{in_html(section.described)}" src="data:image/png;base64,{base64.b64encode(section.picture).decode()}">'
        )
    return f'<section class="text">{"".join(parts)}{section.body}</section>'


def embedded(data: Any) -> str:
    """Data as JSON that cannot end the element it is in, whatever names are in it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _own(*path: str) -> str:
    return files("armsim.viewing").joinpath(*path).read_text(encoding="utf-8")
