"""`armsim linearize` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import yaml

import armsim as library


def test_modes_are_told_without_and_with_feedback(armsim):
    done = armsim("linearize", "arm5_hold", "--at", "5")
    assert (done.code, done.err) == (0, "")
    out = done.out
    assert out.startswith("arm5_hold: arm5 near t = 5 s, 10 states, 5 voltages\n")
    without, under = (part.splitlines() for part in out.split("\n\n")[2:4])
    assert without[0].split() == ["without", "feedback", "rate", "1/s", "mostly"]
    assert without[-1].split() == ["decays", "in", "290", "µs", "-3449", "R4"]
    assert under[0].startswith("under its control ")
    assert len(without) == len(under) == 11
    assert "control  all 10 states that can change are within reach of the inputs\n" in out
    assert "pose     unstable: under constant commands a small deviation from it grows\n" in out
    assert "no equilibrium" not in out


def test_a_state_that_is_no_equilibrium_is_said_to_be_none(armsim):
    out = armsim("linearize", "arm5_hold").out
    assert "near the start" in out
    assert "* no equilibrium: the equations hold for deviations from the motion" in out
    assert "qdd" in out


def test_what_friction_holds_is_named(armsim):
    out = armsim("linearize", "puma560_fall").out
    assert "* dry friction holds J1, J4, J5, J6: taken as welded\n" in out
    assert "control  all 4 states that can change" in out
    still = armsim("linearize", "puma560_hold", "--at", "0.5").out
    assert "without feedback: nothing can move\n" in still
    assert "states that can change" not in still


def test_an_arm_that_nothing_drives_takes_torques_from_outside(armsim):
    out = armsim("linearize", "two_link_swing").out
    assert "* nothing drives it: the inputs of B are torques from outside\n" in out
    assert "\nmode " in out


@pytest.mark.slow
def test_the_gains_it_prints_hold_the_pose(armsim, empty_folder):
    done = armsim("linearize", "arm5_hold", "--at", "5", "--lqr", "q=100,qd=0.1,r=1")
    text, block, full = done.out.split("\n\n# ")
    assert yaml.safe_load("# " + full)["control"]["law"] == "state_feedback"
    assert "lqr: q = 100, qd = 0.1, r = 1, for every joint by itself" in " ".join(text.split())
    assert "more than the full matrix K." in " ".join(text.split())
    control = yaml.safe_load("# " + block)
    scenario = {
        "format": "armsim/scenario/1",
        "robot": "arm5",
        "duration": 8,
        "integrator": {"method": "explicit_euler", "dt": 1e-4},
    }
    (empty_folder / "held.yaml").write_text(yaml.safe_dump({**scenario, **control, "log": {"every": 1e-2}}))
    run = library.simulate("held.yaml")
    assert run.q[-1] == pytest.approx(library.linearize("arm5_hold", at=5).about.q, abs=1e-3)


def test_weights_may_be_given_joint_by_joint(armsim):
    asked = json.loads(armsim("linearize", "two_link_hold", "--lqr", "q=100,50,qd=1,r=0.01,0.02", "--json").out)
    lqr = asked["lqr"]
    assert lqr["weights"] == {"q": [100, 50], "qd": 1, "r": [0.01, 0.02]}
    model = library.linearize("two_link_hold").at_rest
    assert np.array_equal(lqr["K"], model.lqr(q=[100, 50], qd=1, r=[0.01, 0.02]).K)
    assert lqr["joints"]["control"]["kp"] == lqr["joints"]["kp"]


def test_gains_too_soft_to_carry_the_arm_are_told(armsim):
    out = " ".join(armsim("linearize", "two_link_swing", "--lqr", "q=1,r=1").out.split())
    # 24.19 N·m over 0.0178 N·m/rad
    assert (
        "! these gains are soft: to carry gravity shoulder needs a target 1356 rad off the pose; a larger q or" in out
    )
    assert "soft" not in armsim("linearize", "two_link_swing", "--lqr", "q=1e4,r=1e-2").out


UPRIGHT = """\
format: armsim/scenario/1
robot: chain.yaml
duration: 1
integrator: {method: rk4, dt: 1e-3}
inputs: {torque: [0, 0, 0]}
"""
CHAIN = """\
format: armsim/robot/1
name: chain
gravity: [0, -9.81, 0]
joints:
  - {name: A, type: revolute, mdh: {}, initial: pi/2, bodies: [{point: {mass: 1, center: [1, 0, 0]}}]}
  - {name: B, type: revolute, mdh: {a: 1}, bodies: [{point: {mass: 1, center: [1, 0, 0]}}]}
  - {name: C, type: revolute, mdh: {a: 1}, bodies: [{point: {mass: 1, center: [1, 0, 0]}}]}
