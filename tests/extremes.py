"""Scenarios with numbers at extremes, and the questions that are asked of them."""

from __future__ import annotations

import copy
import io
import math
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import yaml

import armsim
from armsim.cli.main import main
from armsim.convergence.converge import converge
from armsim.document.base import numbers
from armsim.document.kinds import Number
from armsim.document.paths import parse_path
from armsim.files.nodes import quoted
from armsim.formulas.quantity import Quantity
from armsim.loading import load_scenario_file

CONFIGS = sorted(
    path.stem
    for path in (Path(__file__).parent.parent / "configs").glob("*.yaml")
    if not path.name.endswith(".study.yaml")
)
METHODS = [
    "auto",
    "explicit_euler",
    "semi_implicit_euler",
    "velocity_verlet",
    "rk4",
    "rk54",
    "rodas",
    "implicit_midpoint",
]

# an arm with every kind of number that a robot has, and scenarios with every kind that those have
WHOLE = yaml.safe_load("""
format: armsim/robot/1
name: whole
gravity: [0, 0.1, -9.81]
convention: origin
parameters: {upper: 0.3, thick: upper/10}
base: {xyz: [0, 0, 0.1], rpy: [0, 0.1, 0]}
joints:
  - name: R1
    type: revolute
    origin: {xyz: [0, 0, 0.1], rpy: [0.1, 0, 0], axis: [0, 0, 1]}
    initial: 0.1
    limits: {lower: -2, upper: 2, stiffness: 1000, damping: 10}
    friction: {viscous: 0.1, coulomb: 0.1}
    bodies:
      - cylinder: {axis: x, height: upper, radius: thick, mass: 2, center: [0.1, 0, 0]}
    motor:
      {Kp: 0.05, Ke: 0.05, Ra: 1, gear: 50, rotor_inertia: 1.0e-5, viscous: 1.0e-4, efficiency: 0.8, inductance: 1.0e-3,
       coulomb: {positive: 0.01, negative: 0.02}, brush_drop: {max: 0.5, half: 0.3},
       limits: {voltage: 24, current: 5, torque: 0.3, speed: 600}}
  - name: P2
    type: prismatic
    origin: {xyz: [upper, 0, 0], rpy: [0, 0, 0], axis: [0, 1, 1]}
    bodies:
      - box: {size: [0.1, 0.2, 0.1], density: 2700}
      - rod: {axis: x, length: 0.2, mass: 1}
    motor: {Kp: 1, Ra: 1, gear: 100}
  - name: S3
    type: screw
    pitch: 0.02
    origin: {axis: [1, 0, 0]}
    bodies:
      - tube: {axis: x, height: 0.2, outer_radius: 0.1, inner_radius: 0.05, mass: 1}
      - inertia: {mass: 1, about: com, xx: 0.1, yy: 0.1, zz: 0.1, center: [0, 0.1, 0]}
    motor: {Kp: 1, Ra: 1, gear: 3, rotor_inertia: 1.0e-4}
tool: {xyz: [0.1, 0, 0], rpy: [0, 0, 0.1]}
payload: {sphere: {mass: 0.5, radius: 0.05, center: [0, 0, 0.1]}}
""")
CONTROLLED = yaml.safe_load("""
format: armsim/scenario/1
duration: 0.004
integrator: {dt: 1.0e-3}
initial: {q: [0.2, 0, 0], qd: [0, 0.1, 0]}
control:
  {law: pid, output: voltage, kp: [10, 100, 10], ki: [1, 1, 1], kd: [1, 1, 1], target: [0, 0, 0], period: 1.0e-3,
   limit: [24, 24, 24], integral_limit: [5, 5, 5]}
external:
  - {link: S3, point: [0, 0, 0.1], force: [0, 0, -5], moment: [0, 0, 1], from: 0.001, to: 0.002}
payload: {mass: 1, center: [0, 0, 0.1]}
log: {every: 1.0e-3}
""")
DRIVEN = yaml.safe_load("""
format: armsim/scenario/1
duration: 0.004
inputs: {torque: [1, 5*sin(5*t), 0.1], period: 1.0e-3}
""")
WRITTEN = {"controlled": {**CONTROLLED, "robot": WHOLE}, "driven": {**DRIVEN, "robot": WHOLE}}

WORST: list[Any] = [
    0, -0.0, 5e-324, -1e-320, 1e-300, 1e-100, 1e-30, 1e-15, -1e-9, 1, -1, 1e9, -1e9, 1e12, 1e15, 1e30, 1e100, -1e100, 1e154,
    1e300, -1e300, 1.7976931348623157e308, math.nan, math.inf, -math.inf, 10**30, 10**400, -(10**400), 10**5000,
    np.float64(1e300), np.int64(2**62), "1e400", "-1e400", "1e200*1e200", "1/0", ".inf", "0*1e400", True, None, "", "x", [],
    [1.0], {}, {"mass": 1}, "circle",
]  # fmt: skip


