"""Messages are those of the command line here, options and all; tests/test_notebook.py has those of the library."""

import pytest

from armsim.errors import spoken_in_shell


@pytest.fixture(autouse=True)
def _in_a_shell():
    with spoken_in_shell():
        yield
