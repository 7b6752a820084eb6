"""From values of a study to measures: what is open goes into lanes, what is structure into kernels of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.arrays import Array, ArrayLike, Indices
from armsim.batches.gradients import MeasureGradients
from armsim.batches.runs import REFUSED, Runs
from armsim.batches.simulate_many import Batch
from armsim.batches.variants import PREPARING, OpenScenario, Variants
from armsim.compile.threads import check_threads
from armsim.document.paths import PathError, parse_path, source_of
from armsim.errors import ArmsimError, FileFaults, UsageError, spelled
from armsim.files.faults import listed
from armsim.files.nodes import Place, clipped
from armsim.formulas.values import Drawn, Value, Values, first_value, written_value
from armsim.loading import Scenario, build_scenario
from armsim.loading.checked import ScenarioFile
from armsim.loading.open_numbers import OpenNumbers, open_numbers
from armsim.loading.settle import is_structure
from armsim.measures import measures_of
from armsim.notebook import counted
from armsim.plant import Plant
from armsim.progress import Progress
from armsim.simulation.loop_plan import plant_of_run
from armsim.stability.method_choice import with_method
from armsim.studies.design import Design
from armsim.studies.study import Study
from armsim.studies.study_file import can_be_open, open_value

USUAL = ("iae", "settling_time", "overshoot")  # measures where none is asked for, under feedback to a goal
USUAL_OTHERS = ("pose", "energy")
MOST_STRUCTURES = 1000
TOLD = 2  # faults of a structure, in the reason why its runs are refused


class StudyRuns:
    """Runs of a scenario by the values of what is varied; called with rows of values, it gives measures.

        runs = StudyRuns(Study("arm5_hold", Design({"control.kp[0]": parse_values("20:400:20")}), measure=("iae",)))
        runs([[20.0], [40.0]])["iae"]

    Kernels are kept from call to call. What comes of a row depends on the row alone, to the bit.

    Args:
        study: The scenario, what is varied and measured; of its design the axes.
        threads: How many; as many as there are processors unless given.

    Attributes:
        paths: What is varied.
        structural: Those of the paths whose values are written in, as they decide what is computed.
        loop_s: Time that was spent in the loops of runs [s].
        results: The names of each measure's results, by the name it was asked for by.

    Raises:
        FileFaults: The scenario or its robot cannot be run with any of the structures.
        UsageError: There is nothing at a path, or a measure is unknown.
    """

    def __init__(self, study: Study, threads: int | None = None) -> None:
        axes = study.design.axes
        self._study, self.paths = replace(study, design=Design(axes)), tuple(axes)  # without what was drawn
        both = next((path for path in self.paths if path in study.overrides), None)
        if both is not None:
            raise UsageError.of(both, "either one value, or several that are varied", "both", "leave one of them out")
        self.threads = check_threads(threads)
        words = {path: of.values for path, of in axes.items() if not isinstance(of, Drawn) and of.words}
        _refuse_many(words)
        self.loop_s = 0.0
        self._first = {path: first_value(values) for path, values in axes.items()}
        self._structures: dict[tuple[Value, ...], OpenNumbers | str] = {}
        self._kernels: dict[tuple[Value, ...], OpenScenario] = {}
        self._gradients: dict[Variants, MeasureGradients] = {}
        self.structural = tuple(path for path in axes if path in words or _is_structure(path))
        try:  # all others at once, as nearly always they can be
            self._made(tuple(self._first[path] for path in self.structural))
        except ArmsimError:
            written = [dict(zip(words, key, strict=True)) for key in islice(product(*words.values()), MOST_STRUCTURES)]
            closed = {path for path in self._open if not self._can_be_open(path, axes[path], written)}
            self.structural = tuple(path for path in axes if path in closed or path in self.structural)
        self.results = self._find_measures()

    def __getstate__(self) -> object:
        """All but machine code, so that a study goes to other processes."""
        return {**vars(self), "_kernels": {}, "_gradients": {}}

    @property
    def _open(self) -> tuple[str, ...]:
        """Those of the paths whose numbers are left open."""
        return tuple(path for path in self.paths if path not in self.structural)

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(self.results)

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Names of the results."""
        return tuple(dict.fromkeys(name for names in self.results.values() for name in names))

    def notes(self) -> tuple[str, ...]:
        """Whether the controller's model knows what is varied, and what was grouped, in words."""
        told: tuple[str, ...] = ()
        moved = arm_paths(self.paths)
        models = {
            x.model is None for x in self.files if x.document.control is not None and x.document.control.has_model
        }
        if moved and models == {True}:
            robot = self.files[0].document.robot
            mend = f"`control.model: {robot if isinstance(robot, str) else 'arm.yaml'}` gives it one of its own"
            told = (f"the controller's model has {listed(moved)}, too; {mend}",)
        elif moved and models == {False}:
            told = (f"the controller does not know {listed(moved)}: its model is that of `control.model`",)
        if not self.structural:
            return told
        many = len(self._structures)
        refused = sum(isinstance(made, str) for made in self._structures.values())
        groups = f"{many} groups of runs, each with machine code of its own" if many > 1 else "one group of runs"
        without = f"; {refused} of them cannot be run" if refused else ""
        return (
            *told,
            f"grouped by {', '.join(self.structural)}, which decide what is computed: {groups}{without}",
        )

    @property
    def files(self) -> list[ScenarioFile]:
        """The scenario, once for each structure that can be run."""
        return [made.file for made in self._structures.values() if isinstance(made, OpenNumbers)]

    def __call__(self, rows: ArrayLike, progress: Progress | None = None, first: int = 0) -> Runs:
        """Run some values.

        Args:
            rows: For every run the values of `paths`, shape (runs, paths).
            progress: Called with runs done and runs in all.
            first: Index of the first of them.
        """
        lists = any(isinstance(value, tuple) for value in self._first.values())
        values = np.asarray(rows, dtype=object if self.structural or lists else float)
        if values.ndim != 2 or values.shape[1] != len(self.paths):
            expected = f"shape (runs, {len(self.paths)})"
            raise UsageError.of("rows", expected, f"shape {values.shape}", "give a row of values for each run")
        count = len(values)
        varied = dict(zip(self.paths, values.T, strict=True))
        found = Runs.blank(self.files[0].name, count, varied, self.measures, first=first, results=self.results)
        before = 0
        for key, members in self._groups(values):
            try:
                whole = self._run(key, members, found, progress, before)
            except KeyboardInterrupt:
                whole = False
            if not whole:
                return replace(found, whole=False)
            before += len(members)
        return found

    def scenario(self, row: Sequence[Any]) -> Scenario:
        """The scenario of one run, as an ordinary one.

        Raises:
            ArmsimError: It cannot be run; says why.
        """
        _, structure, matrix = self._placed(row)
        return structure.scenario_with(matrix[0].tolist())

    def gradients(self, row: Sequence[Any]) -> tuple[MeasureGradients, Array]:
        """What takes the gradients of one run's measures, compiled when it is first asked; and the run's open numbers.

        Raises:
            ArmsimError: It cannot be run, or has no derivatives; says why.
        """
        key, structure, matrix = self._placed(row)
        variants = self._kernel(key, structure).variants_of(matrix)
        if variants not in self._gradients:
            self._gradients[variants] = MeasureGradients(variants)
        return self._gradients[variants], matrix[0]

    def _placed(self, row: Sequence[Any]) -> tuple[tuple[Value, ...], OpenNumbers, Array]:
        """The structure of one run, and its open numbers, shape (1, places)."""
        values = dict(zip(self.paths, row, strict=True))
        key = tuple(values[path] for path in self.structural)
        structure = self._structure(key)
        if isinstance(structure, str):
            raise UsageError(structure)
        return key, structure, structure.matrix({path: values[path] for path in self._open}, one=True)

    def _kernel(self, key: tuple[Value, ...], structure: OpenNumbers) -> OpenScenario:
        """The runs of a structure."""
        with PREPARING:
            return self._kernels.setdefault(key, OpenScenario(structure, self.asked))

    def _can_be_open(self, path: str, values: Values, written: Sequence[Mapping[str, Value]]) -> bool:
        """Whether a number can be left open where some of the words are written in; if not, it can itself be written in."""
        refused: ArmsimError | None = None
        for words in written:
            before = {**self._study.overrides, **words}
            writable = not isinstance(values, Drawn)
            try:
                return can_be_open(self._study.scenario, {path: self._first[path]}, before, writable)
            except ArmsimError as error:
                refused = refused or error
        assert refused is not None  # there is at least one combination of words, that of none
        raise _as_varied(refused, [path, *(path for words in written for path in words)])

    def _find_measures(self) -> dict[str, tuple[str, ...]]:
        """The results of each measure that is asked for, in all structures together; all of these are tried."""
        lists: dict[str, Sequence[Value]] = {}
        for path in self.structural:
            values = self._study.design.axes[path]
            if isinstance(values, Drawn):
                mend = "give its values one by one"
                raise UsageError.of(path, "a number that can be left open", "a part of the structure", mend)
            lists[path] = values.values
        _refuse_many(lists)
        names: dict[str, tuple[str, ...]] = {}
        asked = self._study.measure
        refused: ArmsimError | None = None
        for key in product(*lists.values()):
            try:
                made = self._structures.get(key) or self._made(key)
                assert isinstance(made, OpenNumbers)  # there is no other one yet
                plant = plant_of_run(with_method(build_scenario(made.file)))
                asked = asked or _usual(plant)
                for name, one in zip(asked, measures_of(asked, plant), strict=True):
                    names[name] = tuple(dict.fromkeys((*names.get(name, ()), *one.names)))
            except ArmsimError as error:
                refused = refused or error
                self._structures[key] = one_line(error)
        if not names and refused is not None:
            raise _as_varied(refused, self.structural)
        return names

    def _made(self, key: tuple[Value, ...]) -> OpenNumbers:
        """The scenario with what is structure written in, and the other numbers open.

        Raises:
            FileFaults: It cannot be run.
            UsageError: There is nothing at a path, or lists have not as many numbers as it stands for.
        """
        written = {path: written_value(value) for path, value in zip(self.structural, key, strict=True)}
        overrides = {**self._study.overrides, **written}
        numbers = {path: open_value(self._first[path]) for path in self._open}
        made = open_numbers(self._study.scenario, numbers, overrides)
        for path, indices in made.asked.items():
            value, many = self._first[path], len(indices)
            if isinstance(value, tuple) and len(value) != many:
                found, mend = f"{len(value)} in each list", f"give {many}, or one number, which all of them get"
                raise UsageError.of(path, f"values for {counted(many, 'number')}", found, mend)
        self._structures[key] = made
        return made

    def _structure(self, key: tuple[Value, ...]) -> OpenNumbers | str:
        """A scenario with its structure, or why there is none."""
        if key not in self._structures:
            try:
                self._made(key)
            except ArmsimError as error:
                self._structures[key] = one_line(error)
        return self._structures[key]

    def _groups(self, values: NDArray[Any]) -> list[tuple[tuple[Value, ...], Indices]]:
        """The runs by their structure."""
        places = [self.paths.index(path) for path in self.structural]
        if not places:
            return [((), np.arange(len(values), dtype=np.int64))]
        groups: dict[tuple[Value, ...], list[int]] = {}
        for i, key in enumerate(map(tuple, values[:, places].tolist())):
            groups.setdefault(key, []).append(i)
        return [(key, np.array(members, dtype=np.int64)) for key, members in groups.items()]

    def _run(
        self,
        key: tuple[Value, ...],
        members: Indices,
        found: Runs,
        progress: Progress | None,
        before: int,
    ) -> bool:
        """Run the members of one structure; False after Ctrl-C."""
        structure = self._structure(key)
        if isinstance(structure, str):
            found.status[members], found.reason[members] = REFUSED, structure
            return True
        given = {path: np.array(found[path][members].tolist(), dtype=float) for path in self._open}
        matrix = structure.matrix(given) if given else np.empty((len(members), 0))
        batch = Batch(self._kernel(key, structure), matrix, self.threads, progress, self._study.force_step, alone=True)
        whole = batch.run(found, members, before)
        self.loop_s += batch.seconds["loop_s"]
        return whole


