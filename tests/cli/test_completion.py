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


@pytest.fixture
def completed(empty_folder, monkeypatch, capsys):
    """What is offered behind some words."""
    from armsim.cli.main import cli

    def offered(words: str) -> list[str]:
        asked = {"_ARMSIM_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
        for name, value in asked.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit):
            cli.main([], prog_name="armsim")
        out, err = capsys.readouterr()
        assert err == ""
        return [line.split(",")[1] for line in out.splitlines() if line.startswith("plain")]

    return offered


def test_commands_options_and_names_are_completed(completed):
    assert completed("armsim in") == ["inverse", "info", "inertia"]
    assert completed("armsim inverse arm") == ["arm5", "arm5_gripper"]
    assert completed("armsim simulate two_link_s") == ["two_link_swing"]
    assert set(completed("armsim info two_link")) == {"two_link", "two_link_hold", "two_link_swing"}
    assert completed("armsim simulate --eng") == ["--engine"]
    assert completed("armsim simulate --engine p") == ["python"]


def test_files_are_completed_too(process):
    done = process(_ARMSIM_COMPLETE="bash_complete", COMP_WORDS="armsim simulate my", COMP_CWORD="2")
    assert done.out.splitlines() == ["file,my"]


LIMITS = ["control.limit", "control.limit[0]", "control.limit[1]"]


def test_integrators_joints_and_paths_of_values_are_completed(completed):
    assert completed("armsim converge two_link_hold --method rk") == ["rk4", "rk54"]
    assert completed("armsim replay recording --method vel") == ["velocity_verlet", "velocity_implicit"][::-1]
    assert completed("armsim advance arm5 --method ") == ["rk54", "rodas"]
    assert completed("armsim motor two_link --joint e") == ["elbow"]
    assert completed("armsim simulate two_link_hold --set control.k") == [
        f"control.{gain}{item}=" for gain in ("kp", "ki", "kd") for item in ("", "[0]", "[1]")
    ]
    assert completed("armsim simulate arm5_hold --deg --set duration=2 --set robot.joints[R2].motor.K") == [
        "robot.joints[R2].motor.Kp=",
        "robot.joints[R2].motor.Ke=",
    ]
    assert completed("armsim converge two_link_hold --method a") == ["all"]
    assert completed("armsim info arm5 --set parameters.") == [
        f"parameters.{name}=" for name in ("upper", "fore", "stop", "bumper")
    ]
    assert completed("armsim record two_link_hold --unset control.l") == ["control.law", *LIMITS]
    assert completed("armsim docs m") == ["motors", "measures"]


def test_files_that_cannot_be_read_complete_nothing(completed, empty_folder):
    (empty_folder / "broken.yaml").write_text("format: armsim/scenario/1\nrobot: [")
    for words in (
        "simulate broken.yaml --set co",
        "simulate nowhere --set co",
        "motor broken.yaml --joint ",
        "motor --joint ",
    ):
        assert completed(f"armsim {words}") == []


def test_bash_puts_no_space_behind_a_path_that_takes_a_value(armsim, empty_folder):
    script = armsim("completion", "bash").out
    (empty_folder / "armsim.bash").write_text(script)
    (empty_folder / "armsim").write_text("#!/bin/sh\necho plain,$ANSWER\n")
    (empty_folder / "armsim").chmod(0o755)
    told = {}
    for answer in ("control.kp=", "rk4"):
        line = f"compopt() {{ echo $*; }}; source ./armsim.bash; ANSWER={answer}; export ANSWER; "
        line += "COMP_WORDS=(./armsim x); COMP_CWORD=1; _armsim_completion ./armsim; echo $COMPREPLY"
        told[answer] = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout
    assert told == {"control.kp=": "-o nospace\ncontrol.kp=\n", "rk4": "rk4\n"}
