"""Exported C: dialects, compilers, sanitizers, build files, and what it promises of itself."""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

import pytest

import armsim as library
from armsim.errors import CompileError
from armsim.reports.export import report

from .conftest import STRICT, needs, succeeds

PAGE = Path(__file__).parents[2] / "docs/export.md"
SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")


@pytest.mark.parametrize("compiler", [pytest.param(name, marks=needs(name)) for name in ("gcc", "clang")])
@pytest.mark.parametrize("dialect", ["c99", "gnu17"])
@pytest.mark.handful(1)
def test_it_compiles_without_a_warning_and_its_test_passes(dialect, compiler, exported):
    folder = exported("everything", "c")
    files = ["everything.c", "test_everything.c", "-o", f"test_{compiler}_{dialect}", "-lm"]
    succeeds([compiler, f"-std={dialect}", "-O1", "-pedantic", *STRICT, *files], folder)
    assert succeeds([f"./test_{compiler}_{dialect}"], folder).endswith("0 wrong numbers\n")


@needs("g++")
def test_its_header_is_taken_by_cpp(exported, tmp_path):
    folder = exported("everything", "c")
    (tmp_path / "use.cpp").write_text('#include "everything.h"\nint main() { return EVERYTHING_STATE_SIZE == 0; }\n')
    succeeds(["g++", "-Wall", "-Wextra", "-Werror", f"-I{folder}", "-o", "use", "use.cpp"], tmp_path)
    succeeds(["./use"], tmp_path)


@needs("gcc")
@pytest.mark.slow
def test_sanitizers_find_nothing_in_a_thousand_steps(exported, tmp_path):
    folder = exported("everything", "c")
    (tmp_path / "steps.c").write_text("""\
#include "everything.h"
int main(void)
{
    double state[EVERYTHING_STATE_SIZE], row[EVERYTHING_ROW_SIZE];
    everything_begin(state);
    for (int64_t k = 0; k < 1000; k++) {
        everything_observe(k, state, row);
        everything_step(k, state, state);
    }
    return !(row[0] < 1.0);
}
""")
    files = [str(folder / "everything.c"), "steps.c", "-o", "steps", "-lm"]
    succeeds(["gcc", "-std=c99", *SANITIZED, "-ffp-contract=off", f"-I{folder}", *files], tmp_path)
    succeeds(["./steps"], tmp_path)


@needs("gcc", "make")
@pytest.mark.slow
def test_the_makefile_builds_the_libraries_and_runs_the_test(tmp_path):
    library.export("rr", "c", tmp_path, ["fd"], fma="hardware")
    assert succeeds(["make", "test", "shared"], tmp_path).count("rr: 2 calls, 0 wrong numbers") == 1
    assert (tmp_path / "librr.so").exists()


@needs("gcc", "cmake")
@pytest.mark.slow
def test_cmake_builds_it_and_its_test_passes(tmp_path):
    library.export("rr", "c", tmp_path, ["fd"])
    succeeds(["cmake", "-S", ".", "-B", "build"], tmp_path)
    succeeds(["cmake", "--build", "build"], tmp_path)
    assert "100% tests passed" in succeeds(["ctest", "--test-dir", "build"], tmp_path)


@needs("gcc")
@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="other processors always have the instruction"
)
def test_hardware_refuses_to_be_compiled_where_a_fused_multiply_add_would_be_software(tmp_path):
    library.export("rr", "c", tmp_path, ["fd"], fma="hardware")
    with pytest.raises(AssertionError, match="no fused multiply-add here: compile with -mfma"):
        succeeds(["gcc", "-std=c99", "-march=x86-64", "-c", "rr.c"], tmp_path)


@needs("gcc")
def test_fast_math_is_refused(tmp_path):
    library.export("rr", "c", tmp_path, ["fd"])
    with pytest.raises(AssertionError, match="compile without -ffast-math"):
        succeeds(["gcc", "-std=c99", "-ffast-math", "-c", "rr.c"], tmp_path)


