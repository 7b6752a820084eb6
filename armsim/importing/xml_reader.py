"""XML as armsim reads it: elements with their lines, nothing declared, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from armsim.files.faults import refuse
from armsim.files.neighbours import look_around
from armsim.files.nodes import Place
from armsim.files.regular_file import read_regular, readable

MOST_BYTES = 10_000_000
NO_DTD = "a document type, by which a file can fetch others and grow without end"


@dataclass(slots=True, eq=False)
class Element:
    """An element.

    Attributes:
        tag: Its name, with the prefix of its namespace.
        attributes: As written.
        place: Of its start tag.
        children: The elements in it.
        text: The text in it.
    """

    tag: str
    attributes: dict[str, str]
    place: Place
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def get(self, key: str) -> str:
        """An attribute; empty where it is not given."""
        return self.attributes.get(key, "")

    def all(self, tag: str) -> list[Element]:
        """The elements in it that have a tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element:
        """The first element in it that has a tag; an empty one, which stands where it does itself, where there is none."""
        return next(iter(self.all(tag)), Element(tag, {}, self.place))

    def walk(self) -> Iterator[Element]:
        """Itself and all elements below it, in the order of the file."""
        left = [self]
        while left:
            element = left.pop()
            yield element
            left += reversed(element.children)


def read_xml(path: str, what: str) -> tuple[Element, bytes]:
    """The root of an XML file, and the bytes of the file.

    Args:
        path: The file; messages show it as given.
        what: Its kind, for example "a URDF file".

    Raises:
        FileFaults: It cannot be read, is not well-formed, or has a document type.
    """
    with readable(path, what, look_around):
        raw = read_regular(path, MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        expected, mend = f"a file of at most {MOST_BYTES // 10**6} MB", "check that it is the right file"
        raise refuse(Place(path), "", expected, "a larger one", mend)
    parser, stack = expat.ParserCreate(), [Element("", {}, Place(path))]
    parser.buffer_text = True

    def here() -> Place:
        return Place(path, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, here())
        stack[-1].children.append(element)
        stack.append(element)

    def text(data: str) -> None:
        stack[-1].text += data

    def doctype(*_: object) -> NoReturn:
        raise refuse(here(), "", f"{what} without <!DOCTYPE ...>", NO_DTD, "take it out")

    parser.StartElementHandler, parser.CharacterDataHandler = start, text
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        place = Place(path, error.lineno, error.offset + 1)
        found, mend = expat.ErrorString(error.code), "close every element, and put every attribute in quotes"
        raise refuse(place, "", "well-formed XML", found, mend) from None
    except (LookupError, ValueError) as error:  # of the encoding that it names
        raise refuse(Place(path, 1, 1), "", "text in UTF-8", str(error), "save the file as UTF-8") from None
    return stack[0].children[0], raw
