"""Small studies of shipped scenarios."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

SHORT = {"duration": 0.02}


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def lines():
    """The rows of a study's table, as text."""

    def read(folder) -> list[list[str]]:
        with open(Path(folder) / "results.csv", newline="") as file:
            return list(csv.reader(file))

    return read
