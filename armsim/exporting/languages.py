"""The languages by name."""

from __future__ import annotations

from armsim.exporting.c import C
from armsim.exporting.casadi import CasADi
from armsim.exporting.fortran import Fortran
from armsim.exporting.javascript import JavaScript
from armsim.exporting.language import Language
from armsim.exporting.python import Python

LANGUAGES: dict[str, type[Language]] = {
    "c": C,
    "fortran": Fortran,
    "python": Python,
    "javascript": JavaScript,
    "casadi": CasADi,
    "library": C,
}
