"""What docs/control.md says of stops in feedforward, and of counts."""

import math
from pathlib import Path

import pytest

from armsim.actuation import drive_torques
from armsim.control.encoder import step_of
from armsim.dynamics import rnea
from armsim.loading import read_robot

GANTRY = {
    "format": "armsim/robot/1",
    "name": "gantry",
    "joints": [
        {
            "name": "slide",
            "type": "prismatic",
            "mdh": {},
            "limits": {"lower": -0.1, "upper": 0.1, "stiffness": 500},
            "bodies": [{"point": {"mass": 2, "center": [0, 0, 0]}}],
            "motor": {"Kp": 0.05, "Ra": 1, "gear": 100 * 2 * math.pi},
        }
    ],
}


def test_inverse_dynamics_counts_stops_where_the_reference_leaves_the_range():
    arm = read_robot(GANTRY)[0]
    (inside,), (outside,) = (drive_torques(arm, [q], [0.0], [0.0]) for q in (0.09, 0.12))
    assert inside == pytest.approx(rnea(arm, [0.09], [0.0], [0.0])[0], rel=1e-15)
    assert outside - inside == pytest.approx(500 * 0.02, rel=1e-12)


@pytest.mark.parametrize(("on_motor", "step"), [(True, 0.01 / 1000), (False, 1 / 1000)])
def test_counts_of_a_sliding_joint_are_per_revolution_of_its_motor_or_per_metre_of_its_own_way(on_motor, step):
    arm = read_robot(GANTRY)[0]  # a screw of 10 mm a revolution
    assert step_of(arm, 0, 1000.0, on_motor) == pytest.approx(step, rel=1e-15)
    page = " ".join((Path(__file__).parents[2] / "docs" / "control.md").read_text(encoding="utf-8").split())
    assert (
        "With `on: motor`, `counts` are those of a revolution of the motor, of joints that turn and joints that slide"
        in page
    )
