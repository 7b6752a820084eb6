"""Errors, as text and in other processes."""

from __future__ import annotations

import concurrent.futures
import copy
import importlib
import multiprocessing
import pickle
import pkgutil

import pytest

import armsim
from armsim.document.paths import PathError
from armsim.errors import ArmsimError, FileFaults, Refusal, UsageError, visible
from armsim.files.faults import Fault
from armsim.files.nodes import Place
from armsim.formulas.formula import FormulaError

TEXT = "here\n  expected: one\n  found:    another"
FAULTS = [Fault(Place("a.yaml", k, 1), "x", "one", "another", "mend it") for k in (1, 2)]
WAYS = {
    "pickle": lambda error: pickle.loads(pickle.dumps(error)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "arguments": lambda error: type(error)(*error.args),  # as some process pools make errors again
}


def subclasses(kind):
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def example(kind):
    given = {FileFaults: [FAULTS], FormulaError: ["it ends too early", "finish it"]}
    return kind(*given.get(kind, [TEXT]))


def every_error():
    for module in pkgutil.walk_packages(armsim.__path__, "armsim."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return sorted({*subclasses(ArmsimError), PathError}, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", every_error())
def test_a_copied_error_says_what_it_said_and_keeps_what_it_has(kind, way):
    error = example(kind)
    error.add_note("while it was raining")
    copied = WAYS[way](error)
    assert (type(copied), str(copied)) == (kind, str(error))
    for name in ("faults", "problem", "mend"):
        assert getattr(copied, name, None) == getattr(error, name, None)
    if way != "arguments":
        assert copied.__notes__ == error.__notes__


def test_the_faults_of_a_file_come_through_a_process_pool_line_by_line():
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        done = pool.submit(armsim.load_robot, "arm5", {"joints[R2].motor.Kp": -1, "gravity[2]": "x"})
        with pytest.raises(FileFaults) as caught:
            done.result()
    assert sorted(line.split(":")[0].strip() for line in str(caught.value).splitlines()) == sorted(
        [
            *("value of joints[R2].motor.Kp", "expected", "found", "mend"),
            *("value of gravity[2]", "expected", "found", "mend"),
        ]
    )


HOSTILE = "a\x1b[2J\rb\x07\x9b\u202e\u2028\x7f\ud83d\n"
SHOWN = r"a\x1b[2J\x0db\x07\x9b\u202e\u2028\x7f\ud83d\x0a"


def test_control_characters_are_shown_and_letters_of_all_alphabets_stay():
    assert visible(HOSTILE) == SHOWN
    assert visible(HOSTILE, "\n") == SHOWN.removesuffix(r"\x0a") + "\n"
    assert visible("Größe ΩИ関節 🤖 N·m²") == "Größe ΩИ関節 🤖 N·m²"


def test_no_part_of_a_refusal_has_control_characters():
    text = str(Refusal(HOSTILE, HOSTILE, HOSTILE, HOSTILE))
    assert text.splitlines()[0] == SHOWN
    assert "".join(text.splitlines()).isprintable()
    assert str(UsageError.of(HOSTILE)) == SHOWN
    assert str(Fault(Place(HOSTILE, 1, 2), HOSTILE, "", "", "")).startswith(f"{SHOWN}:1:2: {SHOWN}\n")
