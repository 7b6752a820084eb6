"""Inputs from CSV files of other programs."""

from __future__ import annotations

import pytest

from armsim.errors import FileFaults
from armsim.loading import read_scenario

SCENARIO = (
    "format: armsim/scenario/1\nrobot: rr\nduration: 1\nintegrator: {method: rk4, dt: 1e-3}\n"
    "inputs: {torque: [{csv: log.csv, column: tau}, {csv: log.csv, column: %s}]}\nlog: {every: 1e-2}\n"
)


@pytest.fixture
def read(tmp_path):
    def read(column):
        (tmp_path / "log.csv").write_text(
            "t_s,mode,tau,other,stamp\n0,on,1,3,10:00\n0.5,off,2,,10:01\n1,on,3,5,10:02\n"
        )
        (tmp_path / "s.yaml").write_text(SCENARIO % column)
        return read_scenario(tmp_path / "s.yaml")

    return read


def test_an_input_passes_over_columns_of_text_that_it_does_not_read(read):
    signal = read("tau").command.signals[0]
    assert [signal(t) for t in (0.1, 0.6)] == [1.0, 2.0]


@pytest.mark.parametrize(("column", "found"), [("other", "an empty cell"), ("mode", '"on"')])
def test_an_input_takes_no_column_with_a_cell_that_is_no_number(column, found, read):
    with pytest.raises(FileFaults) as caught:
        read(column)
    assert found in str(caught.value)
