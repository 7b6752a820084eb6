"""The languages by name."""

from __future__ import annotations

from armsim.export.c import C
from armsim.export.fortran import Fortran
from armsim.export.language import Language

LANGUAGES: dict[str, type[Language]] = {
    "c": C,
    "fortran": Fortran,
    "library": C,
}
