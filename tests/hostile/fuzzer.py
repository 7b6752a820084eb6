"""A seeded fuzzer: fragments and whole files that no one would write, each of which must end in a result or in words.

Case k of a seed is the same on every machine. By hand, with what took longer than a second:

    python tests/hostile/fuzzer.py --fragments 1000000 --files 10000 --seed 7
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import yaml

import armsim
from armsim import load_run
from armsim.cli.main import COMMANDS, main
from armsim.errors import ArmsimError, FileFaults
from armsim.files.csv_reader import read_csv
from armsim.files.yaml_reader import parse_value, parse_yaml
from armsim.formulas.formula import constant_value
from armsim.loading import read_robot, read_scenario
from armsim.loading.check import check
from armsim.measures import measures_of
from armsim.plant import make_plant
from armsim.recording.measured_log import read_log

ROOT = Path(__file__).parents[2]
ROBOTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "robots").glob("*.yaml"))}
CONFIGS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "configs").glob("*.yaml"))
    if not path.name.endswith(".study.yaml")
}
ALL_COMMANDS = [name for section in COMMANDS.values() for name in section]
QUICK = ("inverse", "forward", "fk", "info", "inertia", "list", "completion", "schema")
CODES = {0, 1, 2, 3}
LONGEST = 20_000  # characters of a message: 50 faults of four lines, none of them long


def _words(text: str) -> list[str]:
    return text.split()


NUMBERS = _words("""
    0 -0 1 -1 0.5 1e-9 1e9 1e308 -1e308 5e-324 1e999 .inf -.inf .nan nan inf infinity 1_000 １２ ٣ 0x10 0b1 010 1e 1e+ .5 1. 1,5
    1.2.3 --1 +1 99999999999999999999999 0.1e-400 1/0 pi -pi/2 2*pi t 1e3e 1d5 -.5e-3 true false null ~ yes on""")
WORDS = _words("""
    upper lower R1 R2 shoulder elbow arm5 rr two_link voltage torque pid pd none rk4 rk54 rodas auto explicit_euler world link deg
    rad mdh dh origin revolute prismatic screw format armsim/robot/1 armsim/scenario/1 armsim/run/1 csv parquet trajectory.csv
    nowhere.csv . .. / runs con nul <<""")
KEYS = _words("""
    format name gravity convention units angle parameters base xyz rpy joints type mdh dh origin a alpha d theta axis initial
    limits lower upper stiffness damping friction viscous coulomb bodies cylinder box sphere point rod tube inertia mass density
    center height radius motor Kp Ra tool payload robot duration integrator method dt rtol atol control law output kp ki kd
    target period inputs torque voltage csv column hold sha256 external link point force moment from to log every pitch
    efficiency gear inductance recording scenario status samples algorithm sources""")
FORMULAE = _words("""
    sin( sqrt( -1) max(1 min( abs( ** ** 2 ( ) ((((( ))))) + - * / , % ^ lambda __import__('os') import os 1if 1else e clip(
    integral( rms( duration q_R1 current_R1 tau_R2 settling_time_R2 iae overshoot_R1 peak_torque_R1""")
OPTIONS = _words("""
    --q --qd --torque --voltage --set --json -q -v --deg --help -o --dt --method --duration --tolerance --columns --accuracy
    --budget --strict --trajectory --resolved""")
FUNCTIONS = [*_words("sin sqrt abs max min exp log integral rms mean clip atan2 -"), ""]
SIGNS = [
    *"{}[]():,-#&*!|>'\"%@`?~=\\\t\n\r ",
    *_words("--- ... &a *a !!python/object:os"),
    "\n  ",
    "\n- ",
    "- ",
    ": ",
    "---\n",
]
CONTROLS = [*"\x00\x07\x08\x0b\x0c\x1c\x7f\x85\x9b\xa0\u200b\u202e\u2028\ufeff\ud800é関ﬁ🤖", "\x1b[2J", "\x1b]0;x\x07"]
ENDS = ["\n", "\r\n", "\r", "\x0b", "\u2028", "\n\n"]
NUMBER = re.compile(r"(?<=[ \[])-?[0-9][0-9.e+-]*(?=[,\]}\s])")

# what there is, and how often of a hundred
FRAGMENTS = {"yaml": 18, "value": 16, "formula": 18, "measure": 5, "csv": 18, "set": 12, "plain": 8, "command": 5}
FILES = {"robot": 25, "scenario": 25, "command": 14, "run": 10, "recording": 10, "log": 16}


@dataclass(frozen=True)
class Case:
    """One hostile input.

    Attributes:
        kind: What it is handed to, a key of `FRAGMENTS` or `FILES`.
        content: What it is made of, for a report.
        run: Hands it over.
    """

    kind: str
    content: object
    run: Callable[[], object]


def token(random: Random) -> str:
    """A word, a number or a sign."""
    many = random.random() < 0.01
    one = random.choice(random.choices([NUMBERS, WORDS, KEYS, FORMULAE, SIGNS, CONTROLS], [6, 4, 4, 3, 4, 1])[0])
    return one * random.choice([40, 300, 5000]) if many else one


def text(random: Random, most: int = 8) -> str:
    """Some tokens, side by side or apart."""
    return random.choice(["", " ", ""]).join(token(random) for _ in range(random.randint(0, most)))


def number(random: Random) -> str:
    """A number, or what looks like one."""
    digits = f"{random.choice([1, 1, 1, -1]) * random.uniform(0.1, 10) * 10.0 ** random.choice([0, 0, 0, -3, 3, -30, 30]):.4g}"
    return random.choice([digits, digits, digits, formula(random), random.choice(NUMBERS)])


def formula(random: Random, depth: int = 0) -> str:
    """A formula, most often one with brackets that match."""
    pick = random.random()
    if depth > 6 or pick < 0.35:
        return random.choice(
            ["0", "1", "2", "0.5", "1e3", "1e300", "pi", "upper", "t", "q_R1", "tau_R2", token(random)]
        )
    if pick < 0.7:
        return f"{formula(random, depth + 1)}{random.choice(['+', '-', '*', '/', '**', ' - -', '^'])}{formula(random, depth + 1)}"
    inner = ", ".join(formula(random, depth + 1) for _ in range(random.choice([1, 1, 1, 2, 3])))
    return f"{random.choice(FUNCTIONS)}({inner})"


def path(random: Random) -> str:
    """A path of `--set`: of a value that is there, or near enough to get far."""
    if random.random() < 0.6:
        return random.choice(LEAVES)
    steps = [random.choice(KEYS) if random.random() < 0.95 else text(random, 2) for _ in range(random.randint(1, 4))]
    items = ["", "", "", "[0]", "[1]", "[R2]", "[-1]", "[99]", "[]", "[*]", f"[{token(random)}]"]
    whole = ".".join(step + random.choice(items) for step in steps)
    return random.choice(["", "", "robot.", "robot.joints[0].", "joints[R1].motor.", "control."]) + whole


def value(random: Random, depth: int = 0) -> str:
    """A value in YAML, flow style."""
    pick = random.random()
    if depth < 3 and pick < 0.15:
        return "[" + ", ".join(value(random, depth + 1) for _ in range(random.randint(0, 5))) + "]"
    if depth < 3 and pick < 0.3:
        pairs = (f"{random.choice(KEYS)}: {value(random, depth + 1)}" for _ in range(random.randint(0, 4)))
        return "{" + ", ".join(pairs) + "}"
    return number(random) if pick < 0.6 else token(random) if pick < 0.9 else text(random, 4)


def plain(random: Random, depth: int = 0) -> object:
    """Plain data, as the library takes it."""
    pick = random.random()
    if depth < 4 and pick < 0.2:
        return [plain(random, depth + 1) for _ in range(random.randint(0, 4))]
    if depth < 4 and pick < 0.4:
        return {random.choice(KEYS): plain(random, depth + 1) for _ in range(random.randint(0, 5))}
    odd = [None, True, 0, -1, 10**400, 1e-300, float("nan"), float("inf"), b"bytes", {1, 2}, object, 3 + 4j, (1, 2)]
    return token(random) if pick < 0.8 else random.choice(odd)


def changed(random: Random, data: object) -> object:
    """Plain data with some of it replaced, taken out or put in twice."""
    if random.random() < 0.01:
        return plain(random)
    if isinstance(data, dict):
        kept = {key: changed(random, item) for key, item in data.items() if random.random() > 0.003}
        return kept if random.random() > 0.02 else {**kept, random.choice(KEYS): plain(random)}
    if isinstance(data, list):
        kept = [changed(random, item) for item in data if random.random() > 0.005]
        return kept if random.random() > 0.02 else kept * 2
    return data


def with_other_numbers(random: Random, original: str) -> str:
    """A YAML text with some of its numbers changed."""
    places = list(NUMBER.finditer(original))
    for place in sorted(random.sample(places, min(len(places), random.choice([1, 1, 2, 4]))), key=lambda x: -x.start()):
        original = original[: place.start()] + number(random) + original[place.end() :]
    return original


def damaged(random: Random, original: str) -> str:
    """A text with some of its lines, words or characters changed."""
    if random.random() < 0.3:
        return with_other_numbers(random, original)
    for _ in range(random.choice([1, 1, 1, 2, 3, 8])):
        lines = original.split("\n")
        at, other = random.randrange(len(lines)), random.randrange(len(lines))
        line = lines[at]
        how = random.randrange(11)
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(other, line)
        elif how == 2:
            lines[at], lines[other] = lines[other], line
        elif how == 3:
            lines[at] = " " * random.randint(1, 4) + line
        elif how == 4 and ":" in line:
            lines[at] = f"{line.partition(':')[0]}: {value(random)}"
        elif how == 5 and ":" in line:
            lines[at] = f"{token(random)}:{line.partition(':')[2]}"
        elif how == 6:
            words = line.split(" ")
            words[random.randrange(len(words))] = token(random)
            lines[at] = " ".join(words)
        elif how == 7:
            lines.insert(at, text(random))
        elif how == 8:
            lines = lines[:at] if random.random() < 0.2 else lines[: at + 1] + lines[at + 2 :]
        elif how == 9 and "," in line:
            cells = line.split(",")
            cells[random.randrange(len(cells))] = token(random)
            lines[at] = ",".join(cells)
        else:
            k = random.randrange(len(line) + 1)
            lines[at] = line[:k] + token(random) + line[k + random.randint(0, 3) :]
        original = "\n".join(lines) or "\n"
    return original


def table(random: Random) -> str:
    """A CSV file, mostly of numbers."""
    width = random.choice([1, 2, 3, 7])
    names = ["t_s", "q_R1_rad", "voltage_R1_V", "tau", *KEYS][:width]
    sane = random.random()

    def cell() -> str:
        return f"{random.gauss(0, 1):.6g}" if random.random() < sane else token(random)

    end = random.choice(ENDS[:3] * 5 + ENDS)
    rows = [",".join([f"{0.1 * k:.6g}", *(cell() for _ in names[1:])]) for k in range(random.randint(0, 8))]
    if random.random() < 0.3:
        names[random.randrange(width)] = token(random)
    made = random.choice(["", "", "\ufeff"]) + end.join([",".join(names), *rows]) + random.choice(["", end, end * 3])
    return damaged(random, made) if random.random() < 0.3 else made


def arguments(random: Random) -> list[str]:
    """A command line."""
    quick = random.random() < 0.7
    command = random.choice(QUICK if quick else [*ALL_COMMANDS, text(random, 2)])
    names = (
        ["arm5", "rr", "two_link"]
        if quick
        else ["nowhere", "nowhere.yaml", "no/where", ".", "", "robots", text(random, 2)]
    )
    given = [command, *([random.choice(names)] if random.random() < 0.95 else [])]
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        option = random.choice(OPTIONS) if random.random() < 0.95 else text(random, 2)
        given.append(option)
        pick = random.random()
        if option == "--set":
            given.append(f"{path(random)}={value(random)}" if pick < 0.9 else text(random))
        elif pick < 0.5:
            given.append(",".join(token(random) for _ in range(random.choice([1, 2, 2, 5]))))
        elif pick < 0.7:
            given.append(text(random, 2))
    return [argument.replace("\x00", "") for argument in given]  # the system passes none


def fragment(random: Random, folder: Path) -> Case:
    """A fragment: one value, formula, path, line, table or command line."""
    kind = random.choices([*FRAGMENTS], [*FRAGMENTS.values()])[0]
    if kind == "yaml":
        given = text(random, 30)
        return Case(kind, given, lambda: parse_yaml(given.encode("utf-8", "surrogatepass"), "fuzz.yaml"))
    if kind == "value":
        given = value(random)
        return Case(kind, given, lambda: parse_value(given, "--set x"))
    if kind == "formula":
        given = formula(random) if random.random() < 0.7 else text(random)
        return Case(kind, given, lambda: constant_value(given, "--q"))
    if kind == "measure":
        given = formula(random) if random.random() < 0.7 else text(random)
        return Case(kind, given, lambda: measures_of(given, PLANT))
    if kind == "csv":
        made = table(random).encode("utf-8", "surrogatepass")
        (folder / "fuzz.csv").write_bytes(made)
        return Case(kind, made, lambda: read_csv(str(folder / "fuzz.csv")))
    if kind == "set":
        which, given = (
            random.choice(["rr", "two_link_hold"]),
            {path(random): value(random) for _ in range(random.randint(1, 2))},
        )
        read = read_robot if which == "rr" else read_scenario
        return Case(kind, (which, given), lambda: read(which, given))
    if kind == "plain":
        which = random.choice([*PLAIN])
        data = changed(random, PLAIN[which])
        read = read_robot if which in ROBOTS else read_scenario
        return Case(kind, data, lambda: read(data if isinstance(data, dict) else {"joints": data}))
    line = arguments(random)
    return Case(kind, line, lambda: command_line(line))


def whole_file(random: Random, folder: Path) -> Case:
    """A whole file: a shipped one, a run, a recording or a log, damaged."""
    kind = random.choices([*FILES], [*FILES.values()])[0]
    if kind in ("robot", "scenario", "command"):
        robot = kind == "robot" or (kind == "command" and random.random() < 0.3)
        original = random.choice(list((ROBOTS if robot else CONFIGS).values())).replace("../robots/", f"{ROOT}/robots/")
        made = with_other_numbers(random, original) if kind == "command" else damaged(random, original)
        file = folder / "fuzz.yaml"
        file.write_bytes(made.encode("utf-8", "surrogatepass"))
        if kind != "command":
            return Case(kind, made, lambda: check(file))
        line = [
            random.choice(["check", "info", *(["inverse", "forward", "fk", "inertia"] if robot else [])]),
            str(file),
        ]
        return Case(line[0], made, lambda: command_line(line))
    if kind == "run":
        made = damaged(random, RUN)
        (folder / "run.yaml").write_bytes(made.encode("utf-8", "surrogatepass"))
        return Case(kind, made, lambda: read_scenario(folder / "run.yaml"))
    if kind == "recording":
        about, rows = (damaged(random, x) if random.random() < 0.6 else x for x in RECORDING)
        if random.random() < 0.7:
            about = about.replace("sha256", "sha")
        (folder / "run.yaml").write_bytes(about.encode("utf-8", "surrogatepass"))
        (folder / "record.csv").write_bytes(rows.encode("utf-8", "surrogatepass"))
        return Case(kind, (about, rows), lambda: load_run(folder))
    made = damaged(random, RECORDING[1]) if random.random() < 0.7 else table(random)
    names = damaged(random, "t_s: t*1e-3\nq_shoulder_rad: (x - 2)*2*pi/4096\n") if random.random() < 0.3 else None
    (folder / "log.csv").write_bytes(made.encode("utf-8", "surrogatepass"))
    if names is not None:
        (folder / "columns.yaml").write_bytes(names.encode("utf-8", "surrogatepass"))
    columns = None if names is None else folder / "columns.yaml"
    return Case(kind, (made, names), lambda: read_log(folder / "log.csv", SWING.arm, columns))


def command_line(args: list[str]) -> None:
    """Run the command line in this process; raises AssertionError where it ends as it should not."""
    out, err = io.StringIO(), io.StringIO()
    code: object = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(args)
        except SystemExit as ended:
            code = ended.code
    printed = out.getvalue() + err.getvalue()
    assert code in CODES, f"exit code {code}: {printed}"
    assert all(c.isprintable() or c == "\n" for c in printed), f"control characters: {printed!r}"


def problem(case: Case) -> str | None:
    """What is wrong about how a case ended; None if it ended with a result or in words."""
    try:
        case.run()
    except ArmsimError as error:
        said = str(error)
        if not all(c.isprintable() or c == "\n" for c in said):
            return f"control characters in {said!r}"
        if len(said) > LONGEST:
            return f"a message of {len(said)} characters: {said[:300]}"
        if isinstance(error, FileFaults) and not error.faults:
            return "no faults"
    except Exception:
        return traceback.format_exc(limit=-6)
    return None


def cases(seed: int, fragments: int, files: int, folder: Path) -> Iterator[Case]:
    """The cases of a seed; each is to be run before the next is made."""
    for k in range(fragments):
        yield fragment(Random(f"fragment {seed} {k}"), folder)
    for k in range(files):
        yield whole_file(Random(f"file {seed} {k}"), folder)


def by_hand() -> int:
    """Run as many cases as the command line says; tell problems, and what took longer than a second."""
    parser = argparse.ArgumentParser(description=by_hand.__doc__)
    parser.add_argument("--fragments", type=int, default=20_000)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--warnings", action="store_true", help="numpy's count, which numbers out of all proportion cause"
    )
    given = parser.parse_args()
    warnings.simplefilter("error" if given.warnings else "ignore")
    seen: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for case in cases(given.seed, given.fragments, given.files, Path(folder)):
            began = time.process_time()
            wrong = problem(case)
            took = time.process_time() - began
            spent[case.kind] += took
            count[case.kind] += 1
            if wrong is None and took > 1.0:
                wrong = f"{took:.1f} s"
            if wrong is not None:
                last = " ".join(line.strip()[:80] for line in wrong.splitlines()[-3:])
                seen[last] += 1
                if seen[last] <= 2:
                    print(f"-- {case.kind}: {wrong}\n{str(case.content)[:1500]!r}", flush=True)
        os.chdir("/")
    for kind, n in count.items():
        print(f"{kind:10} {n:8} cases, {1e3 * spent[kind] / n:.2f} ms each")
    print(f"{sum(seen.values())} problems in {sum(count.values())} cases, seed {given.seed}")
    return 1 if seen else 0


def _leaves(data: object, at: str = "") -> Iterator[str]:
    """The paths of the values in plain data."""
    if isinstance(data, dict):
        for key, item in data.items():
            yield from _leaves(item, f"{at}.{key}" if at else key)
    elif isinstance(data, list):
        for k, item in enumerate(data):
            yield from _leaves(item, f"{at}[{k}]")
    yield at


def _recorded() -> list[str]:
    """run.yaml of a run, and run.yaml and record.csv of a recording, all short."""
    with tempfile.TemporaryDirectory() as folder:
        short = {"duration": 0.01, "log": {}}
        run = armsim.simulate("two_link_hold", short).save(Path(folder) / "run")
        recording = armsim.record("two_link_hold", {**short, "control.period": 1e-3}).save(Path(folder) / "recording")
        files = run / "run.yaml", recording / "run.yaml", recording / "record.csv"
        return [file.read_text(encoding="utf-8") for file in files]


PLAIN = {name: yaml.safe_load(content) for name, content in (ROBOTS | CONFIGS).items()}
for _data in PLAIN.values():
    _data["robot" if "duration" in _data else "name"] = "arm5"
LEAVES = [*filter(None, _leaves(PLAIN["two_link_hold"])), *filter(None, _leaves(PLAIN["rr"]))]
LEAVES += [f"robot.{leaf}" for leaf in filter(None, _leaves(PLAIN["two_link"]))]
SWING = read_scenario("two_link_swing")
PLANT = make_plant(read_scenario("arm5_hold"))
RUN, *RECORDING = _recorded()

if __name__ == "__main__":
    sys.exit(by_hand())
