"""What all commands share: help, version, errors, exit codes, colour, width, and a light start."""

from __future__ import annotations

import json
import subprocess

import pytest

from armsim import __version__
from armsim.cli.main import COMMANDS

NAMES = [name for section in COMMANDS.values() for name in section]
HEAVY = ("numpy", "scipy", "matplotlib", "pydantic", "pandas", "sympy", "rich")
REPORTS = [
    ("info", "arm5"),
    ("info", "arm5", "-v", "--deg"),
    ("info", "arm5_hold"),
    ("info", "two_link_hold", "-v"),
    ("inertia", "arm5"),
    ("inertia", "two_link", "-v"),
    ("inverse", "arm5", "-v"),
    ("inverse", "arm5", "--q", "0,1,1,1,1"),
    ("forward", "arm5", "--qd", "1,2,3,4,5"),
    ("forward", "arm5", "--qd", "1,2,3,4,5", "-v", "--deg"),
    ("fk", "arm5"),
    ("fk", "arm5", "-v", "--deg"),
    ("list",),
]


def test_every_command_is_listed_in_the_help_under_what_people_do(armsim):
    help = armsim("--help")
    assert help.code == 0
    assert help.err == ""
    for section, commands in COMMANDS.items():
        assert f"\n{section}:\n" in help.out
        for name, what in commands.items():
            assert f"  {name} " in help.out
            assert what in " ".join(help.out.split())


@pytest.mark.parametrize("name", NAMES)
def test_every_help_has_an_example_and_keeps_to_80_columns(armsim, name):
    help = armsim(name, "--help")
    assert help.code == 0
    assert f"Examples:\n    armsim {name}" in help.out
    assert max(map(len, help.out.splitlines())) <= 80
    assert armsim(name, "-h").out == help.out


def test_python_looks_through_no_objects_for_cycles_as_a_command_ends(process):
    program = """
import atexit, gc
atexit.register(lambda: print(len(gc.get_objects()) < 1000 < gc.get_freeze_count()))
from armsim.__main__ import main
main()
"""
    assert process("schema", "robot", python=("-c", program)).out.endswith("\nTrue\n")


def test_the_help_of_armsim_keeps_to_80_columns_and_tells_what_comes_first(armsim):
    help = armsim("-h").out
    assert max(map(len, help.splitlines())) <= 80
    assert "armsim simulate arm5_hold" in help


@pytest.mark.parametrize("name", NAMES)
def test_the_first_line_of_a_help_names_its_arguments(armsim, name):
    assert armsim(name, "-h").out.startswith(f"Usage: armsim {name} [OPTIONS]")


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_is_that_of_the_library(armsim, option):
    assert armsim(option).out == f"armsim {__version__}\n"


def test_without_arguments_help_goes_to_standard_error_and_2_comes_back(armsim):
    bare = armsim()
    assert (bare.code, bare.out) == (2, "")
    assert "Examples:" in bare.err


def test_an_unknown_command_names_the_nearest(armsim):
    wrong = armsim("simulat", "arm5_hold")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.splitlines()[-1] == (
        "Error: There is no command 'simulat'. Did you mean 'simulate'? `armsim --help` lists them."
    )


@pytest.mark.parametrize("name", ["simulate", "inverse", "forward", "fk", "inertia", "info"])
def test_an_unknown_option_is_refused_with_2(armsim, name):
    wrong = armsim(name, "arm5", "--quite")
    assert (wrong.code, wrong.out) == (2, "")
    assert "No such option" in wrong.err
    assert "--quiet" in wrong.err


@pytest.mark.parametrize("name", ["simulate", "record", "sweep", "tune", "converge", "linearize", "reference"])
def test_a_key_of_the_scenario_that_is_taken_for_an_option_is_told_as_a_setting(armsim, name):
    wrong = armsim(name, "arm5_hold", "--duration", "2")
    assert (wrong.code, wrong.out) == (2, "")
    last = "Error: No such option '--duration'. It is a key of the scenario: write for example --set duration=2."
    assert wrong.err.splitlines()[-1] == last
    assert "--set integrator.dt=1e-4." in armsim(name, "arm5_hold", "--dt=1e-4").err


@pytest.mark.parametrize("name", ["simulate", "inverse", "forward", "fk", "inertia", "info"])
def test_a_missing_argument_is_refused_with_2(armsim, name):
    wrong = armsim(name)
    assert (wrong.code, wrong.out) == (2, "")
    assert "Missing argument" in wrong.err


@pytest.mark.parametrize("name", ["inverse", "forward", "fk", "inertia"])
def test_an_unknown_robot_names_the_nearest_shipped_one(armsim, name, told):
    wrong = armsim(name, "arm55")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_an_unknown_scenario_names_the_nearest_shipped_one(armsim, told):
    wrong = armsim("simulate", "arm5_hld")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_info_of_an_unknown_name_names_the_nearest_of_robots_and_scenarios(armsim, told):
    wrong = armsim("info", "two_lnk_swing")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


