"""The full state of a driven arm as one flat vector of named numbers.

The inputs of a plant with a sampled command are the commands that it holds; its other states belong to the vector, together
with outputs: the accelerations, the tool's position, and on request the motors' currents.
"""

from __future__ import annotations

from functools import cached_property
from math import degrees as degrees_of

from armsim.actuation import Output
from armsim.expr import Scalar, Scalars
from armsim.integrate import Tolerance
from armsim.plant import Plant
from armsim.plant.column_kinds import KINDS
from armsim.plant.columns import Column, Heading, Layout, heading_of, in_degrees, spellings
from armsim.records import record

MOTION = ("q", "qd", "qdd")
TOOL = ("x", "y", "z")
HELD = "held"
ENERGIES = ("kinetic", "potential")
CURRENT = "current"
CONTROLLER = (
    HELD,
    "integral",
    "filtered",
    "encoder",
    "velocity",
    "samples",
    "queued",
)  # states of a command, not of the arm
ALIASES = {"before": "prev_qd"}  # kinds with another name in the vector than in the plant's state
RATES = {"prev_qd": "qd"}  # kinds with the unit of another
USUAL = Tolerance()
INPUTS: dict[Output, str] = {
    "voltage": "voltage",
    "current": "current",
    "torque": "motor",
}  # column kinds of the inputs


@record
class Slot:
    """One number of the vector.

    Attributes:
        kind: "q", "qd", "qdd", "tool", or the plant's name for a further state.
        joint: The joint's index; None for the tool and the states of an adaptive integrator.
        part: "x", "y" or "z" of the tool; empty otherwise.
        source: Index in the plant's state; None for outputs.
    """

    kind: str
    joint: int | None
    part: str = ""
    source: int | None = None

    @property
    def name(self) -> str:
        """The kind and the joint's number from 1, for example "qd3"; or x, y, z; or the kind alone."""
        return self.part or self.kind if self.joint is None else f"{self.kind}{self.joint + 1}"


