"""The cache of kernels on disk: never needed, never in the way."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from armsim import expr
from armsim.compile import BatchKernel, cache
from armsim.expr import trace

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMSIM_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def answer(kernel: BatchKernel) -> list[float]:
    args, results = np.linspace(0, 1, kernel.lanes), np.empty(kernel.lanes)
    kernel([(args.ctypes.data, 8)], results.ctypes.data, kernel.lanes)
    return results.tolist()


def kernel(number: float = 2.0) -> BatchKernel:
    return BatchKernel(trace(lambda x: [expr.sin(x * number)], ["x"]))


def test_a_warm_cache_gives_the_bits_of_a_cold_one(folder):
    cold, warm, other = kernel(), kernel(), kernel(3.0)
    assert answer(cold) == answer(warm) != answer(other)
    assert [k.code.cached for k in (cold, warm, other)] == [False, True, False]
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:100],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: b"something else altogether",
        lambda data: data + b"\0",
    ],
)
def test_a_damaged_entry_is_compiled_anew_and_mended(damage, folder):
    expected = answer(kernel())
    (entry,) = folder.iterdir()
    sound = entry.read_bytes()
    entry.write_bytes(damage(sound))
    again = kernel()
    assert answer(again) == expected
    assert not again.code.cached
    assert entry.read_bytes() == sound
    assert kernel().code.cached


def test_an_entry_that_is_a_folder_is_done_without(folder):
    expected = answer(kernel())
    (entry,) = folder.iterdir()
    entry.unlink()
    entry.mkdir()
    assert answer(kernel()) == expected
    assert entry.is_dir()


@pytest.mark.parametrize("place", ["a file", "under a file", "/dev/null/kernels", "/proc/armsim"])
def test_without_a_folder_that_can_be_written_to_everything_works(place, tmp_path, monkeypatch):
    file = tmp_path / "a file"
    file.write_text("mine")
    where = {"a file": file, "under a file": file / "deeper"}.get(place, place)
    monkeypatch.setenv("ARMSIM_CACHE_DIR", str(where))
    assert answer(kernel()) == answer(kernel())
    assert not kernel().code.cached
    assert file.read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_permission_to_write_is_read_all_the_same(folder):
    expected = answer(kernel())
    folder.chmod(0o500)
    try:
        assert kernel().code.cached
        assert answer(kernel(3.0)) != expected
    finally:
        folder.chmod(0o700)


def test_a_missing_folder_is_made_for_its_owner_alone(folder):
    answer(kernel())
    assert folder.stat().st_mode & 0o777 == 0o700


def foreign(folder: Path) -> dict[str, bytes]:
    """Files that are not ours, some with names like ours."""
    files = {
        "notes.txt": b"not ours",
        "0123": b"not ours",
        hashlib.sha256(b"another program's").hexdigest(): b"another program keeps its files by their hashes, too",
        "f" * 64 + ".txt": b"not ours",
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
        os.utime(folder / name, (1, 1))  # the first to go if they were ours
    return files


def test_trimming_lets_the_longest_unused_entries_go_and_nothing_that_is_not_ours(folder, monkeypatch):
    files = foreign(folder)
    for i in range(4):
        answer(kernel(float(i + 2)))
    mine = {p.name: p.stat().st_size for p in folder.iterdir() if p.name not in files}
    by_age = sorted(mine, key=lambda name: (folder / name).stat().st_mtime_ns)
    for age, name in enumerate(by_age):
        os.utime(folder / name, (100 + age, 100 + age))
    assert kernel(2.0).code.cached  # used now, so it is not the oldest any more
    monkeypatch.setattr(cache, "LIMIT", int(2.5 * max(mine.values())) + sum(map(len, files.values())))
    answer(kernel(9.0))
    left = {p.name for p in folder.iterdir()}
    assert set(files) <= left
    assert all((folder / name).read_bytes() == data for name, data in files.items())
    assert len(left) - len(files) == 2
    assert kernel(2.0).code.cached
    assert kernel(9.0).code.cached


def test_foreign_files_are_not_read_as_entries(folder):
    folder.mkdir()
    name = cache.key("some text")
    (folder / name).write_bytes(b"\x7fELF, but not ours")
    assert cache.load(name) is None


def test_an_entry_depends_on_the_text_and_the_machine():
    assert len({cache.key("ab", "c"), cache.key("a", "bc"), cache.key("abc"), cache.key("abc", "")}) == 4


def test_processes_that_compile_the_same_kernel_at_the_same_time_all_get_it(folder):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np\n"
        "from armsim import expr\n"
        "from armsim.compile import BatchKernel\n"
        "from armsim.expr import trace\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for number in range(6):\n"
        "    k = BatchKernel(trace(lambda x: [expr.exp(x * (1 + number))], ['x']), lanes=2)\n"
        "    a, r = np.array([0.25, 0.5]), np.empty(2)\n"
        "    k([(a.ctypes.data, 8)], r.ctypes.data, 2)\n"
        "    print(*map(float.hex, r.tolist()))\n"
    )
    command = [sys.executable, "-c", program, str(ROOT)]
    piped = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    running = [subprocess.Popen(command, text=True, **piped) for _ in range(4)]
    assert [process.stdout.readline() for process in running] == ["ready\n"] * 4
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0] * 4, outputs
    assert len({out for out, _ in outputs}) == 1
    names = [p.name for p in folder.iterdir()]
    assert len(names) == 6
    assert all("." not in name for name in names)  # nothing half written is left


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"ARMSIM_CACHE_DIR": "/x/y"}, "/x/y"),
        ({"XDG_CACHE_HOME": "/x/cache"}, "/x/cache/armsim"),
        ({"HOME": "/home/someone"}, "/home/someone/.cache/armsim"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="platforms have folders of their own")
def test_the_folder_is_the_named_one_or_the_users(environment, expected, monkeypatch):
    for name in ("ARMSIM_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert str(cache.folder()) == expected
