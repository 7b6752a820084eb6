"""armsim where people work with it: in a notebook, and under a type checker."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim.display import Shown
from armsim.errors import UsageError, spelled, spoken_in_shell
from armsim.files.csv_reader import read_csv
from armsim.reports.notebook import REPORTS

ROOT = Path(__file__).parents[1]
SHORT = {"duration": 0.1}
LINE = 200  # characters: a line of a notebook, and the path of a folder of tests
HOSTILE = "<img src=x onerror=alert(1)>&\x1b"


@pytest.fixture(scope="module")
def run():
    return armsim.simulate("arm5_hold", SHORT)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A result of everything in `armsim` that returns one, with the parts that people look at."""
    folder = tmp_path_factory.mktemp("results")
    arm = armsim.load_robot("arm5")
    run = armsim.simulate("arm5_hold", SHORT)
    recording = armsim.record("arm5_hold", {**SHORT, "control.period": 1e-3})
    replayed = armsim.replay(recording)
    recording.save(folder / "log")
    followed = armsim.follow(folder / "log" / "record.csv", "arm5", dt=1e-3)
    compared = armsim.compare(run.save(folder / "a"), run.save(folder / "b"))
    convergence = armsim.converge("two_link_hold", overrides={"duration": 0.1}, accuracy=1e-3)
    model = armsim.linearize("arm5_hold")
    prepared = armsim.prepare("arm5_hold", ["control.kp[0]"], overrides=SHORT)
    return [
        *(arm, arm.arm, arm.forward_kinematics(arm.initial), arm.advance([arm.initial] * 1000, None, None, 0.01)),
        arm.advance(arm.initial, None, None, 0.01),
        *(run, run.scenario, run.plant, run.advice, prepared, prepared({"control.kp[0]": 80})),
        armsim.simulate_many("arm5_hold", {"control.kp[0]": [60, 80]}, SHORT),
        *(recording, replayed, replayed.comparison, *replayed.comparison.differences),
        *(followed, followed.log, compared, compared.comparison),
        *(convergence, *convergence.methods, armsim.ForwardModel("arm5", dt=1e-3)),
        *(
            model,
            model.sampled(1e-3),
            *model.modes(),
            model.about,
            regulator := model.lqr(q=100, r=1),
            regulator.weights,
        ),
    ]


def test_every_result_shows_itself_in_one_line(results):
    for found in results:
        text = repr(found)
        assert len(text) <= LINE, f"{type(found).__name__}: {len(text)} characters"
        assert "\n" not in text
        assert text.startswith(f"{type(found).__name__}(")


def test_a_run_says_what_it_is(run):
    says = "Run(arm5_hold: 0.1 s of arm5 by explicit_euler with dt 0.0001 s, complete, 11 rows of 65 columns)"
    assert repr(run) == says