@record
class StateVector:
    """The order of the vector: q, qd, qdd of all joints, the tool's x, y, z, then the plant's further states, then currents.

    Attributes:
        plant: A plant from `held` or `driven_plant`.
        currents: Whether the currents of the electric motors are outputs, where they are no states.
        outputs: Whether there are outputs at all.
    """

    plant: Plant
    currents: bool = False
    outputs: bool = True

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """What its numbers are."""
        plant, named = self.plant, self._named
        source = {(kind, joint): i for i, (kind, joint) in enumerate(named)}
        n = plant.arm.n
        slots = [Slot(kind, i, source=source.get((kind, i))) for kind in MOTION for i in range(n)]
        slots += [Slot("tool", None, part) for part in TOOL]
        slots += [
            Slot(kind, joint, source=i)
            for i, (kind, joint) in enumerate(named)
            if kind not in MOTION and kind not in CONTROLLER
        ]
        if self.currents:
            motors = [i for i, joint in enumerate(plant.arm.joints) if joint.electric_motor is not None]
            slots += [Slot(CURRENT, i) for i in motors if (CURRENT, i) not in source]
        return tuple(slot for slot in slots if self.outputs or slot.source is not None)

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """Indices of the inputs in the plant's state."""
        return tuple(i for i, (kind, _) in enumerate(self._named) if kind == HELD)

    @cached_property
    def _named(self) -> list[tuple[str, int | None]]:
        return [slot_of(self.plant, slot) for slot in self.plant.slots]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers: q1, ..., qd1, ..., qdd1, ..., x, y, z, ..."""
        return tuple(slot.name for slot in self.slots)

    @cached_property
    def carried(self) -> list[tuple[int, int]]:
        """Pairs (index in the vector, index in the plant's state) of the states, without outputs."""
        return [(i, slot.source) for i, slot in enumerate(self.slots) if slot.source is not None]

    def headings(self) -> list[str]:
        """The heading of every number in a file, with its unit; as in trajectory.csv where that has it."""
        return [self._heading(slot) for slot in self.slots]

    def _heading(self, slot: Slot) -> str:
        if slot.joint is None:
            return f"{slot.part}_m" if slot.part else f"{slot.kind}_s" if slot.kind == "step_length" else slot.kind
        joint = self.plant.arm.joints[slot.joint]
        like = KINDS.get(RATES.get(slot.kind, slot.kind))
        return heading_of(slot.kind, joint.name, "" if like is None else like.unit(joint.kind))[0]

    def input_headings(self) -> list[str]:
        """The heading of every input, with its unit."""
        return input_headings(self.plant)

    def state(self, vector: Scalars, inputs: Scalars) -> Scalars:
        """The plant's state from a vector and inputs."""
        state: list[Scalar] = [0.0] * len(self.plant.slots)
        for i, source in self.carried:
            state[source] = vector[i]
        return self.with_inputs(state, inputs)

    def with_inputs(self, state: Scalars, inputs: Scalars) -> list[Scalar]:
        """The plant's state with other inputs."""
        state = list(state)
        for i, u in zip(self.inputs, inputs, strict=True):
            state[i] = u
        return state

    def vector(self, t: Scalar, state: Scalars) -> Scalars:
        """The vector of a plant's state, with its accelerations at time t [s] under the held inputs."""
        return self.observed(t, state)[0]

    def observed(self, t: Scalar, state: Scalars) -> tuple[Scalars, Scalars]:
        """The vector, and the kinetic and potential energy [J]."""
        row = self.plant.observe(t, state)
        found = {
            (column.quantity, column.of if column.joint is None else column.joint): value
            for column, value in zip(self.plant.layout.columns, row, strict=True)
        }
        vector = [
            state[slot.source]
            if slot.source is not None
            else found["pose", slot.part]
            if slot.joint is None
            else found[slot.kind, slot.joint]
            for slot in self.slots
        ]
        return vector, [found["energy", kind] for kind in ENERGIES]


@record(kw_only=True)
class VectorLayout(Layout):
    """What the numbers of a recorded row are: the vector's, and the inputs.

    Attributes:
        vector: The order of the vector.
        audited: Whether the energies follow, which no file has: they are for the energy balance.
    """

    vector: StateVector
    audited: bool

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """In order."""
        arm, command = self.vector.plant.arm, self.vector.plant.command
        of = [(slot.kind, slot.joint, slot.part) for slot in self.vector.slots]
        of += [] if command is None else [(INPUTS[command.output], i, "") for i in range(arm.n)]
        of += [("energy", None, kind) for kind in ENERGIES] if self.audited else []
        return tuple(Column(kind, part if i is None else arm.joints[i].name, i) for kind, i, part in of)

    def headings(self, degrees: bool = False) -> list[Heading]:
        """Those of record.csv, those of angles in degrees where these are asked for."""
        every = enumerate([*self.vector.headings(), *self.vector.input_headings()])
        turned = [(i, text, in_degrees(text) if degrees else None) for i, text in every]
        return [Heading(own, i) if other is None else Heading(other, i, degrees_of(1.0)) for i, own, other in turned]


def slot_of(plant: Plant, slot: str) -> tuple[str, int | None]:
    """Kind and joint of a slot of the plant's state: ("current", 1) for "current_R2", ("step_length", None) for itself."""
    if slot in plant.integrator.memory:
        return slot, None
    ends = [(len(joint.name), i) for i, joint in enumerate(plant.arm.joints) if slot.endswith(f"_{joint.name}")]
    if not ends:
        return slot, None
    length, joint = max(ends)
    kind = slot[: -length - 1]
    return ALIASES.get(kind, kind), joint


def input_headings(plant: Plant) -> list[str]:
    """The heading of every input of a driven plant; empty without a command."""
    if plant.command is None:
        return []
    kind = INPUTS[plant.command.output]
    return [spellings(kind, joint)[0][0] for joint in plant.arm.joints]
