import * as THREE from "three";
import { LAYERS } from "./arm.js";
import { Orbit } from "./camera.js";
import { element, themed } from "./parts.js";

/** The scene: light, ground, arms, ways of tools; drawn when something has changed. */
export class World {
    constructor(arm) {
        this.canvas = document.getElementById("scene");
        this.renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: true });
        this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
        this.scene = new THREE.Scene();
        this.camera = new THREE.PerspectiveCamera(38, 1, 0.01, 100);
        this.size = arm.size;
        this.up = new THREE.Vector3(...arm.up);
        this.models = [];
        this.extras = {};
        const sun = new THREE.DirectionalLight(0xffffff, 2.2);
        this.camera.add(sun);
        sun.position.set(-0.5, 0.9, 0.6);
        this.scene.add(this.camera, new THREE.HemisphereLight(0xffffff, 0x8d8d99, 1.5));
        this.origin = [arm.base[3], arm.base[7], arm.base[11]];
        this.orbit = new Orbit(this.camera, this.canvas, arm.up, arm.size, () => this.draw());
        new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement);
        themed(() => this.paint());
        window.addEventListener("beforeprint", () => this.render());
        this.layer("grid", "ground", true);
    }

    /** The ground below the base, again in the theme's colours. */
    paint() {
        const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name).trim();
        this.scene.background = new THREE.Color(color("--sky"));
        if (this.grid) this.scene.remove(this.grid);
        const step = 10 ** Math.round(Math.log10(this.size / 8)), cells = 2 * Math.ceil((1.4 * this.size) / step);
        this.grid = new THREE.GridHelper(cells * step, cells, color("--ground"), color("--ground"));
        this.grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), this.up);
        this.grid.position.set(...this.origin).addScaledVector(this.up, -0.006 * this.size);
        this.grid.visible = !(this.hidden ?? new Set()).has("grid");
        this.scene.add(this.grid);
        this.draw();
    }

    add(model) {
        if (!this.models.length) for (const [name, [text, shown]] of Object.entries(LAYERS)) this.layer(name, text, shown);
        this.models.push(model);
        this.scene.add(model.whole);
        this.draw();
    }

    /** Keep an object in a layer that can be hidden. */
    extra(name, text, object) {
        if (!this.extras[name]) this.layer(name, text, true);
        (this.extras[name] ??= []).push(object);
        this.scene.add(object);
        return object;
    }

    layer(name, text, shown) {
        this.hidden ??= new Set();
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

    /** Turn the camera's home so that points fit into the picture. */
    frame(points) {
        const box = new THREE.Box3().setFromPoints(points.map((p) => new THREE.Vector3(...p)));
        const ball = box.getBoundingSphere(new THREE.Sphere());
        this.reach = Math.max(ball.radius, 0.3 * this.size);
        this.orbit.home.target.copy(ball.center);
        this.fit();
    }

    fit() {
        const aspect = Math.min(1, this.camera.aspect);
        this.orbit.home.distance = (1.05 * this.reach) / Math.sin((this.camera.fov * Math.PI) / 360) / aspect;
        this.orbit.reset();
    }

    resize() {
        const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
        if (!width || !height) return;
        this.camera.aspect = width / height;
        this.renderer.setSize(width, height, false);
        this.camera.updateProjectionMatrix();
        if (this.reach && !this.orbit.touched) this.fit();
        this.render();
    }

    draw() {
        if (this.due) return;
        this.due = true;
        requestAnimationFrame(() => this.render());
    }

    render() {
        this.due = false;
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

/** Let an arrow end at a point, along a force, of a length [m]. */
export function aim(made, end, force, length) {
    const along = new THREE.Vector3(...force), size = along.length();
    made.visible = size > 0;
    if (!size) return;
    along.divideScalar(size);
    made.setDirection(along);
    made.setLength(length, 0.22 * length, 0.08 * length);
    made.position.set(...end).addScaledVector(along, -length);
}
