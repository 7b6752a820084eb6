"""The cache of kernels on disk: never needed, never in the way."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from armsim import expr
from armsim.compile import BatchKernel, cache
from armsim.expr import trace
from armsim.loading import read_scenario
from armsim.stability.step_advice import advice_on, key

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


def test_an_entry_under_the_name_of_another_is_compiled_anew(folder):
    expected = answer(kernel(3.0))
    (other,) = folder.iterdir()
    mine = answer(kernel(2.0))
    (entry,) = (path for path in folder.iterdir() if path != other)
    shutil.copy(other, entry)
    again = kernel(2.0)
    assert answer(again) == mine != expected
    assert not again.code.cached


def replaced_by_a_pipe(entry: Path) -> None:
    entry.unlink()
    os.mkfifo(entry)


def replaced_by_zeros_without_end(entry: Path) -> None:
    entry.unlink()
    entry.symlink_to("/dev/zero")


def made_huge(entry: Path) -> None:
    with open(entry, "r+b") as file:
        file.truncate(2**40)  # of which nothing is on disk


def shared_with_the_group(entry: Path) -> None:
    entry.chmod(0o660)


def linked_to(entry: Path) -> None:
    entry.rename(entry.parent / "elsewhere")
    entry.symlink_to("elsewhere")


@pytest.mark.skipif(sys.platform == "win32", reason="has none of these")
@pytest.mark.parametrize(
    "harm", [replaced_by_a_pipe, replaced_by_zeros_without_end, made_huge, shared_with_the_group, linked_to]
)
def test_what_is_no_file_of_the_users_own_is_neither_waited_for_nor_loaded_and_is_replaced(harm, folder):
    expected = answer(kernel())
    (entry,) = folder.iterdir()
    harm(entry)
    again = kernel()
    assert answer(again) == expected
    assert not again.code.cached
    assert entry.is_file()
    assert not entry.is_symlink()
    assert kernel().code.cached


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such mode")
def test_a_folder_that_others_may_write_is_not_used_and_it_is_said_why(folder):
    answer(kernel())
    (folder / "notes.txt").write_text("of others, who share it")
    assert cache.refusal() == ""
    for mode in (0o770, 0o702):
        folder.chmod(mode)
        assert not kernel().code.cached
        answer(kernel(5.0))
        assert folder.stat().st_mode & 0o777 == mode
        assert cache.refusal() == (
            f"{folder} belongs to others, or they may write it: chmod go-w, or name another folder in ARMSIM_CACHE_DIR"
        )
    folder.chmod(0o700)
    assert len(list(folder.iterdir())) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such mode")
def test_the_users_own_folder_of_entries_alone_is_closed_to_others_and_what_they_may_have_written_goes(folder):
    # as under umask 002, which older versions left it to
    answer(kernel(3.0))
    folder.chmod(0o775)
    assert cache.refusal() == ""
    assert not kernel(3.0).code.cached
    assert folder.stat().st_mode & 0o777 == 0o755
    answer(kernel(5.0))
    assert kernel(3.0).code.cached
    assert kernel(5.0).code.cached


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such mode")
def test_a_folder_for_everyone_like_that_of_temporary_files_stays_open(folder):
    folder.mkdir()
    folder.chmod(0o1777)
    answer(kernel())
    assert not kernel().code.cached
    assert folder.stat().st_mode & 0o7777 == 0o1777


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives files away")
@pytest.mark.parametrize("given", ["folder", "entry"])
def test_what_belongs_to_another_user_is_not_executed(given, folder):
    answer(kernel())
    (entry,) = folder.iterdir()
    os.chown({"folder": folder, "entry": entry}[given], 4711, 4711)
    assert not kernel().code.cached


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_whatever_the_umask_entries_are_the_users_own(umask, folder):
    before = os.umask(umask)
    try:
        answer(kernel())
    finally:
        os.umask(before)
    assert kernel().code.cached


@pytest.mark.parametrize("known", [b"no JSON", b"[" * 100_000, b"[1]", b"{}", b'"text"', b"null", b'{"refusal": 1}'])
@pytest.mark.handful(3)
def test_advice_that_is_none_is_worked_out_again(known, folder):
    scenario = read_scenario("arm5_hold")
    expected = advice_on(scenario)
    name = key("advice", scenario)
    cache.store(name, known)
    assert advice_on(scenario) == expected
    assert cache.load_json(name) == json.loads(json.dumps(asdict(expected)))


def test_a_full_disk_leaves_nothing_half_written(folder, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache.os, "replace", full)
    assert answer(kernel())
    assert list(folder.iterdir()) == []


def test_what_a_killed_process_left_goes_after_an_hour(folder):
    folder.mkdir(mode=0o700)
    for number, data in enumerate((b"", cache.MAGIC[:5], cache.MAGIC + b"half", b"another program's")):
        left = folder / f"{number:064x}.123"
        left.write_bytes(data)
        os.utime(left, (time.time() - 2 * cache.STALE,) * 2)
    (folder / f"{9:064x}.124").write_bytes(b"")  # someone is at it
    answer(kernel())
    assert sorted(path.name for path in folder.iterdir() if "." in path.name) == [f"{3:064x}.123", f"{9:064x}.124"]


def test_it_is_cleared_of_its_own_entries_alone(folder):
    files = foreign(folder)
    folder.chmod(0o700)
    for number in (2.0, 3.0):
        answer(kernel(number))
    sizes = [path.stat().st_size for path in folder.iterdir() if path.name not in files]
    assert cache.contents() == cache.Contents(str(folder), 2, sum(sizes), "")
    assert cache.clear() == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert cache.contents().entries == cache.clear() == 0


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


@pytest.mark.slow
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
    assert cache.folder() == expected
