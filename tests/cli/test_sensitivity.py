"""`armsim sensitivity` as a user meets it."""

from __future__ import annotations

import json

import pytest

import armsim as library

ASKED = (
    "--measure",
    "rms_error",
    "--measure",
    "final(q_R2)",
    "--open",
    "control.kp",
    "--open",
    "robot.joints[R2].motor.Kp",
)


@pytest.mark.slow
def test_derivatives_are_told_in_units_and_in_percent(armsim):
    done = armsim("sensitivity", "arm5_hold", *ASKED)
    assert (done.code, done.err) == (0, "")
    title, values, units, shares = (part.splitlines() for part in done.out.strip().split("\n\n"))
    assert title == ["arm5_hold by explicit_euler, steps of 0.0001 s"]
    assert values[1].split() == ["rms_error", "0.028183", "rad"]
    assert units[0].split() == ["derivative", "by", "at", "rms_error", "final(q_R2)"]
    assert units[2].split()[:3] == ["control.kp[1]", "60", "V/rad"]
    # at rest gain and torque constant are one factor of the loop's stiffness
    assert shares[2].split()[-1] == shares[6].split()[-1]
    assert shares[0].startswith("% for 1 % of ")


def test_json_has_what_the_library_returns(armsim):
    done = armsim("sensitivity", "arm5_hold", *ASKED, "--json")
    told = json.loads(done.out)
    found = library.sensitivity("arm5_hold", [ASKED[5], ASKED[7]], [ASKED[1], ASKED[3]])
    assert told.pop("doubts") == []
    assert told == found.summary()
    assert told["measures"]["rms_error"]["percent"]["control.kp[2]"] == pytest.approx(-0.53, abs=0.01)


def test_a_measure_that_counts_steps_is_said_to_stay(armsim):
    done = armsim("sensitivity", "arm5_hold", "--measure", "settling_time(0.01)", "--open", "control.kp[0]")
    assert "no small change changes settling_time(0.01)" in done.out
    assert "\n% for 1 % of " in done.out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--open", "payload.mass"], "--set payload.mass=..."),
        (["--open", "control.kp[0]", "--set", "integrator.method=rodas"], "integrator.method to one of explicit_euler"),
        (["--open", "duration"], "part of the structure"),
    ],
)
def test_what_cannot_be_asked_is_refused(armsim, more, told):
    done = armsim("sensitivity", "arm5_hold", "--measure", "iae", *more)
    assert done.code == 2
    assert told in done.err
