"""Arrays of numbers in one file, as numpy keeps them (.npz)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from armsim.errors import UsageError
from armsim.files.new_file import refuse_to_overwrite, whole_file


def check_array_file(path: str, inputs: list[str], force: bool) -> None:
    """Refuse a file that cannot be what is asked for, before anything else is done.

    Args:
        path: Where the arrays are to go.
        inputs: Files that are read.
        force: Whether it may replace one that exists.

    Raises:
        UsageError: It does not end in .npz, or is not to be written.
    """
    ending = os.path.splitext(path)[1]
    if ending != ".npz":
        raise UsageError.of(
            f"-o {path}",
            "a file that ends in .npz, numpy's format for arrays",
            ending or "no ending",
            "write for example -o linear.npz, or take --json",
        )
    refuse_to_overwrite(path, inputs, force)


def write_arrays(path: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name; `numpy.load(path)` has them again.

    Raises:
        UsageError: The file cannot be written.
    """
    import numpy as np

    try:
        with whole_file(path) as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise UsageError.of(
            f"-o {path}",
            "a file that can be written",
            error.strerror or str(error),
            "check the folder and its permissions",
        ) from None
