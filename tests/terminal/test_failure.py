"""Exit codes of what ends a command."""

from __future__ import annotations

import pytest

from armsim.terminal import failure


@pytest.mark.parametrize(("given", "code"), [(7, 7), (0, 0), (None, 0), ("no luck", 1)])
def test_an_exit_keeps_its_code_and_what_was_printed(given, code, monkeypatch, capsys):
    monkeypatch.setattr(failure, "drop", None)
    assert failure.told(SystemExit(given)) == code
    assert capsys.readouterr() == ("", "no luck\n" if given == "no luck" else "")
