"""Named arrays in a .npz file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from armsim.errors import UsageError, spelled
from armsim.files.new_file import check_output, output_file


def check_array_file(path: str, inputs: list[str], force: bool) -> None:
    """Refuse an output file that `write_arrays` must not or cannot write, before the work begins.

    Args:
        path: The output file.
        inputs: Files that are read.
        force: Whether an existing file may be replaced.

    Raises:
        UsageError: It does not end in .npz, is one of the inputs, or exists without `force`.
    """
    ending = os.path.splitext(path)[1]
    if ending != ".npz":
        raise UsageError.of(
            spelled(f"-o {path}", path),
            "a file that ends in .npz, numpy's format for arrays",
            ending or "no ending",
            f"write for example {spelled('-o linear.npz, or take --json', 'linear.npz')}",
        )
    check_output(path, inputs, force)


def write_arrays(path: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name; `numpy.load(path)` reads them back.

    Raises:
        UsageError: The file cannot be written.
    """
    import numpy as np

    with output_file(path) as file:
        np.savez(file, **arrays)
