import * as THREE from "three";
import { LAYERS } from "./arm.js";
import { Orbit } from "./camera.js";
import { element, themeColor, themed } from "./parts.js";
import { shape } from "./shapes.js";

const LATE = 31, EARLY = 18;  // ms between frames: more takes pixels away, less gives them back
const JUDGED = 8;  // frames
const LEAST = 0.5;  // pixels of a moving picture to one of the window
const FOOT = 0.006, HANGS = 0.02;  // of the arm's size: the ground below the base, unless the arm reaches further down
const MARGIN = 0.12;  // around what is in view, of the arm's size
const PAPER = [800, 460];  // width and height of a printed picture, in px of the window
const REST = 160;  // ms after which a picture is at rest
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Whether there is WebGL, and whether the processor draws, for want of a graphics card. */
function graphics() {
    const gl = document.createElement("canvas").getContext("webgl2"), told = gl?.getExtension("WEBGL_debug_renderer_info");
    const name = told ? gl.getParameter(told.UNMASKED_RENDERER_WEBGL) : "";
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return { there: Boolean(gl), soft: SOFTWARE.test(name) };
}

/** How many pixels are drawn to one of the window: as many as keep pace while the picture moves, all of them at rest. */
class Sharpness {
    constructor(full) {
        Object.assign(this, { full, moving: full, frames: 0, waited: 0, last: null });
    }

    /** Take a frame of a moving picture into account, at a time [ms]. */
    frame(stamp) {
        const gap = stamp - (this.last ?? stamp);
        this.last = stamp;
        if (gap <= 0 || gap > 1000) return;
        this.waited += gap;
        if (++this.frames < JUDGED) return;
        const mean = this.waited / this.frames;
        if (mean > LATE) this.moving = Math.max(LEAST, 0.8 * this.moving);
        else if (mean < EARLY) this.moving = Math.min(this.full, 1.05 * this.moving);
        this.frames = this.waited = 0;
    }

    rest() {
        this.last = null;
        this.frames = this.waited = 0;
    }
}

