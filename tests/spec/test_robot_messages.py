"""What a user reads when a robot file is wrong, word for word."""

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
    "unknown key": (
        [("mass: 0.8", "mas: 0.8")],
        """\
bot.yaml:12:19: joints[0].bodies[0].cylinder.mass
  expected: a number of kg, 0 or more
  found:    nothing: the key is missing
  mend:     add `mass: 0.8`
bot.yaml:12:58: joints[0].bodies[0].cylinder.mas
  expected: one of the keys mass, density, center, axis, height, radius
  found:    the unknown key `mas`
  mend:     did you mean `mass`?""",
    ),
    "wrong type": (
        [("radius: 0.05", "radius: [1, 2]")],
        """\
bot.yaml:12:52: joints[0].bodies[0].cylinder.radius
  expected: a positive number of m
  found:    a list of 2
  mend:     write for example `radius: 0.05`""",
    ),
    "text for a number": (
        [("Ra: 1", "Ra: one ohm")],
        """\
bot.yaml:13:25: joints[0].motor.Ra
  expected: a positive number of ohm
  found:    "one ohm" (not a number)
  mend:     write a number, or a formula such as `0.5*0.38`""",
    ),
    "wrong length": (
        [("center: [0, 0, 0]", "center: [0, 0]")],
        """\
bot.yaml:12:77: joints[0].bodies[0].cylinder.center
  expected: a list of 3 numbers of m
  found:    a list of 2
  mend:     write for example `center: [0, 0, 0.1]`""",
    ),
    "negative mass": (
        [("mass: 0.8", "mass: -0.8")],
        """\
bot.yaml:12:64: joints[0].bodies[0].cylinder.mass
  expected: a number of kg, 0 or more
  found:    -0.8
  mend:     write the mass without its sign, for example `mass: 0.8`""",
    ),
    "zero radius": (
        [("radius: 0.05", "radius: 0")],
        """\
bot.yaml:12:52: joints[0].bodies[0].cylinder.radius
  expected: a positive number of m
  found:    0
  mend:     write a number above 0, for example `radius: 0.05`""",
    ),
    "bad expression": (
        [("-pi/2", "-pi/")],
        """\
bot.yaml:7:24: joints[0].mdh.alpha
  expected: a number of rad
  found:    "-pi/" (it ends too early)
  mend:     write a number, or a formula such as `-pi/2`""",
    ),
    "unknown parameter": (
        [("height: upper", "height: 2*uper")],
        """\
bot.yaml:12:37: joints[0].bodies[0].cylinder.height
  expected: a positive number of m
  found:    "2*uper" (there is no `uper`)
  mend:     did you mean `upper`?""",
    ),
    "unit after a number": (
        [("Ra: 1", "Ra: 0.5*2 ohm")],
        """\
bot.yaml:13:25: joints[0].motor.Ra
  expected: a positive number of ohm
  found:    "0.5*2 ohm" (unexpected `ohm`)
  mend:     write * for products; a unit stands behind one number, not a formula""",
    ),
    "unit of another dimension": (
        [("Ra: 1", "Ra: 1 V")],
        """\
bot.yaml:13:25: joints[0].motor.Ra
  expected: a positive number of ohm
  found:    "1 V" (`V` measures something else)
  mend:     write the number in `ohm`, `mohm` or `kohm`""",
    ),
    "length where a revolute joint has an angle": (
        [("initial: 0", "initial: 35 mm")],
        """\
bot.yaml:8:14: joints[0].initial
  expected: a number of rad or m
  found:    "35 mm" (`mm` measures something else)
  mend:     write the number in `rad` or `deg`""",
    ),
    "unknown unit": (
        [("height: upper", "height: 35 mmm")],
        """\
bot.yaml:12:37: joints[0].bodies[0].cylinder.height
  expected: a positive number of m
  found:    "35 mmm" (there is no unit `mmm`)
  mend:     did you mean `mm`?""",
    ),
    "product behind a fraction bar": (
        [("viscous: 0.1", "viscous: 1 N*m/rad s")],
        """\
bot.yaml:10:25: joints[0].friction.viscous
  expected: a number of N·m·s/rad or N·s/m, 0 or more
  found:    "1 N*m/rad s" (`s` behind a unit)
  mend:     write * between units, and brackets around a denominator of several: V/(rad*s)""",
    ),
    "negative, with a unit": (
        [("mass: 0.8", "mass: -800 g")],
        """\
bot.yaml:12:64: joints[0].bodies[0].cylinder.mass
  expected: a number of kg, 0 or more
  found:    -800 g = -0.8 kg
  mend:     write the mass without its sign, for example `mass: 800 g`""",
    ),
    "limits with units, swapped": (
        [("{lower: -1, upper: 1}", "{lower: 90 deg, upper: -1}")],
        """\
bot.yaml:9:21: joints[0].limits
  expected: lower smaller than upper
  found:    lower 90 deg, upper -1
  mend:     swap them""",
    ),
    "start beyond limits with units": (
        [("{lower: -1, upper: 1}", "{lower: -90 deg, upper: 90 deg}"), ("initial: 0", "initial: 100 deg")],
        """\
bot.yaml:8:14: joints[0].initial
  expected: a position within the limits, -90 deg to 90 deg
  found:    100 deg
  mend:     give an initial position within the limits, or correct the limits""",
    ),
    "parameter with a unit": (
        [("upper: 0.38", "upper: 380 mm")],
        """\
bot.yaml:3:21: parameters.upper
  expected: a number
  found:    "380 mm" (`mm` measures something else)
  mend:     write a plain number, or one in `%`; parameters count in the SI unit of the keys that use them""",
    ),
    "division by zero": (
        [("height: upper", "height: upper/0")],
        """\
bot.yaml:12:37: joints[0].bodies[0].cylinder.height
  expected: a positive number of m
  found:    "upper/0" (it divides by zero)
  mend:     write a number, or a formula such as `0.5*0.38`""",
    ),
    "expression of the wrong sign": (
        [("height: upper", "height: upper - 0.5")],
        """\
bot.yaml:12:37: joints[0].bodies[0].cylinder.height
  expected: a positive number of m
  found:    upper - 0.5 = -0.12
  mend:     correct the expression, or the parameters in it""",
    ),
    "circular parameters": (
        [("{upper: 0.38}", "{upper: 2*fore, fore: wrist + 1, wrist: upper}")],
        """\
bot.yaml:3:14: parameters.upper
  expected: parameters that do not depend on themselves
  found:    upper -> fore -> wrist -> upper
  mend:     give one of them a number, for example `upper: 0.38`""",
    ),
    "parameter with the name of a function": (
        [("{upper: 0.38}", "{upper: 0.38, sin: 1}")],
        """\
bot.yaml:3:27: parameters
  expected: a name of letters, digits and `_`, starting with a letter
  found:    `sin`, which has a meaning of its own
  mend:     choose another name""",
    ),
    "duplicate key": (
        [("initial: 0", "initial: 0\n    initial: 1")],
        """\
bot.yaml:9:5: joints[0].initial
  expected: each key once in a mapping (the first `initial` is on line 8)
  found:    a second `initial`
  mend:     take one of them out""",
    ),
    "swapped limits": (
        [("lower: -1, upper: 1", "lower: 1, upper: -1")],
        """\
bot.yaml:9:21: joints[0].limits
  expected: lower smaller than upper
  found:    lower 1, upper -1
  mend:     swap them""",
    ),
    "initial pose outside the limits": (
        [("initial: 0", "initial: 1.5")],
        """\
bot.yaml:8:14: joints[0].initial
  expected: a position within the limits, -1 to 1
  found:    1.5
  mend:     give an initial position within the limits, or correct the limits""",
    ),
    "pi among degrees": (
        [("name: one", "name: one\nunits: {angle: deg}")],
        """\
bot.yaml:8:24: joints[0].mdh.alpha
  expected: a number of deg
  found:    "-pi/2" (`pi` in a file whose angles are degrees)
  mend:     write degrees: 180 for pi""",
    ),
    "efficiency in percent": (
        [("Ra: 1", "Ra: 1, efficiency: 80")],
        """\
bot.yaml:13:40: joints[0].motor.efficiency
  expected: a positive number, 1 at most
  found:    80
  mend:     write a number up to 1""",
    ),
    "Coulomb friction in one direction": (
        [("viscous: 0.1", "coulomb: {positive: 0.1}")],
        """\
bot.yaml:10:25: joints[0].friction.coulomb.negative
  expected: a number of N·m or N, 0 or more
  found:    nothing: the key is missing
  mend:     add `negative: 0.5`""",
    ),
    "Coulomb friction that is text": (
        [("viscous: 0.1", "coulomb: [1, 2]")],
        """\
bot.yaml:10:25: joints[0].friction.coulomb
  expected: a number of N·m or N, 0 or more, or {positive, negative}
  found:    a list of 2
  mend:     write for example `coulomb: 0.5`""",
    ),
    "brushes without a half voltage": (
        [("Ra: 1", "Ra: 1, brush_drop: {max: 0.5, half: 0}")],
        """\
bot.yaml:13:57: joints[0].motor.brush_drop.half
  expected: a positive number of V
  found:    0
  mend:     write a number above 0, for example `half: 0.3`""",
    ),
    "a limit of zero": (
        [("Ra: 1", "Ra: 1, limits: {current: 0}")],
        """\
bot.yaml:13:46: joints[0].motor.limits.current
  expected: a positive number of A
  found:    0
  mend:     write a number above 0, for example `current: 5`""",
    ),
    "a torque constant alone": (
        [("Kp: 10, Ra: 1", "Kp: 10")],
        """\
bot.yaml:13:12: joints[0].motor.Ra
  expected: a positive number of ohm
  found:    nothing: the key is missing
  mend:     add `Ra: 1`""",
    ),
    "a current limit without a torque constant": (
        [("Kp: 10, Ra: 1", "gear: 50, limits: {current: 3}")],
        """\
bot.yaml:13:12: joints[0].motor.Kp
  expected: a positive number of N·m/A
  found:    nothing: the key is missing, and `limits.current` needs it
  mend:     add `Kp: 0.05`
bot.yaml:13:12: joints[0].motor.Ra
  expected: a positive number of ohm
  found:    nothing: the key is missing, and `limits.current` needs it
  mend:     add `Ra: 1`""",
    ),
    "another model of a motor": (
        [("Ra: 1", "Ra: 1, model: stepper")],
        """\
bot.yaml:13:35: joints[0].motor.model
  expected: dc or dynamechs
  found:    "stepper"
  mend:     take one of: dc, dynamechs""",
    ),
    "what DynaMechs' motor has not": (
        [("Ra: 1", "Ra: 1, model: dynamechs, gear: 50, coulomb: {positive: 1, negative: 2}")],
        """\
bot.yaml:10:25: joints[0].friction.viscous
  expected: no friction beside DynaMechs' motor, which has its own
  found:    `viscous` on the joint's side
  mend:     give the motor the friction: `motor: {viscous: ...}`
bot.yaml:13:46: joints[0].motor.gear
  expected: the key left out
  found:    `gear`, which DynaMechs' motor has not
  mend:     take it out, or take `model` out
bot.yaml:13:56: joints[0].motor.coulomb
  expected: one number
  found:    two
  mend:     give one number for both directions""",
    ),
    "unknown shape": (
        [("cylinder:", "cilinder:")],
        """\
bot.yaml:12:9: joints[0].bodies[0].cilinder
  expected: a mapping with one key out of cylinder, box, sphere, tube, rod, point, inertia
  found:    the unknown key `cilinder`
  mend:     did you mean `cylinder`?""",
    ),
    "mass and density": (
        [("mass: 0.8", "mass: 0.8, density: 2700")],
        """\
bot.yaml:12:69: joints[0].bodies[0].cylinder
  expected: either mass or density
  found:    both
  mend:     take one of them out""",
    ),
    "gear of zero": (
        [("Ra: 1", "Ra: 1, gear: 0")],
        """\
bot.yaml:13:34: joints[0].motor.gear
  expected: a number other than 0
  found:    0
  mend:     write another number, for example `gear: 50`""",
    ),
    "frame of another convention": (
        [("mdh:", "dh:")],
        """\
bot.yaml:5:5: joints[0].mdh
  expected: a mapping with the keys a, alpha, d, theta
  found:    nothing: the key is missing
  mend:     add `mdh: {a: 0, alpha: 0, d: 0.35, theta: 0}`
bot.yaml:7:5: joints[0].dh
  expected: `mdh`, the convention of this file
  found:    `dh`
  mend:     write `mdh`, or `convention: dh` for the whole file""",
    ),
    "wrong format": (
        [("armsim/robot/1", "armsim/robots/1")],
        """\
bot.yaml:1:9: format
  expected: armsim/robot/1
  found:    "armsim/robots/1"
  mend:     did you mean `armsim/robot/1`?""",
    ),
    "newer format": (
        [("armsim/robot/1", "armsim/robot/2")],
        """\
bot.yaml:1:9: format
  expected: armsim/robot/1
  found:    "armsim/robot/2"
  mend:     it was written for a newer armsim: install that one""",
    ),
    "missing space after a colon": (
        [("{Kp: 10, Ra: 1}", "{Kp:10, Ra: 1}")],
        """\
bot.yaml:13:12: joints[0].motor.Kp
  expected: a positive number of N·m/A
  found:    nothing: the key is missing
  mend:     add `Kp: 0.05`
bot.yaml:13:13: joints[0].motor.Kp:10
  expected: one of the keys Kp, Ke, Ra, gear, rotor_inertia, viscous, coulomb, efficiency, inductance, brush_drop, \
limits, nominal_current, thermal, model
  found:    the unknown key `Kp:10`
  mend:     write a space after the colon""",
    ),
    "infinite number": (
        [("Ra: 1", "Ra: .inf")],
        """\
bot.yaml:13:25: joints[0].motor.Ra
  expected: a positive number of ohm
  found:    .inf
  mend:     write a finite number""",
    ),
    "number too large for a double": (
        [("Ra: 1", "Ra: 1e999")],
        """\
bot.yaml:13:25: joints[0].motor.Ra
  expected: a positive number of ohm
  found:    1e999
  mend:     write a finite number""",
    ),
    "unnamed joint": (
        [("name: R1", "name: 1")],
        """\
bot.yaml:5:11: joints[0].name
  expected: a name of letters, digits, `_`, `-` and `.`, starting with a letter
  found:    1
  mend:     write for example `name: R1`""",
    ),
    "key without a value": (
        [("{Kp: 10, Ra: 1}", "{Kp: 10, Ra: }")],
        """\
bot.yaml:13:25: joints[0].motor.Ra
  expected: a positive number of ohm
  found:    nothing: the key has no value
  mend:     add `Ra: 1`""",
    ),
    "no joints": (
        [(ROBOT[ROBOT.index("joints:") :], "joints: []\n")],
        """\
bot.yaml:4:9: joints
  expected: a list with at least one item, 100 at most
  found:    an empty list
  mend:     write for example `joints: [{name: R1, type: revolute, mdh: {...}, bodies: [...]}]`""",
    ),
    "a joint of no known type that is far outside its limits": (
        [("type: revolute", "type: rotary"), ("initial: 0", "initial: 50")],
        """\
bot.yaml:6:11: joints[0].type
  expected: revolute, prismatic or screw
  found:    "rotary"
  mend:     take one of: revolute, prismatic, screw
bot.yaml:8:14: joints[0].initial
  expected: a position within the limits, -1 to 1
  found:    50
  mend:     give an initial position within the limits, or correct the limits""",
    ),
    "a screw that begins turns away from its limits": (
        [("type: revolute", "type: screw\n    pitch: 0.005"), ("initial: 0", "initial: 50")],
        """\
bot.yaml:9:14: joints[0].initial
  expected: a position within the limits, -1 to 1
  found:    50
  mend:     give an initial position within the limits, or correct the limits""",
    ),
    "several at once, in the order of the file": (
        [
            ("name: one\n", "nmae: one\n"),
            ("mass: 0.8", "mass: -0.8"),
            ("Kp: 10", "Kp: 0"),
            ("type: revolute", "type: rotary"),
        ],
        """\
bot.yaml:1:1: name
  expected: text
  found:    nothing: the key is missing
  mend:     add `name: arm5`
bot.yaml:2:1: nmae
  expected: one of the keys format, name, gravity, convention, units, parameters, base, joints, tool, payload
  found:    the unknown key `nmae`
  mend:     did you mean `name`?
bot.yaml:6:11: joints[0].type
  expected: revolute, prismatic or screw
  found:    "rotary"
  mend:     take one of: revolute, prismatic, screw
bot.yaml:12:64: joints[0].bodies[0].cylinder.mass
  expected: a number of kg, 0 or more
  found:    -0.8
  mend:     write the mass without its sign, for example `mass: 0.8`
bot.yaml:13:17: joints[0].motor.Kp
  expected: a positive number of N·m/A
  found:    0
  mend:     write a number above 0, for example `Kp: 0.05`""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_faulty_robot_file_is_explained(message, name):
    replacements, expected = CASES[name]
    assert message(*replacements) == expected


def test_two_joints_of_one_name_are_refused(message):
    second = ROBOT[ROBOT.index("  - name") :]
    assert message(text=ROBOT + second) == (
        "bot.yaml:14:11: joints[1].name\n"
        "  expected: a name of its own for each joint (the first `R1` is on line 5)\n"
        "  found:    a second `R1`\n"
        "  mend:     rename one of them"
    )


def test_a_list_at_the_top_level_is_refused(message):
    assert message(text="- 1\n") == (
        "bot.yaml:1:1\n"
        "  expected: a mapping of keys and values\n"
        "  found:    a list of 1\n"
        "  mend:     begin the file with `format: armsim/robot/1`"
    )


def test_a_missing_file_names_the_nearest_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm5.yaml").write_text("")
    with pytest.raises(FileFaults) as caught:
        read_robot("arm6.yaml")
    assert str(caught.value) == (
        "arm6.yaml\n  expected: a YAML file\n  found:    no file of this name\n  mend:     did you mean `arm5.yaml`?"
    )


def test_an_unknown_robot_names_the_nearest_shipped_one():
    with pytest.raises(FileFaults) as caught:
        read_robot("twolink")
    assert str(caught.value) == (
        "twolink\n"
        "  expected: a robot file, or the name of a shipped robot\n"
        "  found:    neither of them\n"
        "  mend:     did you mean `two_link`?"
    )


def test_no_more_than_fifty_faults_are_shown(message):
    text = ROBOT + "".join(f"x{i}: 1\n" for i in range(80))
    lines = message(text=text).splitlines()
    assert len(lines) == 4 * 51
    assert lines[-2:] == ["  found:    80 faults", "  mend:     mend those above first, then run again"]
