"""LLVM IR to object code; where that takes long, in a process of its own, which Ctrl-C can end: LLVM itself hears nothing.

As a program, this reads an order, a line of JSON, and IR, and writes object code. It needs llvmlite alone, and ends when its
standard input does, so that none is left of an armsim that was killed.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from typing import Any

LONG = 500_000  # characters of IR that take LLVM about a second, ten times as long as the start of a process
RATE = 350_000.0  # characters of IR a second of texts three times as long; for the estimate that a terminal shows
QUICKER = 4  # times as fast is level 0
LOOK = 0.1  # s between looks at Ctrl-C, where the system does not interrupt waiting


@dataclass(frozen=True)  # no record: a process of its own runs this file without armsim
class Order:
    """What to compile for.

    Attributes:
        triple: LLVM's target triple.
        cpu: LLVM's name of the processor.
        features: LLVM's feature string.
        optimisation: Level of the code generator.
        placement: Code model and relocation model; empty for LLVM's default.
        foreign: Whether the platform may be another one than this process's.
    """

    triple: str
    cpu: str
    features: str
    optimisation: int
    placement: dict[str, str]
    foreign: bool


def llvm() -> Any:
    """llvmlite's binding, with the native target ready."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def machine(binding: Any, order: Order) -> Any:
    """A fresh target machine; an execution engine takes ownership of it."""
    if order.foreign:
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
    target = binding.Target.from_triple(order.triple)
    return target.create_target_machine(
        cpu=order.cpu, features=order.features, opt=order.optimisation, jit=True, **order.placement
    )


def object_code(binding: Any, ir: str, order: Order) -> bytes:
    """Object code for a module of LLVM IR.

    Raises:
        RuntimeError: LLVM refuses it.
    """
    module = binding.parse_assembly(ir)
    module.verify()
    return bytes(machine(binding, order).emit_object(module))


def compiled_apart(ir: str, order: Order, progress: Any = None) -> bytes | None:
    """The same code, from a process of its own; None where there can be none, or it fails, for whatever reason.

    Args:
        ir: A module of LLVM IR.
        order: What to compile it for.
        progress: Called, unless None, every `LOOK` with the looks so far, and with about how many there will be.

    Raises:
        KeyboardInterrupt: Ctrl-C, and the process is ended.
    """
    program = os.path.basename(sys.executable or "").lower()  # `Python` where it is a framework of macOS
    if getattr(sys, "frozen", False) or not program.startswith("python"):
        return None  # another program would be started
    import subprocess

    text = ir.encode()
    head = json.dumps({"path": sys.path, "length": len(text), "order": asdict(order)}).encode()
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        process = subprocess.Popen([sys.executable, "-I", "-S", __file__], creationflags=flags, **piped)  # type: ignore[call-overload]
    except OSError:
        return None
    looks, about = 0, int(len(ir) / RATE / LOOK / (1 if order.optimisation else QUICKER))
    order_pipe, process.stdin = process.stdin, None  # which stays open: the process ends with it
    try:
        order_pipe.write(head + b"\n" + text)
        order_pipe.flush()
        while True:
            try:
                code: bytes = process.communicate(timeout=LOOK)[0]
                return code if process.returncode == 0 else None
            except subprocess.TimeoutExpired:
                looks += 1
                if progress is not None:
                    progress(min(looks, about), about)
    except OSError:
        return None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        try:
            order_pipe.close()
        except OSError:
            pass


def _serve() -> None:
    """Carry out one order."""
    import threading

    asked = json.loads(sys.stdin.buffer.readline())
    ir = sys.stdin.buffer.read(asked["length"]).decode()
    sys.path[:] = asked["path"]
    threading.Thread(target=lambda: sys.stdin.buffer.read() or os._exit(1), daemon=True).start()
    sys.stdout.buffer.write(object_code(llvm(), ir, Order(**asked["order"])))
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    _serve()
