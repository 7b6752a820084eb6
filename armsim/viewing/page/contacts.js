import * as THREE from "three";
import { digits, element } from "./parts.js";
import { aim, arrow } from "./world.js";

const POINT = 0.01, TALLEST = 0.3, HEAD = 0.15;  // of the arm's size; of an arrow's head, of the longest arrow
const APART = 0x8d8d99, TOUCHES = 0xe69f00, NORMAL = 0xcc3311, FRICTION = 0x7b3294;
const CALM = 0.97;  // by which the longest arrow's force falls from picture to picture

/** The contacts of an arm: their points, and forces on the arm as arrows from there; in numbers below its joints, with the nearest pair. */
export class Contacts {
    /** With the force [N] of the longest arrow; 0 for the largest of late. */
    constructor(world, { arm, pale }, strongest = 0) {
        Object.assign(this, { arm, strongest, recent: 1e-300, longest: TALLEST * world.size, note: element("p", { className: "note" }) });
        this.marks = (pale ? [] : (arm.contacts?.names ?? [])).map(() => {
            const whole = new THREE.Group(), paint = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true });
            const ball = new THREE.Mesh(new THREE.SphereGeometry(POINT * world.size, 16, 12), paint);
            ball.renderOrder = 4;
            const arrows = [NORMAL, FRICTION].map(arrow);
            for (const part of arrows.flatMap(({ line, cone }) => [line, cone])) Object.assign(part.material, { depthTest: false, transparent: true }), (part.renderOrder = 4);
            world.extra("contacts", "contacts", whole.add(ball, ...arrows));
            return { ball, paint, arrows };
        });
    }

    /** Show them at joint positions q [rad or m], with each contact's normal force and friction along the world's axes [N], or null. */
    show(q, forces = null) {
        this.note.textContent = [...this.nearest(q), ...this.touches(q, forces)].join("\n");
    }

    /** The nearest of all pairs that are watched, and its distance. */
    nearest(q) {
        if (!this.arm.near) return [];
        const found = Array.from(this.arm.near(q)), least = Math.min(...found), pair = this.arm.pairs.names[found.indexOf(least)];
        return [least > 0 ? `nearest pair  ${pair}  ${digits(1000 * least)} mm` : `${pair} touch`];
    }

    touches(q, forces) {
        if (!this.marks.length) return [];
        const found = this.arm.touch(q), own = this.marks.map((_, i) => [...found.slice(7 * i, 7 * i + 7), ...(forces ?? []).slice(4 * i, 4 * i + 4)]);
        this.recent = Math.max(CALM * this.recent, ...own.map((values) => values[7] ?? 0));
        const scale = this.longest / (this.strongest || this.recent);
        return own.map(([x, y, z, nx, ny, nz, gap, force, ...friction], i) => {
            const { ball, paint, arrows } = this.marks[i], at = [x, y, z];
            ball.position.set(...at);
            paint.color.set(gap < 0 ? TOUCHES : APART);
            const drawn = force === undefined ? [] : [[nx, ny, nz].map((n) => n * force), friction];
            drawn.forEach((f, k) => {
                const size = Math.hypot(...f), length = Math.min(1.5 * this.longest, scale * size);
                aim(arrows[k], at.map((p, j) => p + (size ? (f[j] / size) * length : 0)), length > 1e-4 * this.longest ? f : [0, 0, 0], length, Math.min(0.5 * length, HEAD * this.longest));
            });
            const told = force === undefined ? "" : `  normal ${digits(force)} N  friction ${digits(Math.hypot(...friction))} N`;
            return `${this.arm.contacts.names[i]}  gap ${digits(1000 * gap)} mm${told}`;
        });
    }
}

/** The normal force that all but the largest twentieth of those above zero stay below, of rows of contacts' forces. */
export function usual(rows) {
    const forces = Array.from(rows).filter((x, i) => i % 4 === 0 && x > 0).sort((a, b) => a - b);
    return forces[Math.floor(0.95 * forces.length)] ?? 0;
}
