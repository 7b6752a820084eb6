"""tuned.yaml of all that a scenario can say: it reads back, and runs with the bits of the scenario with what was found."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import armsim
from armsim.loading import read_scenario
from armsim.reports.run_page import report
from armsim.reports.tuning import report as told
from armsim.tuning.tuned_file import write_tuned
from tests.cli.conftest import ROOT

TRIED = {"trials": 2, "test": {"initial.q[0]": [0.1]}, "holds": "max(abs(q_elbow)) < 9"}
VIA = {"via": [[0.2, 0.3], [0.1, -0.1]]}
TIMED = {**VIA, "times": [0.005, 0.01]}
LIMITED = {**VIA, "speed": 2, "acceleration": "pi"}
WAVES = {"amplitude": 0.1, "offset": [0, 0]}
REFERENCES = {
    "target": {"target": ["pi/8", 0.2]},
    **{f"timed {profile}": {"reference": {**TIMED, "profile": profile}} for profile in
       ("minimum_jerk", "spline", "trapezoid", "steps")},
    **{f"limited {profile}": {"reference": {**LIMITED, "profile": profile}} for profile in ("quintic",)},
    "jerk limited": {"reference": {**LIMITED, "jerk": [40, 50]}},
    "sinusoid": {"reference": {"profile": "sinusoid", **WAVES, "frequency": [1, 2], "phase": "pi/2"}},
    "chirp": {"reference": {"profile": "chirp", **WAVES, "frequency": 1, "end_frequency": 5, "duration": 1}},
    "multisine": {"reference": {"profile": "multisine", **WAVES, "frequencies": [0.5, 1]}},
    "formulas": {"reference": ["0.3*sin(2*t)", 0]},
    "formulas under a key": {"reference": {"q": ["depth*sin(2*t)", 0.1]}},
    "file": {"reference": {"csv": "moves.csv", "interpolation": "linear"}},
    "file with velocities": {"reference": {"csv": "fast.csv"}},
    "model": {"model": "other.yaml", "feedforward": "gravity", "target": [0, 0]},
    "model of a name": {"model": "two_link", "feedforward": "gravity", "target": [0, 0]},
    "model within": {"model": "within", "feedforward": "gravity", "target": [0, 0]},
    "encoder": {"period": 2e-3, "delay": 2e-3, "encoder": {"counts": 4096, "noise": 1e-4, "seed": 7}, "target": [0, 0]},
}  # fmt: skip
LAWS = {
    "computed torque": {"law": "computed_torque", "reference": {"csv": "moves.csv"}, "kp": 60, "kd": [9, "3*pi"]},
    "pid": {"law": "pid", "kp": 60, "ki": 1, "kd": 9, "limit": [80, 30], "target": [0, 0]},
    "state feedback": {"law": "state_feedback", "K": [[60, 0, 9, 0], [0, 60, 0, 9]], "target": [0, 0]},
    "expression": {"law": "expression", "command": ["stiffness*e", "9*e - ed"], "reference": {"csv": "moves.csv"}},
}
INPUTS = {
    "constants": {"torque": [1, "pi"]},
    "formulas": {"torque": ["depth*sin(t)", 0], "period": 2e-3},
    "files": {"torque": [{"csv": "push.csv", "column": "u", "hold": "linear"}, 0]},
}
PD = {"law": "pd", "output": "torque", "kp": [60, 60], "kd": 9}


@pytest.fixture
def mine():
    """A scenario in a folder of its own, with the files that it may name."""
    Path("in").mkdir()
    robot = (ROOT / "robots/two_link.yaml").read_text()
    Path("in/arm.yaml").write_text(robot)
    Path("in/other.yaml").write_text(robot)
    Path("in/push.csv").write_text("t_s,u\n0,1\n0.02,2\n")
    names = ["shoulder", "elbow"]
    Path("in/moves.csv").write_text(
        f"t_s,{','.join(f'q_{name}_rad' for name in names)}\n" + "".join(f"{k / 100},{k / 50},0\n" for k in range(5))
    )
    Path("in/fast.csv").write_text(
        f"t_s,{','.join(f'{x}_{name}_{unit}' for x, unit in (('q', 'rad'), ('qd', 'rad_s')) for name in names)}\n"
        "0,0,0,0,0\n0.02,0.01,0,1,0\n"
    )

    def make(control, **more) -> str:
        control = {"output": "torque", **control}
        if control.get("model") == "within":
            control["model"] = yaml.safe_load(robot)
        scenario = {
            "format": "armsim/scenario/1",
            "robot": "arm.yaml",
            "parameters": {"depth": 0.3, "stiffness": 40},
            "duration": 0.02,
            "integrator": {"method": "rk4", "dt": 1e-3},
            "control": control,
            **more,
        }
        Path("in/mine.yaml").write_text(yaml.safe_dump(scenario, sort_keys=False))
        return "in/mine.yaml"

    return make


def check_tuned(scenario, overrides=None) -> None:
    """Tune a scenario, and again from what is there; hold what comes of it against the scenario with what was found."""
    overrides = {"payload.mass": 0.1, **(overrides or {})}
    for _ in range(2):
        found = armsim.tune(scenario, {"payload.mass": "0:0.5"}, "max(abs(q_elbow))", overrides, "out", **TRIED)
    assert found.status == "complete"
    wanted = armsim.simulate(scenario, {**overrides, **found.values}, engine="python")
    assert armsim.simulate(found.scenario, engine="python").q.tobytes() == wanted.q.tobytes()
    printed = "\n".join(map(str, told(found)))
    if "control:" in printed:  # to be taken over into a scenario
        printed = yaml.safe_load(printed[printed.index("control:") : printed.index("written  ")])
        again = armsim.simulate(scenario, {**overrides, **found.values, **printed}, engine="python")
        assert again.q.tobytes() == wanted.q.tobytes()


@pytest.mark.parametrize("kind", REFERENCES)
@pytest.mark.slow
def test_references_stay_what_they_were(kind, mine):
    check_tuned(mine({**PD, **REFERENCES[kind]}))


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.handful(1)
def test_laws_stay_what_they_were(kind, mine):
    check_tuned(mine(LAWS[kind]))


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.handful(1)
def test_inputs_stay_what_they_were(kind, mine):
    check_tuned(mine({"law": "none"}, inputs=INPUTS[kind]))


@pytest.mark.slow
def test_what_is_set_from_outside_is_written_too(mine):
    control = {**PD, "reference": {"csv": "moves.csv"}, "model": "other.yaml", "feedforward": "gravity"}
    check_tuned(mine({**PD, "target": [0, 0]}), {"control": {"output": "torque", **control}})


@pytest.mark.slow
def test_the_page_of_a_tuning_that_follows_a_file_is_made(mine):
    check_tuned(mine({**PD, **REFERENCES["file"]}))
    report("out", "page.html")
    assert Path("page.html").stat().st_size > 0


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in (ROOT / "configs").glob("*.yaml") if ".study" not in path.name)
)
@pytest.mark.handful(2)
def test_shipped_scenarios_are_tuned_to_files_that_read_back(name):
    Path("out").mkdir()
    write_tuned("out", name, {}, "")
    assert read_scenario("out/tuned.yaml").scenario_data == read_scenario(name).scenario_data


def test_comments_and_layout_of_the_scenario_stay_but_for_the_schema_beside_it():
    Path("in").mkdir()
    Path("in/arm.yaml").write_text((ROOT / "robots/two_link.yaml").read_text())
    Path("in/mine.yaml").write_text(
        "# yaml-language-server: $schema=scenario.schema.json\n# mine\nformat: armsim/scenario/1\nname: mine\n"
        "robot: arm.yaml  # as measured\nduration: 2e-2   # s\nintegrator: {method: rk4, dt: 1e-3}\ncontrol:\n  law: pd\n"
        "  output: torque\n  kp: [6e1, 60]     # by hand\n  kd: 9\n  target: [0, 0]\n"
    )
    write_tuned(".", "in/mine.yaml", {"control.kp[elbow]": 80.5, "control.kd[0]": 7.0}, "tuned")
    assert Path("tuned.yaml").read_text() == (
        "# tuned\n\n# mine\nformat: armsim/scenario/1\nname: mine\n"
        "robot: in/arm.yaml  # as measured\nduration: 2e-2   # s\nintegrator: {method: rk4, dt: 1e-3}\ncontrol:\n  law: pd\n"
        "  output: torque\n  kp: [6e1, 80.5]     # by hand\n  kd: [7.0, 9.0]\n  target: [0, 0]\n"
    )


def test_the_scenario_of_a_finished_run_is_tuned_without_the_rest_of_its_file():
    armsim.simulate("two_link_hold", {"duration": 0.01}).save("run")
    write_tuned(".", "run/run.yaml", {"control.kp[elbow]": 80.5}, "tuned")
    assert set(yaml.safe_load(Path("tuned.yaml").read_text())) <= set(armsim.document.Scenario.fields)