class Cells(HTMLParser):
    """Reads tags, and the text of cells, as a browser does."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_every_result_shows_itself_as_the_terminal_does(results):
    for found in results:
        if not isinstance(found, Shown):
            continue
        texts = Cells(found._repr_html_()).texts
        module, name = REPORTS[next(of.__name__ for of in type(found).__mro__ if of.__name__ in REPORTS)].split(".")
        printed = "\n".join(map(str, getattr(import_module(f"armsim.reports.{module}"), name)(found)))
        assert {*" ".join(texts).split()} == {*printed.split()}, type(found).__name__


def test_a_robot_and_a_run_show_what_commands_print(run, tmp_path, monkeypatch, capsys):
    from armsim.cli.main import main

    monkeypatch.chdir(tmp_path)
    for shown, args in (
        (armsim.load_robot("arm5"), ["info", "arm5"]),
        (run, ["simulate", "arm5_hold", "--set", "duration=0.1"]),
    ):
        with pytest.raises(SystemExit):
            main(args)
        lines = [
            line
            for line in capsys.readouterr().out.splitlines()
            if not line.startswith(("speed ", "written ", "file "))
        ]
        assert {*" ".join(lines).split()} <= {*" ".join(Cells(shown._repr_html_()).texts).split()}


def test_a_joint_that_mimics_another_has_a_row_with_its_own_range():
    texts = Cells(armsim.load_robot("arm5_gripper")._repr_html_()).texts
    row = next(i for i, text in enumerate(texts) if text.startswith("F2 "))
    assert texts[row].split() == ["F2", "prismatic"]
    assert {"-0.035 m", "0 m"} <= {*texts[row : row + 12]}


def test_a_run_that_diverged_is_shown_too():
    lost = armsim.simulate("arm5_hold", {"integrator.dt": 1e-3}, force_step=True)
    assert any("(diverged)" in text for text in Cells(lost._repr_html_()).texts)


def test_a_robots_names_do_not_inject_html():
    arm = armsim.load_robot("rr").arm
    hostile = replace(
        arm, name=HOSTILE, links=tuple(replace(link, name=f"{HOSTILE}{i}") for i, link in enumerate(arm.links))
    )
    shown = armsim.Robot(hostile)._repr_html_()
    assert "img" not in Cells(shown.replace('<img alt="its picture" src="data:image/png;base64,', "")).tags


def test_a_run_and_a_robot_show_their_pictures(run):
    pytest.importorskip("matplotlib")
    for shown in (run, armsim.load_robot("rr"), armsim.Robot(armsim.load_robot("rr").arm)):
        before, _, image = shown._repr_html_().partition('<img alt="its picture" src="data:image/png;base64,')
        assert base64.b64decode(image.partition('"')[0]).startswith(b"\x89PNG")
        assert "</table>" in before


def test_without_matplotlib_tables_alone_are_shown(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    assert "<img" not in run._repr_html_() + armsim.load_robot("rr")._repr_html_()


def test_a_run_draws_itself(run):
    pytest.importorskip("matplotlib")
    drawn, asked = run.plot(columns="q_*", degrees=True), armsim.plot(run, columns="q_*", degrees=True)
    assert [axes.get_ylabel() for axes in drawn.axes] == [axes.get_ylabel() for axes in asked.axes]


def test_a_table_of_runs_shows_ten_and_its_title_says_how_many_there_are():
    many = armsim.simulate_many(
        "two_link_hold", {"control.kp[0]": np.linspace(50, 60, 12)}, {"duration": 0.01}, measure="iae"
    )
    found = Cells(many._repr_html_())
    assert found.texts[0] == repr(many)
    assert {"run", "control.kp[0]", "iae", "status", "complete"} <= set(found.texts)
    assert "q_shoulder_rad" not in found.texts
    assert found.tags.count("tr") == 11


def test_a_linear_model_shows_its_modes():
    model = armsim.linearize("two_link_hold")
    for system in (model, model.sampled(1e-3)):
        assert {mode.words for mode in system.modes()} <= set(Cells(system._repr_html_()).texts)


def test_equations_are_typeset():
    pytest.importorskip("sympy", reason="sympy is not installed")
    shown = armsim.derive("two_link")._repr_latex_()
    assert shown.startswith("$$\\begin{aligned}")
    assert shown.endswith("\\end{aligned}$$")
    assert all(f"{name} &=" in shown for name in ("r_{1}", "M_{11}", "C_{12}", "g_{2}"))
    assert "p_{1}" not in shown  # the tool is left out


def test_an_error_shows_its_message_without_a_traceback():
    with pytest.raises(armsim.UsageError) as refused:
        armsim.simulate("arm5_hold", {"duration": 0.01}, measure="nothing")
    assert refused.value._render_traceback_() == [f"UsageError: {refused.value}"]


def test_columns_are_those_of_the_table(run):
    assert run.table.shape == (len(run.t), len(run.columns))
    for name, values in zip(run.columns, run.table.T, strict=True):
        assert np.array_equal(run[name], values)


def test_a_run_is_a_mapping_from_the_headings_of_its_files(run, tmp_path):
    folder = run.save(tmp_path / "run")
    files = {**read_csv(str(folder / "trajectory.csv")).columns, **read_csv(str(folder / "torque.csv")).columns}
    assert list(run) == list(files) == list(run.keys())
    assert len(run) == len(files)
    assert all(name in run for name in files)
    for name, values in run.items():
        assert np.array_equal(values, files[name]), name


def test_a_heading_is_in_a_run_as_run_takes_it(run):
    assert "q_R1_rad" in run
    assert "q_R1_deg" in run
    assert "q_R9_rad" not in run
    assert 3 not in run
    with pytest.raises(KeyError, match=r"no column 'q_R1_rd'; did you mean 'q_R1_rad'\? \(list\(run\) names them\)"):
        run["q_R1_rd"]


def test_a_tab_completes_the_columns(run):
    assert run._ipython_key_completions_() == list(run)
    many = armsim.simulate_many("arm5_hold", {"control.kp[0]": [60, 80]}, SHORT)
    assert many._ipython_key_completions_() == list(many)


def test_a_data_frame_has_the_columns_over_time_and_is_a_copy(run):
    pytest.importorskip("pandas")
    frame = run.to_pandas()
    assert list(frame.columns) == run.columns
    assert frame.index.name == "t_s"
    assert np.array_equal(frame.index, run.t)
    assert np.array_equal(frame.to_numpy(), run.table)
    before = run.table[0, 0]
    frame.iloc[0, 0] = before + 1
    assert run.table[0, 0] == before


def test_without_pandas_it_says_how_to_get_it(run, monkeypatch, told):
    monkeypatch.setitem(sys.modules, "pandas", None)
    many = armsim.simulate_many("arm5_hold", {"control.kp[0]": [60]}, SHORT)
    for frame in (run.to_pandas, many.to_pandas):
        with pytest.raises(UsageError) as refused:
            frame()
        told(refused.value)


@pytest.mark.parametrize("question", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian", "link_poses"])
def test_positions_that_are_none_are_refused(question):
    with pytest.raises(UsageError, match=r"^q\n  expected: real numbers.*\n  found:    None"):
        getattr(armsim.load_robot("arm5"), question)(None)


def test_no_argument_that_has_no_default_may_be_none():
    arm = armsim.load_robot("arm5")
    with pytest.raises(UsageError, match=r"^q\n"):
        arm.advance(None, None, None, 0.1)
    with pytest.raises(UsageError, match=r"^qd\n"):
        arm.kinetic_energy(arm.initial, None)
    assert np.array_equal(arm.inverse_dynamics(arm.initial, None, None), arm.inverse_dynamics(arm.initial))


def test_dir_lists_public_names_alone():
    assert [name for name in dir(armsim) if not name.startswith("__")] == sorted(armsim.__all__)


def test_a_message_names_arguments_of_who_asks(tmp_path, run, capsys):
    from armsim.cli.main import main

    run.save(tmp_path / "run")
    with pytest.raises(UsageError) as refused:
        run.save(tmp_path / "run")
    assert "add force=True to replace the run" in str(refused.value)
    with pytest.raises(SystemExit):
        main(["simulate", "arm5_hold", "-o", str(tmp_path / "run")])
    assert "add --force to replace the run" in capsys.readouterr().err
    assert spelled("--force", "force=True") == "force=True"  # again, once the command is over


def test_refusals_of_the_library_name_no_option(tmp_path):
    refused = []
    for ask in (
        lambda: armsim.load_robot("arm5", {"joints[R9].motor.Kp": 1}),
        lambda: armsim.simulate("arm5_hold", {"control.kp[0]": "x"}),
        lambda: armsim.simulate("arm5_hold", {"control.limit[R2]": 24}),
        lambda: armsim.simulate("arm5_hold", {"control.law": "pid"}),
        lambda: armsim.simulate("arm5_hold", {"control.kj": None}),
        lambda: armsim.simulate("arm5_hold", {"integrator.dt": 1e-3}),
        lambda: armsim.record("arm5_hold"),
        lambda: armsim.replay(tmp_path / "nowhere"),
        lambda: armsim.compare(
            armsim.simulate("arm5_hold", SHORT).save(tmp_path / "a"),
            armsim.simulate("arm5_hold", {"duration": 0.2}).save(tmp_path / "b"),
        ),
    ):
        with pytest.raises(armsim.ArmsimError) as caught:
            ask()
        refused.append(str(caught.value))
    for text in refused:
        assert " --" not in f" {text}", text


def test_what_a_shell_asks_for_ends_with_it():
    with spoken_in_shell():
        assert spelled("--force", "force=True") == "--force"
    assert spelled("--force", "force=True") == "force=True"


USERS = """
from pathlib import Path

