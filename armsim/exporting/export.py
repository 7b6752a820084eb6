"""The export of a robot or scenario: source text in a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

from armsim.arm.integration import check_dt
from armsim.arm.overview import kind_of
from armsim.errors import UsageError, refusing, spelled
from armsim.escaping import in_comment
from armsim.exporting.dh import dh_file
from armsim.exporting.interface import SLOPES, Model, Named, Stepping
from armsim.exporting.language import Fma, Language, Style
from armsim.exporting.languages import LANGUAGES
from armsim.exporting.library import build, compiler
from armsim.exporting.mjcf import mjcf
from armsim.exporting.names import identifier
from armsim.exporting.reference import with_cases
from armsim.exporting.self_test import SelfTest, run_test
from armsim.exporting.urdf import urdf
from armsim.files.faults import suggestion
from armsim.files.new_file import check_output, output_file, write_files
from armsim.loading import Scenario, read_robot
from armsim.records import record
from armsim.version import __version__

Given = str | PathLike[str] | Mapping[str, Any]
# a module of that name would hide Python's own, or what CasADi is and takes
TAKEN = frozenset(name.lower() for name in (*sys.stdlib_module_names, "casadi", "numpy"))
DESCRIPTIONS = ("urdf", "mjcf", "mdh", "dh")
DEFAULTS = {"robot": ("fd", "id", "fk", "mass"), "scenario": ("step", "observe")}


@record
class Exported:
    """What was exported.

    Attributes:
        name: What all functions of it begin with.
        functions: Their names, without that.
        files: Paths of the files that were written.
        numbers: The numbers that are left open.
        states: Size of the state of a step; 0 without one.
        test: What the test program among the files said, where the tool that it takes is installed here.
        notes: Of a description what other programs lose, or take otherwise, a line each.
    """

    name: str
    functions: tuple[str, ...]
    files: tuple[str, ...]
    numbers: tuple[Named, ...]
    states: int
    test: SelfTest
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Exported({self.name}: {', '.join(self.functions or self.files)})"


def export(
    given: Given,
    to: str,
    folder: str | PathLike[str],
    what: Sequence[str] | None = None,
    open: Sequence[str] = (),
    single: bool = False,
    fma: Fma | None = None,
    dt: float | None = None,
    method: str = "semi_implicit_euler",
    inputs: Literal["voltage", "torque"] = "voltage",
    force: bool = False,
    creep: float | None = None,
) -> Exported:
    """Write the functions of a robot or the steps of a scenario as source text that needs nothing but a compiler.

        armsim.export("arm5_hold", "c", "arm5_hold_c")
        armsim.export("arm5", "fortran", "arm5_f", what=["fd", "mass"], open=["payload.mass"])

    Or write a robot as other programs describe it:

        armsim.export("arm5", "urdf", "arm5.urdf").notes

    Args:
        given: A robot or scenario file, the name of a shipped one, or a file's content as plain data.
        to: A language: c, fortran, python, javascript, casadi; or library, C that is compiled here. Or a description of a robot:
            urdf, mjcf; dh or mdh, a robot file by that convention.
        folder: For the files; absent or empty. Of a description its file.
        what: Functions. Of a robot fd, id, fk, mass, bias, gravity, limits, jacobian, energy, step, its forward model, and
            derivatives of that; of a scenario step, observe, and derivatives of the step.
        open: Paths of numbers that are left open, as `--set` names them.
        single: Whether in single precision; C and Fortran.
        fma: How fused multiply-adds are computed, see `armsim.exporting.language.Style`; the language's first unless given.
        dt: Length of a step of a robot's forward model [s]; with mjcf of MuJoCo's, 1e-3.
        method: Its integrator.
        inputs: Of its drives.
        force: Whether files of an earlier export are replaced.
        creep: Of the derivatives of its steps, see `armsim.ForwardModel`.

    Raises:
        FileFaults: The file cannot be used; says where and why.
        UsageError: An argument is unknown, or the folder cannot be written.
        CompileError: The compiler refuses the source.
    """
    path = os.fspath(folder)
    if to in DESCRIPTIONS:
        if what or open or single or fma or (dt is not None and to != "mjcf"):
            named = spelled(f"--to {to}", f"to={to!r}")
            raise UsageError.of(
                named, "no what, open, float, fma or dt, which are of functions", "one of them", "leave it out"
            )
        return describe(given, to, path, dt, force)
    language = language_of(to, single, fma)
    check_folder(path, force)
    if to == "library":
        compiler()
    stepping = None if dt is None else Stepping(dt, method, inputs, creep)
    model = model_of(given, what, open, stepping, language)
    texts = language.files(with_cases(model))
    test = run_test(texts, language.test_commands(model.name), language.tool)
    where = spelled(f"-o {path}", path)
    with refusing(where, "a folder that can be written", "check the folder and its permissions"):
        files = write_files(path, texts)
    if to == "library":
        files.append(build(path, model.name))
    states = next((len(e.result.items) for e in model.entries if e.name == "step"), 0)
    return Exported(model.name, tuple(e.name for e in model.entries), tuple(files), model.numbers, states, test)


def describe(given: Given, to: str, path: str, dt: float | None, force: bool) -> Exported:
    """A robot as other programs describe it, in a file; arguments and errors as of `export`."""
    check_output(path, [] if isinstance(given, Mapping) else [os.fspath(given)], force)
    arm, robot = read_robot(given)
    if to == "urdf":
        text, notes = urdf(arm, robot)
    elif to == "mjcf":
        text, notes = mjcf(arm, robot, 1e-3 if dt is None else check_dt(dt))
    else:
        text, notes = dh_file(arm, robot, to)
    with output_file(path) as file:
        file.write(text.encode())
    return Exported(arm.name, (), (path,), (), 0, SelfTest(), tuple(notes))


def language_of(to: str, single: bool = False, fma: str | None = None) -> Language:
    """The language of a name, with its way of computing.

    Raises:
        UsageError: There is none of that name, or it cannot compute so.
    """
    if to not in LANGUAGES:
        known = (*LANGUAGES, *DESCRIPTIONS)
        expected, mend = f"one of {', '.join(known)}", suggestion(to, known, "take")
        raise UsageError.of(spelled(f"--to {to}", f"to={to!r}"), expected, repr(to), mend)
    kind = LANGUAGES[to]
    ways = ("none", *(way for way in kind.fused if way != "none")) if single else kind.fused
    if fma is not None and fma not in ways:
        expected = f"{' or '.join(ways)} for {to}"
        raise UsageError.of(spelled(f"--fma {fma}", f"fma={fma!r}"), expected, fma, f"take {ways[0]}, or leave it out")
    if single and not kind.singles:
        mend = "leave it out, or export to c or fortran"
        raise UsageError.of(spelled("--float", "single=True"), "a language with single precision", to, mend)
    return kind(Style(fma or ways[0], single))  # type: ignore[arg-type]  # one of the ways


def model_of(
    given: Given, what: Sequence[str] | None, open: Sequence[str], stepping: Stepping | None, language: Language
) -> Model:
    """What is exported of a robot or scenario, without reference values; arguments and errors as of `export`."""
    if isinstance(given, Mapping):
        kind = "robot" if "joints" in given else "scenario"
    else:
        kind = kind_of(given)
    chosen = _chosen(kind, what, stepping is not None)
    if kind == "robot":
        from armsim.exporting.robot import entries_of_robot

        arm, numbers, entries = entries_of_robot(given, chosen, open, stepping)
        name, clock = arm.name, None
    else:
        from armsim.exporting.scenario import entries_of_scenario

        if stepping is not None:
            where = spelled(f"--dt {stepping.dt!r}", f"dt={stepping.dt!r}")
            raise UsageError.of(where, "a robot", "a scenario, with a step of its own", "leave it out")
        scenario, numbers, clock, entries = entries_of_scenario(given, chosen, open)
        if language.style.single:
            _refuse_noise(scenario)
        name = scenario.name
    about = [
        in_comment(f"{name}: {kind}, exported by armsim {__version__}"),
        f"{_precision(language)}",
    ]
    return Model(identifier(name, TAKEN | language.reserved).lower(), about, entries, numbers, clock)


def _refuse_noise(scenario: Scenario) -> None:
    """Refuse noise in single precision: its random numbers are products of whole numbers of 48 bits.

    Raises:
        UsageError: An encoder has noise.
    """
    encoder = getattr(scenario.command, "encoder", None)
    if encoder is not None and any(noise != 0.0 for noise in encoder.noise):
        raise UsageError.of(
            spelled("--float", "single=True"),
            "a scenario without control.encoder.noise, whose random numbers take doubles",
            f"noise of {', '.join(f'{noise:g}' for noise in encoder.noise)}",
            "leave the noise out of the scenario, or export in double precision",
        )


def _precision(language: Language) -> str:
    style = language.style
    if style.own:
        return "Double precision; its bits are those of armsim."
    return f"{'Single' if style.single else 'Double'} precision; it agrees with armsim to rounding."


def _chosen(kind: str, what: Sequence[str] | None, stepping: bool) -> Sequence[str]:
    if kind == "robot":
        from armsim.exporting.robot import WHAT

        known = [name for name in WHAT if name != "begin"]
    else:
        known = ["step", "observe", SLOPES]
    if what is None:
        return (*DEFAULTS[kind], "step") if stepping else DEFAULTS[kind]
    what = [*what, "step"] if stepping else what
    for name in what:
        if name not in known:
            expected = f"functions of a {kind}: {', '.join(known)}"
            where = spelled(f"--what {','.join(what)}", "what")
            raise UsageError.of(where, expected, repr(name), suggestion(name, known, "take"))
    return tuple(dict.fromkeys(what))


def check_folder(folder: str, force: bool) -> None:
    """Refuse a folder that has files already, before the work begins.

    Raises:
        UsageError: It has; or it is no folder.
    """
    where = spelled(f"-o {folder}", folder)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise UsageError.of(where, "a folder", "a file", "choose another name")
    if not force and os.path.isdir(folder) and os.listdir(folder):
        mend = f"choose another name, or add {spelled('--force', 'force=True')} to replace files of the same names"
        raise UsageError.of(where, "a folder that is absent or empty", "one with files", mend)
