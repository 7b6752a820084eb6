import { ArmModel } from "./arm.js";
import { poses, tool } from "./kinematics.js";
import { JointTable, atLimit, cell, digits, element, slider } from "./parts.js";
import { Plot, shares } from "./plots.js";
import { World, aim, arrow, ball, way } from "./world.js";

const SHOWN = 10;  // s that curves show
const TRAIL = 600;  // places of the tool
const AHEAD = 120;  // ms of steps that show where the motion goes, so that the picture has room
const BUDGET = 14;  // ms of a frame for steps
const NOTED = 1 / 60;  // s between points of curves
const FAR = 1e9;  // a state beyond has diverged
const OFTEN = 12;  // curves are drawn so many times a second
const PUSH = 60;  // N per arm's size that the mouse is drawn away
const PACES = [0.1, 0.25, 0.5, 1, 2];
const GROUPS = { more: "Asked for", target: "Target", kp: "Gains kp", ki: "Gains ki", kd: "Gains kd", payload: "Payload at the tool", push: "Force on the tool" };

/** A scenario that runs in the page, by its step as armsim prints it. */
export async function scenarioPage({ arm, program, numbers, panels, row: headings, duration, dt, method, degrees }) {
    const { begin, step, observe, defaults } = await loaded(program), place = Object.fromEntries(headings.map((name, i) => [name, i]));
    const world = new World(arm), model = new ArmModel(arm), open = defaults();
    const angle = (number) => (number.turns && degrees ? 180 / Math.PI : 1);
    world.add(model);
    for (const number of numbers) open[number.field] = number.value;
    const n = arm.joints.length, joints = Array.from({ length: n }, (_, i) => i), positions = panels.find((panel) => panel.kind === "q"), torques = panels.find((panel) => panel.kind === "tau_motor");
    const q = (of) => joints.map((i) => of[place[`q_${arm.joints[i].name}_${arm.joints[i].unit}`]]);
    let k, state, row, running = true, speed = 1, last = null, owed = 0, drawn = 0, history, times, way_, most = joints.map(() => 1e-9);
    const targets = numbers.filter((number) => number.group === "target"), goal = targets.length ? world.extra("reference", "target", ball(0.03 * arm.size)) : null;
    const push = numbers.filter((number) => number.group === "push"), pushed = world.extra("forces", "force on the tool", arrow(0xcc3311));
    const trail = world.extra("trail", "tool's way", way(Array.from({ length: TRAIL }, () => [0, 0, 0]), 0x0072b2));
    const side = document.getElementById("side"), table = new JointTable(arm, [`position [${positions?.unit}]`, `torque [${torques?.unit}]`]);
    const where = element("p", { className: "note" }), clock = element("output", { "aria-live": "off" }), play = element("button", { type: "button" });
    side.append(table.element, where);
    const show = new Map();
    for (const [group, title] of Object.entries(GROUPS)) {
        const own = numbers.filter((number) => number.group === group), grid = element("div", { className: "sliders", role: "group", "aria-label": title });
        if (!own.length) continue;
        const fold = element("details", { open: ["target", "payload", "more"].includes(group) }, element("summary", {}, title), grid);
        side.append(fold);
        for (const number of own) {
            const turn = angle(number), unit = turn === 1 ? number.unit : "deg";
            const about = { name: number.of, unit, low: number.low * turn, high: number.high * turn, value: number.value * turn, log: number.log };
            const put = slider(grid, about, (x) => set(number, x / turn));
            show.set(number, (x) => put(x * turn));
        }
    }

    const value = (curve) => curve.terms.reduce((sum, [heading, factor]) => sum + factor * row[place[heading]], curve.constant);
    const curves = panels.flatMap((panel) => panel.curves.concat(panel.references.filter((curve) => curve.terms.length)));
    const points = (curve) => ({ t: times, y: history.get(curve) });
    const plots = panels.map((panel) => new Plot(panel, points, null));
    document.getElementById("plots").append(...plots.map((plot) => plot.element));
    const pace = element("select", { "aria-label": "speed" }, ...PACES.map((x) => element("option", { value: x, selected: x === 1 }, `${x} ×`)));
    const again = element("button", { type: "button" }, "restart"), back = element("button", { type: "button" }, "file's numbers");
    document.getElementById("bar").append(play, pace, again, back, element("span", { className: "note", id: "way" }, `${method}, steps of ${digits(dt)} s`), clock);
    pace.addEventListener("change", () => (speed = Number(pace.value)));
    play.addEventListener("click", () => run(!running));
    again.addEventListener("click", restart);
    back.addEventListener("click", () => numbers.forEach((number) => {
        set(number, number.value);
        show.get(number)(number.value);
    }));
    document.addEventListener("keydown", (event) => {
        if (["INPUT", "SELECT", "SUMMARY", "BUTTON"].includes(event.target.tagName)) return;
        if (event.key === " ") run(!running);
        else if (event.key === "r") restart();
        else return;
        event.preventDefault();
    });
    document.getElementById("hint").textContent = "drag the arm to push its tool; drag the ground to turn, Shift to move, wheel to zoom";

    /** Give an open number a value, in the file's unit; a target moves its lines, too. */
    function set(number, x) {
        open[number.field] = x;
        if (number.group !== "target") return;
        for (const panel of panels) {
            const turn = panel.unit.startsWith("deg") ? 180 / Math.PI : 1;
            const lines = panel.kind === "q" ? panel.references : panel.kind === "error" ? panel.curves : [];
            for (const curve of lines) if (curve.look === number.joint && (panel.kind === "error" || !curve.terms.length)) curve.constant = x * turn;
        }
    }

    function restart() {
        k = 0;
        state = begin(open);
        times = [];
        history = new Map(curves.map((curve) => [curve, []]));
        way_ = [];
        note();
        owed = 0;
        document.getElementById("clock").textContent = "";
        look(true);
        run(true);
    }

    function run(on) {
        running = on;
        last = null;
        play.textContent = on ? "❚❚" : "▶";
        play.setAttribute("aria-label", on ? "pause" : "run");
        if (on) requestAnimationFrame(advance);
    }

    /** Carry out steps, and note some for the curves; false once the state has left all bounds. */
    function steps(count) {
        for (let i = 0; i < count; i++) {
            state = step(k++, state, open);
            if (!state.every((x) => Math.abs(x) < FAR)) return false;
            if (k * dt - times.at(-1) > NOTED - 0.5 * dt) note();
        }
        return true;
    }

    function note() {
        row = observe(k, state, open);
        times.push(k * dt);
        for (const curve of curves) history.get(curve).push(value(curve));
        way_.push(tool(arm, q(row)));
        if (way_.length > TRAIL) way_.shift();
        const old = times.findIndex((t) => t >= k * dt - SHOWN);
        if (old < 100) return;
        for (const list of [times, ...curves.map((curve) => history.get(curve))]) list.splice(0, old);
    }

    function advance(stamp) {
        if (!running) return;
        requestAnimationFrame(advance);
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
        const now = k * dt;
        row = observe(k, state, open);
        model.pose(q(row));
        const place_ = trail.geometry.attributes.position;
        way_.forEach((p, i) => place_.setXYZ(i, ...p));
        place_.needsUpdate = true;
        trail.geometry.setDrawRange(0, way_.length);
        if (goal) goal.position.set(...tool(arm, joints.map((i) => open[targets.find((number) => number.joint === i).field])));
        const force = push.map((number) => open[number.field]), size = Math.hypot(...force);
        const [x, y, z] = tool(arm, model.q);
        aim(pushed, [x, y, z], force, arm.size * Math.min(1, 0.12 + 0.5 * size / PUSH));
        const share = shares(panels, n, value);
        arm.joints.forEach((joint, i) => {
            const torque = torques?.curves.find((curve) => curve.look === i), tau = torque ? value(torque) : null, position = positions?.curves.find((curve) => curve.look === i);
            const bound = Math.max(0, ...(torques?.limits ?? []).filter(([look]) => look === i).map(([, x]) => x));
            most[i] = Math.max(most[i], Math.abs(tau ?? 0));
            model.load(i, (tau ?? 0) / (bound || most[i]), atLimit(share[i][0]));
            table.set(i, [cell(position ? value(position) : model.q[i]), tau === null ? "–" : cell(tau)], ...share[i]);
        });
        where.textContent = `tool  x ${x.toFixed(4)}  y ${y.toFixed(4)}  z ${z.toFixed(4)} m`;
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

    /** A drag that begins at the arm pushes its tool, until it ends. */
    world.orbit.grab = (event) => {
        const caster = new THREE.Raycaster(), box = world.canvas.getBoundingClientRect(), end = new THREE.Vector3();
        const flat = (e) => new THREE.Vector2((2 * (e.clientX - box.left)) / box.width - 1, 1 - (2 * (e.clientY - box.top)) / box.height);
        caster.setFromCamera(flat(event), world.camera);
        if (!push.length || !caster.intersectObjects([...model.layers.solids, model.tool], true).length) return null;
        const plane = new THREE.Plane();
        const drag = (e) => {
            const at = new THREE.Vector3(...tool(arm, model.q));
            plane.setFromNormalAndCoplanarPoint(world.camera.getWorldDirection(new THREE.Vector3()), at);
            caster.setFromCamera(flat(e), world.camera);
            if (!caster.ray.intersectPlane(plane, end)) return;
            const force = end.sub(at).multiplyScalar(PUSH / arm.size);
            force.toArray().forEach((x, i) => (open[push[i].field] = x));
            push.forEach((number, i) => show.get(number)(force.getComponent(i)));
        };
        const let_go = () => push.forEach((number) => {
            open[number.field] = 0;
            show.get(number)(0);
        });
        return { drag, end: let_go };
    };

    restart();
    const begun = performance.now(), targeted = joints.map((i) => open[targets.find((number) => number.joint === i)?.field] ?? model.q[i]);
    const met = [model.q, targeted].flatMap((positions) => poses(arm, positions).map((T) => [T[3], T[7], T[11]]));
    while (k * dt < Math.min(duration, SHOWN) && performance.now() - begun < AHEAD && steps(20));
    world.frame([...met, ...way_.filter((place) => place.every((x) => Math.abs(x) < 3 * arm.size)), world.origin]);
    restart();
    return {
        pause: () => run(false), play: () => run(true), restart, poses: () => model.drawn, world,
        steps: (count) => (steps(count), look(true), state),
        set: (path, x) => numbers.filter((number) => number.path === path).forEach((number) => (set(number, x), show.get(number)(x * angle(number)))),
        value: (path) => open[numbers.find((number) => number.path === path).field],
        onScreen: () => {
            const box = world.canvas.getBoundingClientRect(), at = new THREE.Vector3(...tool(arm, model.q)).project(world.camera);
            return [box.left + ((1 + at.x) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
        },
        get time() { return k * dt; }, get state() { return state; }, get row() { return row; },
    };
}
