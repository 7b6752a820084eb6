"""Values and designs, held against numpy, scipy and what distributions are."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

import armsim
import armsim.loading.open_numbers as open_numbers_module
from armsim.errors import ArmsimError, FileFaults, UsageError
from armsim.formulas.values import Drawn, Listed, parse_values
from armsim.studies import study_file
from armsim.studies.design import Design
from armsim.studies.runs import StudyRuns
from armsim.studies.study import Study
from armsim.studies.study_file import load_study_file

BOX = {"a": parse_values("uniform:1:3"), "b": parse_values("normal:5:0.1"), "c": parse_values("10,20,40")}


@pytest.mark.parametrize("text", ["20:400:20", "-1:1:7", "0:pi/2:2", "5:1:9"])
def test_points_are_at_equal_distances_ends_included(text):
    first, last, count = text.replace("pi", str(np.pi)).split(":")
    last = eval(last)
    values = parse_values(text).values
    np.testing.assert_allclose(values, np.linspace(float(first), last, int(count)), rtol=1e-15, atol=1e-15)
    assert (values[0], values[-1]) == (float(first), last)


def test_logarithmic_points_are_at_equal_ratios_ends_included():
    values = parse_values("log:1:100:9").values
    np.testing.assert_allclose(values, np.geomspace(1, 100, 9), rtol=1e-14)
    assert (values[0], values[-1]) == (1.0, 100.0)


def test_a_study_file_loads_its_scenario_as_often_for_many_paths_as_for_one(monkeypatch):
    load, loaded = study_file.load_scenario_file, []
    for module in (study_file, open_numbers_module):
        monkeypatch.setattr(module, "load_scenario_file", lambda *given: loaded.append(given) or load(*given))

    def loads(vary):
        loaded.clear()
        load_study_file({"format": "armsim/study/1", "scenario": "arm5_hold", "vary": vary, "measure": ["iae"]})
        return len(loaded)

    paths = [f"control.kp[{i}]" for i in range(5)]
    assert loads({paths[0]: "10:20:2"}) == loads(dict.fromkeys(paths, "10:20:2")) == 2
    with pytest.raises(FileFaults, match=r"vary\.control\.kp\[9\]") as refused:
        loads({**dict.fromkeys(paths, "10:20:2"), "control.kp[9]": "1:2:2"})
    assert len(refused.value.faults) == 1  # of paths that cannot be open together each is looked at alone


def test_lists_have_numbers_formulas_and_words():
    assert parse_values("1, 2,5") == Listed((1.0, 2.0, 5.0))
    assert parse_values("-pi/2,0").values == (-np.pi / 2, 0.0)
    assert parse_values("rk4,rodas") == Listed(("rk4", "rodas"))
    assert parse_values("normal:1:0.1") == Drawn("normal", 1.0, 0.1)


def test_lists_of_numbers_are_values_of_paths_that_stand_for_several():
    values = parse_values("[60, pi/2], [80,40]")
    assert values == Listed(((60.0, np.pi / 2), (80.0, 40.0)))
    assert parse_values(str(values)) == values
    assert Design({"a": values, "b": parse_values("1,2")}).rows(0, 4).tolist() == [
        [values.values[0], 1.0],
        [values.values[0], 2.0],
        [values.values[1], 1.0],
        [values.values[1], 2.0],
    ]


BAD = [
    "[60,40],[80]",
    "[60,x]",
    "[60,40]:3",
    "1:2",
    "log:0:1:3",
    "1:5:2.5",
    "normal:1:0",
    "uniform:2:1",
    "1,2,1",
    "1,2x",
]


@pytest.mark.parametrize("text", BAD)
def test_values_that_are_none_are_refused_with_a_mend(text, told):
    with pytest.raises(UsageError) as refused:
        parse_values(text)
    told(refused.value)


@pytest.mark.parametrize("method", ["random", "latin", "sobol"])
def test_a_run_has_the_same_values_whichever_block_it_is_in(method):
    whole = Design(BOX, method, 100, 7).rows(0, 100)
    design = Design(BOX, method, 100, 7)
    parts = [design.rows(first, first + 10) for first in (0, 10, 50, 20, 30, 40, 60, 70, 80, 90)]
    order = [0, 10, 50, 20, 30, 40, 60, 70, 80, 90]
    np.testing.assert_array_equal(np.concatenate([parts[order.index(k)] for k in sorted(order)]), whole)
    assert (Design(BOX, method, 100, 8).rows(0, 100) != whole).any()


@pytest.mark.parametrize("method", ["random", "latin", "sobol"])
def test_draws_have_their_distributions(method):
    rows = Design(BOX, method, 4096, 1).rows(0, 4096)
    # Kolmogorov and Smirnov's test refuses one sound sample in a thousand at p = 1e-3
    assert stats.kstest(rows[:, 0], stats.uniform(1, 2).cdf).pvalue > 1e-3
    assert stats.kstest(rows[:, 1], stats.norm(5, 0.1).cdf).pvalue > 1e-3
    counts = np.unique(rows[:, 2], return_counts=True)
    assert counts[0].tolist() == [10, 20, 40]
    assert np.abs(counts[1] - 4096 / 3).max() < 4 * np.sqrt(
        4096 * 2 / 9
    )  # four standard deviations of independent draws


def test_a_latin_hypercube_has_one_run_in_every_stratum():
    rows = Design(BOX, "latin", 50, 3).rows(0, 50)
    assert sorted(np.floor((rows[:, 0] - 1) / 2 * 50).astype(int)) == list(range(50))


def test_the_sobol_sequence_is_scipys():
    rows = Design({"a": BOX["a"], "d": parse_values("uniform:0:1")}, "sobol", 64, 5)
    points = qmc.Sobol(2, seed=5).random(64)
    np.testing.assert_array_equal(rows.rows(16, 64), (points * [2, 1] + [1, 0])[16:])


def test_too_many_runs_and_too_large_a_hypercube_are_refused():
    lots = {name: parse_values("0:1:10000") for name in "abc"}
    with pytest.raises(UsageError, match="10000 x 10000 x 10000 of them"):
        Design(lots).rows()
    with pytest.raises(UsageError, match="take --sobol"):
        Design(lots, "latin", 10**7).rows()


def peak_of(call: Callable[[], object]) -> int:
    """Bytes that a call has allocated at once, at most; it may refuse."""
    tracemalloc.start()
    try:
        with contextlib.suppress(ArmsimError):
            call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


MANY = [f"parameters.p{i}" for i in range(80)]
POINTS = "1:2:1000000"
LONG = f"""format: armsim/study/1
scenario:
  format: armsim/scenario/1
  robot: two_link
  duration: 0.02
  integrator: {{method: rk4, dt: 1e-3}}
  parameters: {{{", ".join(f"p{i}: 1" for i in range(80))}}}
  control: {{law: pd, output: torque, kp: [100, 100], kd: [10, 10], target: [0, 0]}}
