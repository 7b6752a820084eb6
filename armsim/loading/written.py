"""A checked scenario with other numbers written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from armsim.formulas.quantity import Quantity, plain_number
from armsim.loading.checked import ScenarioFile
from armsim.loading.settle import settle
from armsim.spec.overrides import split_overrides


def file_with_numbers(file: ScenarioFile, values: Mapping[str, float]) -> ScenarioFile:
    """The file as if it had these numbers, and those that follow from them by formulas.

    Args:
        file: The scenario.
        values: Numbers that the file would take, by the path of those that they replace.

    Raises:
        UsageError: There is no number at one of the paths.
    """
    own, robot = split_overrides(values)
    made = file.robot.data
    if robot:
        made = _written(made, settle(made, robot))
    data = {key: value for key, value in file.data.items() if key != "robot"}
    if own:
        data = _written(data, settle(data, own))
    return replace(file, data={**data, "robot": file.data["robot"]}, robot=replace(file.robot, data=made))


def _written(read: Any, settled: Any) -> Any:
    if isinstance(read, dict):
        return {key: _written(value, settled[key]) for key, value in read.items()}
    if isinstance(read, list):
        return [_written(item, value) for item, value in zip(read, settled, strict=True)]
    if isinstance(read, Quantity) and settled is not read.value and settled is not read:
        return replace(read, value=settled, text=plain_number(settled), formula=None, given=True, unit="")
    return read
