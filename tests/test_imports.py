"""The picture that the imports make: no circles, no drawers, no module that is too long to read."""

from __future__ import annotations

import ast
import tokenize
from functools import cache
from importlib import import_module
from pathlib import Path

import armsim
from armsim.document.base import Document

ROOT = Path(armsim.__file__).parent
BUDGET = 641_528
COUNTED = (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)


def modules() -> dict[str, Path]:
    """All modules of armsim by name."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        if "shipped" not in parts:
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


@cache
def statements() -> dict[str, list[ast.Import | ast.ImportFrom | ast.ClassDef]]:
    """Imports and classes of all modules, by module; classes without their bodies."""
    found = {}
    for name, path in modules().items():
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        found[name] = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef))]
        for node in found[name]:
            if isinstance(node, ast.ClassDef):
                node.body = []
    return found


def imports(name: str, known: dict[str, Path]) -> set[str]:
    """What a module imports from armsim when it is itself imported; what it imports later, or for its types alone, too."""
    found = set()
    for node in statements()[name]:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {
                inner if (inner := f"{node.module}.{alias.name}") in known else node.module for alias in node.names
            }
    return {other for other in found if other in known and other != name}


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The strongly connected parts of a graph with more than one node (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            part = set()
            while node not in part:
                part.add(stack.pop())
            if len(part) > 1:
                found.append(part)

    for node in graph:
        if node not in order:
            visit(node)
    return found


def test_no_module_imports_itself_by_way_of_others():
    known = modules()
    graph = {name: imports(name, known) for name in known}
    graph["armsim"] = set()  # the public names, which are imported when they are asked for
    assert circles(graph) == []


def test_no_room_imports_itself_by_way_of_others():
    known = modules()

    def room(name: str) -> str:
        return ".".join(name.split(".")[:2])

    graph: dict[str, set[str]] = {room(name): set() for name in known}
    for name in known:
        if name != "armsim":
            graph[room(name)] |= {room(other) for other in imports(name, known)} - {room(name), "armsim"}
    assert circles(graph) == []


def test_armsim_as_a_whole_keeps_to_its_budget():
    counts = {name: tokens(path) for name, path in modules().items()}
    assert sum(counts.values()) <= BUDGET, sorted(counts.items(), key=lambda pair: -pair[1])[:20]


def tokens(path: Path) -> int:
    """Names, operators, numbers and strings of a module, docstrings as one each."""
    with open(path, encoding="utf-8") as file:
        return sum(token.type in COUNTED for token in tokenize.generate_tokens(file.readline))


def test_one_name_means_one_class_but_for_documents_which_are_named_with_their_package():
    homes: dict[str, list[str]] = {}
    documents = set()
    for name, nodes in statements().items():
        for node in nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                document = name.startswith("armsim.document.") and issubclass(
                    getattr(import_module(name), node.name), Document
                )
                documents |= {node.name} if document else set()
                homes.setdefault(f"document.{node.name}" if document else node.name, []).append(name)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}
    assert {"Joint", "Motor", "Scenario"} < documents
    bare = {
        f"{name}: {alias.name}"
        for name, nodes in statements().items()
        if not name.startswith("armsim.document")
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("armsim.document.")
        for alias in node.names
        if alias.name in documents - {"Document"}
    }
    assert bare == set()