@dataclass(frozen=True)
class Question:
    """A question about a file with numbers at extremes.

    Attributes:
        name: Of the question.
        file: A scenario's name, or a robot's.
        chosen: The numbers, by path.
        ask: Asks it; raises `ArmsimError` for what is refused.
    """

    name: str
    file: str
    chosen: dict[str, Any]
    ask: Callable[[], Any]

    def __str__(self) -> str:
        values = ", ".join(f"{path} {quoted(x)}" for path, x in self.chosen.items())
        return f"{self.name} of {self.file}: {values}"


class Given:
    """A scenario whose run is short, its robot, and its numbers by path."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.scenario: Any = WRITTEN.get(name, name)
        file = load_scenario_file(self.scenario)
        self.n = len(file.robot.document.joints)
        self.robot: Any = file.robot.sources[0].path if file.robot.sources else WHOLE
        self.of_robot = dict(numbers(file.robot.document))
        self.numbers = dict(numbers(file.document)) | {f"robot.{path}": x for path, x in self.of_robot.items()}
        dt, steps = file.steps.dt, 5 if file.steps.period is None else file.steps.period + 2
        self.short: dict[str, Any] = {} if name in WRITTEN else {"duration": steps * dt, "log.every": dt}
        if self.short and file.document.external:
            self.short |= {"external[0].from": dt, "external[0].to": 3 * dt}

    def written(self, chosen: dict[str, Any]) -> str:
        """The file as YAML with these numbers, its robot inline."""
        data = copy.deepcopy(self.scenario if self.name in WRITTEN else of_file(self.name))
        for path, x in {**self.short, **chosen}.items():
            put(data, parse_path(path), x)
        return yaml.safe_dump(data)


@cache
def given(name: str) -> Given:
    """A scenario by its name, read once."""
    return Given(name)


@cache
def of_file(name: str) -> dict[str, Any]:
    """The keys of a shipped scenario, its robot's among them."""
    root = Path(__file__).parent.parent
    data = yaml.safe_load((root / "configs" / f"{name}.yaml").read_text(encoding="utf-8"))
    robot = (root / "configs" / data["robot"]).read_text(encoding="utf-8")
    return {**data, "robot": yaml.safe_load(robot)}


def put(data: Any, steps: list[str | int], x: Any) -> None:
    """Set what stands at a path; lists that are not there stay away."""
    *before, last = steps
    for step in before:
        if isinstance(data, dict):
            data = data.setdefault(step, {})
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
    if isinstance(data, dict) or (isinstance(data, list) and isinstance(last, int) and last < len(data)):
        data[last] = x


def extreme(random: Random, kind: Number) -> Any:
    """An extreme value: mostly of a magnitude that the key takes, or just does not."""
    if random.random() < 0.25:
        worst = random.choice(WORST)
        return circle() if worst == "circle" else worst
    decades = math.log10(kind.smallest), math.log10(kind.most)
    magnitude = random.choice([
        0.0, kind.most, kind.most, kind.most * (1 + 1e-9), kind.most / random.uniform(1, 1000), kind.smallest,
        kind.smallest * (1 - 1e-9), kind.smallest * random.uniform(1, 1000), 10.0 ** random.uniform(*decades),
        10.0 ** random.uniform(*decades), 10.0 ** random.uniform(-20, 20),
    ])  # fmt: skip
    return (
        magnitude
        if random.random() < (0.95 if kind.minimum is not None or kind.above is not None else 0.6)
        else -magnitude
    )


def circle() -> dict[str, Any]:
    """Data that contain themselves."""
    data: dict[str, Any] = {}
    data["mass"] = data
    return data


def some(random: Random, known: dict[str, Quantity]) -> dict[str, Any]:
    """One to three of the numbers, at extremes; but a run of 1e9 s, or in steps of 1e-12 s, would take its time."""
    paths = random.sample(sorted({*known} - {"duration", "integrator.dt"}), random.choice([1, 1, 1, 2, 3]))
    return {path: extreme(random, known[path].kind) for path in paths}


# -- the questions


def simulated(of: Given, random: Random) -> tuple[dict[str, Any], Callable[[], Any]]:
    method, forced = random.choice(METHODS), random.random() < 0.5
    chosen = {"integrator.method": method, **some(random, of.numbers)}
    slow = method in ("auto", "rk54", "rodas") or random.random() < 0.2  # on floats, where steps may be many

    def ask() -> None:
        run = armsim.simulate(of.scenario, {**of.short, **chosen}, "llvm" if slow else "python", force_step=forced)
        assert run.status in ("complete", "diverged")

    return chosen, ask


def linearized(of: Given, random: Random) -> tuple[dict[str, Any], Callable[[], Any]]:
    chosen, target = some(random, of.numbers), random.random() < 0.3

    def ask() -> None:
        model = armsim.linearize(of.scenario, target=target, overrides={**of.short, **chosen})
        for system in (model, model.closed_loop):
            if system is not None:
                system.modes()
        assert model.lqr(q=1.0, r=1.0).K.size

    return chosen, ask


