"""Keys as other programs, data sheets and books have them: for each document, what is written here in their place.

To such words, apart by spaces, the key that is meant, or how to mend it in words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

Words = Mapping[str, str]

SUMMED = "a link's mass is in its `bodies`: write "
INERTIAL = SUMMED + "`bodies: [{inertia: {mass: 1, center: [0, 0, 0], about: com, xx: 0.01, yy: 0.01, zz: 0.01}}]`"
AS_POINT = SUMMED + "`bodies: [{point: {mass: 1, center: [0.2, 0, 0]}}]`, or a solid, or `inertia` with its tensor"
SHAPE = "name the body first: `point: {mass: 1, center: [0, 0, 0]}`, or `inertia: {...}` with a tensor"

JOINT = {
    "mass density": AS_POINT,
    "com center centre center_of_mass centre_of_mass inertia inertial tensor ixx iyy izz": INERTIAL,
    "body links link solids": "bodies",
    "range limit lower upper min max": "write `limits: {lower: -1, upper: 1}`",
    "damping viscous": "write `friction: {viscous: 0.1}`",
    "coulomb stiction dry_friction static_friction": "write `friction: {coulomb: 0.5}`",
    "a alpha d theta": "write `mdh: {a: 0, alpha: 0, d: 0, theta: 0}`, or `dh` with `convention: dh`",
    "axis xyz rpy": "write `origin: {xyz: [0, 0, 0], rpy: [0, 0, 0], axis: [0, 0, 1]}` with `convention: origin`",
    "gear gear_ratio rotor_inertia torque_constant kt ke ra actuator": "it is a key of `motor`: write `motor: {...}`",
    "armature": "write `motor: {rotor_inertia: 1e-4, gear: 50}`: an armature is rotor_inertia gear²",
    "q0 home position q": "initial",
    "lead": "pitch",
}
BODY = {"mass com center centre xx ixx inertial tensor density": SHAPE}
MASS = {"com centre center_of_mass centre_of_mass position origin": "center", "m": "mass"}
SOLID = {
    **MASS,
    "rpy orientation": "a solid lies along an axis of the frame: take `axis`, or `inertia`, which has `rpy`",
    "length": "height",
    "outer": "outer_radius",
    "inner": "inner_radius",
    "rho": "density",
}
ROD = {**MASS, "height": "length"}
INERTIA = {
    **MASS,
    **{f"{letter}{axes}": axes for letter in ("i", "j") for axes in ("xx", "yy", "zz", "xy", "xz", "yz")},
    "tensor inertia matrix": "write its components one by one: `xx`, `yy`, `zz`, `xy`, `xz` and `yz`",
    "orientation": "rpy",
    "yx": "xy",
    "zx": "xz",
    "zy": "yz",
}
MOTOR = {
    "torque_constant kt k_t km k_m motor_constant k": "Kp",
    "back_emf back_emf_constant kb k_b k_e voltage_constant": "Ke",
    "kv speed_constant": "write `Kp: 30/(pi*374)` for 374 rpm/V",
    "no_load_current i0": "write `coulomb: 0.0255*0.096`, which is Kp times the no-load current",
    "resistance armature_resistance terminal_resistance winding_resistance r": "Ra",
    "gear_ratio ratio reduction n": "gear",
    "inertia rotor j jm": "rotor_inertia",
    "armature": "`rotor_inertia` is on the motor's side of the gear: an armature divided by gear²",
    "damping friction b bm viscous_friction": "viscous",
    "dry_friction coulomb_friction": "coulomb",
    "stiction breakaway static_friction": "static",
    "l la terminal_inductance": "inductance",
    "eta gear_efficiency": "efficiency",
    "voltage max_voltage nominal_voltage supply": "write `limits: {voltage: 24}`",
    "current max_current": "write `limits: {current: 5}`",
    "rated_current continuous_current max_continuous_current i_n": "nominal_current",
    "rated_torque nominal_torque continuous_torque max_continuous_torque": "give `nominal_current`: the nominal torque over `Kp`",
    "thermal_resistance rth thermal_time_constant": "write `thermal: {resistance: 6.2, time_constant: 25}`, in K/W and s",
    "max_temperature max_winding_temperature": "it is a key of `thermal`: write `thermal: {max: 155, ...}`",
    "torque max_torque effort peak_torque": "write `limits: {torque: 0.3}`",
    "speed max_speed velocity no_load_speed": "write `limits: {speed: 600}`",
    "stall_torque": "give `Kp` and `Ra`: at stall the torque is Kp times the voltage over Ra",
}
THERMAL = {
    "rth r thermal_resistance rth1 rth2": "resistance",
    "tau t thermal_time_constant winding_time_constant": "time_constant",
    "ambient_temperature temperature": "ambient",
    "max_temperature max_winding_temperature limit": "max",
    "capacity heat_capacity capacitance cth": "give `time_constant`: heat capacity times thermal resistance",
}
LIMITS = {
    "min low": "lower",
    "max high": "upper",
    "velocity speed": "a limit of speed is the motor's: write `motor: {limits: {speed: 600}}`",
    "effort torque": "a limit of torque is the motor's: write `motor: {limits: {torque: 0.3}}`",
}
FRICTION = {
    "damping b": "viscous",
    "dry": "coulomb",
    "stiction breakaway": "static",
    "velocity exponent": "write `stribeck: {velocity: 0.01, exponent: 2}`",
}
DH = {"r": "a", "twist": "alpha", "offset": "d", "q angle": "theta"}
ROBOT = {
    "links bodies": "a link is what a joint moves: write its `bodies` under `joints`",
    "mdh dh": "write it for each of the `joints`, and `convention` here",
    "motors": "write a `motor` for each of the `joints`",
    "end_effector ee tcp flange": "tool",
    "g": "gravity",
}
SCENARIO = {
    "joints gravity tool base convention frames": "it is a key of the robot: change the robot's file, or begin the path "
    "with `robot.`",
    "dt step timestep time_step method": "write `integrator: {method: rk4, dt: 1e-3}`",
    "time t_end tend end stop_time t": "duration",
    "controller feedback": "control",
    "arm model": "robot",
    "torque voltage input u": "write `inputs: {torque: [...]}` or `inputs: {voltage: [...]}`",
    "q q0 qd qd0": "write `initial: {q: [...], qd: [...]}`",
    "kp ki kd target law": "write it under `control`",
    "output every": "write `log: {every: 1e-2}`",
    "forces wrench wrenches": "external",
}
CONTROL = {
    "p": "kp",
    "i": "ki",
    "d kv": "kd",
    "setpoint desired q_des q": "target",
    "ref trajectory path motion via times": "reference",
    "saturation max umax": "limit",
    "sample_time ts dt": "period",
    "type": "law",
}
REFERENCE = {
    "points waypoints way_points via_points to target goal": "via",
    "time t timing knots": "times",
    "velocity v vmax max_speed max_velocity": "speed",
    "a amax max_acceleration accel": "acceleration",
    "j jmax max_jerk": "jerk",
    "kind type shape interpolate method": "profile",
    "begin from delay": "start",
    "freq f hz": "frequency",
    "f1 to_frequency": "end_frequency",
    "freqs harmonics": "frequencies",
    "amp": "amplitude",
    "center centre mean bias": "offset",
    "file": "csv",
    "order spline degree": "write `interpolation: cubic`, or `linear` or `quintic`",
    "formula formulas expression expressions": "q",
    "circle": "arc",
    "poses moves": "path",
    "quat": "quaternion",
    "radius corner": "blend",
    "xyz pose position": "write `line: [0.4, 0.2, 0.3]`, a point of the tool",
}
PROFILE = {
    "sine sin harmonic": "sinusoid",
    "sweep": "chirp",
    "step": "steps",
    "s_curve scurve s-curve seven_segment": "jerk_limited",
    "trapezoidal lspb": "trapezoid",
    "min_jerk minjerk minimum-jerk": "minimum_jerk",
    "cubic_spline": "spline",
}
INTEGRATOR = {
    "step timestep time_step h": "dt",
    "tolerance tol": "rtol",
    "name type solver": "method",
}


def word_for(other: str, words: Words) -> str | None:
    """What is written here in place of another's word, or how to mend it; None if it is not known."""
    return next((mend for others, mend in words.items() if other in others.split()), None)


def meant(key: str, words: Words, keys: Collection[str]) -> str | None:
    """How to mend a key that is another's word for one of `keys`, or for what stands elsewhere; None if it is not known."""
    found = word_for(key.lower().replace("-", "_").replace(" ", "_"), words)
    if found is None or " " in found:
        return found
    return f"did you mean `{found}`?" if found in keys else None