@pytest.mark.parametrize("name", ["simulate", "inverse", "forward", "fk", "inertia", "info"])
def test_a_file_that_is_not_there_is_refused_in_four_lines(armsim, name):
    wrong = armsim(name, "nowhere/my.yaml")
    assert (wrong.code, wrong.out) == (2, "")
    lines = wrong.err.splitlines()
    assert [line[:12] for line in lines[1:]] == ["  expected: ", "  found:    ", "  mend:     "]
    assert lines[0] == "nowhere/my.yaml"


@pytest.mark.parametrize("args", REPORTS, ids=" ".join)
def test_reports_keep_to_80_columns_but_for_paths(armsim, args):
    report = armsim(*args)
    assert (report.code, report.err) == (0, "")
    assert [line for line in report.out.splitlines() if len(line) > 80 and "/" not in line] == []


@pytest.mark.parametrize("args", REPORTS[:-1], ids=" ".join)
@pytest.mark.handful(3)
def test_json_is_one_line_of_valid_json_and_quiet_prints_nothing(armsim, args):
    printed = armsim(*args, "--json")
    assert printed.out.count("\n") == 1
    assert "Infinity" not in printed.out
    assert "NaN" not in printed.out
    assert isinstance(json.loads(printed.out), dict)
    assert armsim(*args, "-q").out == ""
    assert armsim(*args, "--quiet").out == ""


HEAVY_ONES = (
    "import sys\n"
    "from armsim.cli.main import main\n"
    "try: main(sys.argv[1:])\n"
    f"finally: print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)\n"
)


@pytest.mark.parametrize("args", [("--help",), *(report for report in REPORTS if "-v" not in report)], ids=" ".join)
@pytest.mark.handful(2)
def test_no_command_imports_anything_heavy(process, args):
    done = process(*args, python=("-c", HEAVY_ONES))
    assert (done.code, done.err) == (0, "[]\n")


@pytest.mark.parametrize(
    ("args", "heavy"),
    [
        ("simulate arm5_hold", "[]\n"),
        ("simulate two_link_swing", "['numpy']\n"),
        ("check arm5_hold", "['numpy']\n"),
    ],
)
@pytest.mark.handful(1)
def test_a_scenario_that_armsim_has_met_imports_nothing_heavy_and_a_new_one_no_more_than_numpy(
    process, args, heavy, tmp_path
):
    # numpy works out what is said of a step that is not shown to be stable; that is kept with the compiled code
    cache = tmp_path / "kernels"
    new, met = (process(*args.split(), python=("-c", HEAVY_ONES), ARMSIM_CACHE_DIR=cache) for _ in range(2))
    assert (new.code, new.err) == (0, heavy)
    assert (met.code, met.err) == (0, "[]\n")


@pytest.mark.slow
def test_a_method_that_armsim_picks_imports_nothing_heavy_either(process, tmp_path):
    args = ("simulate", "two_link_swing", "--set", "integrator={}")
    done = process(*args, python=("-c", HEAVY_ONES), ARMSIM_CACHE_DIR=tmp_path / "kernels")
    assert (done.code, done.err) == (0, "[]\n")


@pytest.mark.parametrize("args", [report for report in REPORTS if "-v" not in report], ids=" ".join)
@pytest.mark.slow
def test_questions_of_one_state_do_without_the_compiler(process, args):
    code = (
        "import sys\n"
        "from armsim.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print('llvmlite' in sys.modules, file=sys.stderr)\n"
    )
    done = process(*args, python=("-c", code))
    assert (done.code, done.err) == (0, "False\n")


def test_headings_are_bold_on_a_terminal_only_and_not_where_no_color_is_asked_for(on_a_terminal, process):
    coloured = on_a_terminal("inverse", "arm5", TERM="xterm")
    assert "\x1b[1mjoint" in coloured
    plain = process("inverse", "arm5").out
    assert "\x1b" not in plain
    assert on_a_terminal("inverse", "arm5", TERM="xterm", NO_COLOR="1") == plain
    assert coloured.replace("\x1b[1m", "").replace("\x1b[0m", "") == plain


def test_a_reader_that_goes_away_is_no_error(start):
    begun = start("info", "arm5", "--resolved", stdout=subprocess.PIPE)
    begun.stdout.close()
    begun.wait(timeout=60)
    assert "Traceback" not in begun.stderr.read()
    begun.stderr.close()


def test_a_terminal_whose_alphabet_lacks_a_sign_gets_a_question_mark(process):
    done = process("inverse", "arm5", PYTHONIOENCODING="iso8859-5")
    assert done.code == 0
    assert "-8.1234 N?m" in done.out


def test_python_dash_m_is_the_same_as_the_command(process):
    assert process("--version").out == f"armsim {__version__}\n"