def converged(of: Given, random: Random) -> tuple[dict[str, Any], Callable[[], Any]]:
    chosen = some(random, of.numbers)
    return chosen, lambda: converge(of.scenario, overrides={**of.short, **chosen}, budget=0.05)


def of_the_arm(of: Given, random: Random) -> tuple[dict[str, Any], Callable[[], Any]]:
    chosen, compiled = some(random, of.of_robot), random.random() < 0.2
    away, speed = random.choice([0.0, 0.1, 1e5]), random.choice([0.0, 1.0, 1e5])

    def ask() -> None:
        arm = armsim.load_robot(of.robot, chosen, engine="llvm" if compiled else "python")
        q, qd = np.clip(arm.initial + away, -1e6, 1e6), np.full(of.n, speed)
        arm.inverse_dynamics(q, qd, qd)
        arm.wrenches(q, qd, qd, ["base", *arm.joints, "tool"])
        arm.forward_dynamics([q, q], [qd, qd], [qd, -qd])
        for answer in (arm.mass_matrix, arm.gravity_torque, arm.jacobian, arm.forward_kinematics, arm.potential_energy):
            answer(q)
        for answer in (arm.bias, arm.limit_torque, arm.kinetic_energy):
            answer(q, qd)
        arm.motor_demand(qd, qd)

    return chosen, ask


def advanced(of: Given, random: Random) -> tuple[dict[str, Any], Callable[[], Any]]:
    chosen, zeros = some(random, of.of_robot), np.zeros(of.n)
    return chosen, lambda: armsim.load_robot(of.robot, chosen).advance(zeros, zeros, zeros, 1e-3)


def in_batches(of: Given, random: Random) -> tuple[dict[str, Any], Callable[[], Any]]:
    chosen = some(random, of.numbers)
    values = {path: [x, of.numbers[path].value] for path, x in chosen.items()}
    return chosen, lambda: armsim.simulate_many(of.scenario, values, of.short, threads=1)


def prepared(of: Given, random: Random) -> tuple[dict[str, Any], Callable[[], Any]]:
    chosen = some(random, of.numbers)
    return chosen, lambda: armsim.prepare(of.scenario, list(chosen), of.short)(chosen)


def stepped(of: Given, random: Random) -> tuple[dict[str, Any], Callable[[], Any]]:
    (path, x), *_ = some(random, of.of_robot).items()
    zeros = np.zeros(of.n)

    def ask() -> None:
        model = armsim.ForwardModel(of.robot, dt=1e-3, output="torque", open=[path])
        many = [x] * len(model.open)
        model.step(model.state(zeros, zeros, values=many), zeros, values=many)

    return {path: x}, ask


def in_the_shell(of: Given, random: Random) -> tuple[dict[str, Any], Callable[[], Any]]:
    command = random.choice(
        ["check", "check", "info", "info", "inverse", "forward", "fk", "motor", "linearize", "simulate"]
    )
    about_robot = command in ("inverse", "forward", "fk", "motor") or (command == "info" and random.random() < 0.5)
    chosen = some(random, of.of_robot if about_robot else of.numbers)
    plain = (int, float, str)
    chosen = {path: x for path, x in chosen.items() if type(x) in plain and not (type(x) is int and abs(x) > 10**400)}
    options = {"simulate": ["--force", "-o", "run"], "linearize": ["--target"] * (random.random() < 0.3)}.get(
        command, []
    )

    def ask() -> None:
        file = of.robot if about_robot else of.scenario
        if command == "check" or not isinstance(file, str):
            text = of.written(chosen) if command == "check" else yaml.safe_dump(file)
            Path("file.yaml").write_text(text, encoding="utf-8")
            file = "file.yaml"
        settings = {} if command == "check" else {**({} if about_robot else of.short), **chosen}
        code, said = shell(
            command, file, *(x for key, y in settings.items() for x in ("--set", f"{key}={y}")), *options
        )
        assert code in (0, 1, 2, 3), said
        assert "Traceback" not in said
        assert "nan" not in said.replace(str(settings), "") or code or command != "check", said

    return {"command": command, **chosen}, ask


def shell(*args: str) -> tuple[Any, str]:
    """Runs armsim in this process: its exit code, and what it printed."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            main(list(args))
        except SystemExit as ended:
            return ended.code, said.getvalue()
    return None, said.getvalue()


QUICK = [simulated, of_the_arm, in_the_shell]
SLOW = [advanced, in_batches, prepared, stepped]  # which compile
ALL = [*QUICK * 4, linearized, linearized, converged, *SLOW]


def questions(seed: int, count: int) -> Iterator[Question]:
    """As many questions, the same ones for the same seed."""
    for number in range(count):
        random = Random(f"{seed} {number}")
        name = random.choice([*CONFIGS, *WRITTEN, *WRITTEN])
        asked = random.choice(ALL)
        chosen, ask = asked(given(name), random)
        yield Question(asked.__name__, name, chosen, ask)
