"""What a user reads when a robot file is wrong, word for word in tests/messages."""

import pytest

from armsim.errors import FileFaults
from armsim.loading import read_robot

ROBOT = """\
format: armsim/robot/1
name: one
parameters: {upper: 0.38}
joints:
  - name: R1
    type: revolute
    mdh: {a: 0, alpha: -pi/2, d: 0.35, theta: 0}
    initial: 0
    limits: {lower: -1, upper: 1}
    friction: {viscous: 0.1}
    bodies:
      - cylinder: {axis: z, height: upper, radius: 0.05, mass: 0.8, center: [0, 0, 0]}
    motor: {Kp: 10, Ra: 1}
"""


@pytest.fixture
def message(tmp_path, monkeypatch):
    """The message for the robot above with some of its text replaced."""
    monkeypatch.chdir(tmp_path)

    def read(*replacements, text=ROBOT):
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "bot.yaml").write_text(text, encoding="utf-8")
        with pytest.raises(FileFaults) as caught:
            read_robot("bot.yaml")
        return str(caught.value)

    return read


CASES = {
    "unknown key": [("mass: 0.8", "mas: 0.8")],
    "wrong type": [("radius: 0.05", "radius: [1, 2]")],
    "text for a number": [("Ra: 1", "Ra: one ohm")],
    "wrong length": [("center: [0, 0, 0]", "center: [0, 0]")],
    "negative mass": [("mass: 0.8", "mass: -0.8")],
    "zero radius": [("radius: 0.05", "radius: 0")],
    "bad expression": [("-pi/2", "-pi/")],
    "unknown parameter": [("height: upper", "height: 2*uper")],
    "unit after a number": [("Ra: 1", "Ra: 0.5*2 ohm")],
    "unit of another dimension": [("Ra: 1", "Ra: 1 V")],
    "length where a revolute joint has an angle": [("initial: 0", "initial: 35 mm")],
    "unknown unit": [("height: upper", "height: 35 mmm")],
    "product behind a fraction bar": [("viscous: 0.1", "viscous: 1 N*m/rad s")],
    "negative, with a unit": [("mass: 0.8", "mass: -800 g")],
    "limits with units, swapped": [("{lower: -1, upper: 1}", "{lower: 90 deg, upper: -1}")],
    "start beyond limits with units": [
        ("{lower: -1, upper: 1}", "{lower: -90 deg, upper: 90 deg}"),
        ("initial: 0", "initial: 100 deg"),
    ],
    "parameter with a unit": [("upper: 0.38", "upper: 380 mm")],
    "division by zero": [("height: upper", "height: upper/0")],
    "expression of the wrong sign": [("height: upper", "height: upper - 0.5")],
    "circular parameters": [("{upper: 0.38}", "{upper: 2*fore, fore: wrist + 1, wrist: upper}")],
    "parameter with the name of a function": [("{upper: 0.38}", "{upper: 0.38, sin: 1}")],
    "duplicate key": [("initial: 0", "initial: 0\n    initial: 1")],
    "frames of names that cannot be, and of no link": [
        (
            "name: one\n",
            "name: one\nframes:\n  R1: {link: R1}\n  tool: {link: R1}\n  a_m: {link: R1}\n  rad_s: {link: R1}\n  J: {link: R7}\n",
        )
    ],
    "swapped limits": [("lower: -1, upper: 1", "lower: 1, upper: -1")],
    "initial pose outside the limits": [("initial: 0", "initial: 1.5")],
    "pi among degrees": [("name: one", "name: one\nunits: {angle: deg}")],
    "efficiency in percent": [("Ra: 1", "Ra: 1, efficiency: 80")],
    "Coulomb friction in one direction": [("viscous: 0.1", "coulomb: {positive: 0.1}")],
    "Coulomb friction that is text": [("viscous: 0.1", "coulomb: [1, 2]")],
    "brushes without a half voltage": [("Ra: 1", "Ra: 1, brush_drop: {max: 0.5, half: 0}")],
    "a limit of zero": [("Ra: 1", "Ra: 1, limits: {current: 0}")],
    "a torque constant alone": [("Kp: 10, Ra: 1", "Kp: 10")],
    "a current limit without a torque constant": [("Kp: 10, Ra: 1", "gear: 50, limits: {current: 3}")],
    "another model of a motor": [("Ra: 1", "Ra: 1, model: stepper")],
    "what DynaMechs' motor has not": [
        ("Ra: 1", "Ra: 1, model: dynamechs, gear: 50, coulomb: {positive: 1, negative: 2}")
    ],
    "invalid friction beside DynaMechs' motor": [
        ("viscous: 0.1", "coulomb: {positive: -0.1, negative: 0.1}"),
        ("Ra: 1", "Ra: 1, model: dynamechs"),
    ],
    "unknown shape": [("cylinder:", "cilinder:")],
    "mass and density": [("mass: 0.8", "mass: 0.8, density: 2700")],
    "gear of zero": [("Ra: 1", "Ra: 1, gear: 0")],
    "frame of another convention": [("mdh:", "dh:")],
    "wrong format": [("armsim/robot/1", "armsim/robots/1")],
    "newer format": [("armsim/robot/1", "armsim/robot/2")],
    "missing space after a colon": [("{Kp: 10, Ra: 1}", "{Kp:10, Ra: 1}")],
    "infinite number": [("Ra: 1", "Ra: .inf")],
    "number too large for a double": [("Ra: 1", "Ra: 1e999")],
    "unnamed joint": [("name: R1", "name: 1")],
    "key without a value": [("{Kp: 10, Ra: 1}", "{Kp: 10, Ra: }")],
    "no joints": [(ROBOT[ROBOT.index("joints:") :], "joints: []\n")],
    "a joint of no known type that is far outside its limits": [
        ("type: revolute", "type: rotary"),
        ("initial: 0", "initial: 50"),
    ],
    "a screw that begins turns away from its limits": [
        ("type: revolute", "type: screw\n    pitch: 0.005"),
        ("initial: 0", "initial: 50"),
    ],
    "several at once, in the order of the file": [
        ("name: one\n", "nmae: one\n"),
        ("mass: 0.8", "mass: -0.8"),
        ("Kp: 10", "Kp: 0"),
        ("type: revolute", "type: rotary"),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_a_faulty_robot_file_is_explained(message, told, name):
    told(message(*CASES[name]))


def test_two_joints_of_one_name_are_refused(message, told):
    told(message(text=ROBOT + ROBOT[ROBOT.index("  - name") :]))


def test_a_list_at_the_top_level_is_refused(message, told):
    told(message(text="- 1\n"))


def test_a_missing_file_names_the_nearest_one(tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm5.yaml").write_text("")
    with pytest.raises(FileFaults) as caught:
        read_robot("arm6.yaml")
    told(caught.value)


def test_an_unknown_robot_names_the_nearest_shipped_one(told):
    with pytest.raises(FileFaults) as caught:
        read_robot("twolink")
    told(caught.value)


def test_no_more_than_fifty_faults_are_shown(message):
    text = ROBOT + "".join(f"x{i}: 1\n" for i in range(80))
    lines = message(text=text).splitlines()
    assert len(lines) == 4 * 51
    assert lines[-2:] == ["  found:    80 faults", "  mend:     mend those above first, then run again"]
