"""What the tests share: reference figures, arms to test on, and traced functions evaluated on rows of numbers."""

from __future__ import annotations

import csv
import gc
import json
import math
import os
import random
import signal
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: a thread a core of each worker wait for each other

import numpy as np
import pytest
from hypothesis import is_hypothesis_test, settings

from armsim.model import Arm, Joint, LinkFrame, Motor, Payload
from armsim.spatial import Inertia, Pose, Symmetric, Vector, rotation_rpy, rotation_x

pytest_plugins = ["tests.told"]

DATA = Path(__file__).parent / "data"
ROBOTS = Path(__file__).parent.parent / "robots"
GOLDEN = (math.sqrt(5) - 1) / 2  # whose multiples spread evenly, whatever the number of parameters of each kind
QUICK = "not slow"
TYPES = {"R": "revolute", "P": "prismatic", "S": "screw"}

settings.register_profile("thorough", deadline=None)  # a machine may be busy
settings.register_profile("quick", deadline=None, max_examples=20)


def pytest_configure(config):
    """The same surroundings whatever shell the tests are started from.

    Signals are taken as a terminal's processes do: a shell lets what it starts in the background ignore Ctrl-C, nohup a hang-up.
    Bytecode is written: hundreds of tests start armsim in a process of its own. All workers, and later sessions, share one
    folder of kernels; the tests of the cache have folders of their own. LLVM does not optimise: runs of tests are short, and the
    bits are the same, which tests/compile/test_target.py and tests/simulation/test_engine.py hold. Garbage is looked for seldom:
    collection and tracing make millions of objects that live. Without the tests marked slow, examples are few.
    """
    settings.load_profile("quick" if config.option.markexpr == QUICK else "thorough")
    gc.set_threshold(1_000_000, 20, 100)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("ARMSIM_CACHE_DIR", str(config.cache.mkdir("kernels")))
    os.environ.setdefault("ARMSIM_OPTIMISATION", "0")


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at marks
def pytest_collection_modifyitems(config, items):
    """Of the cases of a test marked `handful(k)`, mark all but k slow; those that stay are spread over all its parameters.

    Tests on random examples are quick with few of them, and are among the slow tests with all.
    ARMSIM_SLOW=0/2 leaves every second of the slow tests, 1/2 the others: neighbours, which are alike, are shared out.
    """
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("handful"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for group in cases.values():
        count = group[0].get_closest_marker("handful").args[0]
        spread = sorted(range(len(group)), key=lambda i: i * GOLDEN % 1)
        for i in spread[count:]:
            group[i].add_marker(pytest.mark.slow)
    if config.option.markexpr != QUICK:
        for item in items:
            if is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker(pytest.mark.slow)
    first, _, stride = os.environ.get("ARMSIM_SLOW", "0/1").partition("/")
    slow = [item for item in items if item.get_closest_marker("slow")]
    left_out = {*slow} - {*slow[int(first) :: int(stride)]}
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish(session):
    """Look for no garbage among what collection has made, now or later."""
    gc.freeze()


def pytest_report_header(config):
    """What happens next, and what is left out, before anything takes time."""
    told = ["collecting 14000 tests, which takes some 10 s"]
    if config.option.markexpr == QUICK:
        told.append("tests marked slow are left out; `pytest -n auto -m slow` runs them, `-m ''` runs all")
    return told


@pytest.fixture(scope="session")
def work():
    """Counts the function calls, of Python and of C, that something takes: its cost, whatever the machine is busy with."""

    def count(done: Callable, *args) -> int:
        calls = 0

        def note(frame, event, arg) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            done(*args)
        finally:
            sys.setprofile(None)
        return calls

    return count


@pytest.fixture(scope="session", autouse=True)
def steady_machine():
    """To studies of convergence every step of a run takes 100 ns, and all else no time: their budgets are counts of steps."""
    from armsim.convergence import runs

    now = 0.0

    def run(scenario, progress=None):
        began = now

        def look(done: int, steps: int) -> None:
            nonlocal now
            now = began + 1e-7 * done
            if progress is not None:
                progress(done, steps)

        made = simulate(scenario, look)
        made.seconds["loop_s"] = now - began
        return made

    simulate = runs.simulate_unadvised
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "simulate_unadvised", run)
        patch.setattr(runs, "time", SimpleNamespace(perf_counter=lambda: now))
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_here():
    """Texts of up to three times the length are compiled without a process of their own: LLVM does not optimise."""
    from armsim.compile import compiler

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "LONG", 3 * compiler.LONG)
        yield