"""
WIDE = {  # a study file's end: where it is refused, and what is expected there
    "grid": (f"vary: {{{', '.join(f'{p}: {POINTS}' for p in MANY)}}}\n", "vary", "at most 1000000000 runs"),
    "cases": (
        "tune: {open: {control.kp: 0:200}, minimise: iae}\n"
        f"cases: {{vary: {{parameters.p1: {POINTS}, parameters.p2: 1:2:2}}}}\n",
        "cases.vary",
        "at most 10000 cases",
    ),
    "test": (
        f"tune: {{open: {{control.kp: 0:200}}, minimise: iae, test: {{vary: {{parameters.p1: {POINTS}}}}}}}\n",
        "tune.test.vary",
        "at most 10000 cases",
    ),
    "points": (
        "vary: {parameters.p1: 1:2:1000000000}\n",
        "vary.parameters.p1",
        "how many points, a whole number from 2 to",
    ),
}


@pytest.mark.parametrize("what", WIDE)
def test_a_study_file_of_too_many_runs_is_refused_at_its_key_before_any_point_is_made(what, tmp_path):
    end, key, expected = WIDE[what]
    path = tmp_path / "study.yaml"
    path.write_text(LONG + end, encoding="utf-8")
    with pytest.raises(FileFaults) as refused:
        load_study_file(path)
    fault = refused.value.faults[0]
    assert (fault.path, fault.expected[: len(expected)], fault.where.line > 1) == (key, expected, True)
    assert peak_of(lambda: load_study_file(path)) < 4e6  # of 8e6 bytes that a million doubles are


def test_refused_counts_and_points_that_are_not_asked_for_take_no_memory():
    axes = dict.fromkeys(MANY, POINTS)
    tried = {
        "grid": lambda: armsim.sweep("two_link_hold", axes),
        "latin": lambda: armsim.sweep("two_link_hold", axes, latin=10**9),
        "random": lambda: armsim.sweep("two_link_hold", axes, random=10**10),
        "sobol": lambda: armsim.sweep("two_link_hold", axes, sobol=10**10),
        "words": lambda: armsim.sweep("two_link_hold", {"control.kp[0]": range(10**9)}),
        "cases": lambda: armsim.tune("two_link_hold", {"control.kp": "0:200"}, cases={"payload.mass": POINTS}),
        "drawn cases": lambda: armsim.tune("two_link_hold", {"control.kp": "0:200"}, cases=axes, draw_cases=10**9),
        "few of many": lambda: Design({path: parse_values(POINTS) for path in MANY}, "sobol", 10**9).rows(64, 128),
        "a grid's count": lambda: Design({"a": parse_values(POINTS), "b": parse_values("0:1:1000")}).count,
    }
    for call in tried.values():
        with contextlib.suppress(ArmsimError):
            call()  # once, for what stays in memory: modules and kernels
    assert {name: peak for name, call in tried.items() if (peak := peak_of(call)) > 4e6} == {}


@pytest.mark.parametrize("text", ["20:400:20", "log:1e-3:7:9", "-1:1:7", "5:1:9"])
def test_a_point_that_is_asked_for_alone_is_the_one_of_the_whole_grid(text):
    values = parse_values(text).values
    whole = Design({"a": parse_values(text)}).rows(0, len(values))[:, 0].tolist()
    assert [values[i] for i in range(len(values))] == whole == list(values) == list(values[:])
    assert (values[-1], values[1:3]) == (whole[-1], tuple(whole[1:3]))
    drawn = Design({"a": parse_values(text)}, "random", 1000)
    assert [drawn.rows(i, i + 1)[0, 0] for i in range(40)] == drawn.rows(0, 1000)[:40, 0].tolist()


def test_too_many_combinations_of_structure_are_refused_in_words_that_stay_short():
    words = {f"control.feedforward{i}": ["none", "gravity"] for i in range(11)}
    with pytest.raises(UsageError, match=r"at most 1000 combinations of .*\n  found:    2 x 2 x 2"):
        StudyRuns(Study("two_link_hold", Design({path: parse_values(",".join(of)) for path, of in words.items()})))
