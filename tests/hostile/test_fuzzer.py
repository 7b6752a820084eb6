"""Eight thousand fragments and a thousand whole files that no one would write; see fuzzer.py for millions of them by hand."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

SEED = 20
PART = 500  # cases of a test


@pytest.fixture(scope="module")
def fuzzer():
    return runpy.run_path(str(Path(__file__).with_name("fuzzer.py")))


def problems(fuzzer, cases) -> list[tuple[str, object, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy's, of numbers out of all proportion
        return [(case.kind, case.content, wrong) for case in cases if (wrong := fuzzer["problem"](case)) is not None]


@pytest.mark.parametrize("part", range(16))
@pytest.mark.handful(1)
def test_a_fragment_that_no_one_would_write_ends_in_a_result_or_in_words(part, fuzzer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert problems(fuzzer, fuzzer["cases"](SEED + part, PART, 0, tmp_path)) == []


@pytest.mark.parametrize("part", range(8))
@pytest.mark.handful(1)
def test_a_damaged_file_ends_in_a_result_or_in_words(part, fuzzer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert problems(fuzzer, fuzzer["cases"](SEED + part, 0, PART // 4, tmp_path)) == []


@pytest.mark.slow
def test_the_fuzzer_gets_past_the_first_check_and_meets_most_refusals(fuzzer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sound, refused = set(), set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for case in fuzzer["cases"](SEED, 2000, 200, tmp_path):
            try:
                case.run()
                sound.add(case.kind)
            except fuzzer["ArmsimError"] as error:
                refused |= {line for line in str(error).splitlines() if line.startswith("  expected:")}
    assert sound >= {*fuzzer["FRAGMENTS"], "robot", "scenario", "run", "recording", "log"} - {"plain"}
    assert len(refused) > 100


@pytest.mark.parametrize("wrong", [KeyError("x"), ValueError("x"), RecursionError(), AssertionError()])
def test_the_fuzzer_tells_what_is_no_refusal(wrong, fuzzer):
    def run():
        raise wrong

    told = fuzzer["problem"](fuzzer["Case"]("none", None, run))
    assert type(wrong).__name__ in told


def test_the_fuzzer_tells_control_characters_and_floods(fuzzer):
    for text in ("a\x1b[2J", "x" * 30_000):

        def run(text=text):
            raise fuzzer["ArmsimError"](text)

        assert fuzzer["problem"](fuzzer["Case"]("none", None, run)) is not None
