"""The languages by name."""

from __future__ import annotations

from armsim.export.c import C
from armsim.export.casadi import CasADi
from armsim.export.fortran import Fortran
from armsim.export.javascript import JavaScript
from armsim.export.language import Language
from armsim.export.python import Python

LANGUAGES: dict[str, type[Language]] = {
    "c": C,
    "fortran": Fortran,
    "python": Python,
    "javascript": JavaScript,
    "casadi": CasADi,
    "library": C,
}