def arm_paths(paths: Iterable[str]) -> list[str]:
    """Those of some paths that change the arm, and what it carries."""
    return [path for path in paths if path.split(".")[0] in ("robot", "payload")]


def _is_structure(path: str) -> bool:
    """Whether nothing at a path can be left open.

    Raises:
        UsageError: It is none.
    """
    try:
        return is_structure(parse_path(path))
    except PathError as error:
        raise UsageError.of(path, str(error), "another text", "correct the path") from None


def _refuse_many(structures: Mapping[str, Sequence[Value]]) -> None:
    """Refuse too many combinations of what is compiled anew for each."""
    counts = list(map(len, structures.values()))
    if math.prod(counts) > MOST_STRUCTURES:
        expected = f"at most {MOST_STRUCTURES} combinations of {listed(structures)}, each of which is compiled"
        raise UsageError.of("vary", expected, clipped(" x ".join(map(str, counts))), "give fewer values")


def one_line(error: ArmsimError) -> str:
    """A refusal in one line, without the places of files."""
    if isinstance(error, FileFaults):
        told = [f"{fault.path}: expected {fault.expected}, found {fault.found}" for fault in error.faults[:TOLD]]
        return "; ".join([*told, *([f"{len(error.faults) - TOLD} more"] if len(error.faults) > TOLD else [])])
    return " ".join(str(error).split())


def _as_varied(error: ArmsimError, paths: Sequence[str]) -> ArmsimError:
    """A refusal of values that were written in, as one of values that are varied."""
    if not isinstance(error, FileFaults):
        return error
    varied = {source_of(path): Place(spelled(f"--vary {path}", f"vary {path}")) for path in paths}
    return FileFaults(replace(fault, where=varied.get(fault.where.source, fault.where)) for fault in error.faults)


def _usual(plant: Plant) -> tuple[str, ...]:
    """The measures where none is asked for: those of control if it has a goal."""
    try:
        measures_of(USUAL, plant)
    except UsageError:
        return USUAL_OTHERS
    return USUAL
