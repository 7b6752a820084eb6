"""What a user reads when `control.reference` is wrong, word for word."""

from __future__ import annotations

import pytest

from armsim.errors import FileFaults
from armsim.loading import read_scenario

SCENARIO = """\
format: armsim/scenario/1
robot: two_link
duration: 3
control:
  law: pd
  output: torque
  kp: 10
  kd: 1
  reference: %s
"""
ROWS = "t_s,q_shoulder_rad,q_elbow_rad\n0,0,0\n0.5,0.2,0.1\n1,0.5,0.1\n1.5,0.3,-0.1\n"
ONE_THING = "either points (`via`), a file (`csv`), formulas (`q`) or an oscillation (`profile: sinusoid`)"
EACH = "2 numbers (one per joint: shoulder, elbow)"

CASES = {  # column in line 9, key, expected, found, mend
    "{via: [[1, 1]]}": (20, "", "when the points are reached", "neither `times` nor `speed`",
        "add `times: [...]`, 1 of them, or `speed: 1.5` and `acceleration: 4`"),
    "{via: [1, 1], times: [1]}": (20, ".via", f"a list of points, 200 at most, each {EACH}", "numbers alone",
        "write brackets around each point, also around a single one: `[[0.5, -0.3]]`"),
    "{via: [[1, 1], [2]], times: [1, 2]}": (29, ".via[1]", EACH, "1 number", "give one number for each joint"),
    "{via: [[1, 1]], times: [0]}": (37, ".times", "a motion", "one point, from the start on",
        "give a second point, or a time above 0; a pose that is only held is `target`"),
    "{via: [[1, 1], [0, 0]], times: [1]}": (45, ".times", "a time for each point, 2", "1", "give as many"),
    "{via: [[1, 1], [0, 0]], times: [2, 1]}": (49, ".times[1]", "a time after the one before, 2 s", "1 s",
        "put the times in order"),
    "{via: [[1, 1]], speed: 1}": (14, ".acceleration", EACH, "nothing, and `speed` needs it", "add `acceleration: 4`"),
    "{via: [[1, 1]], times: [2], speed: 1}": (42, ".speed", "either times or limits", "`times` and `speed`",
        "take one of them out"),
    "{via: [[1, 1]], profile: jerk_limited, speed: 1, acceleration: 1}": (14, ".jerk", EACH,
        "nothing, and `jerk_limited` needs it", "add `jerk: 40`"),
    "{via: [[1, 1], [0, 0]], profile: minimum_jerk, speed: 1, acceleration: 1}": (20, ".profile",
        "times for minimum_jerk through several points", "limits alone",
        "write `times`, or `profile: spline` through the points, or `quintic` with a stop at each"),
    "{via: [[1, 1]], profile: sine, times: [1]}": (39, ".profile",
        "minimum_jerk, spline, cubic, quintic, trapezoid, jerk_limited, steps, sinusoid, chirp or multisine", '"sine"',
        "write `sinusoid`"),
    "{profile: sinusoid, amplitude: 1}": (14, ".frequency", EACH, "nothing, and `sinusoid` needs it",
        "add `frequency: 0.5`"),
    "{profile: sinusoid, via: [[1, 1]]}": (14, "", ONE_THING, "`via` and `profile: sinusoid`", "take out all but one"),
    "{}": (14, "", ONE_THING, "none of them", "add for example `via: [[0.5, -0.3]]` and `times: [1.5]`"),
    "{amplitude: 1, frequency: 2}": (14, "", ONE_THING, "none of them",
        "add `profile: sinusoid`, `chirp` or `multisine`"),
    "{waypoints: [[1, 1]], times: [1]}": (15, ".waypoints", "one of the keys profile, via, times, speed, acceleration, jerk, "
        "start, ends, amplitude, frequency, end_frequency, duration, sweep, frequencies, phase, offset, csv, interpolation, "
        "sha256, q",
        "the unknown key `waypoints`", "did you mean `via`?"),
    "{via: [[1, 1]], times: [1], ends: natural}": (42, ".ends", "ends of a spline", "no spline",
        "take it out, or add `profile: spline`"),
    "{via: [[1, 1]], times: [1], amplitude: 1}": (42, ".amplitude", "keys of `via`", "`amplitude`", "take it out"),
    "{profile: chirp, amplitude: 1, frequency: 2, end_frequency: 2, duration: 1, sweep: exponential}": (74, ".end_frequency",
        "another frequency than at its beginning", "the same", "write another one, or take `profile: sinusoid`"),
    "{csv: none.csv}": (20, ".csv", "a CSV file", "none.csv: no file of this name", "check the name and the folder"),
    "{csv: rows.csv, interpolation: quintic}": (20, ".csv", "at least 6 rows for a quintic spline", "4 in rows.csv",
        "give more rows"),
    "{csv: half.csv}": (20, ".csv", "a column `q_elbow_rad` in half.csv", "none", "did you mean `q_shoulder_rad`?"),
    "{csv: far.csv}": (20, ".csv", "q in SI units of a magnitude of 1e+06 at most", "far.csv: 1e+07 in line 3",
        "correct the column"),
    "{csv: unsorted.csv}": (20, ".csv", "times that increase from row to row in unsorted.csv", "0.5 after 1.0 in line 3",
        "sort the rows, and leave each time once"),
    '["sin(x)", 0]': (15, ".q[0]", "a number of rad or m, or an expression of the time t", '"sin(x)" (there is no `x`)',
        "it may depend on the time `t` only"),
    "[0, 1, 2]": (14, ".q", EACH, "3 numbers", "give one number for each joint"),
    "{via: [['sin(t)', 1]], times: [1]}": (22, ".via[0][0]", "a number of rad or m",
        '"sin(t)" (`t` is the time, which has no value here)', "only `inputs` and `control.reference.q` may depend on the time"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "half.csv").write_text("t_s,q_shoulder_rad\n0,0\n1,1\n")
    (tmp_path / "far.csv").write_text(
        "t_s,q_shoulder_rad,q_elbow_rad,qd_shoulder_rad_s,qd_elbow_rad_s\n0,0,0,0,0\n1,1e7,0,0,0\n"
    )
    (tmp_path / "unsorted.csv").write_text("t_s,q_shoulder_rad,q_elbow_rad\n1,0,0\n0.5,0,0\n2,0,0\n3,0,0\n")
    return tmp_path


@pytest.mark.parametrize("reference", CASES)
def test_a_fault_says_where_what_was_expected_and_how_to_mend_it(reference, folder):
    column, key, expected, found, mend = CASES[reference]
    (folder / "s.yaml").write_text(SCENARIO % reference)
    with pytest.raises(FileFaults) as caught:
        read_scenario("s.yaml")
    fault = caught.value.faults[0]
    place = f"s.yaml:9:{column}: control.reference{key}"
    assert str(fault) == f"{place}\n  expected: {expected}\n  found:    {found}\n  mend:     {mend}"


def test_target_and_reference_exclude_each_other(folder):
    (folder / "s.yaml").write_text(SCENARIO % "[0, 0]" + "  target: [0, 0]\n")
    with pytest.raises(FileFaults, match="either target or reference"):
        read_scenario("s.yaml")
