// What pages are made of: elements, numbers as text, arrays, colours of the theme, the row of joints.

const ON_PAPER = 3;  // pixels that are drawn for one of the window

/** An element with properties and children; texts are texts, never markup. */
export function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (name in made) made[name] = value;
        else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
}

/** A number to some digits, with a true minus. */
export function digits(x, count = 4) {
    if (x === null || x === undefined || Number.isNaN(x)) return "–";
    if (Math.abs(x) < 1e-12) x = 0;
    return String(Number(x.toPrecision(count))).replaceAll("-", "−");
}

/** Where a tool is [m], as a line. */
export function placeText([x, y, z]) {
    return `tool  x ${x.toFixed(4)}  y ${y.toFixed(4)}  z ${z.toFixed(4)} m`;
}

/** A number in a table, to five places at most. */
export function cell(x) {
    return digits(Number.isFinite(x) ? Number(x.toFixed(5)) : x);
}

/** An array of `armsim.viewing.arrays`. */
export function unpacked({ kind, bytes }) {
    const text = atob(bytes), raw = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) raw[i] = text.charCodeAt(i);
    return new { f4: Float32Array, f8: Float64Array, u2: Uint16Array }[kind](raw.buffer);
}

/** The last place in increasing times that is not after t, at least 0. */
export function before(times, t) {
    let first = 0, last = times.length;
    while (last - first > 1) {
        const middle = (first + last) >>> 1;
        if (times[middle] <= t) first = middle;
        else last = middle;
    }
    return first;
}

/** Row `k` of a table with some columns, interpolated by a share towards the next. */
export function between(values, columns, k, share) {
    const row = [], next = Math.min(k + 1, values.length / columns - 1);
    for (let i = 0; i < columns; i++) row.push((1 - share) * values[k * columns + i] + share * values[next * columns + i]);
    return row;
}

/** Where a time lies between times: the place before, and the share of the way to the next. */
export function placed(times, t) {
    const k = before(times, t), next = Math.min(k + 1, times.length - 1), gap = times[next] - times[k];
    return [k, gap > 0 ? Math.max(0, Math.min(1, (t - times[k]) / gap)) : 0];
}

const painters = [];

/** Call now, and whenever the theme changes. */
export function themed(paint) {
    painters.push(paint);
    paint();
}

/** A colour of the present theme, by its name in the style. */
export function themeColor(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Dark or light as the system is, until the button says otherwise; on paper light. */
export function followTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
    const set = (theme) => {
        root.dataset.theme = theme;
        painters.forEach((paint) => paint());
    };
    set(dark.matches ? "dark" : "light");
    dark.addEventListener("change", () => set(dark.matches ? "dark" : "light"));
    document.getElementById("theme").addEventListener("click", () => set(root.dataset.theme === "dark" ? "light" : "dark"));
    let seen = null;
    window.addEventListener("beforeprint", () => {
        seen ??= root.dataset.theme;
        root.dataset.print = "";
        set("light");
    });
    window.addEventListener("afterprint", () => {
        delete root.dataset.print;
        set(seen);
        seen = null;
    });
}

/** Pixels to draw for one of the window. */
export function sharpness() {
    return "print" in document.documentElement.dataset ? ON_PAPER : Math.min(window.devicePixelRatio, 2);
}

/** Whether a share of a limit, null without one, counts as being at it. */
export function atLimit(share) {
    return share !== null && share >= 0.999;
}

/** A table of joints with their load as bars. */
export class JointTable {
    constructor(arm, columns) {
        const heads = ["joint", ...columns].map((text, i) => element("th", { scope: "col", className: i ? "number" : "" }, text));
        this.element = element("table", { "aria-label": `${columns.join(", ")} of each joint` }, element("thead", {}, element("tr", {}, ...heads, element("th", { scope: "col" }, "of its limit"))));
        this.rows = arm.joints.map((joint) => {
            const cells = columns.map(() => element("td", { className: "number" }));
            const bar = element("i"), share = element("span", { className: "share" });
            const load = element("td", {}, element("div", { className: "loads" }, element("span", { className: "load", "aria-hidden": "true" }, bar), share));
            const row = element("tr", {}, element("th", { scope: "row" }, joint.name), ...cells, load);
            row.firstChild.style.color = "var(--ink)";
            return { row, cells, bar, share };
        });
        this.element.append(element("tbody", {}, ...this.rows.map(({ row }) => row)));
    }

    /** Write a row: texts, and the share of the limit (null without one) with the limit's name. */
    set(i, texts, share, of = "") {
        const { row, cells, bar, share: words } = this.rows[i], full = atLimit(share);
        texts.forEach((text, k) => (cells[k].textContent = text));
        bar.parentElement.hidden = share === null;
        bar.style.width = `${100 * Math.min(1, share ?? 0)}%`;
        words.textContent = share === null ? "none" : `${Math.round(100 * share)} % ${of}${full ? ", full" : ""}`;
        row.classList.toggle("full", full);
        this.limited ||= share !== null;
        this.element.classList.toggle("free", !this.limited);
    }
}

/** A slider with a field and a unit, in three cells of a grid. */
export function slider(grid, { name, unit, low, high, value, log = false }, changed) {
    const id = `slider-${document.querySelectorAll("input[type=range]").length}-${grid.childElementCount}`;
    const scale = log ? (x) => Math.log10(x) : (x) => x, back = log ? (x) => 10 ** x : (x) => x;
    const bar = element("input", { type: "range", id, min: scale(low), max: scale(high), step: "any" });
    const field = element("input", { type: "number", step: "any", "aria-label": `${name}${unit ? `, ${unit}` : ""}` });
    const show = (x, typed = false) => {
        bar.value = scale(x);
        bar.setAttribute("aria-valuetext", `${digits(x)} ${unit}`);
        if (!typed) field.value = Number(x.toPrecision(5));
    };
    bar.addEventListener("input", () => {
        const x = back(Number(bar.value));
        show(x);
        changed(x);
    });
    field.addEventListener("input", () => {
        const x = Number(field.value);
        if (field.value === "" || !Number.isFinite(x) || (low >= 0 && x < 0) || (log && x === 0)) return;
        show(x, true);
        changed(x);
    });
    show(value);
    grid.append(element("label", { htmlFor: id }, name), bar, field, element("span", {}, unit));
    return show;
}
