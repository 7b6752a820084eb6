"""`armsim view` and `armsim report`: pages that are written, served and opened."""

from __future__ import annotations

import signal
import sys
import urllib.request
import webbrowser

import pytest

from tests.cli.test_simulate import HEEDING_CTRL_C


def test_a_page_is_written_under_the_name_of_what_it_shows_and_opened(armsim, empty_folder, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    shown = armsim("view", "rr", "--open")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("written  rr.html, 0.")
    assert opened == [(empty_folder / "rr.html").resolve().as_uri()]


def test_without_a_browser_the_address_is_told(armsim, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    shown = armsim("view", "rr", "--open", "-q")
    assert (shown.code, shown.out) == (0, "")
    assert shown.err.startswith("! no browser is known here; open file://")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
@pytest.mark.slow
def test_ctrl_c_ends_serving_well_and_no_file_is_left(start, empty_folder):
    served = start("view", "rr", "--port", "0", python=("-c", HEEDING_CTRL_C))
    word, address, *rest = served.stdout.readline().split()
    assert (word, " ".join(rest)) == ("serving", "to this machine; Ctrl-C ends it")
    with urllib.request.urlopen(address, timeout=60) as page:
        assert page.read().startswith(b"<!DOCTYPE html>")
    served.send_signal(signal.SIGINT)
    out, err = served.communicate(timeout=60)
    assert (served.returncode, out, err) == (0, "", "")
    assert list(empty_folder.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("payload.mass=1", "found:    1\n"),
        ("payload.mass=0:1:2", "found:    0:1:2\n"),
        ("payload.mass=a:2", 'found:    "a"'),
        ("payload.mass=2:1", "found:    2 and 1\n"),
        ("integrator.dt", "part of the structure"),
    ],
)
def test_a_slider_needs_a_number_and_two_ends_in_order(armsim, empty_folder, text, found):
    shown = armsim("view", "arm5_hold", "--slider", text)
    assert shown.code == 2
    assert found in shown.err
    assert list(empty_folder.iterdir()) == []


def test_runs_and_studies_have_reports_under_their_names(armsim, empty_folder):
    armsim("simulate", "two_link_swing", "--set", "duration=0.02", "-o", "run", "-q")
    armsim("sweep", "two_link_hold", "--vary", "control.kp[0]=20,40", "--set", "duration=0.02", "-o", "study", "-q")
    for folder in ("run", "study"):
        assert armsim("report", folder).out.startswith(f"written  {folder}.html, ")
    assert armsim("report", "study", "--by", "no", "-o", "other.html").code == 2
    assert not (empty_folder / "other.html").exists()
