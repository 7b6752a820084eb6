"""The floating-point environment around compiled code.

Other libraries in the process may leave another rounding mode, or denormals flushed to zero. Compiled entry points set the
default environment of IEEE 754, and restore the caller's.
"""

from __future__ import annotations

X86_DEFAULT = 0x1F80  # round to nearest, all exceptions masked, no flush to zero


def enter_and_leave(triple: str) -> tuple[str, list[str], list[str]]:
    """Declarations, prologue and epilogue of an entry point, for a target triple."""
    if triple.startswith(("x86_64", "i386", "i686")):
        declare = "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)"
        enter = [
            "  %fpfound = alloca i32",
            "  %fpours = alloca i32",
            "  call void @llvm.x86.sse.stmxcsr(ptr %fpfound)",
            f"  store i32 {X86_DEFAULT}, ptr %fpours",
            "  call void @llvm.x86.sse.ldmxcsr(ptr %fpours)",
        ]
        return declare, enter, ["  call void @llvm.x86.sse.ldmxcsr(ptr %fpfound)"]
    if triple.startswith(("aarch64", "arm64")):
        declare = "declare i64 @llvm.aarch64.get.fpcr()\ndeclare void @llvm.aarch64.set.fpcr(i64)"
        enter = ["  %fpfound = call i64 @llvm.aarch64.get.fpcr()", "  call void @llvm.aarch64.set.fpcr(i64 0)"]
        return declare, enter, ["  call void @llvm.aarch64.set.fpcr(i64 %fpfound)"]
    return "", [], []
