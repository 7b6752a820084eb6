"""Numbers with units behind them."""

import math
import random
from fractions import Fraction

import pytest

import armsim
from armsim.errors import FileFaults
from armsim.formulas.bounds import BOUNDS
from armsim.formulas.formula import FormulaError
from armsim.formulas.units import BY_OUTPUT, COMMON, UNITS, converted, parse_unit, right_units, units_of
from armsim.loading import read_robot, read_scenario

# by hand from the SI brochure and NIST Special Publication 811, appendix B
SI = [
    ("35 mm", "m", 0.035),
    ("12 in", "m", 0.3048),
    ("69 g*cm^2", "kg·m²", 6.9e-6),
    ("69 g cm²", "kg·m²", 6.9e-6),
    ("1 ozf*in*s^2", "kg·m²", 7.061551814226044e-3),
    ("95.5 mN*m/A", "N·m/A", 0.0955),
    ("6.2 K/W", "K/W", 6.2),
    ("500 mK/W", "K/W", 0.5),
    ("155 °C", "°C", 155.0),
    ("40 degC", "°C", 40.0),
    ("95.5 mNm/A", "N·m/A", 0.0955),
    ("3000 rpm", "rad/s", 100 * math.pi),
    ("50 rev/s", "rad/s", 100 * math.pi),
    ("180 deg/s", "rad/s", math.pi),
    ("90°", "rad", math.pi / 2),
    ("24 V", "V", 24.0),
    ("2 ms", "s", 0.002),
    ("1.5 min", "s", 90.0),
    ("1 lbf", "N", 4.4482216152605),
    ("10 Ncm", "N·m", 0.1),
    ("10 ozf*in", "N·m", 0.07061551814226044),
    ("1 V/krpm", "V·s/rad", 0.03 / math.pi),
    ("2 N*m*s", "N·m·s/rad", 2.0),
    ("3 uN*m*s/rad", "N·m·s/rad", 3e-6),
    ("7.85 g/cm**3", "kg/m³", 7850.0),
    ("1 N*m/deg", "N·m/rad", 180 / math.pi),
    ("0.5 V/(deg*s)", "V/(rad·s)", 90 / math.pi),
    ("250 µH", "H", 250e-6),
    ("470 mΩ", "ohm", 0.47),
    ("85 %", "", 0.85),
    ("-.5e1 mm", "m", -0.005),
]


def split(text):
    at = next(i for i, letter in enumerate(text) if letter.isalpha() or letter in "°%")
    at = text.index(" ") if " " in text else at
    return text[:at], text[at:].strip()


@pytest.mark.parametrize(("text", "unit", "value"), SI)
def test_units_of_data_sheets_become_si(text, unit, value):
    assert converted(*split(text), [unit]) == pytest.approx(value, rel=4e-16, abs=0)


def test_a_decimal_number_becomes_the_double_that_its_si_decimal_reads_as():
    random.seed(3)
    for digits in range(1, 17):
        mantissa = random.randrange(1, 10**digits)
        assert converted(str(mantissa), "mm", ["m"]) == float(f"{mantissa}e-3")
        assert converted(f"{mantissa}e-7", "g*cm^2", ["kg·m²"]) == float(f"{mantissa}e-14")


def test_every_bound_has_a_unit_that_is_si_and_common_units_that_fit_it():
    for unit in BOUNDS:
        for target in units_of(unit, (), None):
            assert parse_unit(target).factor == 1, target
            assert right_units([target])
    for target, others in COMMON.items():
        for other in others:
            assert parse_unit(other).measures(parse_unit(target)), (other, target)
    assert set(BY_OUTPUT) <= set(BOUNDS)


@pytest.mark.parametrize(
    ("unit", "target"),
    [("1/s", "rad/s"), ("1/min", "rad/s"), ("%", "rad"), ("V*s/rad", "N·m/A"), ("N*m/rad", "N·m"), ("kg*m", "kg·m²")],
)
def test_rad_is_left_out_of_denominators_alone(unit, target):
    with pytest.raises(FormulaError, match="measures something else"):
        converted("1", unit, [target])
    with pytest.raises(FormulaError, match="measures something else"):
        converted("1", "m", [target])


def test_prefixes_are_powers_of_ten_of_the_same_dimension():
    for long, short, power in [("mm", "m", -3), ("kohm", "ohm", 3), ("uH", "H", -6), ("µA", "A", -6), ("kNm", "Nm", 3)]:
        assert UNITS[long] == (UNITS[short].factor * Fraction(10) ** power, UNITS[short].powers)


