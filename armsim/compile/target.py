"""LLVM as a just-in-time compiler: target machines, object code, loaded functions."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from armsim.compile import compiler
from armsim.compile.compiler import Order
from armsim.compile.tables import resolved
from armsim.errors import CompileError, spelled
from armsim.progress import shown
from armsim.records import record

if TYPE_CHECKING:
    from armsim.expr import Table

VARIABLE = "ARMSIM_OPTIMISATION"
# of LLVM's code generator: 0 takes a third of the time of 1, for code of half the speed; 2 a sixth longer, for code as quick, and
# likewise passes over IR. The bits of results are the same.
LEVELS = {"0": 0, "1": 1, "2": 2}


def optimisation() -> int:
    """The level of LLVM's code generator: that in the environment variable `ARMSIM_OPTIMISATION`, or 1."""
    return LEVELS.get(os.environ.get(VARIABLE, ""), 1)


def is_open() -> bool:
    """Whether `ARMSIM_OPTIMISATION` leaves the level to armsim."""
    return os.environ.get(VARIABLE) not in LEVELS


@lru_cache(maxsize=1)
def llvm() -> Any:
    """llvmlite's binding, with the native target ready."""
    try:
        return compiler.llvm()
    except ImportError as error:
        without = spelled("--engine python", 'engine="python"')
        raise CompileError(f"LLVM cannot be loaded ({error}); `{without}` does without it") from None


@record
class Target:
    """A machine to compile for.

    Attributes:
        cpu: LLVM's name of the processor; "" for the host's own.
        features: LLVM's feature string; ignored for the host's own.
        platform: LLVM's target triple; "" for that of this process.
        optimisation: Level of LLVM's code generator; results do not depend on it.
    """

    cpu: str = ""
    features: str = ""
    platform: str = ""
    optimisation: int = field(default_factory=optimisation)

    @cached_property
    def triple(self) -> str:
        return self.platform or str(llvm().get_process_triple())

    @cached_property
    def _processor(self) -> tuple[str, str]:
        if self.cpu:
            return self.cpu, self.features
        return llvm().get_host_cpu_name(), llvm().get_host_cpu_features().flatten()

    @cached_property
    def key(self) -> str:
        """All that object code depends on besides its IR."""
        binding = llvm()
        import llvmlite

        versions = (llvmlite.__version__, binding.llvm_version_info, self.optimisation, self.compact)
        return repr((versions, self.triple, *self._processor))

    @property
    def quick(self) -> Target:
        """The same for code that is soon made, and takes twice as long."""
        return replace(self, optimisation=0)

    @cached_property
    def register(self) -> int:
        """Doubles in a vector register."""
        features = f"{self._processor[1]},"
        return 8 if "+avx512f," in features else 4 if "+avx," in features else 2

    @cached_property
    def compact(self) -> bool:
        """Whether code is of the small code model and position-independent: it and its constants lie within 2 GB.

        PC-relative addresses are 8 % faster on x86-64 than absolute ones. llvmlite's memory manager keeps the sections together,
        but has no stubs for the calls to the C library that a processor without fused multiply-add needs; elsewhere LLVM's
        default stands.
        """
        return self.triple.startswith("x86_64") and "linux" in self.triple and "+fma," in f"{self._processor[1]},"

    @cached_property
    def _order(self) -> Order:
        placement = {"codemodel": "small", "reloc": "pic"} if self.compact else {}
        return Order(self.triple, *self._processor, self.optimisation, placement, bool(self.platform))

    def machine(self) -> Any:
        """A fresh target machine; an execution engine takes ownership of it."""
        return compiler.machine(llvm(), self._order)

    def object_code(self, ir: str) -> bytes:
        """Object code for a module of LLVM IR; Ctrl-C is heard after a second at most."""
        binding, effort = llvm(), len(ir) if self.optimisation else len(ir) // compiler.QUICKER
        if effort > compiler.LONG:
            with shown(f"compiling the equations of motion, once, about {effort / compiler.RATE:.0f} s") as progress:
                code = compiler.compiled_apart(ir, self._order, progress)
            if code is not None:
                return code
        try:
            return compiler.object_code(binding, ir, self._order)
        except RuntimeError as error:
            raise CompileError(f"LLVM refused a kernel of armsim's, which is a fault of armsim: {error}") from None


class Library:
    """Object code loaded into this process.

    Args:
        code: As `Target.object_code` gives it.
        target: What it was compiled for.
        tables: Gives the tables that it looks up; called only if there are any.
        cached: Whether it came from the cache on disk.

    Attributes:
        size: Bytes of the code.
    """

    def __init__(
        self, code: bytes, target: Target, tables: Callable[[], Iterable[Table]] = tuple, cached: bool = False
    ) -> None:
        binding = llvm()
        self.cached, self.size = cached, len(code)
        self._engine = binding.create_mcjit_compiler(
            binding.parse_assembly(""), target.machine(), use_lmm=target.compact or None
        )
        self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self._tables = resolved(code, tables, self._engine.get_global_value_address)

    def function(self, name: str, result: Any, *args: Any) -> Callable[..., Any]:
        """A function of the library, callable through ctypes."""
        address = self._engine.get_function_address(name)
        if not address:
            raise CompileError(f"the kernel has no function {name}")
        function: Any = ctypes.CFUNCTYPE(result, *args)(address)
        function.library = self  # the code lives as long as the function
        return function


@lru_cache(maxsize=1)
def host() -> Target:
    """The machine that armsim runs on."""
    return Target()
