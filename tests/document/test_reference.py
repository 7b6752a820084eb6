"""What a user reads when `control.reference` is wrong, word for word in tests/messages."""

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

CASES = [
    "{via: [[1, 1]]}",
    "{via: [1, 1], times: [1]}",
    "{via: [[1, 1], [2]], times: [1, 2]}",
    "{via: [[1, 1]], times: [0]}",
    "{via: [[1, 1], [0, 0]], times: [1]}",
    "{via: [[1, 1], [0, 0]], times: [2, 1]}",
    "{via: [[1, 1]], speed: 1}",
    "{via: [[1, 1]], times: [2], speed: 1}",
    "{via: [[1, 1]], profile: jerk_limited, speed: 1, acceleration: 1}",
    "{via: [[1, 1], [0, 0]], profile: minimum_jerk, speed: 1, acceleration: 1}",
    "{via: [[1, 1]], profile: sine, times: [1]}",
    "{profile: sinusoid, amplitude: 1}",
    "{profile: sinusoid, via: [[1, 1]]}",
    "{}",
    "{amplitude: 1, frequency: 2}",
    "{waypoints: [[1, 1]], times: [1]}",
    "{via: [[1, 1]], times: [1], ends: natural}",
    "{via: [[1, 1]], times: [1], amplitude: 1}",
    "{profile: chirp, amplitude: 1, frequency: 2, end_frequency: 2, duration: 1, sweep: exponential}",
    "{csv: none.csv}",
    "{csv: rows.csv, interpolation: quintic}",
    "{csv: half.csv}",
    "{csv: far.csv}",
    "{csv: unsorted.csv}",
    '["sin(x)", 0]',
    "[0, 1, 2]",
    "{via: [['sin(t)', 1]], times: [1]}",
]


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
def test_a_fault_says_where_what_was_expected_and_how_to_mend_it(reference, folder, told):
    (folder / "s.yaml").write_text(SCENARIO % reference)
    with pytest.raises(FileFaults) as caught:
        read_scenario("s.yaml")
    told(caught.value.faults[0])


def test_a_motion_that_the_run_cuts_short_is_doubtful(folder, told):
    from armsim.loading.check import check

    (folder / "s.yaml").write_text(SCENARIO % "{via: [[-1, 0.5]], times: [3.5]}")
    (warning,) = check("s.yaml").warnings
    told(warning)
    (folder / "s.yaml").write_text(SCENARIO % "{via: [[-1, 0.5]], times: [3]}")
    assert check("s.yaml").warnings == ()


def test_a_point_in_degrees_is_doubtful_where_angles_are_radians(folder):
    from armsim.loading.check import check

    (folder / "s.yaml").write_text(SCENARIO % "{via: [[-1, 90]], times: [1]}")
    (warning,) = check("s.yaml").warnings
    assert "control.reference.via[0][1]" in str(warning)


def test_target_and_reference_exclude_each_other(folder):
    (folder / "s.yaml").write_text(SCENARIO % "[0, 0]" + "  target: [0, 0]\n")
    with pytest.raises(FileFaults, match="either target or reference"):
        read_scenario("s.yaml")