def test_it_needs_nothing_but_libm_and_keeps_no_state(exported):
    text = (exported("everything", "c") / "everything.c").read_text()
    includes = set(re.findall(r"#include [<\"](.+?)[>\"]", text))
    assert includes <= {"everything.h", "float.h", "math.h", "string.h"}
    assert not re.search(r"malloc|^(?!static inline|static const)static|^double|^int", text, re.MULTILINE)
    calls = set(re.findall(r"\b([a-z_]+)\(", text)) - {"defined"}
    own = set(re.findall(r"^(?:static inline )?(?:void|int|double) (\w+)\(", text, re.MULTILINE))
    assert calls - own <= {"fma", "fabs", "sqrt", "memcpy", "if", "for"}


def test_the_header_names_every_state_and_input_with_its_unit(tmp_path):
    library.export("arm5", "c", tmp_path, ["fd"], dt=1e-3)
    text = re.sub(r"\s+(\* +)?", " ", (tmp_path / "arm5.h").read_text())
    assert "inputs[5]: voltages, held during the step: voltage_R1 [V], voltage_R2 [V]" in text
    assert "ARM5_QD_R4, /* [rad/s] */" in text
    assert "tau[5]: torques of the drives: tau_R1 [N·m]," in text


@needs("gcc")
@pytest.mark.slow
def test_open_numbers_are_a_structure_with_the_values_of_the_file(tmp_path):
    done = library.export("arm5_hold", "c", tmp_path, ["step"], ["control.kp", "robot.joints[R1].motor.Ra"])
    assert [item.value for item in done.numbers] == [60, 60, 60, 20, 20, 1]
    header = (tmp_path / "arm5_hold.h").read_text()
    assert "double control_kp_0;  /* control.kp[0] [V/rad], 60.0 in the file */" in header
    assert "double robot_joints_0_motor_Ra;  /* robot.joints[0].motor.Ra [ohm], 1.0 in the file */" in header
    succeeds(["make", "test"], tmp_path)


@needs("gcc")
@pytest.mark.skipif(sys.platform == "win32", reason="the name of the library")
def test_a_library_is_compiled_here_or_a_way_to_get_a_compiler_is_told(tmp_path, monkeypatch):
    done = library.export("rr", "library", tmp_path / "made", ["fk"])
    assert done.files[-1].endswith(".dylib" if sys.platform == "darwin" else "librr.so")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(
        library.UsageError, match=r"no no-such-compiler, which \$CC names\n.*install one \(apt install gcc"
    ):
        library.export("rr", "library", tmp_path / "other")
    assert not (tmp_path / "other").exists()
    monkeypatch.setenv("CC", "false")
    with pytest.raises(CompileError, match="run it yourself: false -std=c99"):
        library.export("rr", "library", tmp_path / "other")


@needs("gcc")
@pytest.mark.slow
def test_the_page_shows_what_is_written_and_its_first_program_holds_the_arm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    output = re.search(r"<!-- output: armsim export arm5 --to c -o arm5_c -->\n```text\n(.*?)```", page, re.DOTALL)[1]
    done = "\n".join(map(str, report(library.export("arm5", "c", "arm5_c"))))
    assert re.sub(r"by \S+", "by cc", done) + "\n" == output  # or another compiler
    (tmp_path / "main.c").write_text(re.search(r"```c\n(.*?)```", page, re.DOTALL)[1])
    succeeds(["gcc", "-std=c99", *STRICT, "-Iarm5_c", "main.c", "arm5_c/arm5.c", "-o", "main", "-lm"], tmp_path)
    held = library.load_robot("arm5").gravity_torque([0, -1.1, 0.3, 0, 0])[1]
    assert succeeds(["./main"], tmp_path) == f"R2 holds {held:.4f} N m\n"


@needs("avr-gcc", "avr-size")
def test_the_page_s_program_for_an_arduino_uno_is_as_small_as_it_says(tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    (tmp_path / "main.c").write_text(re.search(r"<!-- file: main.c -->\n```c\n(.*?)```", page, re.DOTALL)[1])
    library.export("two_link", "c", tmp_path / "arm", ["gravity"], single=True)
    flags = ["-std=c99", "-Os", "-Wall", "-Wextra", "-Werror", "-mmcu=atmega328p", "-ffp-contract=off", "-Iarm"]
    succeeds(["avr-gcc", *flags, "-o", "main.elf", "main.c", "arm/two_link.c", "-lm"], tmp_path)
    text = int(succeeds(["avr-size", "main.elf"], tmp_path).split()[6])
    said = int(re.search(r"The program takes (\d+) bytes", page)[1])
    assert text == pytest.approx(said, rel=0.1)  # another compiler's code differs
