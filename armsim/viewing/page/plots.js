import { before, digits, element, sharpness, themeColor, themed } from "./parts.js";

const LEFT = 52, RIGHT = 8, TOP = 6, BOTTOM = 18;  // px around the curves

/** Round steps of an axis. */
export function ticks(low, high, most) {
    const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find((x) => x * power >= raw) * power;
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12) + 1e-9 * step && found.length < 50; k++) found.push(k * step);
    return found;
}

/** A panel over time: curves, references dashed, limits dotted, and a line at the present time. */
export class Plot {
    /** `series(curve)` gives the times and values of a curve; `second` has panels of another run, drawn dashed. */
    constructor(panel, series, seek, second = null) {
        Object.assign(this, { panel, series, second });
        this.canvas = element("canvas", { role: "img" });
        this.pen = this.canvas.getContext("2d", { willReadFrequently: true });  // by the processor: graphics cards are slow at long lines
        this.now = element("i", { className: "now", hidden: true });
        const keys = panel.curves.map((curve) => {
            const key = element("span", { className: "key" }, curve.of);
            key.style.setProperty("--key", curve.color === "#000000" ? "var(--ink)" : curve.color);
            return key;
        });
        this.element = element("figure", {}, element("figcaption", {}, element("b", {}, panel.label), ...keys), element("div", { className: "plot" }, this.canvas, this.now));
        this.canvas.setAttribute("aria-label", `${panel.label} of ${panel.curves.map((curve) => curve.of).join(", ")} over time`);
        const scrub = (event) => {
            const box = this.canvas.getBoundingClientRect();
            const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
            seek(this.from + Math.max(0, Math.min(1, share)) * (this.to - this.from));
        };
        if (seek) {
            this.canvas.addEventListener("pointerdown", (event) => {
                this.canvas.setPointerCapture?.(event.pointerId);
                scrub(event);
            });
            this.canvas.addEventListener("pointermove", (event) => event.buttons && scrub(event));
        } else this.canvas.style.cursor = "default";
        this.from = 0;
        this.to = 1;
        new ResizeObserver(() => this.redraw()).observe(this.canvas);
        themed(() => this.redraw());
    }

    span(from, to) {
        this.from = from;
        this.to = to > from ? to : from + 1;
    }

    /** The curves and references, with those of the second run. */
    get every() {
        const of = (panel, dash) => [
            ...panel.references.map((curve) => ({ curve, dash: [5, 4], thin: true })),
            ...panel.curves.map((curve) => ({ curve, dash, thin: dash.length > 0 })),
        ];
        return [...of(this.panel, []), ...(this.second ? of({ ...this.second.panel, references: [] }, [2, 2]) : [])];
    }

    points(curve) {
        if (!curve.value.terms.length) return { t: [this.from, this.to], y: [curve.value.constant, curve.value.constant] };
        return this.series(curve);
    }

    /** Values between which everything lies that is drawn; limits only where they are near. */
    range() {
        let low = Infinity, high = -Infinity;
        for (const { curve } of this.every) {
            const { t, y } = this.points(curve);
            for (let k = 0; k < y.length; k++) {
                if (!(t[k] >= this.from && t[k] <= this.to)) continue;
                if (y[k] < low) low = y[k];
                if (y[k] > high) high = y[k];
            }
        }
        if (!(low <= high)) return [0, 1];
        const most = Math.max(Math.abs(low), Math.abs(high)), height = Math.max(high - low, 1e-3 * most, this.panel.least || (most ? 0 : 2));
        for (const [, bound] of this.panel.limits) {
            if (bound >= low - 0.25 * height && bound <= high + 0.25 * height) {
                low = Math.min(low, bound);
                high = Math.max(high, bound);
            }
        }
        const extra = Math.max(0, height - (high - low)) / 2 + 0.06 * height;
        return [low - extra, high + extra];
    }

