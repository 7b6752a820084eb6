"""The state of a plant, and its parts for a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from armsim.actuation import JointTorque, Works
from armsim.control import Memory
from armsim.expr import Scalar, Scalars, leaves
from armsim.integrate import Ahead
from armsim.records import mutable_record, record


@record
class Clearance:
    """How far contacts were from what they may touch when that was last seen.

    Attributes:
        gap: The least gap [m]; 0 or less where one touches.
        q: The joint positions then [rad or m].
        since: Time that has passed since [s].
    """

    gap: Scalar
    q: Scalars
    since: Scalar


@mutable_record
class State:
    """A state by its parts; as one flat list, they follow each other in this order.

    Attributes:
        q: Joint positions [rad or m].
        qd: Joint velocities [rad/s or m/s].
        control: What the controller remembers.
        held: Commands held since the last sample [V, N·m or N].
        currents: Armature currents of the motors that have an inductance [A].
        memory: What steps remember, such as step-size control.
        works: Work done on the arm since the start [J]; None where it is not counted.
        ahead: How far the integrator has run ahead; None where it lands on every step.
        contacts: The further states of contacts, by name; those that they had when `clearance` was seen, if that is above 0.
        windings: Temperatures of the motors' windings that act on their resistances [°C].
        clearance: See there; None where every step counts contacts.
    """

    q: Scalars
    qd: Scalars
    control: Memory
    held: Scalars
    currents: list[Scalar]
    memory: Scalars
    works: Works | None
    ahead: Ahead | None = None
    contacts: dict[str, Scalar] = field(default_factory=dict)
    windings: Scalars = field(default_factory=list)
    clearance: Clearance | None = None

    def flat(self) -> list[Scalar]:
        """The state as a list."""
        return leaves(self)

    @classmethod
    def slots(
        cls,
        joints: Sequence[str],
        control: Sequence[str],
        held: Sequence[str],
        inductive: Sequence[str],
        memory: Sequence[str],
        works: Sequence[str],
    ) -> tuple[str, ...]:
        """Names of the entries of a state as a list, without those of `ahead`.

        Args:
            joints: Their names, rotors' among them.
            control: Names of what the controller remembers.
            held: Names of the joints whose commands are held.
            inductive: Names of the joints whose current is a state.
            memory: Names of what steps remember.
            works: Names of the works that are counted.
        """
        return (
            *(f"q_{name}" for name in joints),
            *(f"qd_{name}" for name in joints),
            *control,
            *(f"held_{name}" for name in held),
            *(f"current_{name}" for name in inductive),
            *memory,
            *works,
        )


@mutable_record
class Further:
    """The further states that an integrator advances besides the joints; or their rates.

    Attributes:
        control: What a continuous controller remembers, a `Memory`; of linear equations its rows.
        currents: Armature currents, where the integrator advances them.
        contacts: The further states of contacts, by name.
        windings: Temperatures of the motors' windings that act on their resistances [°C].
    """

    control: Any
    currents: Scalars
    contacts: dict[str, Scalar] = field(default_factory=dict)
    windings: Scalars = field(default_factory=list)


@mutable_record
class Branch:
    """What is decided for a step on which all is to be smooth.

    Attributes:
        sides: Of the switches of the loads (`armsim.expr.Switches`); None to tell them by time and motion.
        middle: A time within the step, whose piece of recorded inputs counts [s].
    """

    sides: Scalars | None
    middle: Scalar


@mutable_record
class Held:
    """What is constant during a step.

    Attributes:
        since: Beginning of the step [s]: what jumps between steps keeps its value of then.
        commands: Held since the last sample [V, N·m or N]; none under a continuous command.
        currents: Armature currents that the integrator does not advance [A].
        branch: On which the step is smooth; None where what acts is told by time and motion alone.
    """

    since: Scalar
    commands: Scalars
    currents: Scalars
    branch: Branch | None = None


@mutable_record
class Acting:
    """What acts at an instant, dry friction left open.

    The limit of speed of a `Loads.governed` motor is left open too: `torques` has its torque without that limit.

    Attributes:
        torques: On every joint.
        lower: Lower bounds of dry friction [N·m or N].
        upper: Upper bounds of dry friction [N·m or N].
        slower: What a motor at its limit of speed takes away from motor and sliding friction together, forwards (not positive)
            and backwards (not negative) [N·m or N]; zeros where the limit is not open.
        further: Rates of the further states.
    """

    torques: list[JointTorque]
    lower: Scalars
    upper: Scalars
    slower: list[tuple[Scalar, Scalar]]
    further: Further
