"""Pages in a headless browser."""

from __future__ import annotations

import pytest

import armsim
from tests.viewing.browser import Browser, found


@pytest.fixture(scope="session")
def window(tmp_path_factory):
    """A window of Chromium."""
    if found() is None:
        pytest.skip("no Chromium with a debugging pipe here")
    opened = Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()


@pytest.fixture
def browser(window):
    """The window, which draws nothing any more once the test has ended."""
    yield window
    window.call("Page.navigate", url="about:blank")


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
