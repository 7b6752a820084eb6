"""Shipped scenarios, cut to a few steps, and their numbers."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import numpy as np
import pytest

import armsim
from armsim import FileFaults
from armsim.loading import load_scenario_file, scenario_of
from armsim.plant import make_plant
from armsim.stability.advice import Advice
from armsim.stability.method_choice import with_method

ROOT = Path(__file__).parent.parent.parent
SHIPPED = sorted(path.stem for path in (ROOT / "configs").glob("*.yaml") if not path.name.endswith(".study.yaml"))
PAGE = (ROOT / "docs" / "batches.md").read_text(encoding="utf-8")
WRITER = runpy.run_path(str(ROOT / "docs" / "write_batches_md.py"))
CONFIGS = [name for name in SHIPPED if not WRITER["follows_a_path"](load_scenario_file(name))]
TABLE = dict(re.findall(r"^\| `([^`]+)` \| (open|structure) \|", PAGE, re.MULTILINE))
BRIEF = 5e-4  # s between landings of an adaptive method, whose steps take half a second on floats
key = WRITER["key"]  # of a path: with `[*]` for indices


class File:
    """A shipped scenario, cut to a few steps, and its numbers by path."""

    def __init__(self, config: str) -> None:
        self.name = config
        file = load_scenario_file(config)
        self.numbers = WRITER["numbers"](file)
        adaptive = file.document.integrator.dt is None
        dt = BRIEF if adaptive else file.steps.dt
        self.steps = 5 if file.steps.period is None else file.steps.period + 2
        self.short = {"duration": self.steps * dt, "log.every": dt}
        if file.document.control is not None and file.document.control.stages is not None:
            self.short["control.stages"] = 3
        if adaptive:
            # the method that armsim picks; on every dt it lands where `course` does
            self.short["integrator"] = {"method": with_method(scenario_of(config)).method, "dt": dt}
        if file.document.external:
            self.short |= {"external[0].from": dt, "external[0].to": 3 * dt}
        self.open = {path: x for path, x in self.numbers.items() if TABLE.get(key(path)) == "open"}
        self.random = Random(config)
        absent = [path for path in self.open if self.value(path) == self.numbers[path].kind.absent]
        self.absent = [path for path in absent if self.takes({path: self.moved(path)})]
        self.fixed = [path for path in absent if path not in self.absent]  # an inductance without a resistance, say
        self.open = {path: x for path, x in self.open.items() if path not in self.fixed}

    def value(self, path: str) -> float:
        return float(self.numbers[path].value)

    def moved(self, path: str) -> float:
        """Another value that the file takes: near its own; below the largest where it is the largest."""
        number = self.numbers[path]
        if last(path) == "efficiency":
            return self.random.uniform(0.8, 0.9)
        if last(path) == "seed":
            return float(self.random.randint(1, 1000))
        if number.value == 0.0:
            return self.random.uniform(0.02, 0.05)
        return number.value * (1 + self.random.uniform(2e-3, 1e-2))

    def others(self) -> dict[str, float]:
        """Other values of all open numbers that are not absent, which the file takes together."""
        for _ in range(50):
            values = {path: self.value(path) if path in self.absent else self.moved(path) for path in self.open}
            if self.takes(values):
                return values
        raise AssertionError(f"{self.name} takes no other values")

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
                made[whole] = [values.get(place, self.written(place)) for place in places]
        return made

    def written(self, path: str) -> float | str:
        """A number as the file has it: the formula of one that depends on parameters."""
        number = self.numbers[path]
        return number.text if number.formula is not None and number.formula.names - {"pi"} else self.value(path)

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
        for k in range(self.steps + 1):
            t = scenario.clock.at(k)
            if plant.sampled and k % scenario.clock.sample_every == 0:
                state = plant.sample(t, state)
            rows.append(plant.observe(t, state))
            state = plant.step(t, state, scenario.dt)
        return np.array(rows)


def last(path: str) -> str:
    """The last key of a path."""
    return re.sub(r"\[\d+\]", "", path).rsplit(".", 1)[-1]


@contextmanager
def unadvised() -> Iterator[None]:
    """Without advice on the step, which takes longer than a few steps."""

    class Silent:
        def __init__(self, *given):
            pass

        def refuses(self, values, threads=1):
            return np.zeros(len(values), dtype=bool)

        def judge(self, values):
            pass

        def verdicts(self, values, threads=1):
            return None, np.zeros(len(values), dtype=bool)

        def one(self, values):
            return Advice()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("armsim.batches.variants.StepAdviser", Silent)
        patch.setattr("armsim.simulation.simulate.advice_on", lambda *given, **how: Advice())
        yield
