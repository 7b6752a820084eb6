"""Pictures as users get them."""

import pytest


@pytest.fixture(autouse=True)
def empty_pictures():
    """In place of that of all other tests."""
