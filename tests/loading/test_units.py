"""Numbers in another unit: `check` says so, with its guess, and is silent about arms as they are."""

import math

import pytest
import yaml

from armsim.files.shipped import shipped_names
from armsim.loading.check import check

MOTOR = {"Kp": 0.0955, "Ra": 1, "gear": 101, "rotor_inertia": 3.06e-4}


def joint(**rest):
    body = {"cylinder": {"axis": "x", "height": 0.4, "radius": 0.05, "mass": 8, "center": [0.2, 0, 0]}}
    return {"name": "R1", "type": "revolute", "mdh": {"a": 0, "alpha": 0}, "bodies": [body], "motor": MOTOR, **rest}


def robot(*joints, **rest):
    return {"format": "armsim/robot/1", "name": "arm", "joints": list(joints), "tool": {"xyz": [0.4, 0, 0]}, **rest}


def scenario(arm, **rest):
    return {"format": "armsim/scenario/1", "robot": arm, "duration": 1, **rest}


DEGREES = {"units": {"angle": "deg"}}


@pytest.fixture
def warnings(tmp_path, monkeypatch):
    """What `check` warns of."""
    monkeypatch.chdir(tmp_path)

    def run(file):
        (tmp_path / "file.yaml").write_text(yaml.safe_dump(file), encoding="utf-8")
        checked = check("file.yaml")
        assert checked.faults == ()
        return checked.warnings

    return run


def motor(**other):
    return joint(motor={**MOTOR, **other})


second = {"name": "R2", "mdh": {"a": 0.4, "alpha": 0}}
SLIDE = {"type": "prismatic", "motor": {**MOTOR, "gear": 1256}}  # a ball screw of 5 mm a turn

