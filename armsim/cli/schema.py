"""`armsim schema`"""

from __future__ import annotations

import json

import click

from armsim.terminal.streams import echo


@click.command(
    "schema",
    epilog="""\b
Examples:
  armsim schema robot > robot.schema.json
  armsim schema scenario > scenario.schema.json

An editor with a YAML language server uses it for files that begin with
  # yaml-language-server: $schema=robot.schema.json
""",
)
@click.argument("kind", type=click.Choice(["robot", "scenario", "study"]))
def command(kind: str) -> int:
    """Print the JSON Schema (draft 7) of robot, scenario or study files, for editors and validators."""
    from armsim.authoring.json_schema import json_schema

    echo(json.dumps(json_schema(kind), indent=2, ensure_ascii=False))
    return 0
