"""Logs as people have them: text, gaps, encoder counts, milliseconds, currents."""

from __future__ import annotations

import contextvars
import copy
import math
import re
import shlex

import numpy as np
import pytest

import armsim
from armsim.errors import FileFaults, UsageError, spoken_in_shell
from armsim.files.table_reader import read_table
from armsim.recording.column_hint import hint
from armsim.recording.column_map import renamed
from armsim.recording.measured_log import read_log

STEP = 1e-3  # s between rows


@pytest.fixture(autouse=True)
def _in_a_shell():
    """Hints are options, to paste them."""
    with spoken_in_shell():
        yield


def test_in_python_the_hint_is_an_argument():
    told = contextvars.Context().run(hint, {"t_s": "time*1e-3"})
    assert told == "rename columns, or add columns={'t_s': 'time*1e-3'}"


@pytest.fixture(scope="module")
def arm():
    return armsim.load_robot("arm5").arm


@pytest.fixture(scope="module")
def recording():
    settings = {"control.period": STEP, "duration": 1.2, "integrator.method": "semi_implicit_euler"}
    return armsim.record("arm5_hold", {**settings, "initial.qd": [-1, -2, 1, 3, -2]})


@pytest.fixture
def plain(recording):
    """The columns of the recording as armsim names them."""
    columns = {"t_s": recording.t}
    for i in range(5):
        columns[f"q_R{i + 1}_rad"] = recording.states[:, i]
        columns[f"qd_R{i + 1}_rad_s"] = recording.states[:, 5 + i]
        columns[f"voltage_R{i + 1}_V"] = recording.inputs[:, i]
    return columns


def text_of(columns):
    rows = zip(*([x if isinstance(x, str) else repr(float(x)) for x in column] for column in columns.values()))
    return "\n".join([",".join(columns), *(",".join(row) for row in rows)]) + "\n"


def write(folder, columns, name="log.csv"):
    (folder / name).write_text(text_of(columns))
    return folder / name


def as_a_robot_logs(plain):
    """Encoder counts, milliseconds, time stamps, a word of status and a temperature now and then; and how to read them."""
    count = len(plain["t_s"])
    columns = {"stamp": [f"2026-01-01 10:00:{k / 1000:06.3f}" for k in range(count)], "time_ms": plain["t_s"] * 1e3}
    columns["mode"] = ["auto"] * count
    names = {"t_s": "time_ms*1e-3"}
    for i in range(1, 6):
        columns[f"enc{i}"] = plain[f"q_R{i}_rad"] * 4096 / (2 * math.pi) + 2048
        columns[f"u {i} [mV]"] = plain[f"voltage_R{i}_V"] * 1e3
        names[f"q_R{i}_rad"] = f"(enc{i} - 2048)*2*pi/4096"
        names[f"voltage_R{i}_V"] = f"`u {i} [mV]`/1000"
    columns["temperature"] = ["21.5" if k % 100 == 0 else "" for k in range(count)]
    return columns, names


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.handful(1)
def test_the_folder_of_a_run_or_a_recording_is_a_log(recording, arm, tmp_path, ending):
    run = armsim.simulate("arm5_hold", {"duration": 0.1, "log.format": ending})
    run.save(tmp_path / "run")
    recording.save(tmp_path / "recording")
    log, whole = read_log(tmp_path / "run", arm), read_log(tmp_path / "recording", arm)
    for kind in ("t", "q", "qd"):
        np.testing.assert_array_equal(getattr(log, kind), getattr(run, kind))
    voltages = read_table(str(tmp_path / "run" / f"torque.{ending}"))
    np.testing.assert_array_equal(log.inputs.T, [voltages[f"voltage_R{i}_V"] for i in range(1, 6)])
    np.testing.assert_array_equal(whole.q, recording.states[:, :5])
    np.testing.assert_array_equal(whole.inputs, recording.inputs)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"a folder without trajectory.csv or torque.csv"):
        read_log(tmp_path / "empty", arm)