SLIPS = {
    "a unit that is out by a thousand": robot(joint(motor={**MOTOR, "Kp": "95.5 N*m/A"})),
    "a length with a unit": robot(joint(), joint(name="R2", mdh={"a": "569 m"})),
    "reach in mm": robot(joint(), joint(name="R2", mdh={"a": 569}), tool={"xyz": [400, 0, 0]}),
    "one length in mm": robot(joint(), joint(name="R2", mdh={"d": "-400/2"})),
    "tool in mm": robot(joint(), tool={"xyz": [0, 0, 150]}),
    "alpha in degrees": robot(joint(), joint(name="R2", mdh={"a": 0.4, "alpha": -90})),
    "rpy in degrees": robot(joint(), base={"rpy": [0, 0, 37.5]}),
    "limits in degrees": robot(joint(limits={"lower": -3.1, "upper": 170})),
    "alpha in radians": robot(joint(mdh={"alpha": 1.5708}), **DEGREES),
    "theta in radians": robot(joint(mdh={"theta": -3.14}), **DEGREES),
    "initial in radians": robot(joint(initial=0.5236), **DEGREES),
    "a link of 8 t": robot(joint(bodies=[{"point": {"mass": 1}}, {"box": {"size": [0.1, 0.1, 0.4], "mass": 8000}}])),
    "a density in kg/m³ times 1000": robot(
        joint(bodies=[{"box": {"size": [0.1, 0.1, 0.4], "density": 2.7e6, "center": [0.2, 0, 0]}}])
    ),
    "a payload in g": robot(joint(), payload={"mass": 2500}),
    "Kp in mN·m/A": robot(motor(Kp=95.5)),
    "a small Kp in mN·m/A": robot(motor(Kp=4.99, gear=-101.5)),
    "rotor in g·cm²": robot(motor(rotor_inertia=3060)),
    "a small rotor in g·cm²": robot(motor(rotor_inertia=1.3)),
    "gear upside down": robot(motor(gear="-1/101")),
    "start in degrees": scenario(robot(joint(), joint(**second)), initial={"q": [90, 45]}),
    "start at odd degrees": scenario(robot(joint()), initial={"q": [12.7]}),
    "target in degrees": scenario(
        robot(joint()), control={"law": "pd", "output": "torque", "kp": 10, "kd": 1, "target": [-30]}
    ),
    "start in radians": scenario(robot(joint()), **DEGREES, initial={"q": [0.7854]}),
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_number_in_another_unit_is_doubted_with_a_guess(warnings, name, told):
    told("\n".join(map(str, warnings(SLIPS[name]))))


def test_no_slip_hides_another(warnings):
    upside_down = {"Kp": 95.5, "Ra": 1, "gear": "1/101", "rotor_inertia": 3060}
    heavy = [{"point": {"mass": 8000, "center": [0.2, 0, 0]}}]
    arm = robot(joint(mdh={"alpha": 90}, bodies=heavy, motor=upside_down), joint(name="R2", mdh={"a": 969}))
    assert {warning.path.rsplit(".", 1)[-1] for warning in warnings(arm)} == {
        "a",
        "alpha",
        "mass",
        "gear",
        "Kp",
        "rotor_inertia",
    }


SOUND = {
    "a link of a metre": robot(joint(), joint(name="R2", mdh={"a": 1})),
    "an arm in space": robot(joint(), joint(name="R2", mdh={"a": 8}), joint(name="R3", mdh={"a": 8})),
    "a turn": robot(joint(mdh={"theta": 6.2832})),
    "turns by a formula": robot(joint(initial="8*pi", limits={"lower": "-50*pi", "upper": "50*pi"})),
    "limits of several turns": robot(joint(limits={"lower": -12.566, "upper": 12.566})),
    "a screw of many turns": robot(joint(type="screw", pitch=0.005, limits={"lower": 0, "upper": 500}, initial=100)),
    "degrees": robot(
        joint(mdh={"alpha": 90, "theta": -180}, initial=1.5, limits={"lower": -170, "upper": 3}), **DEGREES
    ),
    "a wheel that may stand there": scenario(robot(joint(limits={"lower": 0, "upper": 31.3})), initial={"q": [30]}),
    "a start within two turns": scenario(robot(joint()), initial={"q": [12.5]}),
    "a slide in mm": scenario(robot(joint(**SLIDE)), initial={"q": [10]}),
    "a slide of a tonne": robot(joint(**SLIDE, bodies=[{"point": {"mass": 1000}}]), joint(name="R2")),
    "a direct drive": robot(motor(Kp=95.5, gear=1, rotor_inertia=0.5)),
    "a belt": robot(motor(gear=0.8)),
    "a motor that is seen through its gear": robot(motor(rotor_inertia=5e-3)),  # 51 kg·m² on an arm of 8 kg
}


@pytest.mark.parametrize("name", SOUND)
def test_an_arm_as_they_are_built_is_not_doubted(warnings, name):
    assert warnings(SOUND[name]) == ()


@pytest.mark.parametrize("kind", ["robots", "configs"])
@pytest.mark.handful(1)
def test_no_unit_of_what_is_shipped_is_doubted(kind):
    for name in shipped_names(kind):
        mends = [warning.mend for warning in check(name).warnings]
        assert not [mend for mend in mends if "divided by" in mend or "radians" in mend or "data sheets" in mend], name


def test_a_guess_of_an_angle_is_the_angle():
    from armsim.loading.units import in_pi, part_of_pi

    for degrees in (90, -45, 30, 1, 0.5, 37.5, 12.7, 720):
        assert eval(in_pi(degrees), {"pi": math.pi}) == pytest.approx(math.radians(degrees), rel=1e-9)
    assert [part_of_pi(x) and float(part_of_pi(x)) for x in (1.57, 1.5708, 3.1416, -0.785, 1.0472, 6.283)] == [
        0.5, 0.5, 1, -0.25, pytest.approx(1 / 3), 2,
    ]  # fmt: skip
    assert not [x for x in (0, 1, 1.5, 1.6, 0.52, 1.05, 2, 3, 3.2, 90, 45) if part_of_pi(x)]
