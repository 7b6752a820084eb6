"""What is said of a robot by its source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def source_facts(about: Mapping[str, Any]) -> list[str]:
    """In words, as far as known: the rated payload [kg], and whether inertias are published."""
    told = {"payload": "rated payload {:g} kg", "inertias": "inertias {}"}
    return [text.format(about[key]) for key, text in told.items() if key in about]
