"""Every number of the shipped files, left open, gives the bits of the number written in, or is structure, as docs say."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

import armsim
from armsim import FileFaults, UsageError

from .shipped import CONFIGS, TABLE, File, key, unadvised

SMALLEST = "two_link_swing"  # the case that is not slow, where there is one
# whether each number of a file is opened alone, too, and not just one; and each is written in alone, not a dozen a file
EVERY = bool(os.environ.get("ARMSIM_EVERY_LEAF"))
LATER = re.compile(r"payload\[|control\.reference\.(via\[[1-9]|times\[[1-9])")  # what does not act in the first steps


def same_robot(config: str) -> list[str]:
    """The scenarios of its robot."""
    name = config.split("_")[0]
    return [other for other in CONFIGS if other.split("_")[0] == name]


@pytest.fixture(params=sorted(CONFIGS, key=lambda name: (name != SMALLEST, name)))
def file(request):
    return File(request.param)


@pytest.mark.handful(1)
def test_the_page_has_every_number_of_every_shipped_file(file):
    assert {key(path) for path in file.numbers} <= set(TABLE)


@pytest.mark.handful(1)
def test_what_the_page_calls_structure_is_refused(file):
    structure = [path for path in file.numbers if TABLE[key(path)] == "structure"]
    assert len(structure) >= 2  # duration, log.every, mostly dt
    for path in structure:
        with pytest.raises(UsageError) as refused:
            armsim.prepare(file.name, [path], file.short)
        assert str(refused.value).endswith("part of the structure\n  mend:     set it instead"), path


@pytest.mark.handful(1)
def test_a_number_of_which_the_file_takes_no_other_value_cannot_be_open(file):
    for path in file.fixed:
        with pytest.raises(FileFaults, match="missing, and `inductance` needs it"):
            armsim.prepare(file.name, [path], file.short)


@pytest.mark.handful(1)
def test_one_kernel_with_all_numbers_open_has_the_bits_of_each_number_written_in(file):
    base = file.others()
    others = same_robot(file.name)
    turn = others.index(file.name)
    own = [path for path in base if path not in file.absent and not LATER.match(path)]
    mine = [p for i, p in enumerate(own) if not p.startswith("robot.") or i % len(others) == turn]
    if not EVERY:  # steps with derivatives take a second each on floats
        mine = mine[:: max(1, len(mine) // (4 if "integrator" in file.short else 8))]
    mine = [path for path in mine if file.takes({**base, path: file.value(path)})]
    values = {path: np.full(len(mine) + 2, value) for path, value in base.items()}
    for run, path in enumerate(mine):
        values[path][run] = file.value(path)
    for path in file.open:
        values[path][-1] = file.value(path)
    with unadvised():
        many = armsim.simulate_many(file.name, values, file.short, rows=True)
    assert (many.status == "complete").all(), set(many.reason)
    assert len(many.families) == 1
    assert np.array_equal(many.rows[-2], file.course(base))
    assert np.array_equal(many.rows[-1], file.course({path: file.value(path) for path in file.open}))
    felt = 0
    for run, path in enumerate(mine):
        expected = file.course({**base, path: file.value(path)})
        assert np.array_equal(many.rows[run], expected), path
        felt += not np.array_equal(many.rows[run], many.rows[-2]) and ".limits." not in path
    free = [path for path in mine if ".limits." not in path]  # of limits, which the first steps need not meet
    assert felt > 0.6 * len(free)  # a test of bits is worth what they depend on


@pytest.mark.slow
def test_a_prepared_run_with_all_numbers_open_has_the_bits_of_the_numbers_written_in(file):
    with unadvised():
        sim = armsim.prepare(file.name, list(file.open), file.short)
    for values in ({path: file.value(path) for path in file.open}, file.others()):
        run = sim(values)
        assert np.array_equal(run.table, file.course(values))


@pytest.mark.handful(1)
def test_single_numbers_left_open_have_the_bits_of_the_number_written_in(file):
    present = [path for path in file.open if path not in file.absent]
    own = CONFIGS.index(file.name) % 2  # in turn one that the file has, and one that it has not
    some = [*file.open] if EVERY else [file.random.choice(file.absent if own else present)]
    for path in some:
        with unadvised():
            sim = armsim.prepare(file.name, [path], file.short, force_step=True)
            for value in (file.value(path), file.moved(path)):
                run, one = sim({path: value}), file.simulated({path: value})
                assert np.array_equal(run.table, one.table), path
                assert list(run.state) == list(one.state), path
