"""Numbers of files in derivations: powers of pi, and numbers whose exact value is too long."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import armsim
from armsim.errors import UsageError

Q, QD, TAU = [0.3, -0.4], [0.8, -1.2], [2.0, -0.7]


def arm(mass="2", pitch="0.005", a="0.3", **more) -> dict:
    """A screw with a link behind it; a joint that turns without a pitch."""
    kind = {"type": "screw", "pitch": pitch} if pitch else {"type": "revolute"}
    first = {"name": "S1", **kind, "mdh": {}, "bodies": [{"point": {"mass": mass, "center": [0.1, 0, 0.2]}}]}
    second = {"name": "R2", "type": "revolute", "mdh": {"a": a, "alpha": "pi/2"}}
    second["bodies"] = [{"point": {"mass": 1, "center": [0.1, 0, 0.2]}}]
    return {"format": "armsim/robot/1", "name": "small", "joints": [first, second], **more}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"mass": "8/pi**2"},
        {"pitch": "pi/100"},  # pi and its inverse cancel
        {"mass": "8/pi**3", "pitch": "pi**2/100", "a": "pi/10"},
        {"mass": "1/(1+pi)", "pitch": "", "a": "sin(0.3)+1/cos(0.3)"},
    ],
)
@pytest.mark.handful(1)
def test_powers_of_pi_in_numbers_are_derived_as_the_engine_has_them(given, tmp_path):
    robot = arm(**given)
    derivation = armsim.derive(robot)  # which compares its Python with the engine
    expected = armsim.load_robot(robot).forward_dynamics(Q, QD, TAU)
    for form, compiler in (("c", "gcc"), ("fortran", "gfortran")):
        if shutil.which(compiler) is None:
            continue
        source = tmp_path / f"small.{'f90' if form == 'fortran' else form}"
        source.write_text(derivation.to(form))
        library = tmp_path / f"{form}.so"
        subprocess.run([compiler, "-shared", "-fPIC", source, "-o", library, "-lm"], cwd=tmp_path, check=True)
        code, prefix = ctypes.CDLL(str(library)), "small_" if form == "c" else "__small_MOD_small_"
        constants, found = (ctypes.c_double * 50)(), (ctypes.c_double * 2)()
        getattr(code, f"{prefix}constants")(constants)
        getattr(code, f"{prefix}forward_dynamics")(*((ctypes.c_double * 2)(*x) for x in (Q, QD, TAU)), constants, found)
        np.testing.assert_allclose(list(found), expected, rtol=1e-11)


@pytest.mark.parametrize(
    "mass",
    [
        "((1.0001)**64)**64",
        "((1+pi/10000)**64)**64",
        "1+1e-1000000000",
        "1e-999999999999999999 kg",
        "2+0*(1e-99999999999)",
        "(1.0000001**64/1.0000001**63)**64",
    ],
)
@pytest.mark.slow
def test_a_number_whose_exact_value_is_long_counts_as_the_double_that_it_is(mass):
    robot = arm(mass, pitch="")
    robot["joints"][0]["bodies"].append({"point": {"mass": 1, "center": [0.1, 0, 0]}})
    derivation = armsim.derive(robot)
    assert derivation.checks[-1].what == "printed program and compiled engine"
    assert len(derivation.to("latex")) < 10_000


@pytest.mark.slow
def test_parameters_that_square_each_other_end_as_doubles():
    squares = {"p0": 1.0001} | {f"p{i}": f"p{i - 1}*p{i - 1}" for i in range(1, 13)}
    assert armsim.derive(arm("p12", pitch="", parameters=squares), symbols=[]).checks


def test_a_long_power_of_a_symbol_is_refused_with_its_place():
    with pytest.raises(UsageError) as refused:
        armsim.derive(arm("((1+m)**64)**64", pitch="", parameters={"m": 0.001}))
    assert "take m out of the symbols" in str(refused.value)
    assert "((1+m)**64)**64" in str(refused.value)
