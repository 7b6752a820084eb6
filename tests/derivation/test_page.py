"""docs/derive.md: its counts and its program are today's, and its Python runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "derive.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["two_link", "rr", "arm5", "puma560"])
@pytest.mark.handful(1)
def test_the_table_has_the_counts_of_today(derived, name):
    counts = derived(name).operations

    def cell(what: str) -> str:
        found = counts[what]
        return f"{found['multiplications']} mul, {found['additions']} add, {found['trigonometric']} trig"

    assert f"| `{name}` | {cell('inverse_dynamics')} | {cell('forward_dynamics')} |" in PAGE


def test_the_fortran_of_the_page_is_what_is_printed(derived):
    (shown,) = re.findall(r"```fortran\n(.*?)```", PAGE, re.DOTALL)
    assert shown in derived("two_link").to("fortran")


def test_the_python_of_the_page_runs_and_does_what_it_says():
    (text,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict = {}
    exec(compile(text, "derive.md", "exec"), names)
    arm, q, qd, qdd = (names[x] for x in ("arm", "q", "qd", "qdd"))
    np.testing.assert_allclose(names["tau"], arm.mass_matrix(q) @ qdd + arm.bias(q, qd), rtol=1e-13)
