"""Printed programs, compiled and run, against the engine."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import armsim

STRICT = ["-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
STATES = np.random.default_rng(3).uniform(-2, 2, (4, 3, 6))
ROBOTS = ["two_link", "polar", "arm5", "branches", "jaws"]


@pytest.fixture(scope="module")
def engine(given):
    """The compiled arm of a name."""
    return lambda name: armsim.load_robot(given(name))


def expected(arm, q, qd, qdd) -> dict[str, np.ndarray]:
    """What the engine says of a state."""
    M, bias = arm.mass_matrix(q), arm.bias(q, qd)
    return {
        "inverse_dynamics": M @ qdd + bias,
        "forward_dynamics": qdd,
        "mass_matrix": M,
        "gravity": arm.gravity_torque(q),
        "jacobian": arm.jacobian(q),
    }


def needs(program: str):
    """Skips where a compiler is missing."""
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def check(found: np.ndarray, wanted: np.ndarray) -> None:
    # rounding of some hundred products; accelerations lose three digits to a mass matrix of condition 1e3
    assert np.abs(found.reshape(wanted.shape) - wanted).max() <= 1e-11 * max(np.abs(wanted).max(), 1.0)


@needs("gcc")
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.handful(1)
def test_printed_c_compiles_without_warning_and_is_the_engine(derived, engine, name, tmp_path):
    source, library = tmp_path / "arm.c", tmp_path / "arm.so"
    source.write_text(derived(name).to("c"))
    subprocess.run(["gcc", "-std=c99", *STRICT, "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    compiled, arm = ctypes.CDLL(str(library)), engine(name)
    module, n = derived(name).module, engine(name).arm.n
    constants = (ctypes.c_double * len(module.constants.results))()
    numbers = (ctypes.c_double * len(module.parameters))()
    if module.parameters:
        getattr(compiled, f"{name}_defaults")(numbers)
    getattr(compiled, f"{name}_constants")(*[numbers] * bool(module.parameters), constants)
    for state in STATES:
        q, qd, qdd = state[:, :n]
        wanted = expected(arm, q, qd, qdd)
        given = {"q": q, "qd": qd, "qdd": qdd, "tau": wanted["inverse_dynamics"]}
        for routine in module.routines:
            if routine.name in wanted:
                result = (ctypes.c_double * len(routine.results))()
                vectors = [(ctypes.c_double * n)(*given[vector]) for vector, _ in routine.inputs[:-1]]
                getattr(compiled, f"{name}_{routine.name}")(*vectors, constants, result)
                check(np.array(result), wanted[routine.name])


@needs("gfortran")
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.handful(1)
def test_printed_fortran_compiles_as_standard_fortran_and_is_the_engine(derived, engine, name, tmp_path):
    d, arm = derived(name), engine(name)
    module, n = d.module, engine(name).arm.n
    (tmp_path / "arm.f90").write_text(d.to("fortran"))
    q, qd, qdd = STATES[0][:, :n]
    wanted = expected(arm, q, qd, qdd)
    given = {"q": q, "qd": qd, "qdd": qdd, "tau": wanted["inverse_dynamics"]}
    lines = [
        f"program main\nuse {module.name}\nimplicit none",
        f"double precision :: r({len(module.constants.results)})",
    ]
    lines += [f"double precision :: {vector}({n})" for vector in given]
    wanted = {f.name: wanted[f.name] for f in module.routines if f.name in wanted}
    shapes = {f.name: ", ".join(map(str, f.shape)) for f in module.routines}
    lines += [f"double precision :: {f}_({shapes[f]})" for f in wanted]
    for vector, values in given.items():
        lines += [
            f"{vector}({i}) = {float(x)!r}d0".replace("e", "d").replace("dd0", "d0") for i, x in enumerate(values, 1)
        ]
    if module.parameters:
        lines.insert(1, f"type({name}_numbers) :: numbers")
    lines.append(f"call {name}_constants({'numbers, ' if module.parameters else ''}r)")
    for f in module.routines:
        if f.name in wanted:
            lines.append(f"call {name}_{f.name}({', '.join(vector for vector, _ in f.inputs)}, {f.name}_)")
            lines.append(
                f"print '(*(es26.17e3))', {f.name}_"
                if len(f.shape) == 1
                else f"print '(*(es26.17e3))', transpose({f.name}_)"
            )
    (tmp_path / "main.f90").write_text("\n".join([*lines, "end program"]) + "\n")
    flags = ["-std=f2008", "-Wall", "-Wno-unused-dummy-argument", "-Werror", "-ffp-contract=off"]  # all take r
    files = [tmp_path / "arm.f90", tmp_path / "main.f90"]
    subprocess.run(["gfortran", *flags, *files, "-o", tmp_path / "main"], check=True, cwd=tmp_path)
    printed = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout
    for line, (_, value) in zip(printed.splitlines(), wanted.items(), strict=True):
        check(np.array(line.split(), dtype=float), value)


def test_printed_python_needs_nothing_but_python(derived, tmp_path):
    (tmp_path / "arm.py").write_text(derived("two_link").to("python"))
    ask = "import arm; print(arm.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], arm.constants(arm.Numbers(l1=2.0))))"
    done = subprocess.run([sys.executable, "-S", "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True)
    # stretched out: g times the first moments, m1 l1/2 + (m2 + mp) l1 + m2 l2/2 + mp l2, and the elbow's
    elbow = 9.81 * (1.5 * 0.4 + 0.5 * 0.8)
    np.testing.assert_allclose(eval(done.stdout), [9.81 * (2 * 1 + 2 * 2) + elbow, elbow], rtol=1e-14)


@pytest.mark.parametrize("name", ["two_link", "arm5", "branches"])
@pytest.mark.handful(1)
def test_latex_compiles_or_where_there_is_no_tex_is_balanced_and_of_known_commands(derived, name, tmp_path):
    text = derived(name).to("latex")
    if shutil.which("pdflatex"):
        document = rf"\documentclass{{article}}\usepackage{{amsmath}}\begin{{document}}{text}\end{{document}}"
        (tmp_path / "arm.tex").write_text(document)
        command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "arm.tex"]
        subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    body = "\n".join(line.partition("%")[0] for line in text.splitlines())
    depth = 0
    for sign in re.sub(r"\\.", "", body):
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    open_parts: list[str] = []
    for kind, part in re.findall(r"\\(begin|end)\{([^}]*)\}", body):
        assert kind == "begin" or open_parts.pop() == part
        open_parts += [part] if kind == "begin" else []
    assert open_parts == []
    assert body.count(r"\left") == body.count(r"\right")
    known = {
        "section",
        "subsection",
        "begin",
        "end",
        "dot",
        "ddot",
        "tau",
        "alpha",
        "omega",
        "cos",
        "sin",
        "left",
        "right",
    }
    known |= {"frac", "text", "quad", "cdot", "mathit"}
    assert set(re.findall(r"\\([a-zA-Z]+)", body)) <= known
    for formula in re.findall(r"&= (.*?)(?: && .*)?(?: \\\\)?$", body, re.MULTILINE):
        assert formula.strip()
