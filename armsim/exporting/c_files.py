"""Of C: the header, the test program, and what builds them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from armsim.exporting.interface import Argument, Case, Entry, Model
from armsim.exporting.language import Language, Style, indented
from armsim.exporting.names import identifiers

# sums are not contracted to fused multiply-adds, and square roots set no errno, so that they are single instructions
FLAGS = ("-ffp-contract=off", "-fno-math-errno")
INDEXED = ("state", "row")  # arrays whose items have names of their own in the header


def signature(model: Model, entry: Entry, real: str) -> str:
    """The declaration of a function, without its semicolon."""
    parameters = [_parameter(model, argument, real) for argument in entry.arguments]
    result = f"{real} {entry.result.name}[{len(entry.result.items)}]"
    return f"void {model.name}_{entry.name}({', '.join([*parameters, result])})"


def _parameter(model: Model, argument: Argument, real: str) -> str:
    if argument.kind == "clock":
        return f"int64_t {argument.name}"
    if argument.kind == "numbers":
        return f"const {model.name}_numbers *{argument.name}"
    return f"const {real} {argument.name}[{len(argument.items)}]"


def header(model: Model, real: str, reserved: Iterable[str]) -> str:
    """The header: every function, argument and number in words, with its unit."""
    guard = f"{model.name.upper()}_H"
    lines = ["/*", *(f" * {line}".rstrip() for line in model.about), " *", *_block(GENERAL), " */"]
    lines += [f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", "", *declarations(model, real, reserved)]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def declarations(model: Model, real: str, reserved: Iterable[str]) -> list[str]:
    """Types, names of items, and the functions with what they compute."""
    lines: list[str] = []
    if model.numbers:
        lines += ["/* Numbers that were left open, in the units of the file. */", "typedef struct {"]
        names = identifiers([item.name for item in model.numbers], reserved)
        for name, item in zip(names, model.numbers, strict=True):
            lines.append(f"    {real} {name};  /* {item.described}, {item.value!r} in the file */")
        lines += [f"}} {model.name}_numbers;", "", "/* The numbers of the file. */"]
        lines += [f"void {model.name}_defaults({model.name}_numbers *numbers);", ""]
    done = set()
    for entry in model.entries:
        for argument in (*entry.arguments, entry.result):
            key = "state" if argument.name == "next" else argument.name
            if key in INDEXED and key not in done:
                done.add(key)
                lines += _indices(model, key, argument)
    for entry in model.entries:
        lines += _documented(entry)
        lines += [f"{signature(model, entry, real)};", ""]
    return lines


GENERAL = (
    "Units are SI and radians. Nothing is allocated, no state is kept, and nothing is called but libm: every function may "
    "run in several threads and in interrupts. A result may lie where an argument does."
)


def _block(text: str, indent: str = "") -> list[str]:
    return [f" * {line}" for line in textwrap.wrap(text, 110, initial_indent="", subsequent_indent=indent)]


def _indices(model: Model, key: str, argument: Argument) -> list[str]:
    """The items of an array by name: an enumeration."""
    size = f"{model.name}_{key}_SIZE".upper()
    names = identifiers([f"{model.name} {item.name}" for item in argument.items])
    lines = [f"enum {model.name}_{key} {{  /* {argument.what} */"]
    for name, item in zip(names, argument.items, strict=True):
        lines.append(f"    {name.upper()},{f'  /* [{item.unit}] */' if item.unit else ''}")
    return [*lines, f"    {size}", "};", ""]


def _documented(entry: Entry) -> list[str]:
    """What a function does, and what its arguments are."""
    lines = ["/*", *_block(entry.what)]
    for argument in (*entry.arguments, entry.result):
        lines += _block(f"  {argument.described}", "      ")
    return [*lines, " */"]


def test_program(model: Model, language: Language, real: str) -> str:
    """A program that compares every function with reference values."""
    style = language.style
    lines = [f'#include "{model.name}.h"', "#include <math.h>", "#include <stdio.h>", ""]
    lines += [f"/* Compares {model.name} with reference values; prints what differs, and returns how often. */", ""]
    lines += [f"static int differ(const char *name, const {real} *found, const {real} *expected, int count)", "{"]
    lines += indented(_comparison(style, real)) + ["}", "", "int main(void)", "{", "    int wrong = 0;"]
    if model.numbers:
        lines += [f"    {model.name}_numbers numbers;", f"    {model.name}_defaults(&numbers);"]
    for case in model.cases:
        lines += indented(_case(model, case, language, real))
    lines += [
        f'    printf("{model.name}: {len(model.cases)} calls, %d wrong numbers\\n", wrong);',
        "    return wrong != 0;",
        "}",
        "",
    ]
    return "\n".join(lines)


def _comparison(style: Style, real: str) -> list[str]:
    f = "f" if style.single else ""
    unlike = "!(found[i] == expected[i])"
    if not style.own:
        unlike = f"!(fabs{f}(found[i] - expected[i]) <= {style.tolerance!r}{f} * (1 + fabs{f}(expected[i])))"
    return [
        "int wrong = 0;",
        "for (int i = 0; i < count; i++)",
        f"    if ({unlike}) {{",
        '        printf("%s[%d]: %.17g instead of %.17g\\n", name, i, (double)found[i], (double)expected[i]);',
        "        wrong++;",
        "    }",
        "return wrong;",
    ]


def _case(model: Model, case: Case, language: Language, real: str) -> list[str]:
    entry = case.entry
    lines, given = ["{"], []
    for argument, values in zip(entry.arguments, case.given, strict=True):
        if argument.kind == "numbers":
            given.append("&numbers")
        elif argument.kind == "clock":
            given.append(str(int(values[0])))
        else:
            lines.append(f"    static const {real} {argument.name}[] = {{{language.listed(values)}}};")
            given.append(argument.name)
    size = len(case.found)
    lines += [
        f"    static const {real} expected[] = {{{language.listed(case.found)}}};",
        f"    {real} found[{size}];",
        f"    {model.name}_{entry.name}({', '.join([*given, 'found'])});",
        f'    wrong += differ("{entry.name}", found, expected, {size});',
        "}",
    ]
    return lines


def makefile(model: Model, flags: Sequence[str], style: Style) -> str:
    """A Makefile: the library, and the test."""
    machine = (
        "\nifneq (,$(filter x86_64 amd64,$(shell uname -m)))\nFLAGS += -mfma\nendif" if style.fma == "hardware" else ""
    )
    return f"""\