import numpy as np

import armsim

arm: armsim.Robot = armsim.load_robot(Path("arm5"), {"payload.mass": 0.1})
arm = armsim.load_robot({"format": "armsim/robot/1"}, engine="python")
tau = arm.inverse_dynamics([0.0] * 5, np.zeros(5), None)
position = arm.forward_kinematics(np.zeros((3, 5))).position + 1.0
q, qd, qdd = arm.advance(arm.initial, None, tau, 0.1)
run: armsim.Run = armsim.simulate("arm5_hold", {"control.kp[0]": 80}, measure="iae")
run = armsim.simulate({"format": "armsim/scenario/1"}, measure=["iae", "max(abs(tau_R2))"])
column = run["q_R1_rad"] * 2.0
names: list[str] = [name for name in run if name in run.columns]
print(run.to_pandas(), run.save(Path("out"), force=True).name, run.measure("iae"), run.summary()["status"])
many: armsim.Runs = armsim.simulate_many("arm5_hold", {"control.kp[0]": [60, 80], "payload.mass": np.zeros(2)})
sim: armsim.Prepared = armsim.prepare("arm5_hold", open=["control.kp"])
run = sim({"control.kp": [60, 70, 60, 20, 20]})
model = armsim.ForwardModel(arm, dt=1e-3, output="torque")
state = model.step(model.state(), [0, 0, 0, 0, 0])
recording = armsim.record("arm5_hold", {"control.period": 1e-3})
same: bool = armsim.replay(recording, tolerance={"q": 1e-3}).comparison.equal
A, B, C, D = armsim.linearize("arm5_hold", at=1).abcd
setting = armsim.converge("two_link_hold", methods="all", accuracy=1e-4).methods[0].cheapest(1e-4)
try:
    armsim.load_robot("none")
