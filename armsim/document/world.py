"""The world: planes, solids and terrain that an arm may meet, each by a name."""

from __future__ import annotations

from typing import Any, Self

from armsim.document.bodies import size
from armsim.document.composite import ByName, Document, Kind, List, Number, Subdocument
from armsim.document.joint import NO_VECTOR, Frame, direction, refuse_no_direction
from armsim.document.recorded import CsvFile, file_of, read_table
from armsim.errors import FileFaults
from armsim.expr import increases
from armsim.files.nodes import Node
from armsim.files.table import DataTable
from armsim.formulas.bounds import BOUNDS
from armsim.formulas.quantity import Context

Grid = tuple[list[float], list[float], list[float]]  # x of columns, y of rows, heights row by row [m]
GRID = ("x_m", "y_m", "z_m")  # headings of a terrain's file


class PlaneShape(Document):
    """A half-space: the world below a plane."""

    normal = direction("of the side that is free; any length but 0", default=(0.0, 0.0, 1.0))
    point = List(Number("m"), length=3, default=NO_VECTOR, doc="a point of the plane", example="[0, 0, 0]")

    def check(self, path: str, context: Context) -> None:
        refuse_no_direction(self.normal, f"{path}.normal", context)


class BoxShape(Document):
    """A box about the origin of its frame, its edges along the axes."""

    size = List(size("edge", "0.1"), length=3, doc="edges along x, y and z", example="[0.1, 0.2, 0.3]")


class SphereShape(Document):
    """A sphere about the origin of its frame."""

    radius = size("radius", "0.05")


class CylinderShape(Document):
    """A cylinder about the origin of its frame, along z."""

    radius = size("radius", "0.05")
    height = size("height along z", "0.3")


class HeightFieldShape(CsvFile):
    """Terrain: heights at the points of a rectangular grid, bilinear in between, as at the edge beyond.

    The file has the columns `x_m`, `y_m` and `z_m`, a row for each point of the grid, row by row: x runs first.
    """

    grid: Grid

    @classmethod
    def read(cls, node: Node, path: str, context: Context, kind: Kind[Any]) -> Self | None:
        field = super().read(node, path, context, kind)
        csv = None if field is None or field.csv is None else read_table(field, path, context, lambda _: GRID)
        if field is None or csv is None:
            return None
        try:
            found = _grid(csv)
        except FileFaults as error:
            context.report.faults.extend(error.faults)
            return None
        if isinstance(found, tuple):
            return field.having(file=file_of(csv), grid=found)
        mend = "write the columns x_m, y_m and z_m, and a row for each point: (x0, y0), (x1, y0), ..., (x0, y1), ..."
        place = field.value_node("csv").place
        context.report.add(place, f"{path}.csv", "heights at the points of a grid", f"{csv.path}: {found}", mend)
        return None


def _grid(csv: DataTable) -> Grid | str:
    """The grid of a file, or why it is none; raises FileFaults for a cell without a number."""
    missing = [heading for heading in GRID if heading not in csv]
    if missing:
        return f"no column {', '.join(missing)}"
    x, y, z = (list(csv.complete(heading)) for heading in GRID)
    columns, rows = list(dict.fromkeys(x)), list(dict.fromkeys(y))
    if min(len(columns), len(rows)) < 2 or not (increases(columns) and increases(rows)):
        return f"{len(columns)} values of x and {len(rows)} of y; they must increase, and be two at least"
    if [*zip(x, y)] != [(a, b) for b in rows for a in columns]:
        return f"{len(x)} rows that are not a grid of {len(columns)} by {len(rows)} points in order"
    largest = BOUNDS["m"].largest
    return f"a number beyond {largest:g} m" if max(map(abs, x + y + z)) > largest else (columns, rows, z)


SHAPES: dict[str, Subdocument[Any]] = {
    "plane": Subdocument(PlaneShape, default=None, doc="a half-space", example="{normal: [0, 0, 1]}"),
    "box": Subdocument(BoxShape, default=None, doc="a box", example="{size: [0.1, 0.2, 0.3]}"),
    "sphere": Subdocument(SphereShape, default=None, doc="a sphere", example="{radius: 0.05}"),
    "cylinder": Subdocument(CylinderShape, default=None, doc="a cylinder", example="{radius: 0.05, height: 0.3}"),
    "heightfield": Subdocument(HeightFieldShape, default=None, doc="terrain", example="{csv: terrain.csv}"),
}


class Obstacle(Frame):
    """A shape that stands fixed in the world; one of plane, box, sphere, cylinder and heightfield."""

    plane, box, sphere, cylinder, heightfield = SHAPES.values()

    exactly_one = tuple(SHAPES)

    @property
    def shape(self) -> Document:
        """The shape."""
        return next(self.entries[key] for key in SHAPES if self.entries[key] is not None)

    def check(self, path: str, context: Context) -> None:
        super().check(path, context)
        given = [key for key in SHAPES if self.given(key)]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            mend = "keep one of them" if given else f"add `plane: {SHAPES['plane'].example}`, for example"
            context.report.add(self.place, path, f"one of {', '.join(SHAPES)}", found, mend)


class World(ByName[Obstacle]):
    """Shapes that stand fixed in the world, by name."""

    def __init__(self, doc: str) -> None:
        example = "{floor: {plane: {normal: [0, 0, 1]}}}"
        super().__init__(Subdocument(Obstacle), default={}, doc=doc, example=example)
