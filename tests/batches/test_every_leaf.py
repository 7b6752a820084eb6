"""Every number of every shipped file: left open it has the bits of the number written in, or it is structure, as the page says."""

from __future__ import annotations

import random
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim import UsageError
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
STEPS = 12  # with a sample at the tenth
SOME = 2  # leaves of a file that are opened alone


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
        self.short = {"duration": STEPS * dt, "log.every": dt}
        if file.data["external"]:
            self.short |= {"external[0].from": 3 * dt, "external[0].to": 8 * dt}
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

    def course(self, values: dict[str, float]) -> np.ndarray:
        """The rows of the run with these numbers written in, on floats."""
        scenario = with_method(scenario_of(self.name, {**self.short, **self.overrides(values)}))
        plant, rows = make_plant(scenario), []
        state = plant.initial_state(scenario.initial_q, scenario.initial_qd)
        num, den = scenario.time_ratio
        for k in range(STEPS + 1):
            t = k * num / den
            if plant.sampled and k % scenario.sample_every == 0:
                state = plant.sample(t, state)
            rows.append(plant.observe(t, state))
            state = plant.step(t, state, scenario.dt)
        return np.array(rows)


def last(path: str) -> str:
    """The last key of a path."""
    return re.sub(r"\[\d+\]", "", path).rsplit(".", 1)[-1]


@pytest.fixture(scope="module", params=CONFIGS)
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
    assert felt > 0.4 * len(mine)