def test_tables_of_a_run_that_do_not_belong_together_are_refused(arm, tmp_path):
    run = armsim.simulate("arm5_hold", {"duration": 0.1})
    run.save(tmp_path / "run")
    lines = (tmp_path / "run" / "torque.csv").read_text().splitlines(keepends=True)
    (tmp_path / "run" / "torque.csv").write_text("".join(lines[:-1]))
    with pytest.raises(FileFaults, match=r"as many rows as .* has, 11"):
        read_log(tmp_path / "run", arm)


def test_formulas_of_columns_beside_text_give_the_log_in_si_units(plain, arm, tmp_path):
    columns, names = as_a_robot_logs(plain)
    path = write(tmp_path, columns)
    (tmp_path / "map.yaml").write_text("".join(f'{name}: "{formula}"\n' for name, formula in names.items()))
    del plain["qd_R1_rad_s"], plain["qd_R2_rad_s"], plain["qd_R3_rad_s"], plain["qd_R4_rad_s"], plain["qd_R5_rad_s"]
    direct = read_log(write(tmp_path, plain, "plain.csv"), arm)
    for given in (names, tmp_path / "map.yaml"):
        log = read_log(path, arm, given)
        np.testing.assert_allclose(log.t, direct.t, rtol=1e-15)
        np.testing.assert_allclose(log.q, direct.q, rtol=0, atol=1e-12)  # 3000 counts carry 13 digits of an angle
        np.testing.assert_allclose(log.inputs, direct.inputs, rtol=1e-15)
        assert (log.output, log.inputs_from, log.notes) == ("voltage", "voltage", ())


@pytest.mark.parametrize(
    "formula", ["(a - 2048)*2*pi/4096", "sin(a)*cos(b)**3", "max(a, b) - abs(a)/b", "-sqrt(b)", "2"]
)
def test_a_formula_on_columns_has_the_bits_of_the_formula_on_numbers(formula, tmp_path):
    from armsim.formulas.formula import parse_formula

    rng = np.random.default_rng(3)
    table = read_table(str(write(tmp_path, {"a": rng.normal(size=101), "b": rng.uniform(1, 9, 101)})))
    found = renamed(table, {"x": formula}, ["x"], "x")["x"]
    parsed = parse_formula(formula)
    assert list(found) == [parsed.evaluate({"a": a, "b": b}) for a, b in zip(table["a"], table["b"], strict=True)]


def test_rows_with_a_cell_missing_are_skipped_and_that_is_said(plain, arm, tmp_path):
    text = text_of(plain).splitlines()
    text[10], text[1000] = re.sub(",[^,]*$", ",", text[10]), re.sub("^[^,]*,[^,]*,", f"{0.999},NaN,", text[1000])
    (tmp_path / "log.csv").write_text("\n".join(text))
    log = read_log(tmp_path / "log.csv", arm)
    assert log.notes == ("2 of 1201 rows skipped, with a cell missing: lines 11, 1001",)
    kept = np.delete(np.arange(1201), [9, 999])
    np.testing.assert_array_equal(log.t, plain["t_s"][kept])
    np.testing.assert_array_equal(log.inputs[:, 2], plain["voltage_R3_V"][kept])


def test_a_formula_that_passes_over_nan_has_no_value_where_a_cell_is_missing(tmp_path):
    table = read_table(str(write(tmp_path, {"a": [1.0, math.nan, 3.0], "b": [2.0, 2.0, 2.0]})))
    found = renamed(table, {"x": "max(a, b) + min(a, b)"}, ["x"], "x")["x"]
    assert [found[0], found[2]] == [3.0, 5.0]
    assert math.isnan(found[1])


def test_times_that_go_back_behind_skipped_rows_are_refused_with_their_own_line(plain, arm, tmp_path):
    text = text_of(plain).splitlines()
    text[10] = "," + text[10].partition(",")[2]
    text[20] = "0.001," + text[20].partition(",")[2]
    (tmp_path / "log.csv").write_text("\n".join(text))
    with pytest.raises(FileFaults, match=r"log\.csv:21:1: t_s\n"):
        read_log(tmp_path / "log.csv", arm)


