"""Constraints between the keys of a document, and between its numbers: data, which checks, open numbers and the schema ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from armsim.document.paths import parse_path
from armsim.formulas.quantity import Quantity
from armsim.records import record

Entries = dict[str, Any]  # values of a document by key


class Keys(Protocol):
    """What a rule asks of a document."""

    @property
    def entries(self) -> Entries:
        """Values by key; None where a key has none."""

    def given(self, key: str) -> bool:
        """Whether a key has a value in the file."""

    def says(self, key: str) -> bool:
        """Whether a key, or one below it, has a value in the file other than 0."""


@record
class Rule:
    """A constraint between keys of a document.

    Attributes:
        key: The key whose value decides whether the rule applies; empty if none does.
        values: Values of `key` with which it applies.
        given: Keys that must have a value for it to apply.
        absent: Keys that must have none for it to apply.
        any_of: Keys of which one must have a value other than 0 for it to apply, or keys below them (`limits.voltage`).
        needs: Keys that it requires.
        without: Keys that it forbids.
        default: Keys that it forbids another value than their default.
        single: Keys that it forbids more than one number.
        each: The key of a list, if the keys that it requires and forbids are those of each item.
    """

    key: str = ""
    values: tuple[Any, ...] = ()
    given: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    single: tuple[str, ...] = ()
    each: str = ""

    def applies(self, document: Keys) -> bool:
        """Whether it applies to a document that has been read."""
        if self.key and document.entries[self.key] not in self.values:
            return False
        if not all(map(document.given, self.given)) or any(map(document.given, self.absent)):
            return False
        return not self.any_of or self.reason(document) is not None

    def reason(self, document: Keys) -> str | None:
        """The first of `any_of` that has a value other than 0; None if there is none."""
        return next(filter(document.says, self.any_of), None)


@record
class Relation:
    """A constraint between the numbers of a document.

    Attributes:
        keys: The numbers, by path below the document; it applies where all of them have values.
        conditions: Makes of the numbers, floats, arrays or expressions, conditions that all must hold.
        expected: What is valid, in words.
        at: The key at which a fault is reported; empty for the document.
    """

    keys: tuple[str, ...]
    conditions: Callable[..., Sequence[Any]]
    expected: str
    at: str = ""

    def numbers(self, document: Keys) -> list[Quantity]:
        """The numbers in a document that has been read; none where one of them has no value."""
        found: list[Any] = [document] * len(self.keys)
        for i, key in enumerate(self.keys):
            for step in parse_path(key):
                below = found[i]
                found[i] = None if below is None else below[step] if isinstance(step, int) else below.entries[step]
        return [] if None in found else found

    def holds(self, document: Keys) -> bool:
        """Whether it holds in a document that has been read, or does not apply."""
        numbers = self.numbers(document)
        return not numbers or all(self.conditions(*(number.value for number in numbers)))
