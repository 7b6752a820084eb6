"""`armsim advance` as a user meets it."""

from __future__ import annotations

import json
import math

import pytest

import armsim as library


def test_it_prints_what_the_library_answers(armsim):
    args = ("--q", "0.1,-0.4,0.2,0.6,-0.7", "--qd", "0.3,-0.2,0.1,0.4,-0.5", "--torque", "1,2,3,0,0")
    done = armsim("advance", "arm5", *args, "--for", "1/30", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    numbers = [[float(x) for x in text.split(",")] for text in args[1::2]]
    end = library.load_robot("arm5").advance(*numbers, 1 / 30)
    assert found["end"] == {key: values.tolist() for key, values in end._asdict().items()}
    assert found["start"] == {"q": numbers[0], "qd": numbers[1]}
    assert (found["duration"], found["torque"]) == (1 / 30, numbers[2])


def test_degrees_are_taken_and_printed(armsim):
    radians = json.loads(armsim("advance", "rr", "--q", "0,pi/4", "--qd", "pi/6,0", "--for", "0.2", "--json").out)
    turned = ("--deg", "--q", "0,45", "--qd", "30,0", "--for", "0.2")
    degrees = json.loads(armsim("advance", "rr", *turned, "--json").out)
    for key in ("q", "qd", "qdd"):
        assert degrees["end"][key] == pytest.approx([math.degrees(x) for x in radians["end"][key]], rel=1e-12)
    assert degrees["start"]["q"] == [0, 45]
    report = armsim("advance", "rr", *turned).out
    assert report.startswith("rr: after 0.2 s under no torque of its drives\n\njoint  torque  q before  qd before ")
    assert f"{degrees['end']['q'][1]:.5g} deg" in report


def test_without_a_pose_it_starts_at_the_initial_one(armsim):
    report = armsim("advance", "two_link", "--for", "0.1").out
    assert report.startswith("two_link: after 0.1 s under no torque of its drives, from its initial pose\n")
    assert armsim("advance", "two_link", "--for", "0.1", "-q").out == ""


def test_a_smaller_tolerance_is_more_precise(armsim):
    rough, fine, finest = (
        json.loads(armsim("advance", "rr", "--for", "1", "--rtol", rtol, "--json").out)["end"]["q"][1]
        for rtol in ("1e-3", "1e-7", "1e-12")
    )
    assert abs(fine - finest) < 1e-6 < abs(rough - finest)


def test_a_joint_beyond_its_range_is_pointed_out(armsim):
    report = armsim("advance", "arm5", "--torque", "0,60,0,0,0", "--for", "0.5").out
    assert "! R" in report
    assert " is outside its range, " in report


@pytest.mark.parametrize("args", [(), ("--for", "-1"), ("--for", "1", "--method", "rk4")], ids=str)
def test_what_cannot_be_done_is_refused_with_the_mend(armsim, args, told):
    done = armsim("advance", "rr", *args)
    assert (done.code, done.out) == (2, "")
    told(done.err)


def test_a_motion_that_leaves_all_bounds_exits_with_3(armsim):
    lost = armsim("advance", "rr", "--torque", "1e12,0", "--for", "1e3")
    assert (lost.code, lost.out) == (3, "")
    assert lost.err.startswith("advance: the motion diverged\n")
