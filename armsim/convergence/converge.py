"""The convergence study of a scenario by one or several methods."""

from __future__ import annotations

import math
from collections.abc import Sequence

from armsim.arm.integration import real_number
from armsim.convergence.adaptive_reference import adaptive_reference
from armsim.convergence.errors import BUDGET, Convergence
from armsim.convergence.reference import ReferenceSolution, agreed
from armsim.convergence.refinement import Refinement
from armsim.convergence.runs import Look, SettingRuns, now
from armsim.errors import UsageError
from armsim.files.faults import suggestion
from armsim.integrate import METHODS
from armsim.loading import Given, Overrides, Scenario, read_scenario
from armsim.model.angles import in_unit
from armsim.stability.method_choice import with_method

ACCURACY = 1e-6  # rad or m, unless given


def converge(
    scenario: Given | Scenario,
    methods: Sequence[str] | str | None = None,
    overrides: Overrides | None = None,
    accuracy: float = ACCURACY,
    budget: float = BUDGET,
    look: Look | None = None,
    degrees: bool = False,
) -> Convergence:
    """Refine the step, or the tolerance, until the answer has converged; the error and cost of every setting.

    The error of a setting is the largest of any joint position at any row of the log and at the end: of a smooth scenario
    against the best reference of all methods, of others against adaptive runs that locate events; see docs/accuracy.md.
    Where the scenario's own step is accurate enough, larger ones are tried too: those of which `log.every`, periods, duration
    and times of external forces are whole multiples.

    Args:
        scenario: A scenario file, the name of a shipped one, its content, or what `armsim.loading.read_scenario` returned.
        methods: Names of integrators to compare, or "all"; the scenario's own if none is given.
        overrides: Values in place of the file's, by path.
        accuracy: Wanted [rad or m, with degrees deg].
        budget: Wall time for each method, and for the reference [s], about.
        look: Called before every run with method, refined parameter and its value.
        degrees: Give accuracy and errors of joints that turn in degrees.

    Returns:
        Errors and costs of the runs, by method. Ctrl-C ends the study with those it has.

    Raises:
        FileFaults: The scenario or its robot cannot be run; says where and why.
        UsageError: There is no such method, or accuracy and budget are not positive; degrees are asked for of joints of both
            kinds, which have one error.
    """
    for name, value, unit in (("accuracy", accuracy, "rad or m"), ("budget", budget, "s")):
        if not 0.0 < real_number(name, value) < math.inf:
            raise UsageError.of(
                name,
                f"a positive number of {unit}",
                f"{value:g}",
                f"give for example {ACCURACY if name == 'accuracy' else BUDGET:g}",
            )
    if isinstance(scenario, Scenario):
        scenario = scenario.scenario_data
    base = with_method(read_scenario(scenario, overrides))
    units = {joint.kind.length for joint in base.arm.joints}
    if degrees and len(units) > 1:
        raise UsageError.of(
            "degrees",
            "an arm whose joints all turn",
            "prismatic joints too, and one error for all joints",
            "leave degrees out: the error is in rad or m",
        )
    turned = degrees and units == {"rad"}
    wanted = math.radians(accuracy) if turned else accuracy
    chosen = _methods(methods, base.method)
    runs = SettingRuns(scenario, overrides or {}, base, look)
    made: list[Refinement] = []
    known: ReferenceSolution | None = None
    interrupted = False
    try:
        if not runs.smooth:
            known = adaptive_reference(runs, wanted, now() + budget)
    except KeyboardInterrupt:
        interrupted = True
    for method in chosen:
        made.append(Refinement(runs, method, wanted, budget, known))
        if interrupted:
            made[-1].verdict = "interrupted"
        else:
            made[-1].run()
        if made[-1].verdict == "interrupted":
            break
    if runs.smooth:
        done = [refined for refined in made if refined.verdict in ("settled", "rounding")] or made
        known = agreed([refined.reference for refined in done if refined.reference is not None])
    found = Convergence(
        scenario=base.name,
        robot=base.arm.name,
        duration=base.clock.end,
        instants=base.clock.rows + bool(base.clock.steps % base.clock.log_every),
        accuracy=wanted,
        unit="deg" if turned else " or ".join(sorted(units, reverse=True)),
        methods=tuple(refined.found(known) for refined in made),
        source="" if known is None else known.source,
        budget=budget,
    )
    return in_unit(found, base.arm.joints, turned)


def _methods(asked: Sequence[str] | str | None, own: str) -> list[str]:
    """The methods that are asked for, each once; the scenario's own if there are none."""
    names = [asked] if isinstance(asked, str) else list(asked or [])
    if "all" in names:
        return list(METHODS)
    for name in names:
        if name not in METHODS:
            mend = suggestion(name, METHODS, "methods are")
            raise UsageError.of(f"method {name}", f"all, or one of {', '.join(METHODS)}", name, mend)
    return list(dict.fromkeys(names)) or [own]
