"""`armsim import`"""

from __future__ import annotations

import click

from armsim.cli.options import Display, flag, grouped, quiet_options, tell
from armsim.errors import UsageError
from armsim.records import record
from armsim.terminal.streams import echo

UNWELL = 1


@record
class UrdfSelection:
    """What is read of a URDF file.

    Attributes:
        base: The link fixed in the world; None for the one that no joint moves.
        tips: Links at which the arm ends; all if none is named.
        packages: Where packages are, as NAME=DIR.
    """

    base: str | None
    tips: tuple[str, ...]
    packages: tuple[str, ...]


@click.command(
    "import",
    epilog="""\b
Examples:
  armsim import arm.urdf -o arm.yaml
  armsim import arm.urdf --tip tool0           on the terminal
  armsim import arm.urdf --convention mdh -o arm.yaml   DH parameters
  armsim import torso.urdf --base waist --tip left_hand -o left.yaml
  armsim import panda.xml -o panda.yaml        of MuJoCo, which reads it
  armsim info arm.urdf                         commands take URDF as it is
""",
)
@click.argument("file", type=click.Path())
@grouped(
    "urdf",
    UrdfSelection,
    click.option("--base", metavar="LINK", help="The link fixed in the world. [default: the one that no joint moves]"),
    click.option(
        "--tip", "tips", multiple=True, metavar="LINK", help="Where the arm ends; repeatable. [default: everywhere]"
    ),
    click.option(
        "--package", "packages", multiple=True, metavar="NAME=DIR", help="Where package://NAME is; repeatable."
    ),
)
@click.option(
    "--convention",
    type=click.Choice(["origin", "mdh", "dh"]),
    default="origin",
    help="Of the frames; (modified) DH parameters where the axes allow them. [default: origin]",
)
@click.option("-o", "--output", metavar="FILE", help="The robot file. [default: the terminal]")
@flag("--force", help="Replace a file that is there.")
@quiet_options
def command(file: str, urdf: UrdfSelection, convention: str, output: str | None, force: bool, display: Display) -> int:
    """Write a robot file from URDF or MJCF; say what is left out, assumed, or looks wrong.

    Links on fixed joints are merged with what carries them; comments say what came from where. `armsim docs import` says what is
    read. Exits with 1 where the arm's accelerations are not determined, for example because a link has no inertia.
    """
    from armsim.files.faults import Fault
    from armsim.files.new_file import check_output, output_file
    from armsim.files.nodes import Place
    from armsim.importing.imported import text_of
    from armsim.importing.urdf import read_urdf
    from armsim.importing.xml_reader import read_xml
    from armsim.loading import build_robot, load_robot_file
    from armsim.loading.definite import undetermined
    from armsim.loading.plausible import doubts

    if output is not None:
        check_output(output, [file], force)
    folders = dict(package.partition("=")[::2] for package in urdf.packages)
    if not all(folders.values()):
        raise UsageError.of("--package", "NAME=DIR", ", ".join(urdf.packages), "write for example --package ur=../ur")
    if read_xml(file, "a URDF or MJCF file")[0].tag.startswith("mujoco"):  # or `mujocoinclude`
        if urdf.base or urdf.tips or folders:
            raise UsageError("--base, --tip and --package are for URDF; MuJoCo reads an MJCF model as a whole")
        from armsim.importing.mjcf import read_mjcf

        made = read_mjcf(file)
    else:
        made = read_urdf(file, urdf.base, urdf.tips, folders)
    checked = load_robot_file(made)
    robot = checked.document
    arm = build_robot(robot)
    faults = undetermined(arm, robot)
    text, notes = text_of(made), list[str]()
    remarks = [*checked.remarks]
    if convention != "origin":
        from armsim.exporting.dh import dh_file

        try:
            text, notes = dh_file(arm, robot, convention)
        except UsageError:
            found, mend = (
                "links whose axes ask for several frames: `convention: origin` is kept",
                "leave --convention out",
            )
            remarks.append(Fault(Place(file), "convention", f"frames by {convention}", found, mend))
    tell([*remarks, *doubts(arm, robot), *faults])
    if output is None:
        echo(text, nl=False)
        return UNWELL if faults else 0
    with output_file(output) as target:
        target.write(text.encode())
    display.say(
        *notes,
        f"{output}: {', '.join(joint.name for joint in robot.joints)}; frames {', '.join(robot.frame_names)}",
        f"next: armsim info {output}, or armsim simulate hold --set robot={output}",
    )
    return UNWELL if faults else 0
