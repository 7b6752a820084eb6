"""Inputs from CSV files of other programs."""

from __future__ import annotations

import pytest

from armsim.errors import FileFaults
from armsim.files import csv_reader
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


MOTION = SCENARIO.partition("inputs:")[0] + (
    "control: {law: pd, output: torque, kp: [9, 9], kd: [1, 1], reference: {csv: log.csv}}\n"
)
LONG = {  # a scenario, its file's headings, and a row below the first whose fault ends the reading
    "an input": (SCENARIO % "tau", "t_s,mode,tau", "1,on,x"),
    "an input's time": (SCENARIO % "tau", "t_s,mode,tau", ",on,1"),
    "a motion": (MOTION, "t_s,mode,q_R1_deg,q_R2_rad", "1,on,x,1"),
}


@pytest.mark.parametrize("what", LONG)
def test_an_early_fault_in_what_a_scenario_reads_ends_the_reading_of_a_long_file(what, tmp_path, monkeypatch):
    scenario, headings, faulty = LONG[what]
    rest = ",1" * (headings.count(",") - 1)
    rows = [headings, f"0,on{rest}", faulty, *(f"{k},on{rest}" for k in range(2, 20_000))]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="ascii")
    (tmp_path / "s.yaml").write_text(scenario, encoding="ascii")
    monkeypatch.setattr(csv_reader, "BLOCK", 1000)
    monkeypatch.setattr(csv_reader, "BEYOND", 5000)
    read, blocks = [], csv_reader.csv_blocks
    monkeypatch.setattr(csv_reader, "csv_blocks", lambda *given: (read.append(len(b)) or b for b in blocks(*given)))
    with pytest.raises(FileFaults) as caught:
        read_scenario(tmp_path / "s.yaml")
    assert caught.value.faults[0].where.line == 3
    assert sum(read) < 8000
