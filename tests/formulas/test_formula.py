"""Formulas: values, errors, and what they are evaluated on."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armsim.errors import ArmsimError, FileFaults
from armsim.expr import Expr, trace
from armsim.formulas.formula import FormulaError, constant_value, parse_formula

PYTHON = {"pi": math.pi, "sqrt": math.sqrt, "abs": abs, "min": min, "max": max, "upper": 0.38, "t": 0.25}


@pytest.mark.parametrize(
    "text",
    [
        "-pi/2", "2*pi/3", "0.5*upper", "1e-3", "1e5", ".5", "5.", "010 + 1".replace("010", "10"), "-2**2", "(-2)**2",
        "2**-3", "2**0", "1-2-3", "8/4/2", "2*-3", "--1", "+1", "upper*(1+t)/3", "min(3, 1, 2)", "max(upper, 1)",
        "abs(-3)", "sqrt(2)", "((((1))))", "1+2*3-4/5", "3**4*2",
    ],
)  # fmt: skip
def test_a_formula_is_worth_what_python_makes_of_it(text):
    assert parse_formula(text).evaluate({"upper": 0.38, "t": 0.25}) == eval(text, {}, PYTHON)  # known text only


@pytest.mark.parametrize(("name", "function"), [("sin", math.sin), ("cos", math.cos), ("tan", math.tan),
                                                ("exp", math.exp), ("log", math.log)])  # fmt: skip
def test_functions_agree_with_the_c_library_to_a_few_ulp(name, function):
    # our own functions are at most 2 ulp off, tan a quotient of two of them
    assert parse_formula(f"{name}(1.3)").evaluate({}) == pytest.approx(function(1.3), rel=1e-15, abs=0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it ends too early"),
        ("1 +", "it ends too early"),
        ("(1", "a bracket is left open"),
        ("1)", "unexpected `)`"),
        ("2 pi", "unexpected `pi`"),
        ("2(3)", "unexpected `(`"),
        ("2^3", "`^` has no meaning in a formula"),
        ("2**0.5", "a power that is not a whole number"),
        ("2**x", "a power that is not a whole number"),
        ("2**3**2", "a power of a power"),
        ("2**65", "a power above 64"),
        ("sin", "`sin` without its argument"),
        ("sin(1, 2)", "`sin` with 2, it takes 1 argument"),
        ("min(1)", "`min` with 1, it takes 2 arguments or more"),
        ("where(t, 1, 2)", "`where` without a comparison"),
        ("where(t < 1, 2)", "`where` with 2, it takes 3 arguments"),
        ("where(1 < t < 2, 1, 0)", "two comparisons in a row"),
        ("where((t < 1), 1, 0)", "unexpected `<`"),
        ("5*(t < 1)", "unexpected `<`"),
        ("t <== 1", "`<` has no meaning in a formula"),
        ("t != 1", "`!` has no meaning in a formula"),
        ("pulse(t, 1)", "`pulse` with 2, it takes 3 arguments"),
        ("step(t, 1)", "`step` with 2, it takes 1 argument"),
        ("open('x')", "there is no function `open`"),
        ("a.b", "`.` has no meaning in a formula"),
        ("0x10", "unexpected `x10`"),
        ("1_000", "unexpected `_000`"),
        ("t == 1", "`=` has no meaning in a formula"),
        ("(" * 60 + "1" + ")" * 60, "more than 50 levels of brackets and signs"),
        ("-" * 100 + "1", "more than 50 levels of brackets and signs"),
        ("1+" * 600 + "1", "longer than 1000 characters"),
    ],
)
def test_what_is_not_a_formula_is_refused_with_its_reason(text, problem):
    with pytest.raises(FormulaError) as caught:
        parse_formula(text)
    assert caught.value.problem == problem


SWITCHED = {  # by hand: values at t = -1, 0, 0.5, 1, 2.5, 3
    "step(t - 1)": (0, 0, 0, 1, 1, 1),
    "pulse(t, 1, 2)": (0, 0, 0, 1, 1, 0),
    "sign(t)": (-1, 0, 1, 1, 1, 1),
    "sign(-t)": (1, 0, -1, -1, -1, -1),
    "where(t < 1, 5, 2*t)": (5, 5, 5, 2, 5, 6),
    "where(t <= 1, 5, 2*t)": (5, 5, 5, 5, 5, 6),
    "where(t > 1, 5, 0)": (0, 0, 0, 0, 5, 5),
    "where(t >= 1, where(t < 3, 1, 0), 0)": (0, 0, 0, 1, 1, 0),
    "max(0, min(t, 2))": (0, 0, 0.5, 1, 2, 2),
    "2*step(t) + step(t)": (0, 3, 3, 3, 3, 3),
}


@pytest.mark.parametrize("text", SWITCHED)
def test_functions_that_jump_have_their_values_on_numbers_and_in_machine_code(evaluate, text):
    formula = parse_formula(text)
    times = (-1.0, 0.0, 0.5, 1.0, 2.5, 3.0)
    assert tuple(formula.evaluate({"t": t}) for t in times) == SWITCHED[text]
    compiled = evaluate(trace(lambda t: [formula.evaluate({"t": t})], ["t"]), [times])
    assert tuple(compiled.reshape(-1).tolist()) == SWITCHED[text]


def test_a_pulse_ends_at_the_decimal_number_at_which_it_ends_on_paper():
    for i in range(100):
        for k in range(1, 100):
            formula = parse_formula(f"pulse(t, {i / 10}, {k / 10})")
            assert formula.evaluate({"t": (i + k) / 10}) == 0
            assert formula.evaluate({"t": (i + k) / 10 - 1e-9}) == 1


def test_the_branch_that_is_not_taken_needs_no_value():
    assert parse_formula("where(t > 0, sin(t)/t, 1)").evaluate({"t": 0.0}) == 1


def test_a_parameter_may_have_the_name_of_a_later_function():
    assert parse_formula("2*step + step(sign)").evaluate({"step": 3.0, "sign": 1.0}) == 7


def test_a_long_chain_of_terms_needs_no_deep_recursion():
    assert parse_formula("+".join(["1"] * 500)).evaluate({}) == 500


@given(st.text(alphabet="0123456789.e+-*/() ,tpi\tsincoxq^_é²", max_size=60))
def test_no_text_raises_anything_but_an_error_for_people(text):
    try:
        formula = parse_formula(text)
        formula.evaluate(dict.fromkeys(formula.names, 0.7))
    except ArmsimError:
        pass


@given(st.text(max_size=200))
def test_no_unicode_raises_anything_but_an_error_for_people(text):
    try:
        parse_formula(text)
    except ArmsimError:
        pass


def test_a_formula_traces_into_an_expression_of_the_same_value():
    formula = parse_formula("3*sin(2*pi*t) + exp(-t)/(1 + t**2) - max(t, 0.5)")
    traced = trace(lambda t: [formula.evaluate({"t": t})], ["t"])
    assert isinstance(traced.outputs[0], Expr)
    assert {node.op for node in traced.live()} >= {"sin", "exp", "div", "where"}


def test_numbers_stay_exact_for_sympy():
    sympy = pytest.importorskip("sympy")
    value = parse_formula("-pi/2 + 0.1").evaluate({"pi": sympy.pi}, sympy.Rational)
    assert value == -sympy.pi / 2 + sympy.Rational(1, 10)


def test_the_value_of_an_option_may_be_a_formula():
    assert constant_value("-pi/2", "--q") == -math.pi / 2


def test_an_option_that_is_no_number_is_explained(told):
    with pytest.raises(FileFaults) as caught:
        constant_value("1.1 rad", "--q")
    told(caught.value)


AGGREGATES = ("max", "min", "integral", "settling")


def test_an_aggregate_is_a_name_whose_value_is_given():
    formula = parse_formula("sqrt(integral( x**2 ) / T) + max(max(x, 0))*max(2, y)", AGGREGATES)
    assert formula.names == {"integral(x**2)", "T", "max(max(x,0))", "y"}
    assert [(found.function, found.argument.text) for found in formula.aggregates] == [
        ("integral", "x**2"),
        ("max", "max(x, 0)"),
    ]
    assert formula.aggregates[0].argument.evaluate({"x": 3.0}) == 9
    assert formula.evaluate({"integral(x**2)": 8.0, "T": 2.0, "max(max(x,0))": 5.0, "y": 3.0}) == 17


def test_an_aggregate_that_stands_twice_is_one():
    formula = parse_formula("max(x + 1) - 2*max( x+1 )", AGGREGATES)
    assert len(formula.aggregates) == 1
    assert formula.evaluate({"max(x+1)": 4.0}) == -4


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("max(integral(x))", "`max` of `integral(x)`, which is one number for the whole"),
        ("integral(1 + max(2, min(x)))", "`integral` of `min(x)`, which is one number for the whole"),
        ("integral(x, 1)", "`integral` with 2, it takes 1 argument"),
        ("integral(x", "a bracket is left open"),
        ("integral()", "unexpected `)`"),
        ("mean(x)", "there is no function `mean`"),
        ("max(sin(x, 1))", "`sin` with 2, it takes 1 argument"),
    ],
)
def test_what_is_no_aggregate_is_refused_with_its_reason(text, problem):
    with pytest.raises(FormulaError) as caught:
        parse_formula(text, AGGREGATES)
    assert caught.value.problem == problem


def test_functions_of_aggregates_may_take_several():
    assert parse_formula("max(integral(x), min(x))", AGGREGATES).evaluate({"integral(x)": 2.0, "min(x)": 3.0}) == 3


def test_words_with_signs_in_them_are_names_where_they_are_known():
    words = ["left-arm", "left-arm.x", "a.b"]
    formula = parse_formula("left-arm - left-arm.x*a.b + left -arm", words=words)
    assert formula.names == {"left-arm", "left-arm.x", "a.b", "left", "arm"}
    assert parse_formula("left-army", words=words).names == {"left", "army"}


def test_a_quotient_may_be_taken_otherwise():
    def divide(a, b):
        return (a, b)

    assert parse_formula("1/0").evaluate({}, divide=divide) == (1, 0)
    assert parse_formula("2**-2").evaluate({}, divide=divide) == (1, 4)
