"""Long compilations: in a process of their own, with the same code, and at an end with Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from armsim import expr
from armsim.compile import BatchKernel, compiler
from armsim.compile.target import host
from armsim.expr import trace

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


def text(terms: int) -> str:
    """IR of a function of so many terms."""

    def function(x):
        y = x
        for k in range(terms):
            y = expr.sin(y * (1.0 + k) + 1.0 / (2.0 + k * y * y))
        return [y]

    return BatchKernel(trace(function, ["x"])).ir


def endless() -> str:
    """IR that would take LLVM minutes: one block, whose instructions are scheduled together."""
    lines = [f"  %x{k + 1} = fadd double %x{k}, %x{k // 2}" for k in range(400_000)]
    return "\n".join(["define double @f(double %x0) {", *lines, "  ret double %x400000", "}"])


@pytest.fixture
def ordered():
    return host()._order


def test_a_process_of_its_own_gives_the_same_code(ordered):
    ir = text(5)
    assert compiler.compiled_apart(ir, ordered) == compiler.object_code(compiler.llvm(), ir, ordered)


@pytest.mark.skipif(sys.platform == "win32", reason="makes a link")
def test_a_python_with_a_capital_as_of_macos_is_a_python(monkeypatch, ordered, tmp_path):
    (tmp_path / "Python").symlink_to(os.path.realpath(sys.executable))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "Python"))
    ir = text(2)
    assert compiler.compiled_apart(ir, ordered) == compiler.object_code(compiler.llvm(), ir, ordered)


def test_long_texts_are_compiled_apart_and_short_ones_are_not(monkeypatch):
    asked = []
    monkeypatch.setattr(compiler, "compiled_apart", lambda ir, order, progress: asked.append(ir) or b"code")
    ir = text(2)
    assert host().object_code(ir) != b"code"
    monkeypatch.setattr(compiler, "LONG", len(ir) // compiler.QUICKER - 1)  # tests compile at level 0
    assert host().object_code(ir) == b"code"
    assert asked == [ir]


@pytest.mark.parametrize(
    "broken",
    [{"executable": "/nowhere/python3"}, {"executable": ""}, {"executable": "/usr/bin/blender"}, {"frozen": True}],
)
def test_without_a_process_of_its_own_it_is_compiled_here(broken, monkeypatch, ordered):
    for name, value in broken.items():
        monkeypatch.setattr(sys, name, value, raising=False)
    monkeypatch.setattr(compiler, "LONG", 0)
    ir = text(2)
    assert compiler.compiled_apart(ir, ordered) is None
    assert host().object_code(ir) == compiler.object_code(compiler.llvm(), ir, ordered)


def test_a_process_that_fails_is_made_up_for(monkeypatch, ordered, tmp_path):
    (tmp_path / "failing.py").write_text("import sys; sys.exit(3)")
    monkeypatch.setattr(compiler, "__file__", str(tmp_path / "failing.py"))
    assert compiler.compiled_apart(text(2), ordered) is None


def children(of: int) -> list[int]:
    """The processes that a process has started."""
    with open(f"/proc/{of}/task/{of}/children") as file:
        return [int(word) for word in file.read().split()]


def ticks(process: int) -> int:
    """What a process has used of a processor, in the system's ticks."""
    with open(f"/proc/{process}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return int(user) + int(system)


def running(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@LINUX
@pytest.mark.slow
def test_ctrl_c_ends_a_compilation_and_its_process(ordered):
    ir, others = endless(), set(children(os.getpid()))  # what tests before this one have left running

    def press():
        while not (compiling := set(children(os.getpid())) - others):
            time.sleep(0.01)
        while ticks(min(compiling)) < 20:  # it is being started until then
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        compiler.compiled_apart(ir, ordered)
    presser.join()
    assert set(children(os.getpid())) <= others


@LINUX
def test_a_compilation_ends_with_the_process_that_asked_for_it(ordered, tmp_path):
    (tmp_path / "long.ll").write_text(endless())
    program = (
        "import sys; from armsim.compile import compiler; from armsim.compile.target import Target, host\n"
        "compiler.compiled_apart(open(sys.argv[1]).read(), host()._order)"
    )
    asking = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "long.ll")], env={**os.environ, "PYTHONPATH": ":".join(sys.path)}
    )
    while not (compiling := children(asking.pid)):
        time.sleep(0.01)
    asking.kill()
    asking.wait()
    while running(compiling[0]):  # for ever, if it does not end
        time.sleep(0.01)