@pytest.mark.parametrize(
    "unit", ["mm mm/", "m^", "(m", "m)", "m//s", "furlong", "m^99", "((((m))))", "m s!", "/m", "m" * 101, "V/rad s"]
)
def test_no_unit_is_guessed(unit):
    with pytest.raises(FormulaError):
        parse_unit(unit)


ROBOT = {
    "format": "armsim/robot/1",
    "name": "bot",
    "joints": [
        {
            "name": "A",
            "type": "revolute",
            "mdh": {"a": "35 mm", "alpha": "-90 deg"},
            "initial": "0.25 rad",
            "limits": {"lower": "-120 deg", "upper": 2, "stiffness": "1 kN*m/rad"},
            "friction": {"viscous": "50 mN*m*s/rad", "coulomb": "10 N*cm"},
            "bodies": [{"point": {"mass": "350 g", "center": ["1 cm", 0, 0.02]}}],
            "motor": {"Kp": "95.5 mN*m/A", "Ra": "470 mohm", "rotor_inertia": "69 g*cm^2", "efficiency": "80 %"},
        },
        {
            "name": "B",
            "type": "prismatic",
            "mdh": {"d": 0.1},
            "initial": "35 mm",
            "limits": {"upper": "10 cm", "stiffness": "2 N/mm"},
            "bodies": [{"sphere": {"radius": "2 cm", "density": "7.8 g/cm^3"}}],
        },
    ],
}
PLAIN = {
    "format": "armsim/robot/1",
    "name": "bot",
    "joints": [
        {
            "name": "A",
            "type": "revolute",
            "mdh": {"a": 0.035, "alpha": "-pi/2"},
            "initial": 0.25,
            "limits": {"lower": -2.0943951023931957, "upper": 2, "stiffness": 1000},
            "friction": {"viscous": 0.05, "coulomb": 0.1},
            "bodies": [{"point": {"mass": 0.35, "center": [0.01, 0, 0.02]}}],
            "motor": {"Kp": 0.0955, "Ra": 0.47, "rotor_inertia": 6.9e-6, "efficiency": 0.8},
        },
        {
            "name": "B",
            "type": "prismatic",
            "mdh": {"d": 0.1},
            "initial": 0.035,
            "limits": {"upper": 0.1, "stiffness": 2000},
            "bodies": [{"sphere": {"radius": 0.02, "density": 7800}}],
        },
    ],
}


def test_a_robot_written_with_units_is_the_robot_written_in_si():
    assert read_robot(ROBOT)[0] == read_robot(PLAIN)[0]


def test_a_written_unit_wins_over_the_unit_of_the_files_angles():
    units = {"units": {"angle": "deg"}}
    degrees = read_robot(ROBOT | units, {"joints[0].limits.upper": "2 rad"})[0]
    radians = read_robot(ROBOT)[0]
    for a, b in zip(degrees.joints, radians.joints, strict=True):
        assert a.initial == pytest.approx(b.initial, rel=4e-16)
        assert (a.limit.lower, a.limit.upper) == pytest.approx((b.limit.lower, b.limit.upper), rel=4e-16)


def test_a_screw_is_measured_by_its_angle_and_its_pitch_by_a_length():
    screw = {
        "name": "S",
        "type": "screw",
        "pitch": "5 mm",
        "mdh": {},
        "initial": "2 rev",
        "bodies": PLAIN["joints"][0]["bodies"],
    }
    joint = read_robot(PLAIN | {"joints": [screw]})[0].joints[0]
    assert (joint.pitch, joint.initial) == (0.005, 4 * math.pi)
    with pytest.raises(FileFaults, match="write the number in `rad` or `deg`"):
        read_robot(PLAIN | {"joints": [screw | {"initial": "5 mm"}]})


SCENARIO = {
    "format": "armsim/scenario/1",
    "robot": PLAIN,
    "duration": "50 ms",
    "integrator": {"method": "rk4", "dt": "500 us"},
    "control": {
        "law": "pd",
        "output": "torque",
        "kp": ["1 N*m/deg", "2 N/mm"],
        "kd": [0.1, "3 N*s/m"],
        "target": ["10 deg", "4 cm"],
        "limit": ["2 N*m", "30 N"],
        "period": "2 ms",
    },
    "payload": {"mass": "200 g"},
    "log": {"every": "10 ms"},
}


