"""The picture of a convergence."""

from __future__ import annotations

import pytest

from armsim.convergence.errors import Convergence, MethodConvergence, Setting
from armsim.errors import UsageError
from armsim.figures.convergence import convergence_figure
from armsim.figures.picture import check_picture, save

pytest.importorskip("matplotlib")


def method(name: str, order: int, knob: str = "dt", unstable: bool = True) -> MethodConvergence:
    steps = (0.1, 0.05, 0.025)
    made = [Setting(h, round(1 / h), 1e-3 / h, False, h**order, "A", float(order)) for h in steps]
    out = [Setting(0.2, 5, 1e-3, True, None, None, None)] if unstable else []
    return MethodConvergence(name, order, knob, 0.1, (*out, *made), order + 0.01, 1e-6, "settled", None, None, 1.0)


@pytest.fixture
def drawn(tmp_path):
    """Draws, saves, and gives back the figure."""

    def draw(*methods, accuracy=1e-3):
        figure = convergence_figure(Convergence("swing", "arm", 5.0, 11, accuracy, "rad", methods))
        save(figure, tmp_path / "out.png")
        assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
        return figure

    return draw


def lines(axis) -> dict[str, list]:
    return {line.get_label(): [line.get_xdata(), line.get_ydata()] for line in axis.lines}


def test_errors_are_drawn_over_step_and_over_time(drawn):
    left, right = drawn(method("rk4", 4)).axes
    (x, y), (seconds, same) = left.lines[0].get_data(), right.lines[0].get_data()
    assert list(x) == [0.1, 0.05, 0.025]
    assert list(y) == list(same) == [h**4 for h in x]
    assert list(seconds) == [1e-3 / h for h in x]
    assert left.get_xscale() == left.get_yscale() == right.get_xscale() == "log"
    assert left.get_xlabel() == "step dt [s]"
    assert left.get_ylabel() == "largest error of a joint position [rad]"


def test_guides_have_the_slopes_of_whole_orders_each_once(drawn):
    left, _ = drawn(method("a", 1), method("b", 1), method("rk4", 4)).axes
    assert [text.get_text() for text in left.texts if text.get_text().startswith("order")] == ["order 1", "order 4"]


@pytest.mark.slow
def test_unstable_steps_the_wish_and_the_own_step_are_marked(drawn):
    left, right = drawn(method("rk4", 4)).axes
    assert "unstable" in [text.get_text() for text in left.texts]
    assert [line.get_xdata()[0] for line in left.lines if line.get_marker() == "x"] == [0.2]
    assert [line.get_xdata()[0] for line in left.lines if line.get_label() == "the scenario's own dt"] == [0.1]
    assert "wanted" in [text.get_text() for text in right.texts]
    circled = [line for line in right.lines if line.get_fillstyle() == "none"]
    assert [line.get_ydata()[0] for line in circled] == [0.1**4]


@pytest.mark.slow
def test_methods_with_tolerances_are_compared_by_time(drawn):
    left, right = drawn(method("rk4", 4), method("rk54", 1, "rtol")).axes
    assert len([line for line in right.lines if line.get_fillstyle() == "full" and len(line.get_xdata()) == 3]) == 2
    assert left.get_xlabel() == "step dt [s]"
    left, _ = drawn(method("rk54", 1, "rtol")).axes
    assert left.get_xlabel() == "relative tolerance"


@pytest.mark.slow
def test_runs_without_errors_can_be_drawn_too(drawn):
    empty = MethodConvergence("rk4", 4, "dt", 0.1, (), None, None, "budget", None, None, 1.0)
    left, _ = drawn(empty).axes
    assert [text.get_text() for text in left.texts] == ["no errors are known"]


def test_a_picture_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r".*out.png\n  expected: a folder that is there"):
        check_picture(tmp_path / "nowhere" / "out.png")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(UsageError, match=r".*folder.png\n  expected: a file that can be written"):
        check_picture(tmp_path / "folder.png")
