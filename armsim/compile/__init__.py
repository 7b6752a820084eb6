"""From expression graphs to machine code: LLVM IR, native loops, and a cache of compiled kernels on disk."""

from armsim.compile.batch import BatchKernel
from armsim.compile.loop import SteppingLoop
from armsim.compile.loop_body import LoopBody

__all__ = ["BatchKernel", "LoopBody", "SteppingLoop"]
