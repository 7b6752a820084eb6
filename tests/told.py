"""Messages word for word: what tests have been told is kept in tests/messages, a file for each room, and reviewed there.

    === tests/document/test_reference.py::test_target_and_reference_exclude_each_other
    s.yaml:9:3: control.target
      expected: ...

A block is the name of a test and a text it was told; the blocks of a test are in the order of its calls of `told`.
"""

from __future__ import annotations

import difflib
import re
from itertools import groupby
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "messages"
MARK = "=== "
MEND = "If that is meant: python -m pytest {} --write-messages, and read the diff of tests/messages."


def name_of(item: pytest.Item) -> str:
    """The test's name from the repository's root, wherever pytest was started."""
    return f"{item.path.relative_to(ROOT).as_posix()}::{item.nodeid.partition('::')[2]}"


def room_of(name: str) -> str:
    """The first folder below tests, or the file that is there."""
    return name.split("/")[1].partition(".py::")[0]


class Messages:
    """The blocks of tests/messages: texts by the name of their test."""

    def __init__(self, folder: Path, writing: bool) -> None:
        self.folder = folder
        self.writing = writing
        self.blocks: dict[str, list[str]] = {}
        for path in sorted(folder.glob("*.txt")):
            _, *parts = re.split(f"^{MARK}(.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            for name, block in zip(parts[::2], parts[1::2], strict=True):
                self.blocks.setdefault(name, []).append(block.removesuffix("\n\n"))

    def leftovers(self, items: list[pytest.Item]) -> list[str]:
        """Blocks of files that were collected, or are no more, to which no test is told anything."""
        files = {name_of(item).partition("::")[0] for item in items}
        tests = {name_of(item) for item in items if "told" in getattr(item, "fixturenames", ())}
        of_files = {name: name.partition("::")[0] for name in self.blocks if name not in tests}
        return [
            name for name, file in of_files.items() if file in files or not (self.folder.parents[1] / file).exists()
        ]

    def write(self) -> None:
        self.folder.mkdir(exist_ok=True)
        for path in self.folder.glob("*.txt"):
            path.unlink()
        names = sorted(self.blocks, key=lambda name: (room_of(name), name))
        for room, of_room in groupby(names, room_of):
            texts = [f"{MARK}{name}\n{text}\n\n" for name in of_room for text in self.blocks[name]]
            (self.folder / f"{room}.txt").write_text("".join(texts), encoding="utf-8", newline="\n")


class Told:
    """Compares texts with the blocks of a test, or makes them its blocks."""

    def __init__(self, name: str, messages: Messages) -> None:
        self.name = name
        self.messages = messages
        self.texts: list[str] = []

    def __call__(self, message: object) -> None:
        text = str(message)
        assert not re.search(f"^{MARK}", text, flags=re.MULTILINE)
        self.texts.append(text)
        kept = self.messages.blocks.get(self.name, [])[len(self.texts) - 1 :][:1]
        if kept != [text] and not self.messages.writing:
            old, new = ([f"{line}\n" for line in "".join(of).split("\n")] for of in (kept, [text]))
            self.fail("is not told what tests/messages has (-), but (+):\n\n" + "".join(difflib.ndiff(old, new)))

    def close(self) -> None:
        """At the end of a test that passes."""
        if self.messages.writing:
            self.messages.blocks[self.name] = self.texts
        elif len(self.messages.blocks.get(self.name, [])) != len(self.texts):
            self.fail("is not told all that tests/messages has of it.")

    def fail(self, what: str) -> None:
        pytest.fail(f"{self.name} {what}\n" + MEND.format(self.name.partition("::")[0]), pytrace=False)


class Leftover(pytest.Item):
    """Fails: a block without a test."""

    def runtest(self) -> None:
        folder = self.name.partition("::")[0].rpartition("/")[0]
        pytest.fail(f"tests/messages has {self.name}, which is told nothing.\n" + MEND.format(folder), pytrace=False)


def pytest_addoption(parser):
    parser.addoption(
        "--write-messages", action="store_true", help="write tests/messages anew, from what the tests that run are told"
    )


MESSAGES = pytest.StashKey[Messages]()


def pytest_configure(config):
    writing = config.option.write_messages
    if writing and getattr(config.option, "dist", "no") != "no":
        raise pytest.UsageError("--write-messages takes one process: leave out -n")
    config.stash[MESSAGES] = Messages(FOLDER, writing)


@pytest.hookimpl(tryfirst=True)  # before any are deselected
def pytest_collection_modifyitems(session, config, items):
    messages = config.stash[MESSAGES]
    if config.getoption("lf", False) or any("::" in arg for arg in config.args):
        return  # not all tests of a file
    for name in messages.leftovers(items):
        if messages.writing:
            del messages.blocks[name]
        else:
            items.append(Leftover.from_parent(session, name=name))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    result = yield
    for fixture in getattr(item, "funcargs", {}).values():
        if isinstance(fixture, Told):
            fixture.close()
    return result


def pytest_sessionfinish(session):
    messages = session.config.stash[MESSAGES]
    if messages.writing and not session.config.option.collectonly:
        messages.write()


@pytest.fixture
def told(request):
    """Compares a message with this test's block in tests/messages: the next one at each call."""
    return Told(name_of(request.node), request.config.stash[MESSAGES])
