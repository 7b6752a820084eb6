"""The strict loader: what scalars mean, where they stand, what is refused, and what it costs."""

import contextlib

import pytest

from armsim.errors import FileFaults
from armsim.files.nodes import Map, Seq
from armsim.files.yaml_reader import _PythonParser, parse_value, parse_yaml, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3), ("1e5", 1e5), ("1E5", 1e5), (".5", 0.5), ("5.", 5.0), ("+1", 1.0), ("-1.5e+3", -1500.0),
        ("010", 10.0), ("0", 0.0), ("-.inf", float("-inf")), (".inf", float("inf")), ("+.Inf", float("inf")),
        ("on", "on"), ("off", "off"), ("yes", "yes"), ("no", "no"), ("y", "y"), ("n", "n"), ("1:30", "1:30"),
        ("0x10", "0x10"), ("0o17", "0o17"), ("1_000", "1_000"), ("2026-11-20", "2026-11-20"), ("e5", "e5"), (".", "."),
        ("true", True), ("True", True), ("false", False), ("null", None), ("~", None), ("", None),
        ("'1'", "1"), ('"true"', "true"), ("-pi/2", "-pi/2"),
    ],
)  # fmt: skip
def test_a_scalar_means_what_an_engineer_expects(text, value):
    node = parse_yaml(f"a: {text}", "f.yaml").get("a")
    assert (None if node is None else node.value) == value
    assert node is None or type(node.value) is type(value)


def test_every_value_knows_its_line_and_column():
    root = parse_yaml("# comment\na: 1\nb:\n  - x: [10, é, 30]\n", "f.yaml")
    assert isinstance(root, Map)
    assert str(root.get("a").place) == "f.yaml:2:4"
    items = root.get("b").items[0].get("x")
    assert isinstance(items, Seq)
    assert [str(item.place) for item in items.items] == ["f.yaml:4:9", "f.yaml:4:13", "f.yaml:4:16"]


def test_an_alias_stands_for_its_anchor():
    root = parse_yaml("a: &x [1, 2]\nb: *x\n", "f.yaml")
    assert root.get("b") is root.get("a")


def test_the_value_of_an_option_is_one_line_of_yaml():
    assert parse_value("-0.5", "--set a").value == -0.5
    assert [item.value for item in parse_value("[1, pi]", "--set a").items] == [1, "pi"]
    assert parse_value("", "--set a").value == ""


REFUSED = {
    "an empty file": "",
    "a comment alone": "# only a comment\n",
    "a colon too many": "a: b: c",
    "an item further left": "a: 1\nb:\n  - c\n d: 2",
    "no closing bracket": "a: [1, 2",
    "no closing quote": "a: 'abc",
    "a tab before an item": "a:\n\t- 1",
    "a tab before a comment": "a: 1\t# x",
    "a control character": "a: \x01",
    "a byte of no UTF-8": b"a: 1\nb: \xff",
    "UTF-16": "a: b".encode("utf-16"),
    "a Python object": "a: !!python/object:os.system {}",
    "a tag": "a: !!str 5",
    "two documents": "--- {a: 1}\n--- {b: 2}",
    "an alias of nothing": "a: *x",
    "an alias of what it is in": "a: &x [*x]",
    "a list for a key": "? [a]\n: 2",
    "a key twice": "a: 1\nb: {c: 1, c: 2}",
    "levels upon levels": "[" * 50,
    "many values": "a: [" + "1," * 30_000 + "]",
    "a large file": "#" * 1_000_001,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_our_yaml_is_refused_with_its_place(name, told):
    with pytest.raises(FileFaults) as caught:
        parse_yaml(REFUSED[name], "f.yaml")
    told(caught.value)


def test_messages_do_not_depend_on_the_parser(monkeypatch):
    def messages():
        out = []
        for raw in REFUSED.values():
            with pytest.raises(FileFaults) as caught:
                parse_yaml(raw, "f.yaml")
            out.append(str(caught.value))
        return out

    fast = messages()
    monkeypatch.setattr("armsim.files.yaml_reader._CParser", None)
    assert messages() == fast


def test_both_parsers_read_the_same_nodes(monkeypatch):
    from armsim.files.shipped import shipped_path

    def leaves(node):
        if isinstance(node, Map):
            return {key: (place, leaves(value)) for key, (place, value) in node.entries.items()}
        return [leaves(item) for item in node.items] if isinstance(node, Seq) else (node.value, node.place)

    path = shipped_path("robots", "arm5")
    fast = leaves(read_yaml(path)[0])
    monkeypatch.setattr("armsim.files.yaml_reader._CParser", None)
    assert leaves(read_yaml(path)[0]) == fast
    assert issubclass(_PythonParser, object)


HOSTILE = {
    "brackets": "[" * 900_000,
    "braces": "{a: " * 200_000,
    "dashes": "- " * 400_000,
    "question marks": "? " * 400_000,
    "an open quote": "'" + "a\n" * 400_000,
    "a broken end": "#" * 900_000 + "\na: b: c",
    "an endless word": "a" * 900_000,
    "many items": "[" + "1," * 400_000 + "]",
    "many keys": "".join(f"k{i}: 1\n" for i in range(90_000)),
    "laughs": "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "anchors": "&a " * 300_000,
    "colons": ": " * 400_000,
    "block": "a: |\n" + " x\n" * 300_000,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.handful(7)
def test_no_hostile_file_costs_much(name, work):
    def attempt() -> None:
        with contextlib.suppress(FileFaults):
            parse_yaml(HOSTILE[name], "f.yaml")

    assert work(attempt) < 1_000_000  # what grows with the square takes far more
