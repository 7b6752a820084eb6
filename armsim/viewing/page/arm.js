import * as THREE from "three";
import { center, poses } from "./kinematics.js";
import { themeColor, themed } from "./parts.js";
import { bone, label, letter, lines, shape, triad, write } from "./shapes.js";

const AXIS = 0.14, TRIAD = 0.075, ARC = 0.075;  // of the arm's size
const LETTERS = 22;  // px
const NEAR = 0.05;  // of the arm's size, between joints whose names would cover each other
const BAD = 0xd5420a;
export const LAYERS = {  // what can be shown, and whether it is at first
    solids: ["solids", true],
    frames: ["link frames", true],
    axes: ["joint axes", true],
    ranges: ["joint ranges", false],
    torque: ["torques", true],
    mass: ["centre of mass", false],
    names: ["joint names", true],
};

function matrix(rows) {
    return new THREE.Matrix4().set(...rows);
}

function fixed(rows) {
    const group = new THREE.Group();
    group.matrixAutoUpdate = false;
    group.matrix.copy(matrix(rows));
    return group;
}

class Circle extends THREE.Curve {
    getPoint(u) {
        return new THREE.Vector3(Math.cos(2 * Math.PI * u), Math.sin(2 * Math.PI * u), 0);
    }
}

/** An arm as frames in the world, of the base, of each joint its own and the user's in it, and of the tool, with what is drawn there. */
export class ArmModel {
    constructor(arm, { pale = false, color = 0x0072b2 } = {}) {
        this.arm = arm;
        this.pale = pale;
        this.layers = Object.fromEntries(Object.keys(LAYERS).map((name) => [name, []]));
        this.carried = [];  // what is drawn for a part of the time
        const size = arm.size;
        this.whole = new THREE.Group();
        this.root = fixed(arm.base);
        this.whole.add(this.root);
        this.links = [];
        arm.links.forEach((joint, i) => {
            const seat = fixed(joint.fixed), own = fixed(joint.fixed), frame = fixed(joint.frame);
            const parent = joint.parent ?? i - 1, leads = arm.joints.includes(joint);
            (parent < 0 ? this.root : this.links[parent].own).add(seat);
            this.whole.add(own);
            own.add(frame);
            this.put(frame, "frames", triad(TRIAD * size));
            const dashes = new THREE.LineDashedMaterial({ dashSize: 0.02 * size, gapSize: 0.01 * size });
            this.put(own, "axes", lines([[0, 0, -AXIS * size], [0, 0, AXIS * size]], dashes));
            if (!pale) this.range(seat, own, joint);
            const name = label(joint.name);
            if (!pale) this.put(own, "names", name);
            themed(() => {
                dashes.color.set(themeColor("--ink"));
                write(name, themeColor("--ink"), themeColor("--sky"));
            });
            this.links.push({ joint, own, frame, arc: pale || !leads ? null : this.arc(seat, joint) });
        });
        this.joints = this.links.filter(({ joint }) => arm.joints.includes(joint));
        this.tool = fixed(arm.base);
        this.whole.add(this.tool);
        this.tool.add(this.cross(color));
        this.build([this.root, ...this.links.map(({ own }) => own), this.tool]);
        this.ball = new THREE.Mesh(new THREE.SphereGeometry(0.02 * size, 24, 16), new THREE.MeshBasicMaterial({ color: 0xcc79a7, depthTest: false }));
        this.ball.renderOrder = 4;
        this.put(this.whole, "mass", this.ball);
        for (const [name, [, shown]] of Object.entries(LAYERS)) this.show(name, shown && !(pale && name !== "solids"));
        this.pose(arm.joints.map((joint) => joint.initial));
        const places = poses(arm, this.q).map((T) => [T[3], T[7], T[11]]);
        const near = (a, b) => Math.hypot(...a.map((x, k) => x - b[k])) < NEAR * size;
        this.lines = arm.links.map((_, i) => places.slice(0, i).filter((place) => near(place, places[i])).length);  // of names, one below the other
    }

    material(color) {
        const pale = this.pale ? { transparent: true, opacity: 0.42, depthWrite: false } : {};
        return new THREE.MeshPhongMaterial({ color, specular: 0x222222, shininess: 24, ...pale });
    }

    put(parent, layer, object) {
        parent.add(object);
        this.layers[layer].push(object);
    }

    /** Put all parts into the frames that they are fixed to. */
    build(frames) {
        const metal = this.material(0x6b7480);
        const paints = [...this.arm.joints, ...(this.arm.followers ?? [])].map(({ color }) => this.material(new THREE.Color(color).lerp(new THREE.Color(0xffffff), 0.3)));
        for (const part of this.arm.parts) {
            const made = shape(part).applyMatrix4(matrix(part.pose));
            if (part.drum) frames[part.frame].add((this.links[part.frame - 1].drum = new THREE.Mesh(made, this.material(0x7d8794))));
            else {
                const holder = new THREE.Group(), solid = new THREE.Mesh(made, part.joint === null ? metal : paints[part.joint]);
                this.put(frames[part.frame], "solids", holder.add(solid));
                if (part.start !== null || part.end !== null) this.carried.push({ solid, part });
            }
        }
    }

