import { before } from "./parts.js";

const NOTED = 1 / 60;  // s between points
const OLD = 100;  // points that are dropped at once
const TRAIL = 600;  // places of the tool

/** What a simulation has been like for some seconds: points of curves, and where the tool was. */
export class History {
    /** Of curves of panels, for `seconds` [s]; `value(curve, row)` is a curve's in a row. */
    constructor(curves, seconds, value) {
        Object.assign(this, { curves, seconds, value });
        this.clear();
    }

    clear() {
        this.times = [];
        this.trail = [];
        this.values = new Map(this.curves.map((curve) => [curve, []]));
    }

    /** Whether a point is due at time t [s], with steps of dt [s]. */
    due(t, dt) {
        return !this.times.length || t - this.times.at(-1) > NOTED - 0.5 * dt;
    }

    /** Keep a row at time t [s], and the tool's place [m]. */
    note(t, row, place) {
        this.times.push(t);
        for (const curve of this.curves) this.values.get(curve).push(this.value(curve, row));
        this.trail.push(place);
        if (this.trail.length > TRAIL) this.trail.shift();
        const old = before(this.times, t - this.seconds);
        if (old < OLD) return;
        for (const list of [this.times, ...this.values.values()]) list.splice(0, old);
    }

    points(curve) {
        return { t: this.times, y: this.values.get(curve) };
    }

    /** Let a line (see `way`) be the trail. */
    draw(line) {
        const { position } = line.geometry.attributes;
        this.trail.forEach((place, i) => position.setXYZ(i, ...place));
        position.needsUpdate = true;
        line.geometry.setDrawRange(0, this.trail.length);
    }

    /** A line that `draw` fills. */
    static get room() {
        return Array.from({ length: TRAIL }, () => [0, 0, 0]);
    }
}
