"""Texts of users, names above all, made safe in other languages: nothing in them ends or begins anything there."""

from __future__ import annotations

from armsim.errors import visible

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "_": r"\_",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "²": r"\textsuperscript{2}",
    "·": r"$\cdot$",
    "π": r"$\pi$",
}
MARKDOWN = {**{mark: f"\\{mark}" for mark in "\\`*[]|$~"}, "&": "&amp;", "<": "&lt;", ">": "&gt;"}


def in_comment(text: str) -> str:
    r"""Text for a comment or docstring of C, Fortran, Python or JavaScript, in one line.

    Backslashes, which continue lines, escape in docstrings and end a comment after a star, are slashes;
    quotes are single, and `*/`, `/*` and `??` are taken apart.
    """
    plain = visible(text).translate({ord("\\"): "/", ord('"'): "'", ord("`"): "'"})
    for opening in ("*/", "/*", "??"):
        while opening in plain:
            plain = plain.replace(opening, " ".join(opening))
    return plain


def in_latex(text: str) -> str:
    """Text for LaTeX."""
    return "".join(LATEX.get(x, x) for x in visible(text))


def in_markdown(text: str) -> str:
    """Text for Markdown, in one line."""
    return "".join(MARKDOWN.get(x, x) for x in visible(text))


def in_html(text: str, kept: str = "") -> str:
    """Text for HTML, in quotes too.

    Args:
        text: Any text.
        kept: Control characters that stay, for example line ends.
    """
    from html import escape

    return escape(visible(text, kept))
