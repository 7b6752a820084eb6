"""`armsim derive`"""

from __future__ import annotations

import json

import pytest
import sympy


def test_the_text_has_the_closed_form_and_keeps_to_80_columns(armsim):
    done = armsim("derive", "two_link")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "\n  M11 = 2*c2*r3 + r2 + r5\n" in done.out
    assert "\n  r3 = l1*l2*(m2/2 + mp)                      inertial coupling, in M11, M21\n" in done.out
    assert "12 multiplications, 10 additions, 4 sines and cosines; in closed form." in done.out


def test_json_has_counts_equations_that_sympy_reads_and_checks(armsim):
    done = armsim("derive", "two_link", "--json")
    assert done.out.count("\n") == 1
    found = json.loads(done.out)
    counts = found["operations"]
    assert counts["inverse_dynamics"]["multiplications"] <= 14
    assert counts["inverse_dynamics"]["additions"] <= 12
    assert counts["inverse_dynamics"]["trigonometric"] == 4
    assert set(counts["constants"]) >= {"multiplications", "additions"}
    M22 = sympy.sympify(found["equations"]["mass_matrix"][1][1])
    assert float(M22.subs(found["symbols"])) == pytest.approx(1.5 * 0.8**2 / 3 + 0.5 * 0.8**2)
    assert [check["what"] for check in found["checks"]][-1] == "printed program and compiled engine"


@pytest.mark.slow
def test_numbers_take_the_place_of_symbols_on_request(armsim):
    assert "r5 = 0.64" not in armsim("derive", "two_link", "--symbols", "l1,g", "--to", "markdown").out
    found = json.loads(armsim("derive", "two_link", "--symbols", "none", "--json").out)
    assert found["symbols"] == {}
    assert {constant["number"] for constant in found["constants"]} >= {9.81, 0.64}


@pytest.mark.slow
def test_settings_change_the_arm(armsim):
    found = json.loads(armsim("derive", "two_link", "--set", "payload.mass=0", "--json").out)
    assert "mp" not in found["symbols"]


@pytest.mark.parametrize(
    ("form", "begin"), [("python", '"""Kinematics'), ("c", "/* Kinematics"), ("fortran", "! Kinematics")]
)
@pytest.mark.handful(1)
def test_programs_are_printed_alone(armsim, form, begin):
    assert armsim("derive", "two_link", "--to", form).out.startswith(begin)


def test_base_parameters_are_listed_with_their_rank(armsim):
    done = armsim("derive", "two_link", "--base-parameters")
    assert done.out.startswith(
        "two_link: 7 base parameters of 22 inertial parameters; the regressor at random\n  states has rank 7\n"
    )
    assert "\n  1  Ia1 + M2*l1**2 + ZZ1 = l1**2*(m1/3 + m2 + mp) = 2.66667 kg m²\n" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    found = json.loads(armsim("derive", "two_link", "--base-parameters", "--json").out)
    assert (found["rank"], len(found["base_parameters"])) == (7, 7)


@pytest.mark.slow
def test_quiet_prints_nothing(armsim):
    assert armsim("derive", "two_link", "-q").out == ""


def test_a_wrong_symbol_is_refused_with_what_there_is(armsim, told):
    wrong = armsim("derive", "rr", "--symbols", "m1,weight")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_without_sympy_it_says_how_to_get_it(armsim, monkeypatch, told):
    from armsim.derivation import extra

    monkeypatch.setattr(extra, "find_spec", lambda name: None)
    wrong = armsim("derive", "two_link")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


@pytest.mark.slow
def test_links_that_can_exist_are_written_beside_the_base_parameters(armsim, tmp_path):
    file = tmp_path / "puma.yaml"
    done = armsim("derive", "puma560", "--base-parameters", "-o", file)
    assert done.code == 0
    assert " ".join(done.out.split()).endswith(
        "puma.yaml: other bodies on J1, J2, J3, J4, J5, J6, a choice that no motion can tell"
    )
    assert "moments" in armsim("check", "puma560").out + armsim("check", "puma560").err
    assert "moments" not in armsim("check", file).out + armsim("check", file).err
    assert armsim("derive", "puma560", "--base-parameters", "-o", file).code == 2
    assert armsim("derive", "puma560", "-o", tmp_path / "other.yaml").code == 2
