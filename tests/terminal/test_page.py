"""Markdown laid out for a terminal."""

from __future__ import annotations

import pytest

from armsim.files.pages import PAGES, page_text
from armsim.terminal.page import page

TEXT = """# A page

Some **bold** words with [a link](files.md#traps) that go on
over two lines, a<sub>i-1</sub>.

<!-- output: armsim list -->
```text
code  stays as it  is,
# even this, and [this](that)
```

- an item that is rather long
  and goes on
- another one

| key | meaning |
| --- | --- |
| `a` | a \\| b and some words more |

    indented *code*
"""


def test_a_page_is_filled_without_its_markup_and_code_stays():
    assert (
        page(TEXT, 24)
        == """A page
======

Some bold words with a
link that go on over two
lines, a_i-1.

    code  stays as it  is,
    # even this, and [this](that)

- an item that is rather
  long and goes on

- another one

key  meaning
---  -------------------
`a`  a | b and some
     words more

    indented *code*
"""
    )


@pytest.mark.parametrize("name", PAGES)
def test_every_page_fits_its_lines_and_has_its_sections_in_their_order(name):
    text = page_text(name)
    shown = page(text, 80)
    prose = [line for line in shown.splitlines() if not line.startswith("    ")]
    assert [line for line in prose if len(line) > 80 and " " in line.strip("- ")] == []  # but a long word
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    places = [shown.find(f"\n{heading}\n---") for heading in headings]
    assert min(places, default=0) >= 0
    assert places == sorted(places)
