"""Joint types, and what follows from the type alone."""

from __future__ import annotations

from armsim.records import record


@record
class JointType:
    """A joint type: rotation about its axis, translation along it, or both coupled.

    Attributes:
        name: As in the robot file.
        turns: Whether the link turns about the joint's z axis; then joint positions are angles.
        slides: Whether it slides along that axis.
    """

    name: str
    turns: bool
    slides: bool

    @property
    def has_pitch(self) -> bool:
        """Whether it is a screw: translation in proportion to rotation."""
        return self.turns and self.slides

    @property
    def length(self) -> str:
        """Unit of joint positions: "rad" or "m"."""
        return "rad" if self.turns else "m"

    def unit(self, degrees: bool, rate: str = "") -> str:
        """Unit in which joint positions are shown, or with "/s" velocities, with "/s²" accelerations."""
        return ("deg" if degrees and self.turns else self.length) + rate

    @property
    def force(self) -> str:
        """Unit of joint forces: "N·m" or "N"."""
        return "N·m" if self.turns else "N"

    def unit_of(self, output: str) -> str:
        """Unit of a drive's "voltage", "current" or "torque"."""
        return {"voltage": "V", "current": "A"}.get(output, self.force)


JOINT_TYPES = {
    joint_type.name: joint_type
    for joint_type in (
        JointType("revolute", turns=True, slides=False),
        JointType("prismatic", turns=False, slides=True),
        JointType("screw", turns=True, slides=True),
    )
}
