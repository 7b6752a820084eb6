"""`armsim reference --plot`"""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")


def test_a_reference_is_drawn_with_what_it_asks_for(armsim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = armsim("reference", "arm5_move", "--plot", "move.png")
    assert (code, err) == (0, "")
    assert out.rstrip().endswith("drawn    move.png")
    assert (tmp_path / "move.png").stat().st_size > 10_000
    code, _, err = armsim("reference", "arm5_move", "--plot", "move.png")
    assert code != 0
    assert "--force" in err
