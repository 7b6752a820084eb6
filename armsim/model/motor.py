"""The parameters of a DC motor with its gear."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from armsim.expr import absolute, where
from armsim.records import optional, record
from armsim.spatial import Scalar


@record
class Stribeck:
    """What static friction is more than Coulomb's, by the joint's direction, and how that falls with the speed of sliding.

    Attributes:
        positive: At rest, against motion in the joint's positive direction, not negative [N·m or N].
        negative: The same against motion in its negative direction [N·m or N].
        velocity: At which 1/e of it is left [rad/s or m/s].
        exponent: Of the speed over that velocity, 1 or more.
    """

    positive: Scalar
    negative: Scalar
    velocity: Scalar
    exponent: Scalar


@record
class Coulomb:
    """Coulomb (dry) friction, by the joint's direction.

    Attributes:
        positive: Against motion in the joint's positive direction, not negative [N·m or N].
        negative: Against motion in the joint's negative direction, not negative [N·m or N].
        peaks: What it is more at low speed; None where static friction is as large as sliding friction.
    """

    positive: Scalar
    negative: Scalar
    peaks: tuple[Stribeck, ...] | None = optional(default=None)

    def __add__(self, other: Coulomb) -> Coulomb:
        peaks = (*(self.peaks or ()), *(other.peaks or ())) or None
        return Coulomb(self.positive + other.positive, self.negative + other.negative, peaks)

    def through(self, gear: Scalar) -> Coulomb:
        """The same for a joint by which the shaft that rubs turns `gear` times as fast."""
        size = absolute(gear)

        def scaled(x: Any) -> Any:
            return replace(x, positive=size * x.positive, negative=size * x.negative)

        peaks = tuple(replace(scaled(peak), velocity=peak.velocity / size) for peak in self.peaks or ())
        return replace(scaled(self), peaks=peaks or None)


@record
class BrushDrop:
    """Voltage drop at the brushes: max (1 - 2^(-|V| / half)), at most |V|.

    Attributes:
        max: Drop at high voltages [V].
        half: Voltage at which half of it is reached [V].
    """

    max: Scalar
    half: Scalar


@record
class MotorLimits:
    """Limits of a motor and its amplifier, on the motor's side of the gear; None where there is none.

    Attributes:
        voltage: Of the supply [V].
        current: Of the amplifier [A].
        torque: At the motor's shaft [N·m].
        speed: Of the motor's shaft, beyond which it is not driven further [rad/s].
    """

    voltage: Scalar | None = None
    current: Scalar | None = None
    torque: Scalar | None = None
    speed: Scalar | None = None


@record
class Thermal:
    """A motor's winding as one body that heats up to a steady rise: first order.

    Attributes:
        resistance: Between winding and ambient [K/W].
        time_constant: [s].
        ambient: Temperature of the ambient, and of the winding at the start [°C].
        max: That the winding may have [°C]; None where it is not known.
        drift: Whether the winding's resistance grows with its temperature, which is then a state.
    """

    resistance: Scalar
    time_constant: Scalar
    ambient: Scalar = 25.0
    max: Scalar | None = None
    drift: bool = False


@record
class Coupling:
    """What an elastic gear, belt or shaft passes on: the coupling between rotor and joint, seen at the joint.

    Attributes:
        stiffness: [N·m/rad or N/m].
        damping: [N·m·s/rad or N·s/m].
        backlash: Play from one flank to the other [rad or m]; None for none.
    """

    stiffness: Scalar
    damping: Scalar = 0.0
    backlash: Scalar | None = None

    def twist(self, torque: Scalar) -> Scalar:
        """How far the rotor is ahead of the joint under a torque at rest [rad or m]; in the middle without torque."""
        play = 0.0 if self.backlash is None else self.backlash / 2
        return torque / self.stiffness + where(torque > 0.0, play, where(torque < 0.0, -play, 0.0))


@record
class Motor:
    """A permanent-magnet DC motor on a joint, all quantities on the motor's side of the gear.

    Attributes:
        Kp: Torque constant [N·m/A]; None, with Ke and Ra, for a drive of which only the torque is known.
        Ke: Back-EMF constant [V·s/rad].
        Ra: Armature resistance [ohm].
        gear: Turns of the motor per turn of the joint; negative where the gear reverses.
        rotor_inertia: [kg m²].
        viscous: Viscous friction [N·m·s/rad].
        coulomb: Dry friction [N·m], by the joint's direction; None for none.
        efficiency: Of the gear: friction takes up to (1 - efficiency) of the motor's torque; None for a gear without loss.
        inductance: Of the armature [H]; None where the current follows the voltage at once.
        brush_drop: None for none.
        limits: Of motor and amplifier.
        nominal_current: That the winding stands for long [A]; None where it is not known.
        thermal: Of the winding; None where it is not known.
        coupling: To its joint; None where the gear is rigid.
        model: "dc", or the name of another, which its plant emulates with its faults (`armsim.plant.plant_type`).
    """

    Kp: Scalar | None = None
    Ke: Scalar | None = None
    Ra: Scalar | None = None
    gear: Scalar = 1.0
    rotor_inertia: Scalar = 0.0
    viscous: Scalar = 0.0
    coulomb: Coulomb | None = None
    efficiency: Scalar | None = None
    inductance: Scalar | None = None
    brush_drop: BrushDrop | None = None
    limits: MotorLimits = MotorLimits()
    nominal_current: Scalar | None = None
    thermal: Thermal | None = None
    coupling: Coupling | None = None
    model: str = "dc"

    @property
    def drifts(self) -> bool:
        """Whether the temperature of its winding acts on its resistance."""
        return self.thermal is not None and self.thermal.drift
