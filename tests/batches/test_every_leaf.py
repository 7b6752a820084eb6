"""Every number of the shipped files, left open, gives the bits of the number written in, or is structure, as docs say."""

from __future__ import annotations

import os
import random
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim import FileFaults, UsageError
from armsim.loading import load_scenario_file, scenario_of
from armsim.loading.build import ABSENT
from armsim.plant import make_plant
from armsim.stability.advice import Advice
from armsim.stability.method_choice import with_method

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PAGE = (DOCS / "batches.md").read_text(encoding="utf-8")
WRITER = runpy.run_path(str(DOCS / "write_batches_md.py"))
CONFIGS = sorted(path.stem for path in (ROOT / "configs").glob("*.yaml"))
TABLE = dict(re.findall(r"^\| `([^`]+)` \| (open|structure) \|", PAGE, re.MULTILINE))
EVERY = bool(
    os.environ.get("ARMSIM_EVERY_LEAF")
)  # whether every number of a file is opened alone, too, and not just two


def same_robot(config: str) -> list[str]:
    """The scenarios of its robot."""
    name = config.split("_")[0]
    return [other for other in CONFIGS if other.split("_")[0] == name]


class File:
    """A shipped scenario, cut to a few steps, and its numbers by path."""

    def __init__(self, config: str) -> None:
        self.name = config
        file = load_scenario_file(config)
        self.numbers = WRITER["numbers"](file)
        dt = file.steps["dt"]
        self.steps = 5 if file.steps["period"] is None else file.steps["period"] + 2
        self.short = {"duration": self.steps * dt, "log.every": dt}
        if file.data["external"]:
            self.short |= {"external[0].from": dt, "external[0].to": 3 * dt}
        self.open = {path: x for path, x in self.numbers.items() if TABLE.get(WRITER["key"](path)) == "open"}
        self.absent = [path for path in self.open if self.value(path) == ABSENT.get(last(path))]
        self.random = random.Random(config)

    def value(self, path: str) -> float:
        return float(self.numbers[path].value)

    def moved(self, path: str) -> float:
        """Another value that the file takes: near its own; below the largest where it is the largest."""
        number = self.numbers[path]
        if last(path) == "efficiency":
            return self.random.uniform(0.8, 0.9)
        if number.value == 0.0:
            return self.random.uniform(0.02, 0.05)
        return number.value * (1 + self.random.uniform(2e-3, 1e-2))

    def overrides(self, values: dict[str, float]) -> dict[str, object]:
        """The numbers as `--set` takes them: a list that the file has not, or has as one number for all, only as a whole."""
        made: dict[str, object] = {}
        for path, x in values.items():
            whole, index = re.fullmatch(r"(.*?)(?:\[(\d+)\])?", path).groups()
            if index is None or whole.startswith("inputs"):
                made[path] = x
            elif whole not in made:
                length = sum(other.startswith(f"{whole}[") for other in self.numbers)
                places = [f"{whole}[{i}]" for i in range(length)]
                made[whole] = [values.get(place, self.value(place)) for place in places]
        return made

    def takes(self, values: dict[str, float]) -> bool:
        """Whether these numbers may be written in: an inductance needs a motor's resistance, for example."""
        try:
            scenario_of(self.name, {**self.short, **self.overrides(values)})
        except FileFaults:
            return False
        return True

    def simulated(self, values: dict[str, float]) -> armsim.Run:
        """The run with these numbers written in."""
        return armsim.simulate(self.name, {**self.short, **self.overrides(values)}, force_step=True)

    def course(self, values: dict[str, float]) -> np.ndarray:
        """The rows of the run with these numbers written in, on floats."""
        scenario = with_method(scenario_of(self.name, {**self.short, **self.overrides(values)}))
        plant, rows = make_plant(scenario), []
        state = plant.initial_state(scenario.initial_q, scenario.initial_qd)
        num, den = scenario.time_ratio
        for k in range(self.steps + 1):
            t = k * num / den
            if plant.sampled and k % scenario.sample_every == 0:
                state = plant.sample(t, state)
            rows.append(plant.observe(t, state))
            state = plant.step(t, state, scenario.dt)
        return np.array(rows)


def last(path: str) -> str:
    """The last key of a path."""
    return re.sub(r"\[\d+\]", "", path).rsplit(".", 1)[-1]


@pytest.fixture(params=CONFIGS)
def file(request):
    return File(request.param)


@pytest.fixture
def unadvised(monkeypatch):
    """Without advice on the step, which takes much longer than these runs."""

    class Silent:
        def __init__(self, make, count):
            pass

        def advice(self, values):
            return SilentAdvices(len(values))

    class SilentAdvices(list):
        def __init__(self, count):
            super().__init__([Advice()] * count)
            self.refused = self.speaks = np.zeros(count, dtype=bool)

    monkeypatch.setattr("armsim.batches.variants.StepAdviser", Silent)


def test_the_page_has_every_number_of_every_shipped_file(file):
    assert {WRITER["key"](path) for path in file.numbers} <= set(TABLE)


def test_what_the_page_calls_structure_is_refused(file):
    structure = [path for path in file.numbers if path not in file.open]
    assert len(structure) >= 3  # dt, duration, log.every
    for path in structure:
        with pytest.raises(UsageError) as refused:
            armsim.prepare(file.name, [path], file.short)
        assert str(refused.value).endswith("part of the structure, which cannot be left open; set it instead"), path


def test_one_kernel_with_all_numbers_open_has_the_bits_of_each_number_written_in(file, unadvised):
    base = {path: file.value(path) if path in file.absent else file.moved(path) for path in file.open}
    others = same_robot(file.name)
    turn = others.index(file.name)
    own = [path for path in base if path not in file.absent]
    mine = [p for i, p in enumerate(own) if not p.startswith("robot.") or i % len(others) == turn]
    values = {path: np.full(len(mine) + 2, value) for path, value in base.items()}
    for run, path in enumerate(mine):
        values[path][run] = file.value(path)
    for path in file.open:
        values[path][-1] = file.value(path)
    many = armsim.simulate_many(file.name, values, file.short, rows=True)
    assert (many.status == "complete").all(), set(many.reason)
    assert len(many.families) == 1
    assert np.array_equal(many.rows[-2], file.course(base))
    assert np.array_equal(many.rows[-1], file.course({path: file.value(path) for path in file.open}))
    felt = 0
    for run, path in enumerate(mine):
        expected = file.course({**base, path: file.value(path)})
        assert np.array_equal(many.rows[run], expected), path
        felt += not np.array_equal(many.rows[run], many.rows[-2])
    assert felt > 0.6 * len(mine)  # a test of bits is worth what they depend on


def test_a_prepared_run_with_all_numbers_open_has_the_bits_of_the_numbers_written_in(file, unadvised):
    sim = armsim.prepare(file.name, list(file.open), file.short)
    for choose in (file.value, file.moved):
        values = {path: file.value(path) if path in file.absent else choose(path) for path in file.open}
        run = sim(values)
        assert np.array_equal(run.table, file.course(values))


def test_single_numbers_left_open_have_the_bits_of_the_number_written_in(file):
    present = [path for path in file.open if path not in file.absent]
    absent = [path for path in file.absent if file.takes({path: file.moved(path)})]
    some = [*present, *absent] if EVERY else [file.random.choice(present), file.random.choice(absent)]
    for path in some:
        sim = armsim.prepare(file.name, [path], file.short, force_step=True)
        for value in (file.value(path), file.moved(path)):
            run, one = sim({path: value}), file.simulated({path: value})
            assert np.array_equal(run.table, one.table), path
            assert list(run.state) == list(one.state), path
