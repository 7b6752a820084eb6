"""The emulation of DynaMechs' motor against what DynaMechs recorded."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from armsim.clock import Clock
from armsim.control import OpenLoop
from armsim.errors import UsageError
from armsim.expr import sin
from armsim.model import BrushDrop, Coulomb
from armsim.plant import Column
from armsim.plant.dynamechs import DynaMechsPlant, emulates
from armsim.simulation.engine import NativeEngine, PythonEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.simulation.row_log import RowsInMemory
from armsim.simulation.runner import Job, Runner
from armsim.spatial import ZERO
from tests.controllers import feedback

TWO_PI = 6.283185307179586


@pytest.fixture(scope="module")
def recorded(reference):
    return reference("full_motor_euler_every_step")


@pytest.fixture(scope="module")
def plant(arms, recorded):
    """arm5 with the motors and the voltages of the recording."""
    said = recorded.about["motors"]
    arm = arms.shipped("arm5")
    joints = []
    for i, joint in enumerate(arm.joints):
        motor = replace(
            joint.motor,
            Kp=float(said["Kt"][i]),
            Ke=float(said["Ke"][i]),
            Ra=float(said["Ra"][i]),
            rotor_inertia=said["rotor_inertia"][i],
            viscous=said["viscous"][i],
            coulomb=Coulomb(said["coulomb"][i], said["coulomb"][i]),
            brush_drop=BrushDrop(said["brush_drop"][i], said["half_drop"][i]),
            model="dynamechs",
        )
        joints.append(replace(joint, motor=motor))
    law = recorded.about["input"]
    signals = tuple(
        (lambda t, A=A, f=f, phi=phi: A * sin(TWO_PI * f * t + phi))
        for A, f, phi in zip(law["A"], law["f"], law["phi"], strict=True)
    )
    return DynaMechsPlant(replace(arm, links=tuple(joints)), OpenLoop("voltage", signals), method="explicit_euler")


def rows_of(engine, plant, about, steps):
    """Rows of every step, shape (steps, columns)."""
    start, width = plant.initial_state(about["initial_q"], about["initial_qd"]), len(engine.plan.columns)
    runner, log = Runner(engine, Job(engine.plan, Clock(1, 10000, steps, 1, 1), start)), RowsInMemory(width, steps)
    assert [*runner.until(steps, log)][-1] == steps
    return np.array(log.rows).reshape(steps, width)


def test_every_column_of_the_recording_is_repeated_to_rounding(plant, recorded):
    about = recorded.about
    rows = rows_of(NativeEngine(LoopPlan.of(plant, about["dt"])), plant, about, about["steps"] + 1)
    at = recorded.columns["step"].astype(int)
    for stem, first in (("q", 0), ("qd", 5), ("qdd", 10)):
        ours, theirs = rows[at, first : first + 5], recorded.block(stem)
        # the same operations up to their order; nothing grows because the motion is damped
        assert np.all(np.abs(ours - theirs) <= 1e-12 * np.abs(theirs).max(axis=0))


def test_every_flag_of_the_recording_is_repeated(plant, recorded):
    about = recorded.about
    layout = SimpleNamespace(columns=tuple(Column("stick", joint.name) for joint in plant.arm.joints))
    kind = SimpleNamespace(layout=layout, row=plant.flags)
    plan = LoopPlan(plant, about["dt"], recorded=kind)
    flags = rows_of(NativeEngine(plan), plant, about, about["steps"] + 1)
    theirs = recorded.block("stick")
    assert np.array_equal(flags[recorded.columns["step"].astype(int)], theirs)
    assert 0 < theirs.mean() < 1  # joints stick and slide in it


@pytest.mark.slow
def test_machine_code_equals_the_text_on_floats(plant, recorded):
    about = recorded.about
    native = rows_of(
        NativeEngine(LoopPlan.of(plant, about["dt"])), plant, about, 260
    )  # through the first joints that come free
    text = rows_of(PythonEngine(LoopPlan.of(plant, about["dt"])), plant, about, 260)
    assert np.array_equal(native, text)


def test_an_unpowered_arm_hangs_in_the_air_as_it_does_in_dynamechs(plant):
    still = replace(plant, command=OpenLoop("voltage", tuple([lambda t: 0.0] * 5)))
    state = still.initial_state([0.1, -0.5, -0.6, 0.2, -0.3], [0.0] * 5)
    assert still.motion(0.0, state)[1] == [0.0] * 5


def test_the_torque_of_a_stop_counts_twice(plant):
    """One joint alone, without gravity: its inertia times its acceleration is twice the stop's torque, less friction."""
    joint = plant.arm.joints[2]
    alone = replace(plant.arm, gravity=ZERO, links=(joint,), payloads=())
    single = replace(plant, arm=alone, command=OpenLoop("voltage", (lambda t: 0.0,)))
    _, (qdd,), (torque,) = single.motion(0.0, single.initial_state([0.61], [0.0]))  # the stop is at 0.6
    assert torque.limit == pytest.approx(-10.0, rel=1e-12)
    # the last link's rotor is ignored; friction takes 0.4 N·m
    assert qdd * joint.inertia.J.zz == pytest.approx(2 * -10.0 + 0.4, rel=1e-12)


def test_other_methods_are_refused(plant):
    with pytest.raises(UsageError, match="expected explicit_euler, which DynaMechs' motor comes with, found rk4"):
        replace(plant, method="rk4")


def test_torque_commands_are_refused(plant):
    gains = (1.0,) * 5
    torque = feedback("pd", "torque", gains, gains, gains, gains, (None,) * 5, (None,) * 5)
    with pytest.raises(UsageError, match="driven by voltages"):
        replace(plant, command=torque)


def test_an_arm_with_two_kinds_of_motor_is_refused(plant):
    *first, last = plant.arm.joints
    mixed = replace(plant.arm, links=(*first, replace(last, motor=replace(last.motor, model="dc"))))
    with pytest.raises(UsageError, match="`dynamechs` on every joint or on none; R5 has not"):
        emulates(mixed)
