import { ArmModel } from "./arm.js";
import { Contacts, usual } from "./contacts.js";
import { Forces } from "./forces.js";
import { poses, tool } from "./kinematics.js";
import { JointTable, atLimit, before, between, cell, digits, element, placeText, placed, unpacked } from "./parts.js";
import { Plot, ofJoints, shares, units, valueAt } from "./plots.js";
import { World, ball, way } from "./world.js";

const COLORS = [0x0072b2, 0xd55e00];  // of tools and their ways
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

/** A run with its arrays, and the way of its tool. */
class Track {
    constructor(run, arm, arrays) {
        Object.assign(this, run, { arm });
        this.times = arrays[run.times];
        this.q = arrays[run.q];
        this.n = arm.joints.length;
        this.arrays = arrays;
        const rows = (values) => Array.from({ length: values.length / this.n }, (_, k) => values.subarray(k * this.n, (k + 1) * this.n));
        this.trail = rows(this.q).map((q) => tool(arm, q));
        this.goals = run.reference === null ? [] : rows(arrays[run.reference]).map((q) => tool(arm, q));
    }

    points(curve) {
        return { t: this.arrays[curve.t], y: this.arrays[curve.y] };
    }

    at(t) {
        return between(this.q, this.n, ...placed(this.times, t));
    }
}

