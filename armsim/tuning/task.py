"""A tuning made ready: its numbers, its runs, its cases."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

from armsim.arrays import Array
from armsim.batches.runs import Runs
from armsim.document.study import MOST_CASES
from armsim.errors import UsageError, spelled
from armsim.formulas.values import combinations
from armsim.loading.open_numbers import open_numbers
from armsim.loading.open_paths import places_at
from armsim.loading.scenario import Scenario
from armsim.studies.design import Design, Rows
from armsim.studies.runs import StudyRuns
from armsim.studies.study import Study
from armsim.tuning.objective import Objective, condition_of, measures_of
from armsim.tuning.search import most_trials
from armsim.tuning.tuning import Tuning
from armsim.tuning.validation import asked_conditions, conditions_of, test_of, uniform


class Task:
    """A tuning made ready.

    Attributes:
        sought: The numbers, each with its bounds.
        start: Their values at first.
        stages: Those that are sought in each stage.
        runs: Runs by the numbers, then by what the cases vary.
        cases: The cases, shape (cases, paths).
        objective: What is minimised.
        conditions: When a case holds, as far as it is asked; once numbers are found, see `judged`, in full.
        why: How those that are not asked follow, in words.
        test: Cases on which the result is tested; None if there are none.
        most: How many trials there may be.

    Raises:
        FileFaults: The scenario cannot be run.
        UsageError: There is no number at a path, or a measure is unknown.
    """

    def __init__(self, tuning: Tuning, threads: int | None = None) -> None:
        self.tuning, self.threads = tuning, threads
        study = tuning.study
        self._opened = opened = open_numbers(study.scenario, list(tuning.sought), study.overrides)
        parts = {path: [opened.places[i] for i in indices] for path, indices in opened.asked.items()}
        self.sought = {place: tuning.sought[path] for path, places in parts.items() for place in places}
        self.start = {place: opened.number(place) for place in self.sought}
        self.stages = [tuple(place for path in stage for place in parts[path]) for stage in tuning.stages]
        self.objective = Objective(tuning.minimise, tuple(map(condition_of, tuning.subject_to)), tuning.over)
        self._refuse_shared("--case", study.design)
        axes = {place: uniform(of.low, of.high) for place, of in self.sought.items()}
        design = Design({**axes, **study.design.axes})
        self.runs = StudyRuns(study.over(design, measure=self.objective.measures), threads)
        self.objective.check(self.runs)
        self.cases = rows_of(study.design)
        scenario = self.uncased(self.start)
        self.conditions, self.why = asked_conditions(tuning), ""
        self.test = test_of(tuning, scenario, self.runs.structural)
        StudyRuns(self.study(self.test or Design(), {}), 1)  # what could not be made is refused before the search
        if self.test is not None:
            self._refuse_shared("--test", self.test)
            rows_of(self.test)
        if tuning.method == "gradient":
            for case in self.cases:
                self.runs.gradients([*self.start.values(), *case])
        self.most = sum(most_trials(tuning.method, len(places), tuning.trials) for places in self.stages)

    @property
    def name(self) -> str:
        """Of the folder."""
        return self.tuning.study.name or self.runs.files[0].name

    def study(self, design: Design, values: Mapping[str, float]) -> Study:
        """The study of whether other cases hold, with numbers."""
        return self.tuning.study.over(design, values, measure=measures_of(self.conditions))

    def judged(self, values: Mapping[str, float]) -> Task:
        """The task with all conditions, some of which may follow from the runs of its cases with numbers that were found."""

        def run(measure: tuple[str, ...]) -> Runs:
            study = self.tuning.study
            return StudyRuns(study.over(study.design, values, measure=measure), self.threads)(self.cases)

        found = copy(self)
        found.conditions, found.why = conditions_of(self.tuning, self.uncased(values), run)
        return found

    def uncased(self, values: Mapping[str, float]) -> Scenario:
        """The scenario with numbers, in no case.

        Raises:
            UsageError: The files would not take them.
        """
        return self._opened.scenario_with([*values.values()])

    def slopes(self, row: Array) -> tuple[Array, Array]:
        """The objective and the conditions at values of the numbers sought, with derivatives by them; see `Objective`."""
        cases = []
        for case in self.cases:
            gradients, numbers = self.runs.gradients([*row, *case])
            cases.append({name: x[: 1 + len(row)] for name, x in gradients.slopes(numbers).items()})
        return self.objective.slopes(cases, self.runs.results)

    def _refuse_shared(self, option: str, cases: Design) -> None:
        """Refuse cases of numbers that are sought."""
        for path in cases.axes:
            shared = next((place for place in places_at(self._opened.file, path) if place in self.sought), None)
            if shared is not None:
                where, mend = spelled(f"{option} {path}", option.removeprefix("--")), "leave one of them out"
                raise UsageError.of(where, "a number that is not sought", f"{shared}, which is", mend)


def rows_of(cases: Design) -> Rows:
    """The values of cases, shape (cases, paths); a single case if nothing is varied.

    Raises:
        UsageError: There are too many.
    """
    many, told = (cases.asked, str(cases.asked)) if cases.asked is not None else combinations(cases.axes.values())
    if many > MOST_CASES:
        mend = spelled("draw some: --draw-cases 100", "draw some: draw_cases=100")
        raise UsageError.of("cases", f"at most {MOST_CASES}", f"{told} of them", mend)
    return cases.rows()
