import * as THREE from "three";
import { unpacked } from "./parts.js";

const FONT = "600 44px system-ui, sans-serif";

/** The shape of a part of `armsim.viewing.arm_data`, its middle at the origin, and about z. */
export function shape({ shape: name, sizes }) {
    if (name === "mesh") {
        const { low, step, corners } = sizes, places = Float32Array.from(unpacked(corners), (x, i) => low[i % 3] + step * x);
        const made = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(places, 3));
        made.computeVertexNormals();
        return made;
    }
    if (name === "plane") return new THREE.PlaneGeometry(sizes.step * sizes.cells, sizes.step * sizes.cells);
    if (name === "box") return new THREE.BoxGeometry(...sizes.size);
    if (name === "sphere") return new THREE.SphereGeometry(sizes.radius, 32, 24);
    if (name === "cylinder") return new THREE.CylinderGeometry(sizes.radius, sizes.radius, sizes.height, 48).rotateX(Math.PI / 2);
    const ring = new THREE.Shape().absarc(0, 0, sizes.outer_radius, 0, 2 * Math.PI);
    ring.holes.push(new THREE.Path().absarc(0, 0, sizes.inner_radius, 0, 2 * Math.PI, true));
    const made = new THREE.ExtrudeGeometry(ring, { depth: sizes.height, bevelEnabled: false, curveSegments: 48 });
    return made.translate(0, 0, -sizes.height / 2);
}

/** A cylinder from the origin to a point. */
export function bone(end, radius) {
    const along = new THREE.Vector3(...end), length = along.length();
    if (length < 1e-9) return null;
    const made = new THREE.CylinderGeometry(radius, radius, length, 20).translate(0, length / 2, 0);
    return made.applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize()));
}

/** Lines through points in pairs. */
export function lines(points, material) {
    const made = new THREE.BufferGeometry().setFromPoints(points.map((p) => new THREE.Vector3(...p)));
    return new THREE.LineSegments(made, material).computeLineDistances();
}

/** Three lines along x, y and z, in red, green and blue. */
export function triad(length) {
    const made = new THREE.Group();
    [[0xd55e00, [length, 0, 0]], [0x009e73, [0, length, 0]], [0x0072b2, [0, 0, length]]].forEach(([color, end]) => {
        made.add(new THREE.Mesh(bone(end, length / 28), new THREE.MeshBasicMaterial({ color })));
    });
    return made;
}

/** A text that faces the eye, as large at any distance (see `letter`); to be painted (see `write`). */
export function label(text) {
    const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
    pen.font = FONT;
    canvas.width = Math.ceil(pen.measureText(text).width) + 16;
    canvas.height = 60;
    const map = new THREE.CanvasTexture(canvas);
    map.colorSpace = THREE.SRGBColorSpace;
    const made = new THREE.Sprite(new THREE.SpriteMaterial({ map, depthTest: false, transparent: true }));
    made.material.sizeAttenuation = false;
    made.renderOrder = 5;
    made.name = text;
    return made;
}

/** Paint a label in the theme's colours, with a rim that parts it from what is behind. */
export function write(made, ink, rim) {
    const { map } = made.material, canvas = map.image, pen = canvas.getContext("2d");
    pen.clearRect(0, 0, canvas.width, canvas.height);
    Object.assign(pen, { font: FONT, textBaseline: "middle", lineJoin: "round", lineWidth: 8, strokeStyle: rim, fillStyle: ink });
    pen.strokeText(made.name, 8, 30);
    pen.fillText(made.name, 8, 30);
    map.needsUpdate = true;
}

/** Give a label a height, of the picture's at a distance of 1; it stands right of its place, so many lines below. */
export function letter(made, height, line) {
    const { width, height: tall } = made.material.map.image;
    made.scale.set((height * width) / tall, height, 1);
    made.center.set((-0.5 * tall) / width, 0.5 + 0.8 * line);
}