/** The scene: light, ground, arms, ways of tools; drawn when something has changed. */
export class World {
    constructor(arm) {
        this.canvas = document.getElementById("scene");
        const { there, soft } = graphics(), ratio = Math.min(window.devicePixelRatio, 2);
        this.renderer = there ? new THREE.WebGLRenderer({ canvas: this.canvas, antialias: !soft }) : null;  // numbers and curves do without
        document.getElementById("blind").hidden = there;
        this.sharpness = new Sharpness(ratio);
        this.still = soft ? Math.max(ratio, 2) : ratio;  // finer pixels in place of smoothed edges
        this.renderer?.setPixelRatio(this.still);
        this.scene = new THREE.Scene();
        this.camera = new THREE.PerspectiveCamera(38, 1, 0.01, 100);
        this.size = arm.size;
        this.up = new THREE.Vector3(...arm.up);
        this.models = [];
        this.extras = {};
        this.hidden = new Set();
        this.depth = FOOT * arm.size;  // of the ground below the base [m]
        const sun = new THREE.DirectionalLight(0xffffff, 2.2);
        this.camera.add(sun);
        sun.position.set(-0.5, 0.9, 0.6);
        this.scene.add(this.camera, new THREE.HemisphereLight(0xffffff, 0x8d8d99, 1.5));
        this.origin = [arm.base[3], arm.base[7], arm.base[11]];
        this.orbit = new Orbit(this.camera, this.canvas, arm.up, arm.size, () => this.draw());
        new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement);
        themed(() => this.paint());
        window.addEventListener("beforeprint", () => this.photograph());
        this.layer("grid", "ground", true);
        this.around = [];  // middles of the world's solids
        this.surround(arm.world);
    }

    /** The ground below base and arm, again in the theme's colours. */
    paint() {
        this.scene.background = new THREE.Color(themeColor("--sky"));
        if (this.grid) this.scene.remove(this.grid);
        const step = 10 ** Math.round(Math.log10(this.size / 8)), cells = 2 * Math.ceil((1.4 * this.size) / step);
        this.grid = new THREE.GridHelper(cells * step, cells, themeColor("--ground"), themeColor("--ground"));
        this.grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), this.up);
        this.grid.position.set(...this.origin).addScaledVector(this.up, -this.depth);
        this.grid.visible = !this.hidden.has("grid");
        this.scene.add(this.grid);
        this.draw();
    }

    add(model) {
        if (!this.models.length) for (const [name, [text, shown]] of Object.entries(LAYERS)) this.layer(name, text, shown);
        this.models.push(model);
        if (this.pixel) model.letter(this.pixel);
        this.scene.add(model.whole);
        this.draw();
    }

    /** What stands around an arm: solids, and planes as panes with a grid. */
    surround(parts) {
        for (const part of parts) {
            const plane = part.shape === "plane", glass = plane ? { transparent: true, opacity: 0.25, depthWrite: false } : {};
            const paint = new THREE.MeshPhongMaterial({ specular: 0x111111, shininess: 8, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, ...glass });
            const solid = new THREE.Mesh(shape(part), paint), whole = new THREE.Group().add(solid);
            whole.applyMatrix4(new THREE.Matrix4().set(...part.pose));
            this.extra("world", "world", whole);
            themed(() => {
                paint.color.set(themeColor("--wall"));
                whole.remove(...whole.children.slice(1));
                if (!plane) return;
                const { step, cells } = part.sizes, color = themeColor("--soft"), grid = new THREE.GridHelper(step * cells, cells, color, color);
                Object.assign(grid.material, { transparent: true, opacity: 0.4, depthWrite: false });
                whole.add(grid.rotateX(Math.PI / 2));
            });
            if (plane || part.shape === "mesh") this.show("grid", false);  // it stands in for the ground
            if (!plane) this.around.push([part.pose[3], part.pose[7], part.pose[11]]);
        }
    }

    /** Keep an object in a layer that can be hidden. */
    extra(name, text, object) {
        if (!this.extras[name]) this.layer(name, text, true);
        (this.extras[name] ??= []).push(object);
        this.scene.add(object);
        return object;
    }

    layer(name, text, shown) {
        const box = element("input", { type: "checkbox", checked: shown, id: `layer-${name}` });
        box.addEventListener("change", () => this.show(name, box.checked));
        const line = element("label", {}, box, ` ${text}`);
        document.getElementById("layers").append(line);
    }

    show(name, shown) {
        const box = document.getElementById(`layer-${name}`);
        if (box) box.checked = shown;
        if (shown) this.hidden.delete(name);
        else this.hidden.add(name);
        if (name === "grid") this.grid.visible = shown;
        for (const object of this.extras[name] ?? []) object.visible = shown;
        if (name in LAYERS) this.models.forEach((model) => model.pale && name !== "solids" ? null : model.show(name, shown));
        this.draw();
    }

    /** Let the camera's home have points in the middle of the picture, and all of it. */
    frame(points) {
        const reach = 1.2 * this.size, near = this.around.filter((p) => Math.hypot(...p.map((x, i) => x - this.origin[i])) < reach);
        this.shown = [...points, ...near].map((p) => new THREE.Vector3(...p));
        const base = this.up.dot(new THREE.Vector3(...this.origin)), below = base - Math.min(...this.shown.map((p) => p.dot(this.up)));
        if (below > HANGS * this.size) this.depth = below + MARGIN * this.size;
        this.paint();
        this.fit();
    }

    fit() {
        const { home } = this.orbit, tall = Math.tan((this.camera.fov * Math.PI) / 360), wide = tall * this.camera.aspect, margin = MARGIN * this.size;
        const toward = this.orbit.toward(home), across = new THREE.Vector3().crossVectors(this.up, toward).normalize(), upward = new THREE.Vector3().crossVectors(toward, across);
        home.target.set(0, 0, 0);
        for (const axis of [toward, across, upward]) {
            const along = this.shown.map((p) => p.dot(axis));
            home.target.addScaledVector(axis, (Math.min(...along) + Math.max(...along)) / 2);
        }
        home.distance = Math.max(...this.shown.map((p) => {
            const from = p.clone().sub(home.target), x = Math.abs(from.dot(across)) + margin, y = Math.abs(from.dot(upward)) + margin;
            return from.dot(toward) + margin + Math.max(x / wide, y / tall);
        }));
        this.orbit.reset();
    }

    resize() {
        const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
        if (!width || !height) return;
        this.take(width, height);
        this.render();
    }

    /** Make the picture so many pixels of the window wide and high. */
    take(width, height) {
        this.camera.aspect = width / height;
        this.renderer?.setSize(width, height, false);
        this.camera.updateProjectionMatrix();
        this.pixel = (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / height;  // of the window, at a distance of 1
        for (const model of this.models) model.letter(this.pixel);
        if (this.shown && !this.orbit.touched) this.fit();
    }

    /** Draw the picture for paper, where the moving one cannot be relied on. */
    photograph() {
        if (!this.renderer) return;
        const photo = document.getElementById("photo");
        [photo.width, photo.height] = PAPER.map((x) => 2 * x);
        this.take(...PAPER);
        this.render(2);
        photo.getContext("2d").drawImage(this.canvas, 0, 0);
        this.resize();
    }

    draw() {
        if (this.due) return;
        this.due = true;
        requestAnimationFrame((stamp) => {
            this.sharpness.frame(stamp);
            this.render(this.sharpness.moving);
            clearTimeout(this.rest);
            this.rest = setTimeout(() => {
                this.sharpness.rest();
                this.render();
            }, REST);
        });
    }

    /** Draw with so many pixels to one of the window; all of them unless told otherwise. */
    render(ratio = this.still) {
        this.due = false;
        if (!this.renderer) return;
        if (ratio !== this.renderer.getPixelRatio()) this.renderer.setPixelRatio(ratio);
        this.renderer.render(this.scene, this.camera);
    }
}

/** A way of the tool, as a line through points [m]. */
export function way(points, color, { dashed = 0, opacity = 1 } = {}) {
    const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(points.flat(), 3));
    const look = { color, transparent: opacity < 1, opacity };
    const material = dashed ? new THREE.LineDashedMaterial({ ...look, dashSize: dashed, gapSize: 0.6 * dashed }) : new THREE.LineBasicMaterial(look);
    const line = new THREE.Line(geometry, material);
    if (dashed) line.computeLineDistances();
    line.frustumCulled = false;
    return line;
}

/** A ball of glass around a place to be reached. */
export function ball(radius) {
    const glass = new THREE.MeshBasicMaterial({ color: 0x009e73, transparent: true, opacity: 0.4, depthWrite: false });
    return new THREE.Mesh(new THREE.SphereGeometry(radius, 24, 16), glass);
}

/** An arrow for a force. */
export function arrow(color) {
    const made = new THREE.ArrowHelper(new THREE.Vector3(0, 0, 1), new THREE.Vector3(), 1, color);
    made.visible = false;
    return made;
}

/** Let an arrow end at a point, along a force, of a length [m]; its head may have a length of its own. */
export function aim(made, end, force, length, head = 0.22 * length) {
    const along = new THREE.Vector3(...force), size = along.length();
    made.visible = size > 0;
    if (!size) return;
    along.divideScalar(size);
    made.setDirection(along);
    made.setLength(length, head, (0.08 / 0.22) * head);
    made.position.set(...end).addScaledVector(along, -length);
}
