"""Pages in a headless browser."""

from __future__ import annotations

import pytest

import armsim
from tests.viewing.browser import Browser, found


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A window of Chromium."""
    if found() is None:
        pytest.skip("no Chromium with a debugging pipe here")
    window = Browser(tmp_path_factory.mktemp("chromium"))
    yield window
    window.close()


@pytest.fixture(scope="session")
def reach():
    """A run of 1001 rows."""
    return armsim.simulate("arm5_reach", {"log.every": 5e-3})


@pytest.fixture(scope="session")
def run_page(reach, tmp_path_factory):
    """Its page."""
    path = tmp_path_factory.mktemp("run") / "run.html"
    armsim.view(reach, path)
    return path


@pytest.fixture(scope="session")
def live(tmp_path_factory):
    """The page of a scenario."""
    path = tmp_path_factory.mktemp("live") / "live.html"
    armsim.view("arm5_hold", path)
    return path


@pytest.fixture(scope="session")
def robot_page(tmp_path_factory):
    """The page of a robot."""
    path = tmp_path_factory.mktemp("robot") / "robot.html"
    armsim.view("puma560", path)
    return path
