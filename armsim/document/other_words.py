"""Keys as other programs, data sheets and books have them: for each document, what is written here in their place.

A value is the key that is meant, or how to mend it in words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

Words = Mapping[str, str]

SUMMED = "a link's mass is in its `bodies`: write "
INERTIAL = SUMMED + "`bodies: [{inertia: {mass: 1, center: [0, 0, 0], about: com, xx: 0.01, yy: 0.01, zz: 0.01}}]`"
AS_POINT = SUMMED + "`bodies: [{point: {mass: 1, center: [0.2, 0, 0]}}]`, or a solid, or `inertia` with its tensor"
SHAPE = "name the body first: `point: {mass: 1, center: [0, 0, 0]}`, or `inertia: {...}` with a tensor"


def _all(words: str, meant: str) -> dict[str, str]:
    return dict.fromkeys(words.split(), meant)


JOINT = {
    **_all("mass density", AS_POINT),
    **_all("com center centre center_of_mass centre_of_mass inertia inertial tensor ixx iyy izz", INERTIAL),
    **_all("body links link solids", "bodies"),
    **_all("range limit lower upper min max", "write `limits: {lower: -1, upper: 1}`"),
    **_all("damping viscous", "write `friction: {viscous: 0.1}`"),
    **_all("coulomb stiction dry_friction static_friction", "write `friction: {coulomb: 0.5}`"),
    **_all("a alpha d theta", "write `mdh: {a: 0, alpha: 0, d: 0, theta: 0}`, or `dh` with `convention: dh`"),
    **_all(
        "axis xyz rpy", "write `origin: {xyz: [0, 0, 0], rpy: [0, 0, 0], axis: [0, 0, 1]}` with `convention: origin`"
    ),
    **_all(
        "gear gear_ratio rotor_inertia torque_constant kt ke ra actuator",
        "it is a key of `motor`: write `motor: {...}`",
    ),
    **_all("armature", "write `motor: {rotor_inertia: 1e-4, gear: 50}`: an armature is rotor_inertia gear²"),
    **_all("q0 home position q", "initial"),
    **_all("lead", "pitch"),
}
BODY = _all("mass com center centre xx ixx inertial tensor density", SHAPE)
MASS = {**_all("com centre center_of_mass centre_of_mass position origin", "center"), "m": "mass"}
SOLID = {
    **MASS,
    **_all("rpy orientation", "a solid lies along an axis of the frame: take `axis`, or `inertia`, which has `rpy`"),
    **_all("length", "height"),
    **_all("outer", "outer_radius"),
    **_all("inner", "inner_radius"),
    **_all("rho", "density"),
}
ROD = {**MASS, "height": "length"}
INERTIA = {
    **MASS,
    **{f"{letter}{axes}": axes for letter in ("i", "j") for axes in ("xx", "yy", "zz", "xy", "xz", "yz")},
    **_all("tensor inertia matrix", "write its components one by one: `xx`, `yy`, `zz`, `xy`, `xz` and `yz`"),
    **_all("orientation", "rpy"),
    **_all("yx", "xy"),
    **_all("zx", "xz"),
    **_all("zy", "yz"),
}
MOTOR = {
    **_all("torque_constant kt k_t km k_m motor_constant k", "Kp"),
    **_all("back_emf back_emf_constant kb k_b k_e voltage_constant", "Ke"),
    **_all("kv speed_constant", "write `Kp: 30/(pi*374)` for 374 rpm/V"),
    **_all("no_load_current i0", "write `coulomb: 0.0255*0.096`, which is Kp times the no-load current"),
    **_all("resistance armature_resistance terminal_resistance winding_resistance r", "Ra"),
    **_all("gear_ratio ratio reduction n", "gear"),
    **_all("inertia rotor j jm", "rotor_inertia"),
    **_all("armature", "`rotor_inertia` is on the motor's side of the gear: an armature divided by gear²"),
    **_all("damping friction b bm viscous_friction", "viscous"),
    **_all("dry_friction coulomb_friction", "coulomb"),
    **_all("stiction breakaway static_friction", "static"),
    **_all("l la terminal_inductance", "inductance"),
    **_all("eta gear_efficiency", "efficiency"),
    **_all("voltage max_voltage nominal_voltage supply", "write `limits: {voltage: 24}`"),
    **_all("current max_current", "write `limits: {current: 5}`"),
    **_all("rated_current continuous_current max_continuous_current i_n", "nominal_current"),
    **_all(
        "rated_torque nominal_torque continuous_torque max_continuous_torque",
        "give `nominal_current`: the nominal torque over `Kp`",
    ),
    **_all(
        "thermal_resistance rth thermal_time_constant",
        "write `thermal: {resistance: 6.2, time_constant: 25}`, in K/W and s",
    ),
    **_all("max_temperature max_winding_temperature", "it is a key of `thermal`: write `thermal: {max: 155, ...}`"),
    **_all("torque max_torque effort peak_torque", "write `limits: {torque: 0.3}`"),
    **_all("speed max_speed velocity no_load_speed", "write `limits: {speed: 600}`"),
    **_all("stall_torque", "give `Kp` and `Ra`: at stall the torque is Kp times the voltage over Ra"),
}
THERMAL = {
    **_all("rth r thermal_resistance rth1 rth2", "resistance"),
    **_all("tau t thermal_time_constant winding_time_constant", "time_constant"),
    **_all("ambient_temperature temperature", "ambient"),
    **_all("max_temperature max_winding_temperature limit", "max"),
    **_all("capacity heat_capacity capacitance cth", "give `time_constant`: heat capacity times thermal resistance"),
}
LIMITS = {
    **_all("min low", "lower"),
    **_all("max high", "upper"),
    **_all("velocity speed", "a limit of speed is the motor's: write `motor: {limits: {speed: 600}}`"),
    **_all("effort torque", "a limit of torque is the motor's: write `motor: {limits: {torque: 0.3}}`"),
}
FRICTION = {
    **_all("damping b", "viscous"),
    "dry": "coulomb",
    **_all("stiction breakaway", "static"),
    **_all("velocity exponent", "write `stribeck: {velocity: 0.01, exponent: 2}`"),
}
DH = {**_all("r", "a"), **_all("twist", "alpha"), **_all("offset", "d"), **_all("q angle", "theta")}
ROBOT = {
    **_all("links bodies", "a link is what a joint moves: write its `bodies` under `joints`"),
    **_all("mdh dh", "write it for each of the `joints`, and `convention` here"),
    **_all("motors", "write a `motor` for each of the `joints`"),
    **_all("end_effector ee tcp flange", "tool"),
    **_all("g", "gravity"),
}
SCENARIO = {
    **_all(
        "joints gravity tool base convention frames",
        "it is a key of the robot: change the robot's file, or begin the path with `robot.`",
    ),
    **_all("dt step timestep time_step method", "write `integrator: {method: rk4, dt: 1e-3}`"),
    **_all("time t_end tend end stop_time t", "duration"),
    **_all("controller feedback", "control"),
    **_all("arm model", "robot"),
    **_all("torque voltage input u", "write `inputs: {torque: [...]}` or `inputs: {voltage: [...]}`"),
    **_all("q q0 qd qd0", "write `initial: {q: [...], qd: [...]}`"),
    **_all("kp ki kd target law", "write it under `control`"),
    **_all("output every", "write `log: {every: 1e-2}`"),
    **_all("forces wrench wrenches", "external"),
}
CONTROL = {
    **_all("p", "kp"),
    **_all("i", "ki"),
    **_all("d kv", "kd"),
    **_all("setpoint desired q_des q", "target"),
    **_all("ref trajectory path motion via times", "reference"),
    **_all("saturation max umax", "limit"),
    **_all("sample_time ts dt", "period"),
    **_all("type", "law"),
}
REFERENCE = {
    **_all("points waypoints way_points via_points to target goal", "via"),
    **_all("time t timing knots", "times"),
    **_all("velocity v vmax max_speed max_velocity", "speed"),
    **_all("a amax max_acceleration accel", "acceleration"),
    **_all("j jmax max_jerk", "jerk"),
    **_all("kind type shape interpolate method", "profile"),
    **_all("begin from delay", "start"),
    **_all("freq f hz", "frequency"),
    **_all("f1 to_frequency", "end_frequency"),
    **_all("freqs harmonics", "frequencies"),
    **_all("amp", "amplitude"),
    **_all("center centre mean bias", "offset"),
    **_all("file", "csv"),
    **_all("order spline degree", "write `interpolation: cubic`, or `linear` or `quintic`"),
    **_all("formula formulas expression expressions", "q"),
    **_all("circle", "arc"),
    **_all("poses moves", "path"),
    **_all("quat", "quaternion"),
    **_all("radius corner", "blend"),
    **_all("xyz pose position", "write `line: [0.4, 0.2, 0.3]`, a point of the tool"),
}
PROFILE = {
    **_all("sine sin harmonic", "sinusoid"),
    **_all("sweep", "chirp"),
    **_all("step", "steps"),
    **_all("s_curve scurve s-curve seven_segment", "jerk_limited"),
    **_all("trapezoidal lspb", "trapezoid"),
    **_all("min_jerk minjerk minimum-jerk", "minimum_jerk"),
    **_all("cubic_spline", "spline"),
}
INTEGRATOR = {
    **_all("step timestep time_step h", "dt"),
    **_all("tolerance tol", "rtol"),
    **_all("name type solver", "method"),
}


def meant(key: str, words: Words, keys: Collection[str]) -> str | None:
    """How to mend a key that is another's word for one of `keys`, or for what stands elsewhere; None if it is not known."""
    found = words.get(key.lower().replace("-", "_").replace(" ", "_"))
    if found is None or " " in found:
        return found
    return f"did you mean `{found}`?" if found in keys else None
