"""`armsim completion`, and what it completes."""

from __future__ import annotations

import shutil
import subprocess

import pytest


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(armsim, shell):
    done = armsim("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert f"_ARMSIM_COMPLETE={shell}_complete" in done.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_sound_to_its_shell(armsim, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    script = armsim("completion", shell).out
    checked = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_another_shell_is_refused(armsim):
    wrong = armsim("completion", "powershell")
    assert (wrong.code, wrong.out) == (2, "")
    assert "'bash', 'zsh', 'fish'" in wrong.err


def completed(process, words: str) -> list[str]:
    done = process(_ARMSIM_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1))
    assert done.err == ""
    return [line.split(",")[1] for line in done.out.splitlines() if line.startswith("plain")]


def test_commands_options_and_names_are_completed(process):
    assert completed(process, "armsim in") == ["inverse", "info", "inertia"]
    assert completed(process, "armsim inverse arm") == ["arm5"]
    assert completed(process, "armsim simulate two_link_s") == ["two_link_swing"]
    assert set(completed(process, "armsim info two_link")) == {"two_link", "two_link_hold", "two_link_swing"}
    assert completed(process, "armsim simulate --eng") == ["--engine"]
    assert completed(process, "armsim simulate --engine p") == ["python"]


def test_files_are_completed_too(process):
    done = process(_ARMSIM_COMPLETE="bash_complete", COMP_WORDS="armsim simulate my", COMP_CWORD="2")
    assert done.out.splitlines() == ["file,my"]
