"""A checked scenario with other numbers written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from armsim.document.base import Document
from armsim.document.overrides import split_overrides
from armsim.document.paths import parse_path
from armsim.formulas.quantity import Quantity, plain_number
from armsim.loading.checked import ScenarioFile
from armsim.loading.settle import settle, value_at

D = TypeVar("D", bound=Document)


def file_with_numbers(file: ScenarioFile, values: Mapping[str, float]) -> ScenarioFile:
    """The file as if it had these numbers, and those that follow from them by formulas.

    Args:
        file: The scenario.
        values: Numbers that the file would take, by the path of those that they replace.

    Raises:
        UsageError: There is no number at one of the paths.
    """
    own, robot = split_overrides(values)
    made = _written(file.robot.document, robot)
    return replace(file, document=_written(file.document, own), robot=replace(file.robot, document=made))


def _written(document: D, values: Mapping[str, float]) -> D:
    if not values:
        return document
    settled = settle(document, values)

    def leaf(quantity: Quantity | None, path: str) -> Any:
        value = value_at(settled, parse_path(path))
        if quantity is None or value is quantity.value or value is quantity:
            return quantity
        return replace(quantity, value=value, text=plain_number(value), formula=None, given=True, unit="")

    return document.mapped(leaf)