@pytest.mark.parametrize(("unit", "factor"), [("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9)])
def test_times_that_the_logged_velocities_contradict_are_refused_with_the_unit_they_seem_to_have(
    unit, factor, plain, arm, tmp_path
):
    plain["t_s"] = plain["t_s"] * factor
    path = write(tmp_path, plain)
    with pytest.raises(FileFaults) as caught:
        read_log(path, arm)
    text = str(caught.value)
    assert f"as slowly as the logged velocities say: the times seem to be {unit}" in text
    (pasted,) = re.findall(r'--columns "(.*)"', text)
    log = read_log(path, arm, pasted)
    np.testing.assert_allclose(log.t, np.arange(1201) * STEP, rtol=1e-15)


def test_times_without_velocities_are_doubted_where_rows_are_far_apart(plain, arm, tmp_path):
    for name in [name for name in plain if name.startswith("qd")]:
        del plain[name]
    assert read_log(write(tmp_path, plain), arm).notes == ()
    plain["t_s"] = plain["t_s"] * 1e3
    (note,) = read_log(write(tmp_path, plain), arm).notes
    assert note == (
        "rows are 1 s apart, 1200 s in all, and inputs are held as long; "
        'if the times are milliseconds, scale them, with --columns "{t_s: t_s*1e-3}"'
    )


def test_rows_minutes_apart_are_refused_before_years_are_simulated(plain, arm, tmp_path):
    for name in [name for name in plain if name.startswith("qd")]:
        del plain[name]
    plain["t_s"] = plain["t_s"] * 1e6
    with pytest.raises(FileFaults, match="found:    rows 1000 s apart: the times seem to be microseconds"):
        read_log(write(tmp_path, plain), arm)


def test_a_slow_log_whose_velocities_agree_is_not_doubted_for_its_velocities(arm, tmp_path):
    t = np.arange(0.0, 100.0, 1.0)
    columns = {"t_s": t}
    for i in range(1, 6):
        columns |= {f"q_R{i}_rad": np.sin(t / 20), f"qd_R{i}_rad_s": np.cos(t / 20) / 20, f"voltage_R{i}_V": 0 * t}
    (note,) = read_log(write(tmp_path, columns), arm).notes
    assert note.startswith("rows are 1 s apart")


def test_currents_of_the_motors_drive_the_model_as_the_torques_that_they_make(recording, tmp_path):
    """A geared motor of Kp 0.05 N·m/A at 100 to 1 and a current of 2 A give the joint 10 N·m."""
    robot = copy.deepcopy(recording.scenario.scenario_data["robot"])
    motors = [joint["motor"] for joint in robot["joints"]]
    for motor in motors:
        motor |= {"Kp": 0.05, "Ke": 0.05, "gear": 100}
    log = {"t_s": np.arange(0.0, 0.5, 0.01)}
    for i in range(1, 6):
        log |= {f"q_R{i}_rad": 0 * log["t_s"], f"current_R{i}_A": 0 * log["t_s"] + 2.0}
    arm = armsim.load_robot(robot).arm
    read = read_log(write(tmp_path, log), arm).by_torques(arm)
    assert read.output == "torque"
    np.testing.assert_allclose(read.inputs, 10.0, rtol=1e-15)
    assert read.inputs_from.startswith("torque at the joints, gear Kp i of the motors' currents (N·m/A: R1 5, R2 5,")


def test_currents_need_motors_with_a_torque_constant(tmp_path):
    columns = {"t": [0, 1]} | {
        f"{kind}_R{i}_{unit}": [0, 0] for i in (1, 2) for kind, unit in (("q", "rad"), ("current", "A"))
    }
    with pytest.raises(UsageError, match=r"to tell the torque of a current\n  found:    no motor on R1, R2"):
        read_log(write(tmp_path, columns), armsim.load_robot("rr").arm)


def test_the_hint_on_columns_is_one_that_can_be_pasted(plain, arm, tmp_path):
    columns = {"stamp": ["10:00"] * 1201, "time_ms": plain["t_s"] * 1e3}
    for i in range(1, 6):
        columns[f"theta{i}_deg"] = np.degrees(plain[f"q_R{i}_rad"])
        columns[f"volt_{i}"] = plain[f"voltage_R{i}_V"]
    path = write(tmp_path, columns)
    with pytest.raises(FileFaults) as caught:
        read_log(path, arm)
    option, pasted = shlex.split(str(caught.value).partition("or add ")[2])
    assert option == "--columns"
    log = read_log(path, arm, pasted)
    np.testing.assert_allclose(log.t, plain["t_s"], rtol=1e-15)
    np.testing.assert_allclose(log.q[:, 3], plain["q_R4_rad"], rtol=1e-14)
    np.testing.assert_array_equal(log.inputs[:, 4], plain["voltage_R5_V"])


def test_a_hint_that_a_shell_would_not_take_is_a_file_that_can_be_pasted(plain, arm, tmp_path):
    columns = {"Time [ms]": plain["t_s"] * 1e3}
    for i in range(1, 6):
        columns[f"Position $ {i} (deg)"] = np.degrees(plain[f"q_R{i}_rad"])
        columns[f"Current {i} [mA]"] = plain[f"voltage_R{i}_V"]
    path = write(tmp_path, columns)
    with pytest.raises(FileFaults) as caught:
        read_log(path, arm)
    (tmp_path / "columns.yaml").write_text(str(caught.value).partition("with lines such as\n")[2])
    log = read_log(path, arm, tmp_path / "columns.yaml")
    np.testing.assert_allclose(log.q[:, 3], plain["q_R4_rad"], rtol=1e-14)
    np.testing.assert_allclose(log.by_torques(arm).inputs[:, 0], 10 * plain["voltage_R1_V"] * 1e-3, rtol=1e-15)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("enc9 - 2", "found:    `enc9` in `enc9 - 2`\n  mend:     did you mean `enc5`?"),
        ("1/0", "found:    `1/0` (it divides by zero)"),
        ("1/(enc1 - enc1)", "`1/(enc1 - enc1)` has none in line 2, where enc1 = "),
        ("u 1 [mV]*1e-3", 'mend:     put the name into backquotes, and all into quotes: "`u 1 [mV]`*1e-3"'),
        ("__import__(1)", "found:    `__import__(1)` (there is no function `__import__`)"),
        ("mode", 'expected: a column of numbers\n  found:    "auto"'),
        ("mode*2", 'expected: a column of numbers\n  found:    "auto"'),
    ],
)
@pytest.mark.handful(3)
def test_a_faulty_formula_is_explained(formula, text, plain, arm, tmp_path):
    columns, names = as_a_robot_logs(plain)
    with pytest.raises(FileFaults) as caught:
        read_log(write(tmp_path, columns), arm, names | {"q_R1_rad": formula})
    assert text in str(caught.value)
    assert len(str(caught.value).splitlines()) == 4


def test_a_run_is_compared_with_a_log_as_people_have_them(plain, tmp_path):
    columns, names = as_a_robot_logs(plain)
    columns["enc2"] = ["" if k == 500 else x for k, x in enumerate(columns["enc2"])]
    a, b = write(tmp_path, plain | {"mode": columns["mode"]}, "a.csv"), write(tmp_path, columns, "b.csv")
    result = armsim.compare(a, b, tolerance={"q": 1e-6}, columns=names, interpolate=True)
    assert not result.comparison.differs
    assert len(result.comparison.differences) == 10
    skipped = f"{b}: 1 of 1201 rows skipped, with a cell missing: line 502"  # and interpolated, to 1e-7 rad
    assert result.notes == ("mode is not compared, it holds no numbers", skipped)
    assert "stamp" in result.only_b


def test_comparing_seconds_with_milliseconds_says_so(plain, tmp_path):
    a = write(tmp_path, plain, "a.csv")
    b = write(tmp_path, plain | {"t_s": plain["t_s"] * 1e3}, "b.csv")
    with pytest.raises(UsageError) as caught:
        armsim.compare(a, b)
    text = str(caught.value)
    assert f"the times of {b} seem to be milliseconds; scale them, with" in text
    (pasted,) = re.findall(r'--columns "(.*)"', text)
    scaled = armsim.compare(a, b, {"q": 1e-12}, interpolate=True, columns=pasted)
    assert (scaled.comparison.differs, scaled.notes) == (False, ())
    assert "milliseconds" in armsim.compare(a, b, interpolate=True).notes[0]