    redraw() {
        const { clientWidth: width, clientHeight: height } = this.canvas;
        if (!width) return;
        const ratio = sharpness(), dark = themeColor("--ink");
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        const { pen } = this, [low, high] = this.range();
        pen.scale(ratio, ratio);
        const x = (t) => LEFT + ((width - LEFT - RIGHT) * (t - this.from)) / (this.to - this.from);
        const y = (v) => TOP + ((height - TOP - BOTTOM) * (high - v)) / (high - low);
        pen.font = "11px system-ui, sans-serif";
        pen.fillStyle = themeColor("--soft");
        pen.strokeStyle = themeColor("--line");
        pen.lineWidth = 1;
        const stroke = (points) => {
            pen.beginPath();
            points.forEach(([a, b], i) => (i ? pen.lineTo(a, b) : pen.moveTo(a, b)));
            pen.stroke();
        };
        pen.textAlign = "right";
        pen.textBaseline = "middle";
        for (const value of ticks(low, high, Math.max(2, height / 26))) {
            stroke([[LEFT, y(value)], [width - RIGHT, y(value)]]);
            pen.fillText(digits(value), LEFT - 6, y(value));
        }
        pen.textAlign = "center";
        pen.textBaseline = "top";
        for (const value of ticks(this.from, this.to, Math.max(2, width / 80))) {
            stroke([[x(value), TOP], [x(value), height - BOTTOM]]);
            if (x(value) < width - RIGHT - 40) pen.fillText(digits(value), x(value), height - BOTTOM + 4);
        }
        pen.textAlign = "right";
        pen.fillText(`${digits(this.to)} s`, width - 1, height - BOTTOM + 4);
        pen.save();
        pen.beginPath();
        pen.rect(LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM);
        pen.clip();
        const looks = Object.fromEntries(this.panel.curves.map((curve) => [curve.look, curve.color]));
        const ink = (shade) => (shade === "#000000" || !shade ? dark : shade);
        pen.setLineDash([1, 3]);
        for (const [look, bound] of this.panel.limits) {
            pen.strokeStyle = ink(looks[look]);
            stroke([[LEFT, y(bound)], [width - RIGHT, y(bound)]]);
        }
        for (const { curve, dash, thin } of this.every) {
            const { t, y: values } = this.points(curve);
            pen.setLineDash(dash);
            pen.strokeStyle = ink(curve.color);
            pen.lineWidth = thin ? 1 : 1.5;
            follow(pen, t, values, x, y);
        }
        pen.restore();
        this.x = x;
        this.at(this.time ?? this.from);
    }

    /** Put the line at a time. */
    at(t) {
        this.time = t;
        if (!this.x) return;
        this.now.hidden = false;
        this.now.style.transform = `translateX(${this.x(t)}px)`;
    }
}

/** Draw a line through finite values; of many in one pixel's column through the first, the least, the greatest and the last. */
function follow(pen, t, values, x, y) {
    let down = false, first = null, low, high, last;
    const close = () => {
        if (first === null) return;
        for (const k of [Math.min(low, high), Math.max(low, high), last]) pen.lineTo(x(t[k]), y(values[k]));
        first = null;
    };
    pen.beginPath();
    for (let k = 0; k < values.length; k++) {
        if (!Number.isFinite(values[k])) {
            close();
            down = false;
        } else if (first !== null && x(t[k]) - x(t[first]) < 1) {
            if (values[k] < values[low]) low = k;
            if (values[k] > values[high]) high = k;
            last = k;
        } else {
            close();
            pen[down ? "lineTo" : "moveTo"](x(t[k]), y(values[k]));
            down = true;
            first = low = high = last = k;
        }
    }
    close();
    pen.stroke();
}

/** The value of a curve at a time, by straight lines. */
export function valueAt(points, t) {
    const { t: times, y } = points, k = before(times, t), next = Math.min(k + 1, times.length - 1), gap = times[next] - times[k];
    const share = gap > 0 ? Math.max(0, Math.min(1, (t - times[k]) / gap)) : 0;
    return share ? (1 - share) * y[k] + share * y[next] : y[k];
}

/** Of each joint its curve of a quantity, with the unit of its panel and its limits; null where there is none. */
export function ofJoints(panels, joints, kind) {
    const found = joints.map(() => null);
    for (const panel of panels.filter((one) => one.kind === kind)) {
        for (const curve of panel.curves) {
            const limits = panel.limits.filter(([look]) => look === curve.look).map(([, x]) => x);
            if (curve.look < found.length) found[curve.look] = { curve, unit: panel.unit, limits };
        }
    }
    return found;
}

/** Units of joints' curves: in the heading of their column where all have the same, else behind each number. */
export function units(found) {
    const all = new Set(found.filter(Boolean).map(({ unit }) => unit)), shared = all.size === 1;
    return { heading: shared ? ` [${[...all][0]}]` : "", of: (i) => (shared ? "" : ` ${found[i].unit}`) };
}

const LOADS = { voltage: "voltage", current: "current", tau_motor: "torque", qd: "speed" };

/** How much of each joint's limits is taken: the greatest share, and of what; null without limits. `value(curve)` is its present value. */
export function shares(panels, joints, value) {
    const found = Array.from({ length: joints }, () => [null, ""]);
    for (const panel of panels) {
        for (const curve of panel.kind in LOADS ? panel.curves : []) {
            const bound = Math.max(...panel.limits.filter(([look]) => look === curve.look).map(([, x]) => x));
            if (!(bound > 0) || curve.look >= joints) continue;
            const share = Math.abs(value(curve)) / bound;
            if (found[curve.look][0] === null || share > found[curve.look][0]) found[curve.look] = [share, LOADS[panel.kind]];
        }
    }
    return found;
}
