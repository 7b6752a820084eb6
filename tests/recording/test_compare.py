"""Two courses of the same numbers: equal, or by how much not, and since when."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim.errors import ArmsimError, FileFaults, UsageError
from armsim.recording.comparison import column_of, compared


def write(path, text):
    path.write_text(text)
    return path


def test_runs_are_equal_to_the_bit_with_themselves_and_their_recording(tmp_path):
    settings = {"control.period": 1e-3, "duration": 0.2}
    run = armsim.simulate("arm5_hold", {**settings, "log.every": 1e-3}).save(tmp_path / "run")
    recording = armsim.record("arm5_hold", settings).save(tmp_path / "recording")
    assert armsim.compare(run, run / "trajectory.csv").comparison.equal
    result = armsim.compare(run, recording)
    assert result.comparison.equal
    assert len(result.comparison.differences) == 23
    assert "energy" not in result.only_a
    assert "qw" in result.only_a
    assert result.only_b == ()


def test_differences_are_b_minus_a_and_dated(tmp_path):
    a = write(tmp_path / "a.csv", "t_s,q_R1_rad,x_m,other\n0,1,2,3\n1,1,2,3\n2,1,2,3\n3,1,2,3\n")
    b = write(tmp_path / "b.csv", "t_s,other,x_m,q_R1_rad\n0,3,2,1\n1,3,2,1.5\n2,3,2,-2\n3,3,2,1.25\n")
    q, x, other = armsim.compare(a, b).comparison.differences
    assert (q.final, q.largest, q.at, q.began, q.tolerance) == (0.25, 3.0, 2.0, 1.0, 0.0)
    assert q.rms == pytest.approx(np.sqrt((0.25 + 9 + 0.0625) / 4), rel=1e-15)
    assert (x.largest, x.began, other.began) == (0.0, None, None)
    assert (x.column.quantity, other.column.quantity) == ("tool", "other")
    judged = armsim.compare(a, b, {"q": 1.0}).comparison
    assert judged.began == 2.0
    assert not armsim.compare(a, b, {"q": 3.0, "tool": 0}).comparison.differs
    assert not armsim.compare(a, b, {"other": 0}).comparison.differs
    assert not armsim.compare(a, b, 3.0).comparison.differs


def test_other_times_need_interpolation(tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    a = write(Path("a.csv"), "t_s,x\n0,0\n1,1\n2,2\n3,3\n")
    b = write(Path("b.csv"), "t,x\n0.5,0.5\n2.5,2.5\n")
    with pytest.raises(UsageError) as caught:
        armsim.compare(a, b)
    told(caught.value)
    result = armsim.compare(a, b, interpolate=True)
    assert result.interpolated
    assert result.comparison.t.tolist() == [1.0, 2.0]
    assert result.comparison.equal


@pytest.mark.parametrize(
    "text",
    [
        "t_s,y\n0,1\n",
        "x,y\n0,1\n",
        "t_s,x\n0,1\n0,2\n",
        "t_s,x\n0,1\n1\n",
        "t_s,x\n0,1\n1,one\n",
        "",
        "t_s,x\n5,1\n6,2\n",
    ],
)
def test_what_cannot_be_compared_is_refused_in_four_lines(text, tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    a = write(Path("a.csv"), "t_s,x\n0,0\n1,1\n")
    with pytest.raises(ArmsimError) as caught:
        armsim.compare(a, write(Path("b.csv"), text), interpolate=True)
    told(caught.value)


def test_a_folder_without_a_run_is_refused(tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(UsageError, match=r"a folder without trajectory.csv or torque.csv or record.csv"):
        armsim.compare(tmp_path / "other", tmp_path / "other")
    with pytest.raises(FileFaults, match=r"no file of this name"):
        armsim.compare(tmp_path / "none", tmp_path / "none")


def test_a_tolerance_for_nothing_is_refused(tmp_path, told):
    a = write(tmp_path / "a.csv", "t_s,q_R1_rad\n0,0\n")
    with pytest.raises(UsageError) as caught:
        armsim.compare(a, a, {"speed": 1})
    told(caught.value)
    for most in (-1.0, float("inf"), float("nan")):
        with pytest.raises(UsageError, match="a magnitude, 0 or more"):
            armsim.compare(a, a, {"q": most})


def test_a_run_written_in_degrees_is_the_run_written_in_radians(tmp_path):
    run = armsim.simulate("arm5_hold", {"duration": 0.2})
    radians, degrees = run.save(tmp_path / "rad"), run.save(tmp_path / "deg", degrees=True)
    angles = [f"{kind}_R{i}" for kind in ("q", "qd", "qdd") for i in range(1, 6)] + ["wx_rad", "wy_rad", "wz_rad"]
    for a, b, unit in ((radians, degrees, "rad"), (degrees, radians, "deg")):
        result = armsim.compare(a, b)
        assert result.comparison.equal
        assert sorted("_".join(name.replace("deg", "rad").split("_")[:2]) for name in result.converted) == sorted(
            angles
        )
        assert (result.only_a, result.only_b) == ((), ())
        assert {d.column.unit for d in result.comparison.differences if d.column.quantity == "q"} == {unit}
    assert armsim.compare(degrees, degrees).converted == ()


def test_converted_angles_differ_by_what_they_differ(tmp_path):
    a = write(tmp_path / "a.csv", "t_s,q_R1_deg,qd_R1_deg_s,x_m\n0,180,90,1\n1,90,90,1\n")
    b = write(tmp_path / "b.csv", f"t_s,q_R1_rad,qd_R1_rad_s,x_m\n0,{np.pi!r},{np.pi / 2!r},1\n1,{np.pi / 3!r},0,1\n")
    q, qd, x = armsim.compare(a, b).comparison.differences
    assert (q.column.heading, qd.column.heading, x.column.heading) == ("q_R1_deg", "qd_R1_deg_s", "x_m")
    assert q.final == pytest.approx(-30.0, rel=1e-14)
    assert qd.final == -90.0
    assert (q.began, qd.began, x.began) == (1.0, 1.0, None)
    assert not armsim.compare(a, b, {"q": 30.1}).comparison.differs
    assert armsim.compare(b, a, {"q": 0.5}).comparison.differs  # pi/6 is 0.524 rad
    assert not armsim.compare(b, a, {"q": 0.53}).comparison.differs


def test_a_difference_above_the_rounding_of_a_conversion_is_found(tmp_path):
    a = write(tmp_path / "a.csv", f"t_s,q_R1_rad\n0,{math.radians(10.0) * (1 + 1e-14)!r}\n")
    assert armsim.compare(a, write(tmp_path / "b.csv", "t_s,q_R1_deg\n0,10\n")).comparison.differs


def test_columns_in_both_units_are_left_alone(tmp_path):
    a = write(tmp_path / "a.csv", "t_s,q_R1_rad,q_R1_deg\n0,1,57\n")
    b = write(tmp_path / "b.csv", "t_s,q_R1_rad,q_R1_deg\n0,1,57\n")
    assert armsim.compare(a, b).converted == ()
    result = armsim.compare(a, write(tmp_path / "c.csv", "t_s,q_R1_deg\n0,57\n"))
    assert (result.converted, result.only_a, result.comparison.equal) == ((), ("q_R1_rad",), True)


def test_a_bit_that_degrees_would_lose_is_still_a_difference():
    lost = next(x for x in (1.5 + k / 1024 for k in range(512)) if np.degrees(np.nextafter(x, 2)) == np.degrees(x))
    first, second = np.array([[lost]]), np.array([[np.nextafter(lost, 2.0)]])
    result = compared(np.array([0.0]), [column_of("q_R1_rad")], first, second, None, degrees=True)
    assert result.differences[0].column.heading == "q_R1_deg"
    assert result.differs
    assert not result.equal
