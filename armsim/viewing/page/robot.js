import { ArmModel } from "./arm.js";
import { Contacts } from "./contacts.js";
import { poses, tool } from "./kinematics.js";
import { JointTable, atLimit, cell, element, placeText, slider } from "./parts.js";
import { World } from "./world.js";

const DEGREES = 180 / Math.PI;

/** A page of a robot: sliders for its joints, and what holds it there. */
export async function robotPage({ arms: [arm], program, motors, degrees, q: initial }) {
    const { hold } = await loaded(program), world = new World(arm), model = new ArmModel(arm), contacts = new Contacts(world, model);
    document.querySelector("main").classList.add("bare");
    world.add(model);
    for (const layer of ["ranges", "mass"]) world.show(layer, true);
    const places = (positions) => poses(arm, positions).map((T) => [T[3], T[7], T[11]]), base = world.origin;
    const ends = arm.joints.flatMap(({ slides, lower, upper }, i) => (slides ? [lower, upper].filter((x) => x !== null).map((x) => initial.with(i, x)) : []));
    world.frame([initial, ...ends].flatMap(places).concat([base, base.map((x, i) => x + 0.35 * arm.size * arm.up[i])]));
    const q = [...initial], grid = element("div", { className: "sliders", role: "group", "aria-label": "Joints" });
    const shown = arm.joints.map((joint, i) => {
        const turn = joint.turns && degrees ? DEGREES : 1, whole = joint.turns ? Math.PI : arm.size;
        const [low, high] = [joint.lower ?? -whole, joint.upper ?? whole].map((x) => x * turn);
        const unit = turn === 1 ? joint.unit : "deg";
        const show = slider(grid, { name: joint.name, unit, low, high, value: q[i] * turn }, (x) => {
            q[i] = x / turn;
            update();
        });
        return (x) => show(x * turn);
    });
    const reset = element("button", { type: "button" }, "initial pose"), place = element("p", { className: "note" });
    reset.addEventListener("click", () => set(initial));
    const powered = motors.flatMap((motor, i) => (motor.electric ? [i] : []));
    const table = new JointTable(arm, ["holding torque", ...(powered.length ? ["voltage", "current"] : [])]);
    const asks = "Bars are shares of the motor's limits of torque, voltage and current.";
    document.getElementById("side").append(element("h2", {}, "Joints"), grid, reset, place, contacts.note, element("h2", {}, "What holds it there"), table.element);
    if (motors.some((motor) => motor.torque || motor.voltage || motor.current)) document.getElementById("side").append(element("p", { className: "note" }, asks));

    /** Torques [N·m or N], voltages [V] and currents [A] that hold the arm at rest; null where no motor is electric. */
    function held() {
        const found = hold(q), n = arm.joints.length, m = powered.length, of = (first) => arm.joints.map((_, i) => (motors[i].electric ? found[first + powered.indexOf(i)] : null));
        return { torque: found.slice(0, n), voltage: of(n), current: of(n + m) };
    }

    function update() {
        model.pose(q);
        contacts.show(q);
        const now = held(), most = Math.max(...now.torque.map(Math.abs), 1e-9);
        arm.joints.forEach((joint, i) => {
            const loads = ["torque", "voltage", "current"].flatMap((kind) => (motors[i][kind] !== null && now[kind][i] !== null ? [[Math.abs(now[kind][i]) / motors[i][kind], kind]] : []));
            const [share, of] = loads.sort((a, b) => b[0] - a[0])[0] ?? [null, ""];
            const force = joint.turns ? "N·m" : "N", quantity = (x, unit) => (x === null ? "–" : `${cell(x)} ${unit}`);
            const drive = powered.length ? [quantity(now.voltage[i], "V"), quantity(now.current[i], "A")] : [];
            table.set(i, [quantity(now.torque[i], force), ...drive], share, of);
            model.load(i, motors[i].torque ? now.torque[i] / motors[i].torque : now.torque[i] / most, atLimit(share));
        });
        place.textContent = placeText(tool(arm, q));
        world.draw();
    }

    /** Put the joints at positions [rad or m]. */
    function set(positions) {
        positions.forEach((x, i) => {
            q[i] = x;
            shown[i](x);
        });
        update();
    }

    update();
    return { set, held, poses: () => model.drawn, world };
}
