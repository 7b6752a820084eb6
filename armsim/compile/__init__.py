"""From expression graphs to machine code: LLVM IR, native loops, and a cache of compiled kernels on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened

if TYPE_CHECKING:
    from armsim.compile.batch import BatchKernel
    from armsim.compile.loop import SteppingLoop
    from armsim.compile.loop_body import LoopBody
    from armsim.compile.single import evaluated

__all__ = ["BatchKernel", "LoopBody", "SteppingLoop", "evaluated"]
__getattr__ = opened(
    __name__, {"batch": "BatchKernel", "loop": "SteppingLoop", "loop_body": "LoopBody", "single": "evaluated"}
)