@pytest.fixture
def drawn() -> None:
    """What a test that asks for it draws is not left out."""


@pytest.fixture(autouse=True)
def empty_pictures(request, monkeypatch):
    """Pictures are empty: most tests ask only whether there is one. Tests of tests/figures, and those that ask `drawn`, look."""
    from armsim.figures import picture

    write = picture._write

    def empty(figure, file, ending, dpi):
        figure.set_layout_engine("none")
        for artist in figure.get_children():
            artist.set_visible("drawn" in request.fixturenames)
        write(figure, file, ending, dpi // 2)

    monkeypatch.setattr(picture, "_write", empty)


@pytest.fixture
def no_kernels(tmp_path, monkeypatch):
    """An empty folder of kernels: nothing is known."""
    monkeypatch.setenv("ARMSIM_CACHE_DIR", str(tmp_path / "no kernels"))


@pytest.fixture(scope="session")
def reference():
    """Reads a file of tests/data: columns by name, and what its .json says."""

    def read(name: str) -> SimpleNamespace:
        with open(DATA / f"{name}.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        columns = {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}
        about = DATA / f"{name}.json"
        said = json.loads(about.read_text()) if about.exists() else {}

        def block(stem: str, n: int = 5) -> np.ndarray:
            return np.stack([columns[f"{stem}{i + 1}"] for i in range(n)], axis=1)

        return SimpleNamespace(columns=columns, about=said, block=block, count=len(rows))

    return read


@pytest.fixture(scope="session")
def arms():
    """Builders of arms."""
    from armsim.loading import read_robot

    def shipped(name: str) -> Arm:
        return read_robot(ROBOTS / f"{name}.yaml")[0]

    def bare(arm: Arm) -> Arm:
        """The same arm without motors, stops and friction."""
        joints = tuple(replace(joint, motor=None, limit=None, viscous=0.0) for joint in arm.joints)
        return replace(arm, links=joints)

    def serial(kinds: str, seed: int = 0, motors: bool = False) -> Arm:
        """A random arm with general twists, offsets and inertias: "RPS" is revolute, prismatic, screw."""
        rng = random.Random(f"{kinds}{seed}")
        joints = []
        for i, kind in enumerate(kinds):
            tilt = rotation_rpy(*(rng.uniform(-math.pi, math.pi) for _ in range(3)))
            motor = Motor(
                Kp=rng.uniform(0.05, 0.1),
                Ke=rng.uniform(0.05, 0.1),
                Ra=rng.uniform(0.5, 2.0),
                gear=rng.choice([-1, 1]) * rng.uniform(20, 60),
                rotor_inertia=rng.uniform(1e-5, 1e-4),
                viscous=rng.uniform(1e-5, 1e-4),
            )
            joints.append(
                Joint(
                    name=f"{kind}{i + 1}",
                    type=TYPES[kind],
                    tilt=tilt,
                    position=Vector(*(rng.uniform(-0.5, 0.5) for _ in range(3))),
                    offset=rng.uniform(-1, 1),
                    initial=rng.uniform(-1, 1),
                    inertia=solid(rng),
                    motor=motor if motors else None,
                    frame=Pose(rotation_x(rng.uniform(-3, 3)), Vector(*(rng.uniform(-0.2, 0.2) for _ in range(3)))),
                    pitch=rng.choice([-1, 1]) * rng.uniform(0.3, 2.0) if kind == "S" else 0.0,
                )
            )
        return Arm(
            name=kinds,
            gravity=Vector(*(rng.uniform(-9, 9) for _ in range(3))),
            base=Pose(rotation_rpy(0.3, -0.4, 1.2), Vector(0.1, -0.2, 0.3)),
            links=tuple(joints),
            frames=(LinkFrame("tool", pose=Pose(rotation_rpy(0.4, 0.2, -0.9), Vector(0.1, 0.05, -0.2))),),
            payloads=(Payload(solid(rng)),),
        )

    def solid(rng: random.Random) -> Inertia:
        """A body that could exist: a box, turned and shifted."""
        x, y, z = (rng.uniform(0.05, 0.4) ** 2 for _ in range(3))
        mass = rng.uniform(0.5, 3.0)
        box = Inertia(mass, Vector(0.0, 0.0, 0.0), mass / 12 * Symmetric(y + z, x + z, x + y))
        turned = rotation_rpy(*(rng.uniform(-3, 3) for _ in range(3)))
        return box.moved(turned, Vector(*(rng.uniform(-0.3, 0.3) for _ in range(3))))

    def of_reference(about: dict) -> Arm:
        """The arm that a reference file tells of, by rows of modified DH, as a robot file would give it."""
        joints = []
        for i, (row, link) in enumerate(zip(about["model"]["mdh"], about["model"]["links"], strict=True), start=1):
            tensor = {key[1:]: value for key, value in link["inertia_about_link_origin"].items()}
            body = {"mass": link["mass"], "center": link["com"], "about": "origin", **tensor}
            constants = {key: row[key] for key in ("a", "alpha", "d", "theta") if row[key] != "q"}
            joint = {"name": f"J{i}", "type": TYPES[row["type"]], "mdh": constants, "bodies": [{"inertia": body}]}
            joints.append(joint | ({"pitch": row["pitch"]} if "pitch" in row else {}))
        head = {"format": "armsim/robot/1", "name": "arm", "gravity": about["model"]["gravity"]}
        return read_robot({**head, "joints": joints, "tool": about["model"].get("tool", {})})[0]

    return SimpleNamespace(shipped=shipped, bare=bare, serial=serial, solid=solid, of_reference=of_reference)


@pytest.fixture(scope="session")
def evaluate():
    """Evaluates a traced function in machine code: columns of arguments in, columns of results out."""
    from armsim.compile import BatchKernel

    def run(function, columns, target=None, lanes=None) -> np.ndarray:
        kernel = BatchKernel(function, target, lanes)
        rows = np.ascontiguousarray(np.atleast_2d(np.asarray(columns, dtype=float)).T)
        results = np.empty((len(rows), len(function.outputs)))
        kernel([(rows.ctypes.data, rows.strides[0])], results.ctypes.data, len(rows))
        return results.T

    return run


@pytest.fixture(scope="session")
def drive():
    """Carries out steps of an engine from the start, in pieces."""
    from armsim.clock import Clock
    from armsim.simulation.row_log import RowsInMemory
    from armsim.simulation.runner import Job, Runner

    def run(engine, plant, q, qd, steps, ratio, log_every=1, sample_every=1, cuts=(), landing=0.0) -> SimpleNamespace:
        clock = Clock(*ratio, steps, sample_every, log_every)
        runner = Runner(engine, Job(engine.plan, clock, plant.initial_state(q, qd, landing)))
        log = RowsInMemory(len(engine.plan.columns), clock.rows)
        for cut in [*cuts, clock.steps]:
            for _ in runner.until(cut, log):
                pass
        left = runner.lanes.left.get(0)
        width = len(engine.plan.columns)
        rows = np.array(log.rows).reshape(-1, width)[: clock.rows_before(runner.done + (left is not None))]
        state = runner.state if left is None else left.after
        return SimpleNamespace(
            reached=runner.done, state=np.array(state), rows=rows, peaks=np.array(runner.lanes.kept.run(0))
        )

    return run


@pytest.fixture(scope="session")
def column():
    """Places of a quantity in a plant's row."""

    def find(plant, quantity: str) -> list[int]:
        return [i for i, column in enumerate(plant.layout.columns) if column.quantity == quantity]

    return find


PLANTS = ["continuous", "sampled", "pi", "torque", "table", "outside", "prismatic", "rk4", "nine_joints", "rotors"]
PLANTS += ["screws"]


@pytest.fixture(scope="session")
def plants(arms):
    """Plants that between them use every part of the physics: (plant, q, qd, sample_every); dt is 1/2000 s."""
    from armsim import expr
    from armsim.control import OpenLoop
    from armsim.dynamics import ExternalWrench
    from armsim.expr import Table
    from armsim.plant import Plant
    from tests.controllers import feedback

    def signals(output, n, period=None, scale=1.0):
        made = tuple(lambda t, i=i: scale * (0.3 * (i + 1) * expr.sin((3 + i) * t) + expr.exp(-t)) for i in range(n))
        return OpenLoop(output, made, period)

    def make(name: str):
        arm5 = arms.shipped("arm5")
        q, qd = [0.2, -1.19, 0.55, 0.3, -0.2], [-1.0, -2.0, 1.0, 3.0, -2.0]  # R2 and R3 run into their stops
        none, target = (None,) * 5, (0.0, -1.1, 0.3, 0.0, 0.0)
        kp, ki, kd = (60.0, 60.0, 60.0, 20.0, 20.0), (30.0, 30.0, 20.0, 5.0, 5.0), (1.0, 1.0, 1.0, 0.1, 0.1)
        pd = feedback("pd", "voltage", kp, (0.0,) * 5, kd, target, (24.0, 24.0, None, 3.0, 2.0), none)
        pid = feedback("pid", "voltage", kp, ki, kd, target, none, (0.4, 2.0, 1.0, 0.1, 0.01))
        if name == "continuous":
            return Plant(arm5, pd, method="semi_implicit_euler"), q, qd, 1
        if name == "sampled":
            return Plant(arm5, replace(pid, period=0.002), method="semi_implicit_euler"), q, qd, 4
        if name == "pi":
            return (
                Plant(arm5, replace(pid, law=replace(pid.law, name="pi", kd=(0.0,) * 5)), method="explicit_euler"),
                q,
                qd,
                1,
            )
        if name == "torque":
            free = replace(arm5, links=tuple(replace(joint, limit=None) for joint in arm5.joints))
            return Plant(free, signals("torque", 5, scale=0.05), method="semi_implicit_euler"), q, [0.0] * 5, 1
        if name == "table":
            rng = random.Random(5)
            times = [0.0, *sorted(rng.uniform(0, 1) for _ in range(40))]
            tables = [Table(times, [rng.uniform(-9, 9) for _ in times], h) for h in ("zero", "linear") * 3]
            held = tuple(lambda t, table=table: expr.lookup(table, t) for table in tables[:5])
            return Plant(arm5, OpenLoop("voltage", held, period=0.001), method="rk4"), q, qd, 2
        if name == "outside":
            pushes = (
                ExternalWrench(arm5.frame_at(4, Vector(0.0, 0.0, 0.05)), Vector(0.0, 1.0, -5.0), start=0.02, end=0.06),
                ExternalWrench(
                    arm5.frame_at(2, Vector(0.1, 0.0, 0.0)),
                    Vector(1.0, 0.0, 0.0),
                    Vector(0.1, 0.2, 0.3),
                    "local",
                    end=0.05,
                ),
            )
            return Plant(arms.bare(arm5), None, pushes, "explicit_euler"), q, [0.0] * 5, 1
        if name == "prismatic":
            arm = arms.serial("PRPR", seed=2, motors=True)
            return Plant(arm, signals("voltage", 4), method="semi_implicit_euler"), [0.1, 0.2, 0.3, 0.4], [0.0] * 4, 1
        if name == "screws":
            arm = arms.serial("SRS", seed=6, motors=True)
            return Plant(arm, signals("voltage", 3), method="rk4"), [0.1, 0.2, 0.3], [0.5, 0.0, -0.5], 1
        if name == "rk4":
            return Plant(arm5, pid, method="rk4"), q, qd, 1
        if name == "nine_joints":
            arm = arms.serial("RRPRRRRPR", seed=3)
            return Plant(arm, None, method="semi_implicit_euler", algorithm="aba"), list(arm.initial), [0.1] * 9, 1
        assert name == "rotors"
        arm = arms.serial("RRR", seed=4, motors=True)
        return (
            Plant(arm, signals("voltage", 3, period=0.005), method="rk4", algorithm="aba"),
            [0.1, 0.2, 0.3],
            [0.0] * 3,
            10,
        )

    return make


@pytest.fixture(params=PLANTS)
def plant(request, plants):
    """Each of `plants` in turn."""
    return plants(request.param)