except armsim.FileFaults as faults:
    print(faults.faults, armsim.__version__)
"""
WRONG = """
import armsim

armsim.load_robot(3)
armsim.simulate("arm5_hold").saved()
armsim.simulat("arm5_hold")
armsim.load_robot("arm5").mass_matrix(None)
"""


@pytest.mark.slow
def test_a_users_file_passes_mypy_which_sees_what_a_user_gets_wrong(tmp_path):
    """mypy --strict, once for two files, in a folder of their own that sees armsim as installed."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    for name, text in (("mine.py", USERS), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    options = ["--strict", "--ignore-missing-imports", "--follow-imports=silent", "--config-file="]
    command = [sys.executable, "-m", "mypy", *options, "mine.py", "wrong.py"]
    settings = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True)
    places = [line.split(":")[:2] for line in done.stdout.splitlines() if ": error:" in line]
    assert places == [["wrong.py", line] for line in "4567"], done.stdout


def test_types_are_in_the_package():
    assert (ROOT / "armsim" / "py.typed").is_file()


NOTEBOOK = (
    "import armsim\narm = armsim.load_robot('arm5')\narm",
    "run = armsim.simulate('arm5_hold', {'duration': 0.1})\nrun",
    "get_ipython().Completer.complete(line_buffer='run[\"q_R', cursor_pos=8)[1]",
    "'q_R1_rad' in run, run.to_pandas().shape == run.table.shape",
    "run.plot()",
    "run.save('out')\nrun.save('out')",
)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of jupyter's own packages
def test_a_notebook_shows_tables_completes_columns_and_is_told_in_python(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="jupyter's nbclient is not installed")
    pytest.importorskip("ipykernel", reason="jupyter's ipykernel is not installed")
    pytest.importorskip("pandas", reason="pandas is not installed")
    from nbformat.v4 import new_code_cell, new_notebook

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    book = new_notebook(cells=[new_code_cell(text) for text in NOTEBOOK])
    client = nbclient.NotebookClient(book, timeout=300, allow_errors=True, resources={"metadata": {"path": tmp_path}})
    client.execute()
    robot, run, completed, known, drawn, refused = (cell.outputs[-1] for cell in book.cells)
    for shown, title in ((robot, "arm5: 5 joints"), (run, "arm5_hold: 0.1 s of arm5")):
        assert title in shown.data["text/html"]
        assert "\n" not in shown.data["text/plain"]
    assert "q_R1_rad" in completed.data["text/plain"]
    assert known.data["text/plain"] == "(True, True)"
    assert "image/png" in drawn.data
    assert refused.traceback == [f"UsageError: {refused.evalue}"]
    assert refused.ename == "UsageError"
    assert "add force=True to replace the run" in refused.evalue
