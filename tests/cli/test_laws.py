"""Every law of control by every command that takes a scenario or its run: it succeeds, or refuses with the key to change."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import armsim as library
from armsim.document.control import LAWS
from armsim.expr import where

SOLID = {"mass": 2.0, "center": [0.3, 0, 0], "about": "com", "xx": 0.5, "yy": 0.5, "zz": 0.5}
AXIS = {
    "name": "R1",
    "type": "revolute",
    "mdh": {"a": 0, "alpha": 0, "d": 0, "theta": 0},
    "bodies": [{"inertia": SOLID}],
}
ROBOT = {"format": "armsim/robot/1", "name": "axis", "joints": [AXIS | {"motor": {"Kp": 0.05, "Ra": 1.0, "gear": 50}}]}
SCENARIO = {"format": "armsim/scenario/1", "robot": "robot.yaml", "duration": 0.02}
SCENARIO |= {"integrator": {"method": "semi_implicit_euler", "dt": 1e-3}}
SAMPLED = {"period": 2e-3}
MOVES = {"reference": {"via": [[0.1]], "times": [0.02]}}

KEYS = {"kp": 60, "ki": 30, "kd": 4, "K": [[60, 4]], "command": ["60*e + 4*ed"]}
KEYS |= {"horizon": 0.05, "stages": 4, "cost": {"q": 100, "command": 1e-3}, **SAMPLED}
FUNCTIONS = {
    "traceable": lambda told: [where(abs(e) > 0.05, 60.0, 30.0) * e for e in told.e],
    "branching": lambda told: [(60.0 if abs(e) > 0.05 else 30.0) * e for e in told.e],
}


def scenarios() -> dict[str, dict]:
    """By what commands the drives: a law at a target, sampled along a reference; inputs; nothing."""
    found = {"none": {"control": {"law": "none"}}, "nothing": {}}
    for law, (needed, _) in LAWS.items():
        control = {"law": law, "output": "torque", **{key: KEYS[key] for key in needed}}
        continuous, sampled = {"control": {**control, "target": [0.1]}}, {"control": {**control, **MOVES, **SAMPLED}}
        for name in (law, *(f"python, {kind}" for kind in FUNCTIONS if law == "python")):
            found |= {name: continuous, f"{name}, sampled": sampled}
    pushed = {"torque": ["3*cos(300*t)"]}
    return found | {"inputs": {"inputs": pushed}, "inputs, sampled": {"inputs": pushed | SAMPLED}}


SCENARIOS = scenarios()
SAMPLED_OR_NONE = [name for name in SCENARIOS if name.endswith("sampled") or name in ("none", "nothing", "predictive")]
OF_SCENARIO = {
    "simulate": "simulate SCENARIO -o out",
    "simulate on floats": "simulate SCENARIO -o out --engine python",
    "check": "check SCENARIO",
    "info": "info SCENARIO",
    "info --json": "info SCENARIO --json",
    "info --deg": "info SCENARIO --deg",
    "info --resolved": "info SCENARIO --resolved",
    "sweep": "sweep SCENARIO --vary initial.q[0]=0,0.1 --measure max(abs(q_R1)) --threads 1 -o out",
    "sweep of laws": "sweep SCENARIO --vary control.law=none,python --threads 1 -o out",
    "tune": "tune SCENARIO --open initial.q[0] --bounds 0:0.1 --minimise max(abs(q_R1)) --trials 2 --threads 1 -o out",
    "converge": "converge SCENARIO --accuracy 1e-3",
    "record": "record SCENARIO -o out",
    "linearize": "linearize SCENARIO --lqr q=1,r=1",
    "linearize --at": "linearize SCENARIO --at 0.01",
    "linearize --target": "linearize SCENARIO --target",
    "export": "export SCENARIO --to python -o out",
    "reference": "reference SCENARIO",
    "view": "view SCENARIO -o out.html",
}
OF_RUN = {
    "simulate run.yaml": "simulate RUN/run.yaml -o out",
    "check run.yaml": "check RUN/run.yaml",
    "info run.yaml": "info RUN/run.yaml",
    "plot": "plot RUN --columns q_R1_rad -o out.png",
    "animate": "animate RUN --frames 1 -o out.png",
    "view a run": "view RUN -o out.html",
    "report": "report RUN -o out.html",
    "report --deg": "report RUN -o out.html --deg",
    "compare": "compare RUN RUN",
    "inverse": "inverse robot.yaml --trajectory RUN/trajectory.csv -o out.csv",
    "replay a run": "replay RUN",
}
COMMANDS = {**OF_SCENARIO, **OF_RUN, "replay": "replay RECORDING"}


def cells() -> list[tuple[str, str]]:
    """A scenario, and a command on it or, where it has any, on its run; functions are the library's, their runs are not."""
    found = []
    for name in SCENARIOS:
        if name not in ("python", "python, sampled", "python, branching"):  # these do not run
            found += [(name, command) for command in OF_RUN]
            found += [(name, "replay")] * (name in SAMPLED_OR_NONE and "python" not in name)
        if kind_of(name) not in FUNCTIONS:
            found += [(name, command) for command in OF_SCENARIO]
    return found


