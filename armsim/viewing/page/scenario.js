import * as THREE from "three";
import { ArmModel } from "./arm.js";
import { Contacts } from "./contacts.js";
import { Forces } from "./forces.js";
import { History } from "./history.js";
import { poses, tool } from "./kinematics.js";
import { JointTable, atLimit, cell, digits, element, placeText, slider } from "./parts.js";
import { Plot, ofJoints, shares, units } from "./plots.js";
import { PUSH, pusher } from "./push.js";
import { World, aim, arrow, ball, way } from "./world.js";

const SHOWN = 10;  // s that curves show
const AHEAD = 120;  // ms of steps that show where the motion goes, so that the picture has room
const BUDGET = 14;  // ms of a frame for steps
const FAR = 1e9;  // a state beyond has diverged
const OFTEN = 12;  // curves are drawn so many times a second
const PACES = [0.1, 0.25, 0.5, 1, 2];
const GROUPS = { more: "Asked for", target: "Target", kp: "Gains kp", ki: "Gains ki", kd: "Gains kd", payload: "Payload at the tool", push: "Force on the tool" };
const UNFOLDED = ["more", "target", "payload"];

/** A scenario that runs in the page, by its step as armsim prints it. */
export async function scenarioPage({ arms: [arm], program, numbers, panels, row: headings, duration, dt, method, forces, degrees }) {
    const { begin, step, observe, defaults } = await loaded(program), place = Object.fromEntries(headings.map((name, i) => [name, i]));
    const world = new World(arm), model = new ArmModel(arm), open = defaults();
    world.add(model);
    for (const number of numbers) open[number.field] = number.value;
    const joints = arm.joints.map((_, i) => i), [positions, torques] = ["q", "tau_motor"].map((kind) => ofJoints(panels, joints, kind)), [unit, tauUnit] = [positions, torques].map(units);
    const q = (row) => arm.joints.map((joint) => row[place[`q_${joint.name}_${joint.unit}`]]);
    const value = (curve, row) => curve.value.terms.reduce((sum, [heading, factor]) => sum + factor * row[place[heading]], curve.value.constant);
    const curves = panels.flatMap((panel) => panel.curves.concat(panel.references.filter((curve) => curve.value.terms.length)));
    const history = new History(curves, SHOWN, value), push = numbers.filter((number) => number.group === "push");
    const targetOf = joints.map((i) => numbers.find((number) => number.group === "target" && number.joint === i)), targeted = targetOf.every(Boolean);
    const followed = arm.joints.map((joint) => place[`q_ref_${joint.name}_${joint.unit}`]), aimed = targeted || !followed.includes(undefined);
    const goal = aimed ? world.extra("reference", targeted ? "target" : "reference", ball(0.03 * arm.size)) : null;
    const acting = new Forces(world, forces), contacts = new Contacts(world, model);
    const parts = ["normal_force", "frictionx", "frictiony", "frictionz"], pressed = (arm.contacts?.names ?? []).flatMap((name) => parts.map((part) => place[`${part}_${name}_N`]));
    const pushed = world.extra("forces", "force on the tool", arrow(0xcc3311));
    const trail = world.extra("trail", "tool's way", way(History.room, 0x0072b2));
    const table = new JointTable(arm, [`position${unit.heading}`, `torque${tauUnit.heading}`]), where = element("p", { className: "note" });
    document.getElementById("side").append(table.element, where, contacts.note);
    const show = sliders(numbers, degrees, set);
    const plots = panels.map((panel) => new Plot(panel, (curve) => history.points(curve), null));
    document.getElementById("plots").append(...plots.map((plot) => plot.element));
    let k, state, row, running = true, speed = 1, last = null, owed = 0, drawn = 0, due = 0;
    const most = joints.map(() => 1e-9);

    const play = element("button", { type: "button" }), clock = element("output", { "aria-live": "off" });
    const pace = element("select", { "aria-label": "speed" }, ...PACES.map((x) => element("option", { value: x, selected: x === 1 }, `${x} ×`)));
    const again = element("button", { type: "button" }, "restart"), back = element("button", { type: "button" }, "file's numbers");
    document.getElementById("bar").append(play, pace, again, back, element("span", { className: "note" }, `${method}, steps of ${digits(dt)} s`), clock);
    pace.addEventListener("change", () => (speed = Number(pace.value)));
    play.addEventListener("click", () => run(!running));
    again.addEventListener("click", restart);
    back.addEventListener("click", () => numbers.forEach((number) => put(number, number.value)));
    document.addEventListener("keydown", (event) => {
        if (["INPUT", "SELECT", "SUMMARY", "BUTTON"].includes(event.target.tagName)) return;
        if (event.key === " ") run(!running);
        else if (event.key === "r") restart();
        else return;
        event.preventDefault();
    });
    document.getElementById("hint").textContent = "drag the arm to push its tool; drag the ground to turn, Shift to move, wheel to zoom";
    world.orbit.grab = pusher(world, model, (force) => push.forEach((number, i) => put(number, force[i])));

    /** Give an open number a value, in the file's unit; a target moves its lines, too. */
    function set(number, x) {
        open[number.field] = x;
        if (number.group !== "target") return;
        for (const panel of panels) {
            const turn = panel.unit.startsWith("deg") ? 180 / Math.PI : 1;
            const lines = panel.kind === "q" ? panel.references : panel.kind === "error" ? panel.curves : [];
            for (const curve of lines) if (curve.look === number.joint && (panel.kind === "error" || !curve.value.terms.length)) curve.value.constant = x * turn;
        }
    }

    /** Give it a value, which its slider shows. */
    function put(number, x) {
        set(number, x);
        show.get(number)(x);
    }

    function restart() {
        rewind();
        document.getElementById("clock").textContent = "";
        look(true);
        run(true);
    }

    /** Put the state at the start. */
    function rewind() {
        k = 0;
        state = begin(open);
        row = observe(k, state, open);
        owed = 0;
        history.clear();
        history.note(0, row, tool(arm, q(row)));
    }

    function run(on) {
        running = on;
        last = null;
        play.textContent = on ? "❚❚" : "▶";
        play.setAttribute("aria-label", on ? "pause" : "run");
        cancelAnimationFrame(due);
        if (on) due = requestAnimationFrame(advance);
    }

    /** Carry out steps, and note some for the curves; false once the state has left all bounds. */
    function steps(count) {
        for (let i = 0; i < count; i++) {
            state = step(k++, state, open);
            if (!state.every((x) => Math.abs(x) < FAR)) return false;
            if (history.due(k * dt, dt)) history.note(k * dt, (row = observe(k, state, open)), tool(arm, q(row)));
        }
        return true;
    }

    function advance(stamp) {
        due = requestAnimationFrame(advance);
        if (last === null) return void (last = stamp);
        owed += (speed * Math.min(stamp - last, 100)) / 1000;
        last = stamp;
        const begun = performance.now();
        let sound = true;
        while (sound && owed >= dt) {
            const chunk = Math.max(1, Math.min(50, Math.floor(owed / dt)));
            sound = steps(chunk);
            owed -= chunk * dt;
            if (performance.now() - begun > BUDGET) owed = Math.min(owed, 20 * dt);  // time that cannot be made up is lost
        }
        if (!sound) {
            run(false);
            document.getElementById("clock").textContent = `diverged at ${digits(k * dt)} s: restart with other numbers, or a shorter step in the file`;
            return;
        }
        look(stamp - drawn > 1000 / OFTEN, stamp);
    }

    /** Show the present row; its curves where they are due. */
    function look(whole, stamp = 0) {
        row = observe(k, state, open);
        const now = k * dt, share = shares(panels, joints.length, (curve) => value(curve, row));
        model.pose(q(row), now);
        history.draw(trail);
        if (goal) goal.position.set(...tool(arm, aimedAt()));
        const force = push.map((number) => open[number.field]), at = tool(arm, model.q);
        acting.show(now, model.drawn);
        contacts.show(model.q, pressed.map((i) => row[i]));
        aim(pushed, at, force, arm.size * Math.min(1, 0.12 + (0.5 * Math.hypot(...force)) / PUSH));
        for (const i of joints) {
            const tau = torques[i] && value(torques[i].curve, row), position = positions[i] ? value(positions[i].curve, row) : model.q[i];
            const bound = Math.max(0, ...(torques[i]?.limits ?? []));
            most[i] = Math.max(most[i], Math.abs(tau ?? 0));
            model.load(i, (tau ?? 0) / (bound || most[i]), atLimit(share[i][0]));
            table.set(i, [cell(position) + unit.of(i), tau === null ? "–" : cell(tau) + tauUnit.of(i)], ...share[i]);
        }
        where.textContent = placeText(at);
        clock.textContent = `${now.toFixed(2)} s`;
        if (whole) {
            drawn = stamp;
            for (const plot of plots) {
                plot.span(Math.max(0, now - SHOWN), Math.max(SHOWN, now));
                plot.at(now);
                plot.redraw();
            }
        }
        world.draw();
    }

    /** Positions of the target, or on the reference; the present ones of an arm that has neither. */
    function aimedAt() {
        return targeted ? targetOf.map((number) => open[number.field]) : aimed ? followed.map((i) => row[i]) : q(row);
    }

    /** Let the camera see where the arm is, where it is to go, and where it goes at first. */
    function frame() {
        const met = [q(row), aimedAt()].flatMap((positions) => poses(arm, positions).map((T) => [T[3], T[7], T[11]]));
        const begun = performance.now(), goals = [tool(arm, aimedAt())];
        while (k * dt < Math.min(duration, SHOWN) && performance.now() - begun < AHEAD && steps(20)) goals.push(tool(arm, aimedAt()));
        const near = history.trail.filter((place) => place.every((x) => Math.abs(x) < 3 * arm.size));
        if (aimed && !targeted) world.extra("reference", "reference", way(goals, 0x888888, { dashed: 0.02 * arm.size, opacity: 0.8 }));
        world.frame([...met, ...near, world.origin]);
    }

    rewind();
    frame();
    restart();
    return {
        pause: () => run(false), play: () => run(true), restart, poses: () => model.drawn, world,
        steps: (count) => (steps(count), look(true), state),
        set: (path, x) => numbers.filter((number) => number.path === path).forEach((number) => put(number, x)),
        value: (path) => open[numbers.find((number) => number.path === path).field],
        onScreen: () => {
            const box = world.canvas.getBoundingClientRect(), at = new THREE.Vector3(...tool(arm, model.q)).project(world.camera);
            return [box.left + ((1 + at.x) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
        },
        get time() { return k * dt; }, get state() { return state; }, get row() { return row; },
    };
}

/** Sliders of open numbers, by groups that fold; of each number, what lets its slider show a value in the file's unit. */
function sliders(numbers, degrees, set) {
    const show = new Map();
    for (const [group, title] of Object.entries(GROUPS)) {
        const own = numbers.filter((number) => number.group === group), grid = element("div", { className: "sliders", role: "group", "aria-label": title });
        if (!own.length) continue;
        document.getElementById("side").append(element("details", { open: UNFOLDED.includes(group) }, element("summary", {}, title), grid));
        for (const number of own) {
            const turn = number.joint !== null && number.unit === "rad" && degrees ? 180 / Math.PI : 1, unit = turn === 1 ? number.unit : "deg";
            const about = { name: number.of, unit, low: number.low * turn, high: number.high * turn, value: number.value * turn, log: number.log };
            const put = slider(grid, about, (x) => set(number, x / turn));
            show.set(number, (x) => put(x * turn));
        }
    }
    return show;
}
