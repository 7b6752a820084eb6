"""`armsim motor` as a user meets it."""

from __future__ import annotations

import json
import math
import sys

import pytest

ONE = """\
format: armsim/robot/1
name: one
joints:
  - name: A
    type: revolute
    mdh: {alpha: pi/2}
    bodies: [{point: {mass: 1, center: [1, 0, 0]}}]
    motor: {Kp: 0.05, Ra: 2, gear: 50, limits: {voltage: 24, current: 8}}
  - name: B
    type: revolute
    mdh: {}
    bodies: [{point: {mass: 1, center: [1, 0, 0]}}]
    motor: {gear: 50}
"""


@pytest.fixture
def one(empty_folder):
    (empty_folder / "one.yaml").write_text(ONE)
    return "one.yaml"


def test_every_motor_has_a_line(armsim):
    done = armsim("motor", "arm5", "--voltage", "24")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("arm5: what its motors leave for the arm, at the joints\n")
    row = next(line.split() for line in done.out.splitlines() if line.startswith("R2 "))
    # Kp = Ke = 10, Ra = 1: 240 N·m at stall, 2.4 rad/s, 24²/4 W; holding 8.1234 N·m as `inverse` says
    assert row == ["R2", "24", "V", "240", "N·m", "2.4", "rad/s", "144", "W", "-8.1234", "N·m", "3.38", "%"]


def test_the_voltage_is_the_motors_limit_unless_given(armsim, one):
    found = json.loads(armsim("motor", one, "--json").out)
    assert [motor["joint"] for motor in found["motors"]] == ["A"]
    assert found["motors"][0]["voltage"] == 24
    lower = json.loads(armsim("motor", one, "--voltage", "12", "--json").out)
    assert lower["motors"][0]["stall"]["current"] == 6
    assert "! no Kp and Ra for the motor of B: only the torque is known, no curve" in armsim("motor", one).out


def test_one_joint_shows_its_whole_curve_and_the_share_that_holding_takes(armsim, one):
    out = armsim("motor", one, "--joint", "A").out
    table = out.split("\n\n")[1].splitlines()
    assert len(table) == 1 + 9 + 1
    # 8 A are all there is up to (24 V - 2 ohm 8 A) / (50 · 0.05 V·s/rad)
    assert ["3.2", "rad/s", "20", "N·m", "8", "A", "64", "W"] in [row.split()[:8] for row in table]
    assert table[0].split() == ["speed", "torque", "current", "power", "electrical", "efficiency"]
    assert "stall torque   20 N·m at 8 A\n" in out  # 8 A of 12 that 24 V would give; 0.05 N·m/A, 50:1
    assert "no-load speed  9.6 rad/s (91.67 rpm) at 0 A\n" in out
    assert "holding        19.62 N·m at the initial pose, 98.1 % of stall torque\n" in out
    assert out.endswith("\nof its limits  65.4 % of voltage, 98.1 % of current\n")


def test_speeds_turn_into_degrees(armsim, one):
    radians = json.loads(armsim("motor", one, "--joint", "A", "--json").out)
    degrees = json.loads(armsim("motor", one, "--joint", "A", "--json", "--deg").out)
    assert degrees["no_load"]["speed"] == pytest.approx(math.degrees(radians["no_load"]["speed"]), rel=1e-15)
    assert degrees["curve"][3]["torque"] == radians["curve"][3]["torque"]
    assert "deg/s" in armsim("motor", one, "--deg").out


def test_what_cannot_be_answered_ends_with_code_2(armsim, one, told):
    for args in [
        ("arm5",),
        ("puma560", "--voltage", "24"),
        (one, "--joint", "C"),
        (one, "--voltage", "48"),
        (one, "--plot", "a.png"),
    ]:
        done = armsim("motor", *args)
        assert (done.code, done.out) == (2, "")
        told(done.err)


def test_quiet_prints_nothing(armsim, one):
    assert armsim("motor", one, "-q").out == armsim("motor", one, "--joint", "A", "-q").out == ""


def test_without_matplotlib_a_plot_is_one_line_away(armsim, one, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = armsim("motor", one, "--joint", "A", "--plot", "a.png")
    assert done.code == 2
    assert 'mend:     pip install "armsim[plot]"' in done.err


def test_a_plot_is_a_picture(armsim, one, empty_folder, drawn):
    pytest.importorskip("matplotlib")
    done = armsim("motor", one, "--joint", "A", "--plot", "a.png")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("\ndrawn    a.png\n")
    picture = (empty_folder / "a.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000
    assert armsim("motor", one, "--plot", "a.png").code == 2


@pytest.mark.parametrize("command", ["motor", "inverse", "forward", "fk", "draw"])
@pytest.mark.handful(1)
def test_doubts_of_check_are_told_where_an_arm_is_asked(armsim, empty_folder, command):
    armsim("new", "mine", "-q")
    asked = (command, "mine/robot.yaml", *(["-o", "p.png"] if command == "draw" else []))
    sound, doubted = (
        armsim(*asked),
        armsim(*asked, "--set", "joints[J2].motor.Kp=25.5", *["--force"] * (command == "draw")),
    )
    assert (sound.code, sound.err, doubted.code) == (0, "", 0)
    assert "! --set joints[J2].motor.Kp: joints[1].motor.Kp: 25.5 N·m/A; data sheets have" in doubted.err
    assert armsim(*asked, "--set", "joints[J2].motor.Kp=25.5", "-q", *["--force"] * (command == "draw")).err == ""


@pytest.mark.parametrize(
    ("word", "mend"),
    [("speed_constant", "write `Kp: 30/(pi*374)` for 374 rpm/V"), ("no_load_current", "write `coulomb: 0.0255*0.096`")],
)
def test_other_words_of_data_sheets_are_told_what_to_write(armsim, word, mend):
    done = armsim("motor", "arm5", "--set", f"joints[R2].motor.{word}=0.1")
    assert done.code == 2
    assert mend in done.err


def test_the_name_of_a_scenario_that_has_its_robot_in_itself_is_refused_with_what_to_do(armsim):
    refused = armsim("motor", "crawl")
    assert refused.code == 2
    assert "copy its robot into a file of its own" in refused.err
