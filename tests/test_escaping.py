"""Hostile names in everything that armsim writes for other programs: no name ends a comment, and none is run."""

from __future__ import annotations

import ast
import copy
import ctypes
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.util import find_spec

import pytest

import armsim
from armsim.errors import visible
from armsim.escaping import LATEX, in_comment, in_markdown
from armsim.exporting.export import language_of, model_of
from armsim.exporting.reference import with_cases
from armsim.viewing.page import page_text

from .exporting.conftest import STRICT, needs, succeeds

TOUCH = "open('run','w').close()"
HOSTILE = [
    f'""" \n{TOUCH}\n"""',
    f"'''\n{TOUCH}\n'''",
    f"\n{TOUCH}",
    f"\r{TOUCH}",
    f"\u2028{TOUCH}\u2029",
    "*/ #include <stdlib.h>\n__attribute__((constructor)) static void f(void) { fopen(\"run\", \"w\"); } /*",
    "*\\/ static int x; /*",
    "**//**/ int y; /*",
    "???/??/\n*/ int z;",
    "ends with a backslash \\",
    "\\\nint w;",
    "a\0b",
    "\\u000a \\x41 \\N{BULLET} \\U99999999 \\",
    "& \n call system('touch run') ! &",
    "!$omp parallel ! GCC$ attributes",
    "\\write18{touch run} \\input{/etc/passwd} \\immediate\\write18{touch run}",
    "^^5cwrite18{touch run} ^^M% $x$ #1 ~ _ {",
    "} \\end{document}",
    "<script>alert(1)</script> </script> <!-- -->",
    "[link](javascript:alert(1)) ![x](y) `code` **b** | c | $$ &lt;script&gt;",
    "${process.exit(3)} `${x}`",
    "//# sourceMappingURL=data:text/plain,x",
    "# -*- coding: utf-7 -*-",
    "\u202e reversed \ufeff \ud800 \x1b[31m",
]  # fmt: skip
NAMES = range(len(HOSTILE))


def robot(name: str) -> dict:
    joint = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": 1, "center": [0.3, 0, 0]}}]}
    return {"format": "armsim/robot/1", "name": name, "gravity": [0, -9.81, 0], "joints": [joint]}


def written(to: str, folder) -> list:
    """A folder for every name, with the files of its export."""
    language, folders = language_of(to), []
    for i, name in enumerate(HOSTILE):
        opened = ["joints[0].bodies[0].point.mass"]
        model = with_cases(model_of(robot(name), ["gravity"], opened, None, language))
        made = folder / f"{to}{i}"
        made.mkdir()
        for path, text in language.files(model).items():
            (made / path).write_bytes(text.encode())
        folders.append((made, model.name))
    return folders


def test_there_are_two_dozen_names():
    assert len(HOSTILE) == len(set(HOSTILE)) == 24


@needs("gcc")
@pytest.mark.slow
def test_c_compiles_without_a_warning_and_runs_nothing_when_it_is_loaded(tmp_path):
    for i, (folder, name) in enumerate(written("c", tmp_path)):
        (tmp_path / f"all{i}.c").write_text(f'#include "{folder}/{name}.c"\n#include "{folder}/test_{name}.c"\n')
    for dialect in ("c99", "gnu17"):  # the former has trigraphs
        flags = [f"-std={dialect}", "-O0", "-Dmain=tested", *STRICT, "-fsyntax-only"]
        succeeds(["gcc", *flags, *(f"all{i}.c" for i in NAMES)], tmp_path)
    for i in NAMES:
        (tmp_path / f"all{i}.c").write_text(f"#define main tested{i}\n" + (tmp_path / f"all{i}.c").read_text())
    flags = ["-std=c99", "-O0", "-shared", "-fPIC", "-Wl,--allow-multiple-definition"]
    succeeds(["gcc", *flags, "-o", "all.so", *(f"all{i}.c" for i in NAMES), "-lm"], tmp_path)
    library = ctypes.CDLL(str(tmp_path / "all.so"))
    assert [getattr(library, f"tested{i}")() for i in NAMES] == [0] * 24
    assert not (tmp_path / "run").exists()


@needs("gfortran")
def test_fortran_compiles_as_standard_fortran(tmp_path):
    for folder, name in written("fortran", tmp_path):
        succeeds(["gfortran", "-std=f2018", "-fsyntax-only", "-Wall", "-Werror", f"{name}.f90"], folder)


without_casadi = pytest.mark.skipif(find_spec("casadi") is None, reason="casadi is not installed")


@pytest.mark.parametrize("to", ["python", pytest.param("casadi", marks=without_casadi)])
def test_python_modules_hold_functions_alone(to, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kinds = (ast.Expr, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)
    for folder, name in written(to, tmp_path):
        text = (folder / f"{name}.py").read_bytes()
        tree = ast.parse(text)
        assert all(isinstance(node, kinds) for node in tree.body)
        assert [isinstance(node, ast.Expr) for node in tree.body].count(True) == 1  # the docstring
        exec(compile(text, name, "exec"), {"__name__": __name__})
    assert not (tmp_path / "run").exists()


@needs("node")
def test_javascript_modules_are_imported(tmp_path):
    paths = [str(folder / f"{name}.mjs") for folder, name in written("javascript", tmp_path)]
    lines = [f"await import({json.dumps(path)});" for path in paths]
    (tmp_path / "all.mjs").write_text("\n".join([*lines, "console.log('all');"]))
    assert succeeds(["node", "all.mjs"], tmp_path) == "all\n"


@pytest.fixture(scope="module")
def derivations():
    """The derivation of an arm under every name."""
    derivation = armsim.derive(robot(HOSTILE[11]))
    found = []
    for name in HOSTILE:
        own = copy.copy(derivation)
        own.name, own.module = name, replace(derivation.module, name=name)
        found.append(own)
    return found


@needs("gcc")
@pytest.mark.slow
def test_derived_programs_and_pages_take_names_as_text(derivations, tmp_path):
    letters = {text: letter for letter, text in LATEX.items()}
    mark = re.compile("|".join(map(re.escape, LATEX.values())))
    for i, derivation in enumerate(derivations):
        (tmp_path / f"arm{i}.c").write_text(derivation.to("c"))
        ast.parse(derivation.to("python"))
        title = derivation.to("latex").splitlines()[1]
        shown = title.removeprefix(r"\section*{").rpartition(": $M(q)")[0]
        assert not re.search(r"[\\{}$^~_%&#]", mark.sub("", shown))
        assert mark.sub(lambda found: letters[found[0]], shown) == visible(HOSTILE[i])
        heading = derivation.to("markdown").splitlines()[0]
        assert not re.search(r"(?<!\\)[\[\]`*|$]|[<>]", heading.removeprefix("# ").replace("\\\\", ""))
        assert derivation.to("text").splitlines()[0].startswith(visible(HOSTILE[i]))
    succeeds(["gcc", *STRICT, "-fsyntax-only", *(f"arm{i}.c" for i in NAMES)], tmp_path)


class Tags(HTMLParser):
    """Tags of a page, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)


def test_a_page_has_the_same_tags_under_every_name():
    expected = Tags(page_text("arm", {"robot": "arm"})).found
    for name in HOSTILE:
        assert Tags(page_text(name, {"robot": name})).found == expected


def test_plain_names_stay_as_they_are():
    for name in ("arm5", "Größe 2", "two-link (v1.2), 3 kg", "a_b"):
        assert in_comment(name) == in_markdown(name) == name