# make: the static library; make shared: the shared one; make test: compares with reference values
CFLAGS ?= -O2
FLAGS = -std=c99 -fPIC {" ".join(flags)}{machine}

lib{model.name}.a: {model.name}.o
\t$(AR) rcs $@ $^

{model.name}.o: {model.name}.c {model.name}.h
\t$(CC) $(CFLAGS) $(FLAGS) -c -o $@ $<

shared: {model.name}.o
\t$(CC) $(CFLAGS) -shared -o lib{model.name}.so $^ -lm

test: test_{model.name}.c lib{model.name}.a
\t$(CC) $(CFLAGS) $(FLAGS) -o test_{model.name} $^ -lm
\t./test_{model.name}

clean:
\trm -f {model.name}.o lib{model.name}.a lib{model.name}.so test_{model.name}

.PHONY: shared test clean
"""


def cmake(model: Model, flags: Sequence[str], style: Style) -> str:
    """A CMakeLists.txt: the library, and the test."""
    machine = ""
    if style.fma == "hardware":
        condition = 'CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64"'
        machine = f"    if({condition})\n        target_compile_options({model.name} PRIVATE -mfma)\n    endif()\n"
    return f"""\
cmake_minimum_required(VERSION 3.13)
project({model.name} C)
set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

add_library({model.name} {model.name}.c)
target_include_directories({model.name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(MSVC)
    target_compile_options({model.name} PRIVATE /fp:precise)
else()
    target_compile_options({model.name} PRIVATE {" ".join(flags)})
{machine}    target_link_libraries({model.name} PUBLIC m)
endif()

enable_testing()
add_executable(test_{model.name} test_{model.name}.c)
target_link_libraries(test_{model.name} PRIVATE {model.name})
add_test(NAME {model.name} COMMAND test_{model.name})
"""