/** A page of one run, or two. */
export function runPage({ arms, runs, arrays: packed }) {
    const arrays = packed.map(unpacked), tracks = runs.map((run, k) => new Track(run, arms[k], arrays)), [first, other] = tracks;
    const [arm] = arms, world = new World(arm), bare = tracks.flatMap((track) => track.trail.filter((_, k) => k % Math.ceil(track.trail.length / 200) === 0));
    const models = tracks.map((track, k) => new ArmModel(track.arm, { pale: k > 0, color: COLORS[k] }));
    models.forEach((model) => world.add(model));
    const ways = tracks.map((track, k) => world.extra("trail", "tool's way", way(track.trail, COLORS[k])));
    if (first.goals.length > 1) world.extra("reference", "reference", way(first.goals, 0x888888, { dashed: 0.02 * arm.size, opacity: 0.8 }));
    const goal = first.goals.length ? world.extra("reference", "reference", ball(0.03 * arm.size)) : null;
    const forces = new Forces(world, first.forces), pressed = first.contacts === null ? null : arrays[first.contacts];
    const contacts = new Contacts(world, models[0], pressed && usual(pressed));
    world.frame([...bare, ...tracks.flatMap((track) => poses(track.arm, track.at(0)).map((T) => [T[3], T[7], T[11]])), world.origin]);

    const start = Math.min(...tracks.map((track) => track.times[0])), end = Math.max(...tracks.map((track) => track.times.at(-1)));
    const torques = ofJoints(first.panels, arm.joints, "tau_motor"), positions = ofJoints(first.panels, arm.joints, "q"), [unit, force] = [positions, torques].map(units);
    const scale = torques.map((of) => of && (Math.max(...of.limits, 0) || first.points(of.curve).y.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1));
    const table = new JointTable(arm, [`position${unit.heading}`, `torque${force.heading}`]), place = element("p", { className: "note" });
    document.getElementById("side").append(table.element, place, contacts.note);
    if (other) document.getElementById("side").append(element("p", { className: "note" }, `In front: ${first.name}. Pale, its curves dotted: ${other.name}.`));
    let now = start, last = null, playing = false, speed = 1, due = 0;
    const plots = first.panels.map((panel) => {
        const same = other?.panels.find((one) => one.kind === panel.kind && one.unit === panel.unit);
        const owner = new Map(same?.curves.map((curve) => [curve, other]) ?? []);
        const plot = new Plot(panel, (curve) => (owner.get(curve) ?? first).points(curve), seek, same ? { panel: same } : null);
        plot.span(start, end);
        return plot;
    });
    document.getElementById("plots").append(...plots.map((plot) => plot.element));

    const play = element("button", { type: "button" }), clock = element("output", { "aria-live": "off" });
    const scrub = element("input", { type: "range", min: start, max: end, step: "any", value: start, "aria-label": "time" });
    const pace = element("select", { "aria-label": "speed" }, ...SPEEDS.map((x) => element("option", { value: x, selected: x === 1 }, `${x} ×`)));
    document.getElementById("bar").append(play, pace, scrub, clock);
    play.addEventListener("click", () => run(!playing));
    pace.addEventListener("change", () => (speed = Number(pace.value)));
    scrub.addEventListener("input", () => seek(Number(scrub.value)));
    document.addEventListener("keydown", (event) => {
        if (["INPUT", "SELECT", "SUMMARY", "BUTTON"].includes(event.target.tagName) && event.target !== scrub) return;
        const by = { ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: -0.1, PageDown: 0.1, ",": -1e-9, ".": 1e-9 }[event.key];
        if (event.key === " ") run(!playing);
        else if (event.key === "Home") seek(start);
        else if (event.key === "End") seek(end);
        else if (event.key === "," || event.key === ".") row(event.key === "." ? 1 : -1);
        else if (by) seek(now + by * (end - start));
        else return;
        event.preventDefault();
    });

    /** To the row after the present one, or the row before. */
    function row(by) {
        const k = before(first.times, now);
        run(false);
        seek(first.times[Math.max(0, Math.min(first.times.length - 1, by < 0 && first.times[k] < now ? k : k + by))]);
    }

    function run(on) {
        if (on && now >= end) now = start;
        playing = on;
        last = null;
        play.textContent = on ? "❚❚" : "▶";
        play.setAttribute("aria-label", on ? "pause" : "play");
        cancelAnimationFrame(due);
        if (on) due = requestAnimationFrame(advance);
    }

    function advance(stamp) {
        if (last !== null) seek(now + (speed * (stamp - last)) / 1000);
        last = stamp;
        if (now >= end) run(false);
        else due = requestAnimationFrame(advance);
    }

    function seek(t) {
        now = Math.max(start, Math.min(end, t));
        tracks.forEach((track, k) => {
            models[k].pose(track.at(now), now);
            ways[k].geometry.setDrawRange(0, before(track.times, now) + 1);
        });
        if (goal) goal.position.set(...first.goals[Math.min(first.goals.length - 1, before(first.times, now))]);
        loads();
        forces.show(now, models[0].drawn);
        contacts.show(models[0].q, pressed && between(pressed, 4 * contacts.marks.length, ...placed(first.times, now)));
        plots.forEach((plot) => plot.at(now));
        scrub.value = now;
        const of = `${now.toFixed(3)} s of ${digits(end)} s`;
        scrub.setAttribute("aria-valuetext", of);
        clock.textContent = of;
        place.textContent = `at ${now.toFixed(3)} s  ${placeText(tool(arm, models[0].q))}`;
        world.draw();
    }

    function loads() {
        const value = (curve) => valueAt(first.points(curve), now), share = shares(first.panels, first.n, value);
        arm.joints.forEach((joint, i) => {
            const tau = torques[i] && value(torques[i].curve), q = positions[i] ? value(positions[i].curve) : models[0].q[i];
            if (torques[i]) models[0].load(i, tau / scale[i], atLimit(share[i][0]));
            else models[0].load(i, 0, false);
            table.set(i, [cell(q) + unit.of(i), tau === null ? "–" : cell(tau) + force.of(i)], ...share[i]);
        });
    }

    const ends = tracks.filter((track) => ["interrupted", "diverged"].includes(track.status));
    document.getElementById("clock").textContent = ends.map((track) => `${track.name}: ${track.status} at ${digits(track.times.at(-1))} s`).join("\n");
    run(false);
    seek(Number(/^#t=([\d.]+)$/.exec(location.hash)?.[1] ?? start));
    return { seek, play: () => run(true), pause: () => run(false), get time() { return now; }, poses: (k = 0) => models[k].drawn, world };
}
