"""The documentation's pages, as they come with armsim."""

from __future__ import annotations

import os

from armsim.errors import UsageError
from armsim.files.faults import suggestion
from armsim.files.shipped import FOLDERS

PAGES = {  # in the order in which a newcomer reads them
    "readme": "What armsim is and what it is not; install, first run, where to read on.",
    "your-arm": "From a DH table and a motor's data sheet to a pose that is held.",
    "files": "Robot and scenario files: every key, and the traps of DH tables and inertias.",
    "inverse_kinematics": "Joint positions for poses of the tool, and why there are none.",
    "motors": "Motors from their data sheets; their equations and limits.",
    "friction": "Dry friction: its law, and what the model leaves out.",
    "forces": "Forces from outside, also as expressions of the motion, at named frames; springs at joints.",
    "contact": "Contact with floors, tables and terrain: normal forces, friction, events.",
    "robots": "Robots that come with armsim: pictures, sources, known faults.",
    "trees": "Grippers, couplings, two arms: parents of joints, and joints that mimic others.",
    "import": "Robots of other programs: URDF, MJCF; what is read, what is not.",
    "payloads": "What frames carry; bodies that are picked up and put down.",
    "collision": "The world around an arm; distances and collisions, also between rows.",
    "control": "Laws of feedback, feedforward, encoders, delay, and laws of your own.",
    "references": "Motions to follow: points, limits, oscillations, formulas, files.",
    "integrators": "How time advances, and which method to take.",
    "accuracy": "What armsim says of steps and errors, and how often it was right.",
    "assignment": "The 2R arm of an assignment in five configurations: plots and GIFs.",
    "python": "armsim in Python, and in notebooks.",
    "columns": "Every column of trajectory.csv and torque.csv.",
    "measures": "Numbers that a run comes down to, and formulas of them.",
    "batches": "Thousands of runs at once, and numbers that are left open.",
    "studies": "Studies: grids and draws of a scenario's numbers, a row a run, resumed after a kill.",
    "cluster": "Studies on many machines: dask, SLURM, Kubernetes.",
    "tuning": "Tuning: gains, or any numbers, sought by what their runs come to; where they hold, and why not.",
    "plan": "Motions planned ahead: to a target at the least cost within all limits; feedback along them.",
    "export": "The model as C, Fortran, Python, JavaScript or CasADi, bit by bit; robots as URDF and MJCF.",
    "view": "Pages that show an arm in three dimensions, and run it.",
    "logs": "Logs of real machines: columns, formulas of them, units, missing cells.",
    "identify": "An arm's numbers from logs, and how sure they are; motions that show them, estimates.",
    "linear": "Near a pose: modes, matrices, gains.",
    "derivatives": "Derivatives of steps and runs; rollouts; which numbers matter.",
    "derive": "Equations of motion in symbols: closed forms, programs, base parameters.",
    "reliability": "Exit codes, and what is promised of files, folders and the cache.",
    "design": "How armsim is built, and why so.",
    "contributing": "How to change it; what file formats and library names promise.",
    "changelog": "What changed, version by version.",
}
AT_THE_TOP = {"readme": "README.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}


def page_file(name: str) -> str:
    """Where a page is, relative to the folder that armsim's files come in."""
    return AT_THE_TOP.get(name) or f"docs/{name}.md"


def page_text(wanted: str) -> str:
    """A page, in Markdown.

    Args:
        wanted: Its name, in any case, or as links name it: `docs/files.md#traps`.

    Raises:
        UsageError: There is no such page, or it did not come along.
    """
    name = wanted.partition("#")[0].lower().removeprefix("docs/").removesuffix(".md")
    if name not in PAGES:
        mend = suggestion(name, PAGES, "take one of")
        raise UsageError.of(f"armsim docs {wanted}", "the name of a page", name, f"{mend}\n`armsim docs` lists them")
    for folder in FOLDERS:
        path = os.path.join(folder, page_file(name))
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    raise UsageError.of(
        f"armsim docs {wanted}", "the page, beside armsim's modules", "it did not come along", "install armsim again"
    )