def kind_of(name: str) -> str:
    return name.removesuffix(", sampled").removeprefix("python, ")


def file_of(name: str) -> str:
    return name.replace(", ", "_")


def key_to_change(name: str, command: str) -> str | None:
    """The key, or the option or file, that a refusal names; None for a command that succeeds."""
    free = name in ("none", "nothing") or kind_of(name) == "inputs"
    if command == "linearize --target" and free:
        return "target"
    if command == "reference":
        return None if "sampled" in name and not free else "control.reference"
    if command == "replay a run":
        return file_of(name)
    if command == "record" and name not in SAMPLED_OR_NONE:
        return "inputs.period" if kind_of(name) == "inputs" else "control.period"
    if "python" in name and command in ("simulate run.yaml", *OF_SCENARIO):
        return None if command.startswith(("check", "info")) else "control.law"
    return None


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """The scenarios' files, and their runs and recordings, made when they are first asked for."""
    folder = tmp_path_factory.mktemp("laws")
    (folder / "robot.yaml").write_text(yaml.safe_dump(ROBOT))

    @cache
    def scenario(name: str) -> str:
        path = folder / f"{file_of(name)}.yaml"
        path.write_text(yaml.safe_dump({**SCENARIO, "name": path.stem, **SCENARIOS[name]}))
        return str(path)

    @cache
    def run(name: str) -> str:
        path = scenario(name)
        return str(library.simulate(path, law=FUNCTIONS.get(kind_of(name))).save(path.removesuffix(".yaml")))

    @cache
    def recording(name: str) -> str:
        path = scenario(name)
        return str(library.record(path).save(path.removesuffix(".yaml") + "_recorded"))

    return SimpleNamespace(robot=folder / "robot.yaml", scenario=scenario, run=run, recording=recording)


@pytest.mark.parametrize(("name", "command"), cells())
@pytest.mark.handful(6)
def test_a_command_takes_a_law_or_names_the_key_to_change(name, command, shelf, armsim):
    text = COMMANDS[command].replace("robot.yaml", str(shelf.robot))
    for word, made in (("SCENARIO", shelf.scenario), ("RUN", shelf.run), ("RECORDING", shelf.recording)):
        if word in text:
            text = text.replace(word, made(name))
    ended, key = armsim(*text.split()), key_to_change(name, command)
    if key is None:
        assert (ended.code, ended.err) == (0, "")
    else:
        where, *rest = ended.err.splitlines()
        assert ended.code == 2
        assert key in where
        assert [line.split()[0] for line in rest[:2]] == ["expected:", "found:"]
        assert "mend:" in ended.err


WORDS = {
    "simulate_many": lambda path: library.simulate_many(path, {"initial.q[0]": [0, 0.1]}).status,
    "prepare": lambda path: library.prepare(path, ["initial.q[0]"])({"initial.q[0]": 0.1}).status,
}


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("name", [name for name in SCENARIOS if kind_of(name) not in FUNCTIONS])
@pytest.mark.handful(3)
def test_a_word_of_the_library_that_has_no_command_takes_a_law_or_names_it(name, word, shelf):
    path = shelf.scenario(name)
    if "python" in name:
        with pytest.raises(library.UsageError, match=r"^control\.law\n  expected: a Python function"):
            WORDS[word](path)
    else:
        assert set(np.atleast_1d(WORDS[word](path))) == {"complete"}


@pytest.mark.parametrize("name", [name for name in SCENARIOS if kind_of(name) in FUNCTIONS])
@pytest.mark.parametrize("engine", ["llvm", "python"])
@pytest.mark.handful(4)
def test_a_run_under_a_function_is_estimated_where_it_can_be_or_says_why_not(name, engine, shelf):
    law = FUNCTIONS[kind_of(name)]
    if name == "python, branching":
        with pytest.raises(library.UsageError, match=r"^control\.period\n  expected: a sample time"):
            library.simulate(shelf.scenario(name), law=law, engine=engine)
        return
    run = library.simulate(shelf.scenario(name), law=law, engine=engine, measure="iae")
    assert run.measure("iae") == run.measures["iae"]
    estimated = engine == "llvm" and "traceable" in name
    assert (run.step_error is not None) == estimated
    if not estimated:
        why = "a run whose law is called at every sample" if engine == "llvm" else "only runs in machine code"
        assert run.summary()["no_step_error"].startswith(why)


@pytest.mark.parametrize(
    ("name", "mend"),
    [("pd", "--unset control.kp --unset control.kd"), ("none", "--set control.output=voltage")],
)
def test_a_law_without_gains_asks_for_none(name, mend, shelf, armsim):
    ended = armsim("simulate", shelf.scenario(name), "--set", "control.law=python")
    assert ended.code == 2
    assert "control.law\n  expected: `output`, and no gains with python\n" in ended.err
    assert mend in ended.err