"""


def test_gains_that_do_not_hold_the_whole_arm_are_not_offered(armsim, empty_folder):
    # balanced upright, torque is dear: each joint gets twice the stiffness that would just do for it by itself, and since
    # what weighs on the third weighs on all, 2 diag(S) - S is not positive definite
    (empty_folder / "chain.yaml").write_text(CHAIN)
    (empty_folder / "upright.yaml").write_text(UPRIGHT)
    done = armsim("linearize", "upright.yaml", "--lqr", "q=1,r=1e6")
    assert done.code == 0
    assert "The whole arm is not held by that: a mode grows with " in " ".join(done.out.split())
    assert "law: pd" not in done.out
    assert "law: state_feedback" in done.out
    facts = json.loads(armsim("linearize", "upright.yaml", "--lqr", "q=1,r=1e6", "--json").out)["lqr"]
    assert facts["joints"]["extra_cost"] is None
    assert all(mode["rate"][0] < 0 for mode in facts["modes"])  # the matrix holds it


def test_json_has_all_matrices(armsim):
    found = json.loads(armsim("linearize", "arm5_hold_pi", "--at", "1", "--json").out)
    model = library.linearize("arm5_hold_pi", at=1.0)
    for letter, matrix in zip("ABCD", model.abcd, strict=True):
        assert np.array_equal(found[letter], matrix)
    assert np.array_equal(found["sampled"]["A"], model.sampled().A)
    assert found["sampled"]["dt"] == found["closed_loop"]["dt"] == 1e-3
    assert np.array_equal(found["closed_loop"]["A"], model.closed_loop.A)
    assert found["states"][:1] + found["inputs"][:1] + found["outputs"][-1:] == ["q_R1", "voltage_R1", "z"]
    assert found["lqr"] is None
    assert found["joints"][1]["command"] == model.about.u[1]


@pytest.mark.slow
def test_the_period_is_the_scenarios_unless_given(armsim):
    assert json.loads(armsim("linearize", "arm5_hold", "--json").out)["sampled"] is None
    assert json.loads(armsim("linearize", "arm5_hold", "--period", "1/500", "--json").out)["sampled"]["dt"] == 0.002
    assert "sampled  every 0.001 s, commands held in between\n" in armsim("linearize", "arm5_hold_pi").out


@pytest.mark.slow
def test_arrays_are_written_once(armsim, empty_folder):
    done = armsim("linearize", "arm5_hold_pi", "--lqr", "q=1,r=1", "-o", "linear.npz")
    assert done.code == 0
    assert "written  linear.npz\n" in done.out
    model = library.linearize("arm5_hold_pi")
    with np.load("linear.npz") as found:
        assert np.array_equal(found["A"], model.A)
        assert np.array_equal(found["sampled_B"], model.sampled().B)
        assert np.array_equal(found["closed_A"], model.closed_loop.A)
        assert found["closed_dt"] == 1e-3
        assert found["states"].tolist() == list(model.states)
        assert np.array_equal(found["M"], model.mass_matrix)
        assert found["K"].shape == (5, 10)
    again = armsim("linearize", "arm5_hold_pi", "-o", "linear.npz")
    assert (again.code, again.out) == (2, "")
    assert "mend:     choose another name, or add --force to replace it" in again.err
    assert armsim("linearize", "arm5_hold_pi", "-o", "linear.npz", "--force", "-q").out == ""


@pytest.mark.parametrize(
    "args",
    [
        ["--lqr", "q=1"],
        ["--lqr", "r=1"],
        ["--lqr", "1,r=1"],
        ["--lqr", "q=1,r=1,q=2"],
        ["--lqr", "q=1,p=1"],
        ["--lqr", ""],
        ["--lqr", "q=x,r=1"],
        ["--at", "x"],
        ["--at", "7"],
        ["--period", "0"],
        ["-o", "linear.csv"],
        ["-o", "linear"],
        ["-o", "nowhere/linear.npz"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_told_with_its_mend(armsim, args, told):
    done = armsim("linearize", "arm5_hold", *args)
    assert (done.code, done.out) == (2, "")
    told(done.err)


def test_a_simulation_that_diverges_before_ends_with_three(armsim):
    done = armsim("linearize", "arm5_hold", "--at", "1", "--set", "integrator.dt=1e-3", "--force-step")
    assert done.code == 3
    assert "it diverges before" in done.err


def test_the_modes_alone_do_without_scipy():
    asked = (
        "import sys; from armsim.cli.main import main\n"
        "try: main(['linearize', 'two_link_hold'])\n"
        "finally: assert 'numpy' in sys.modules and not any(name.startswith('scipy') for name in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_it_says_how_long_the_steps_of_every_method_may_be(armsim):
    lines = armsim("linearize", "arm5_hold", "--target").out.split("\nsteps    ")[1].split("\nmatrices")[0]
    assert " ".join(lines.split()) == (
        "stable up to 530 µs with explicit_euler, 525 µs with semi_implicit_euler, 111 ms with velocity_implicit, 527 µs with "
        "velocity_verlet, 738 µs with rk4; of any length stable with implicit_midpoint"
    )
    between = " ".join(armsim("linearize", "arm5_hold_pi", "--target").out.split())
    assert "steps stable between samples up to 580 µs with explicit_euler, 580 µs with semi_implicit_euler" in between


def test_a_method_that_feeds_an_undamped_swing_is_stable_at_no_step(armsim):
    down = ("--set", "initial.q=[-90, 0]")
    done = armsim("linearize", "two_link_swing", *down)
    assert "of no length stable with explicit_euler\n" in " ".join(done.out.split(" ")).replace("\n  ", " ")
    steps = json.loads(armsim("linearize", "two_link_swing", *down, "--json").out)["stable_steps"]
    assert steps["explicit_euler"] == 0
    assert steps["implicit_midpoint"] is None
    fastest = (
        7.51218273  # rad/s: of the mass and stiffness matrices, in the linearisation's tests against other engines
    )
    assert steps["rk4"] == pytest.approx(8**0.5 / fastest, rel=1e-3)
    assert steps["velocity_verlet"] == pytest.approx(2 / fastest, rel=1e-3)


def test_margins_are_told_where_there_is_feedback(armsim):
    out = armsim("linearize", "arm5_hold_pi", "--target").out
    lines = next(part for part in out.split("\n\n") if part.startswith("margins")).splitlines()
    assert lines[0].split() == ["margins", "gain", "at", "lower", "gain", "at", "phase", "at", "delay", "Ms", "Mt"]
    assert lines[1].split() == ["dB", "Hz", "dB", "Hz", "deg", "Hz", "ms"]
    found = library.linearize("arm5_hold_pi", target=True).loops["R2"].margins
    shown = [x for limit in (found.gain, found.lower_gain, found.phase) for x in limit]
    assert lines[3].split() == [
        "R2",
        *(f"{x:.4g}" for x in (*shown, 1e3 * found.delay.margin, found.Ms[0], found.Mt[0])),
    ]
    assert "-inf" in lines[2]
    assert "margins" not in armsim("linearize", "two_link_swing").out


@pytest.mark.slow
def test_an_unstable_closed_loop_is_said_to_have_no_margins(armsim):
    late = ("--target", "--set", "control.delay=20e-3", "--set", "control.kp=800")
    done = armsim("linearize", "arm5_hold_pi", *late)
    assert "! the closed loop is unstable: these are crossovers, and no margins\n" in done.out
    found = json.loads(armsim("linearize", "arm5_hold_pi", *late, "--json").out)["margins"]["R1"]
    assert (found["stable"], found["Ms"][0]) == (False, None)


def test_the_response_of_a_loop_is_a_table_and_in_json(armsim):
    asked = ("linearize", "two_link_hold", "--target", "--bode", "elbow")
    loop = library.linearize("two_link_hold", target=True).loops["elbow"]
    lines = armsim(*asked).out.split("\n\n")[-1].splitlines()
    assert lines[0].split() == ["loop", "of", "elbow", "magnitude", "phase"]
    assert [line.split()[0] for line in lines[1:6]] == ["0.02", "0.05", "0.1", "0.2", "0.5"]
    _, size, phase = loop.bode([0.5])
    assert lines[5].split() == ["0.5", "Hz", f"{size[0]:.4g}", "dB", f"{phase[0]:.4g}", "deg"]
    found = json.loads(armsim(*asked, "--json").out)
    assert found["bode"]["joint"] == "elbow"
    assert found["bode"]["magnitude"] == loop.bode(found["bode"]["frequencies"]).magnitude.tolist()
    assert found["margins"]["elbow"]["phase"] == list(loop.margins.phase)
    none = json.loads(armsim("linearize", "two_link_swing", "--json").out)
    assert (none["margins"], none["bode"]) == (None, None)


@pytest.mark.parametrize("scenario", ["arm5_hold_pi", "two_link_hold", "puma560_hold"])
@pytest.mark.slow
def test_a_bode_diagram_is_a_picture(armsim, empty_folder, scenario):
    pytest.importorskip("matplotlib")
    joint = next(iter(library.linearize(scenario, target=True).loops))  # of the last one friction holds it
    done = armsim("linearize", scenario, "--target", "--bode", joint, "--plot", "a.png")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("\ndrawn    a.png\n")
    assert (empty_folder / "a.png").read_bytes().startswith(b"\x89PNG")
    assert armsim("linearize", scenario, "--target", "--bode", joint, "--plot", "a.png").code == 2
    assert armsim("linearize", scenario, "--target", "--bode", joint, "--plot", "a.png", "--force", "-q").out == ""


@pytest.mark.parametrize(
    "asked",
    [("arm5_hold", "--bode", "r2"), ("two_link_swing", "--bode", "elbow"), ("arm5_hold", "--plot", "a.png")],
    ids=" ".join,
)
def test_a_loop_that_there_is_not_is_refused(armsim, empty_folder, asked, told):
    done = armsim("linearize", *asked)
    assert (done.code, done.out) == (2, "")
    told(done.err)


def test_blocks_of_gains_have_a_row_in_a_line_and_no_digits_of_rounding(armsim):
    printed = armsim("linearize", "arm5_hold", "--at", "5", "--lqr", "q=100,r=1").out
    block = printed[printed.index("  K:\n") + 5 : printed.index("  feedforward:")]
    rows = [yaml.safe_load(line)[0] for line in block.splitlines()]
    assert [len(row) for row in rows] == [10] * 5
    model = library.linearize("arm5_hold", 5.0)
    K = model.at_rest.lqr(100, 1).K
    np.testing.assert_allclose(rows, K, rtol=5e-6, atol=1e-8)
    assert 0.0 < np.abs(K[0, 1]) < 1e-9  # R1 turns about the vertical, and is held apart from R2
    assert rows[0][1] == rows[1][0] == 0.0
    assert "target: [0.0, -1.162912, 0.274127, 0.0, -0.002962]" in printed
