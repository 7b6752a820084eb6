"""The columns of rows: what they hold, and what their headings say."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import armsim
from armsim.document.robot import RESERVED_FRAMES, UNIT
from armsim.plant.column_kinds import KINDS
from armsim.plant.columns import Layout, RowExtras, in_degrees, read_heading, spellings, spoken


def test_the_tools_velocity_is_the_jacobian_times_the_joints_and_the_slope_of_its_place():
    changes = {"integrator": {"method": "rk4", "dt": 1e-4}, "duration": 0.2, "log.every": 1e-4}
    run = armsim.simulate("two_link_swing", changes)
    arm = armsim.load_robot("two_link")
    J = arm.jacobian(run.q)
    moved = np.einsum("kij,kj->ki", J, run.qd)  # angular velocity first
    named = np.stack(
        [run[f"{name}"] for name in ("wx_rad_s", "wy_rad_s", "wz_rad_s", "vx_m_s", "vy_m_s", "vz_m_s")], axis=1
    )
    assert np.allclose(named, moved, rtol=0, atol=1e-13 * np.abs(moved).max())
    for axis in "xyz":
        slope = np.gradient(run[f"{axis}_m"], run.t, edge_order=2)
        # central differences: h² / 6 times the third derivative, some 1e2 m/s³
        assert np.allclose(run[f"v{axis}_m_s"], slope, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kinds", ["RPR", "SRP", "PPS"])
def test_the_tools_velocity_of_any_arm_is_the_jacobian_times_the_joints(kinds, arms):

    arm = arms.serial(kinds, seed=4)
    q, qd = [0.3, -0.4, 0.5], [1.0, -2.0, 0.7]
    from armsim.dynamics import frame_jacobian, frame_velocity

    w, v = frame_velocity(arm, q, qd, arm.tool)
    assert [*w, *v] == pytest.approx(np.array(frame_jacobian(arm, q, arm.tool)) @ qd, rel=1e-13, abs=1e-13)


def test_energies_are_those_of_the_arm():
    run = armsim.simulate("arm5_hold", {"duration": 0.1})
    arm = armsim.load_robot("arm5")
    assert run["kinetic_energy_J"] == pytest.approx(arm.kinetic_energy(run.q, run.qd), rel=1e-12, abs=1e-15)
    assert run["potential_energy_J"] == pytest.approx(arm.potential_energy(run.q), rel=1e-13)


def test_angular_velocities_turn_to_degrees_and_nothing_else_of_the_tool_does(arms):
    arm = arms.shipped("arm5")
    layout = Layout(arm)
    for column in layout.columns:
        plain, turned = layout.heading(column), layout.heading(column, degrees=True)
        assert plain[1] == 1.0
        if in_degrees(plain[0]) is None:
            assert turned == plain
        else:
            assert turned == (in_degrees(plain[0]), pytest.approx(180 / np.pi))


def test_a_heading_that_is_written_is_a_heading_that_is_understood(arms):
    for kinds in ("RPS", "R"):
        arm = arms.serial(kinds, motors=True)
        layout = Layout(arm)
        for column in layout.columns:
            for degrees in (False, True):
                text = layout.heading(column, degrees)[0]
                called, of, unit = read_heading(text)
                kind = KINDS[column.quantity]
                assert (called, of) == (kind.called or kind.prefix, column.of)
                end = (
                    text.rsplit("energy")[-1].partition("_")[2]
                    if kind.parts
                    else text.removeprefix(f"{kind.prefix}_{column.of}_")
                )
                assert unit == spoken(end)


def test_no_name_of_a_frame_makes_two_columns_alike_or_one_unreadable(arms):
    pieces = [
        "m",
        "J",
        "rad",
        "deg",
        "s",
        "s2",
        "N",
        "Nm",
        "x",
        "vx",
        "qw",
        "tool",
        "ref",
        "R1",
        "a",
        "a.b",
        "a-b",
        "energy",
    ]
    names = [*pieces, *map("_".join, product(pieces, repeat=2)), *(f"{piece}_m_s" for piece in pieces)]
    sound = [
        name for name in names if name not in (*RESERVED_FRAMES, "R1") and "." not in name and not UNIT.fullmatch(name)
    ]
    assert {"J", "x", "a-b", "a_J", "m_a", "s", "a_s", "tool_a"} <= {*sound}
    assert not {"m", "a_m", "a_m_s", "Nm", "a_deg", "tool", "R1"} & {*sound}
    arm = armsim.load_robot("rr", {"frames": {name: {"link": "R1"} for name in sound}}).arm
    layout = Layout(arm, True, RowExtras(tuple(frame.name for frame in arm.frames)))
    every = [(column, heading) for column, heading in zip(layout.columns, layout.headings(), strict=True)]
    assert len({heading.text for _, heading in every}) == len(every) > 2700
    for column, heading in every:
        called, of, unit = read_heading(heading.text)
        assert of == (f"{column.of}_{column.at}" if column.at else column.of)
        short = heading.text.removesuffix(
            "_" + unit.replace("·", "").replace("/s²", "_s2").replace("/s", "_s") * bool(unit)
        )
        assert layout.named[heading.text].index == heading.index
        assert layout.named[short].index == heading.index, (short, heading.text)
        turned = layout.heading(column, degrees=True)[0]
        assert turned == (in_degrees(heading.text) or heading.text)
        assert read_heading(turned) == (called, of, unit.replace("rad", "deg"))


def test_what_no_column_is_called_is_not_understood():
    assert read_heading("t_s") is None
    assert read_heading("q_R1_furlongs") is None


def test_a_position_may_be_spelt_in_degrees_where_it_is_an_angle_only(arms):
    turning, sliding = arms.serial("RP").joints
    assert [text for text, _ in spellings("qd", turning)] == [f"qd_{turning.name}_rad_s", f"qd_{turning.name}_deg_s"]
    assert [text for text, _ in spellings("qd", sliding)] == [f"qd_{sliding.name}_m_s"]
