"""A page: data, script, style and three.js in one HTML file, which asks the network for nothing."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from armsim.errors import visible

# the parts of the script, in order
PARTS = ["kinematics", "shapes", "arm", "camera", "world", "plots", "parts", "run", "robot", "scenario", "main"]
MODULE = re.compile(r"^(?:import .*|export )", re.MULTILINE)  # what of a part only makes sense in a file of its own


def page_text(title: str, data: Mapping[str, Any], sections: Sequence[tuple[str, str]] = ()) -> str:
    """A page.

    Args:
        title: Of the window.
        data: What it shows, see `armsim.viewing.view.page_data`.
        sections: Below it, each a title and a text.
    """
    parts = {
        "title": html.escape(visible(title)),
        "style": _own("page", "page.css"),
        "sections": "\n".join(map(_section, sections)),
        "licence": html.escape(_own("vendor", "three.LICENSE")),
        "data": embedded(data),
        "three": embedded(_own("vendor", "three.module.min.js")),
        "script": "\n".join(MODULE.sub("", _own("page", f"{part}.js")) for part in PARTS),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _own("page", "page.html"))


def _section(section: tuple[str, str]) -> str:
    title, text = (html.escape(visible(part, "\n")) for part in section)
    return f'<section class="text"><h2>{title}</h2><pre>{text}</pre></section>'


def embedded(data: Any) -> str:
    """Data as JSON that cannot end the element it is in, whatever names are in it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _own(*path: str) -> str:
    return files("armsim.viewing").joinpath(*path).read_text(encoding="utf-8")