    /** What shows a torque or force: part of a circle about the axis, or of a bar along it. */
    arc(seat, joint) {
        const r = ARC * this.arm.size, holder = new THREE.Group();
        const paint = new THREE.MeshBasicMaterial({ color: BAD, side: THREE.DoubleSide });
        let body, head = new THREE.Mesh(new THREE.ConeGeometry(0.2 * r, 0.42 * r, 20), paint);
        if (joint.turns) {
            body = new THREE.Mesh(new THREE.TubeGeometry(new Circle(), 96, 0.07, 8).scale(r, r, r), paint);
        } else {
            body = new THREE.Mesh(new THREE.CylinderGeometry(0.07 * r, 0.07 * r, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5), paint);
            head.geometry.rotateX(Math.PI / 2);
        }
        holder.add(body, head);
        this.put(seat, "torque", holder);
        return { holder, body, head, paint, r };
    }

    /** The range of a joint as a sector, or a line, and a needle where it stands. */
    range(seat, own, joint) {
        if (joint.lower === null && joint.upper === null) return;
        const size = this.arm.size, r = 0.11 * size, whole = joint.turns ? Math.PI : size;
        const low = (joint.lower ?? -whole) + joint.offset, high = (joint.upper ?? whole) + joint.offset;
        const color = joint.color;
        if (joint.turns) {
            const span = Math.min(high - low, 2 * Math.PI), fan = new THREE.RingGeometry(0.35 * r, r, 64, 1, low, span);
            const glass = new THREE.MeshBasicMaterial({ color, transparent: true, opacity: 0.3, side: THREE.DoubleSide, depthWrite: false });
            this.put(seat, "ranges", new THREE.Mesh(fan, glass));
            this.put(own, "ranges", lines([[0, 0, 0], [r, 0, 0]], new THREE.LineBasicMaterial({ color })));
        } else {
            const material = new THREE.LineBasicMaterial({ color }), ends = [low, high].map((x) => joint.slides * x), tick = 0.3 * r;
            this.put(seat, "ranges", lines([[0, 0, ends[0]], [0, 0, ends[1]], ...ends.flatMap((z) => [[-tick, 0, z], [tick, 0, z]])], material));
        }
    }

    cross(color) {
        const a = 0.035 * this.arm.size, paint = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: this.pale, opacity: this.pale ? 0.5 : 1 });
        const made = new THREE.Group();
        for (const axis of [[2 * a, 0, 0], [0, 2 * a, 0], [0, 0, 2 * a]]) {
            const bar = new THREE.Mesh(bone(axis, a / 14).translate(...axis.map((x) => -x / 2)), paint);
            bar.renderOrder = 4;
            made.add(bar);
        }
        return made;
    }

    /** Write names as high everywhere, where a pixel has a size at a distance of 1. */
    letter(pixel) {
        this.layers.names.forEach((name, i) => letter(name, LETTERS * pixel, this.lines[i]));
    }

    show(layer, shown) {
        for (const object of this.layers[layer]) object.visible = shown;
    }

    /** Put the joints at positions q [rad or m]. */
    pose(q, t = null) {
        this.q = Array.from(q);
        for (const { solid, part } of this.carried) solid.visible = t === null || (t >= (part.start ?? 0) && t < (part.end ?? Infinity));
        const found = poses(this.arm, this.q);
        [...this.links.map(({ own }) => own), this.tool].forEach((own, i) => {
            own.matrix.copy(matrix(found[i]));
            own.matrixWorldNeedsUpdate = true;
        });
        const mean = center(this.arm, this.q);
        if (mean) this.ball.position.set(...mean);
        else this.ball.scale.setScalar(0);
    }

    /** Show what acts on joint i: its share of the most that it may be, with its sign, and whether a limit is reached. */
    load(i, share, full) {
        const { drum, arc } = this.joints[i], at = Math.max(-1, Math.min(1, share));
        drum.material.color.set(full ? BAD : 0x7d8794);
        if (!arc) return;
        const joint = this.joints[i].joint, size = Math.abs(at);
        arc.holder.scale.setScalar(size > 0.004 ? 1 : 0);
        arc.paint.color.set(full ? BAD : joint.color);
        if (joint.turns) {
            const steps = Math.max(1, Math.round(72 * size)), angle = (2 * Math.PI * steps) / 96;
            arc.body.geometry.setDrawRange(0, steps * 8 * 6);
            arc.head.position.set(arc.r * Math.cos(angle), arc.r * Math.sin(angle), 0);
            arc.head.rotation.set(0, 0, angle);
            arc.holder.scale.y *= at < 0 ? -1 : 1;
        } else {
            const along = joint.slides * (this.q[i] + joint.offset), length = 3 * arc.r * at;
            arc.holder.position.set(0.6 * arc.r, 0, along);
            arc.body.scale.set(1, 1, length || 1e-9);
            arc.head.position.set(0, 0, length);
            arc.head.rotation.set(at < 0 ? Math.PI : 0, 0, 0);
        }
    }

    /** Poses of the links' frames, by the user's convention, and of the tool, as they are drawn: 4 by 4, row by row. */
    get drawn() {
        this.whole.updateMatrixWorld(true);
        return [...this.links.map(({ frame }) => frame), this.tool].map((o) => o.matrixWorld.clone().transpose().toArray());
    }
}
