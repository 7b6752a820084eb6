"""Exported models called from other languages and on another processor: Perl, Node, arm64."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import armsim

from .conftest import c_library, needs, succeeds

PLATYPUS = shutil.which("perl") and subprocess.run(["perl", "-MFFI::Platypus", "-e1"], capture_output=True, check=False)
needs_platypus = pytest.mark.skipif(not PLATYPUS or PLATYPUS.returncode != 0, reason="FFI::Platypus not installed")

PERL = """\
use strict; use warnings;
use FFI::Platypus 1.00;
my $ffi = FFI::Platypus->new(api => 1, lib => './lib.so');
$ffi->attach(arm5_begin => ['double[5]', 'double[5]', 'double[5]', 'double[18]'] => 'void');
$ffi->attach(arm5_step => ['double[18]', 'double[5]', 'double[18]'] => 'void');
my (@q, @qd, @volts, @state, @next);
while (my $line = <STDIN>) {
    my @x = split ' ', $line;
    @q = @x[0 .. 4]; @qd = @x[5 .. 9]; @volts = @x[10 .. 14];
    @state = (0) x 18;
    @next = (0) x 18;
    arm5_begin(\\@q, \\@qd, \\@volts, \\@state);
    arm5_step(\\@state, \\@volts, \\@next);
    print join(' ', map { sprintf '%.17g', $_ } @next), "\\n";
}
"""


@needs("gcc", "perl")
@needs_platypus
@pytest.mark.slow
def test_perl_gets_the_next_state_from_any_state_and_voltages(tmp_path):
    armsim.export("arm5", "c", tmp_path, ["step"], dt=1e-4)
    c_library(tmp_path, "arm5")
    rng = np.random.default_rng(8)
    q, qd, volts = rng.uniform(-1, 1, (50, 5)), rng.uniform(-4, 4, (50, 5)), rng.uniform(-24, 24, (50, 5))
    (tmp_path / "model.pl").write_text(PERL)
    given = "".join(" ".join(map(repr, row)) + "\n" for row in np.hstack([q, qd, volts]).tolist())
    done = subprocess.run(["perl", "model.pl"], cwd=tmp_path, input=given, capture_output=True, text=True, check=True)
    model = armsim.ForwardModel("arm5", 1e-4)
    expected = model.step(model.state(q, qd, volts), volts)
    np.testing.assert_array_equal([list(map(float, line.split())) for line in done.stdout.splitlines()], expected)


NODE = """\
import { begin, step, observe } from "./everything.mjs";
let state = begin();
const found = [];
for (let k = 0; k < 2000; k++) state = step(k, state);
console.log(JSON.stringify([state, observe(2000, state)]));
"""


@needs("node", "gcc")
def test_node_takes_two_thousand_steps_to_the_bits_of_c(exported):
    folder = exported("everything", "javascript")
    (folder / "walk.mjs").write_text(NODE)
    state, row = json.loads(succeeds(["node", "walk.mjs"], folder), parse_int=float)
    library = c_library(exported("everything", "c"), "everything")
    expected, expected_row = np.zeros(len(state)), np.zeros(len(row))
    library.everything_begin(expected.ctypes)
    for k in range(2000):
        library.everything_step(k, expected.ctypes, expected.ctypes)
    library.everything_observe(2000, expected.ctypes, expected_row.ctypes)
    assert state == expected.tolist()
    assert row == expected_row.tolist()


# steps without a C library: compiled for Linux on arm64, they write the state they reach
FREESTANDING = """\
#include "puma560_hold.h"
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}
void *memset(void *to, int value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((volatile char *)to)[i] = (char)value;
    return to;
}
static void call(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
}
void _start(void)
{
    double state[PUMA560_HOLD_STATE_SIZE];
    puma560_hold_begin(state);
    for (int64_t k = 0; k < 5000; k++)
        puma560_hold_step(k, state, state);
    call(64, 1, (long)state, sizeof state);
    call(93, 0, 0, 0);
}
"""


@needs("qemu-aarch64", "gcc")
@pytest.mark.skipif(find_spec("ziglang") is None, reason="ziglang is not installed")
def test_arm64_takes_the_steps_of_this_machine_to_the_bit(exported):
    folder = exported("puma560_hold", "c")
    (folder / "arm64.c").write_text(FREESTANDING)
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-musl"]
    flags = ["-O1", "-std=c99", "-ffp-contract=off", "-fno-math-errno", "-fno-stack-protector", "-c"]
    succeeds([*zig, *flags, "puma560_hold.c", "-o", "model.o"], folder)
    succeeds([*zig, *flags, "arm64.c", "-o", "arm64.o"], folder)
    succeeds([*zig, "-nostdlib", "-static", "model.o", "arm64.o", "-o", "arm64"], folder)
    done = subprocess.run(["qemu-aarch64", "./arm64"], cwd=folder, capture_output=True, check=True)
    library = c_library(folder, "puma560_hold")
    expected = np.zeros(len(done.stdout) // 8)
    library.puma560_hold_begin(expected.ctypes)
    for k in range(5000):
        library.puma560_hold_step(k, expected.ctypes, expected.ctypes)
    assert list(struct.unpack(f"<{expected.size}d", done.stdout)) == expected.tolist()