def test_a_scenario_written_with_units_gives_the_bits_of_the_scenario_in_si():
    plain = SCENARIO | {
        "duration": 0.05,
        "integrator": {"method": "rk4", "dt": 5e-4},
        "control": SCENARIO["control"]
        | {
            "kp": [57.29577951308232, 2000],
            "kd": [0.1, 3],
            "target": ["pi/18", 0.04],
            "limit": [2, 30],
            "period": 2e-3,
        },
        "payload": {"mass": 0.2},
        "log": {"every": 0.01},
    }
    with_units, in_si = armsim.simulate(SCENARIO), armsim.simulate(plain)
    assert (with_units.table == in_si.table).all()
    assert with_units.scenario.scenario_data == in_si.scenario.scenario_data


def test_a_resolved_scenario_has_plain_numbers_alone():
    def leaves(data):
        if isinstance(data, dict | list):
            for item in data.values() if isinstance(data, dict) else data:
                yield from leaves(item)
        else:
            yield data

    resolved = read_scenario(SCENARIO | {"robot": ROBOT}).scenario_data
    assert not [leaf for leaf in leaves(resolved) if isinstance(leaf, str) and leaf[0] in "-0123456789."]


@pytest.mark.parametrize(
    ("path", "value", "right"),
    [
        ("control.kp[0]", "1 V/rad", "`N*m/rad` or `N*m/deg`"),
        ("control.kp[1]", "1 N*m/rad", "`N/m` or `N/mm`"),
        ("control.limit[1]", "1 N*m", "`N`, `mN`, `kN` or `lbf`"),
        ("control.target[1]", "1 deg", "`m`, `mm`, `cm` or `in`"),
        ("duration", "1 mm", "`s`, `ms`, `us` or `min`"),
        ("robot.joints[B].limits.upper", "1 deg", "`m`, `mm`, `cm` or `in`"),
    ],
)
def test_a_unit_of_another_dimension_is_refused_with_those_of_this_joint_and_output(path, value, right):
    with pytest.raises(FileFaults) as caught:
        read_scenario(SCENARIO, {path: value})
    assert right in str(caught.value)


def test_one_number_with_a_unit_cannot_be_the_gain_of_joints_that_turn_and_joints_that_slide():
    with pytest.raises(FileFaults, match="write a list, a number for each joint"):
        read_scenario(SCENARIO, {"control.kp": "1 N*m/rad"})
    volts = {"law": "pd", "output": "voltage", "kp": 1, "kd": 1, "limit": "24 V"}
    motors = [joint | {"motor": ROBOT["joints"][0]["motor"]} for joint in PLAIN["joints"]]
    scenario = read_scenario(SCENARIO | {"control": volts, "robot": PLAIN | {"joints": motors}})
    assert scenario.command.limit == (24.0, 24.0)


def test_a_number_that_is_left_open_counts_in_si_whatever_unit_it_was_written_in():
    many = armsim.simulate_many(SCENARIO, {"payload.mass": [0.2, 0.3], "control.limit[1]": [30.0, 30.0]})
    for k, mass in enumerate([0.2, "300 g"]):
        one = armsim.simulate(SCENARIO, overrides={"payload.mass": mass})
        assert many["q_A_rad"][k] == one["q_A_rad"][-1]


def test_bounds_apply_in_si():
    read_robot(ROBOT, {"joints[0].mdh.a": "9e8 mm"})
    with pytest.raises(FileFaults) as caught:
        read_robot(ROBOT, {"joints[0].mdh.a": "2e9 mm"})
    assert "found:    2e9 mm = 2000000 m" in str(caught.value)


def test_times_with_units_are_repeated_as_written():
    with pytest.raises(FileFaults) as caught:
        read_scenario(SCENARIO, {"log.every": "1.3 ms"})
    assert "found:    1.3 ms\n  mend:     write 0.001 or 0.0015 s" in str(caught.value)


def test_a_number_behind_which_a_name_with_a_value_stands_is_no_number_with_a_unit():
    for text in ("2 pi", "3pi"):
        with pytest.raises(FileFaults, match=r"write \* for products"):
            read_robot(PLAIN, {"joints[0].mdh.alpha": text})


def test_an_exponent_is_no_unit():
    assert read_robot(PLAIN, {"joints[0].mdh.a": "1e-3"})[0].joints[0].position.x == 1e-3
    assert read_robot(PLAIN, {"joints[0].mdh.a": "1e-3 m"})[0].joints[0].position.x == 1e-3
    assert (
        read_robot({**PLAIN, "joints": [PLAIN["joints"][0] | {"mdh": {"a": "2.5E-1"}}]})[0].joints[0].position.x == 0.25
    )
