"""Pages in a headless browser."""

from __future__ import annotations

import pytest

from tests.viewing.browser import Browser, found


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A window of Chromium."""
    if found() is None:
        pytest.skip("no Chromium with a debugging pipe here")
    window = Browser(tmp_path_factory.mktemp("chromium"))
    yield window
    window.close()
