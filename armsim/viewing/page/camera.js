import * as THREE from "three";

const NEAREST = 0.05, FARTHEST = 40;  // of the arm's size

/** Turns, moves and zooms a camera about a point, by pointers, wheel and keys. */
export class Orbit {
    constructor(camera, canvas, up, size, changed) {
        Object.assign(this, { camera, canvas, size, changed });
        this.up = new THREE.Vector3(...up);
        this.right = new THREE.Vector3(1, 0, 0);
        if (Math.abs(this.up.x) > 0.9) this.right.set(0, 1, 0);
        this.right.addScaledVector(this.up, -this.right.dot(this.up)).normalize();
        this.back = new THREE.Vector3().crossVectors(this.right, this.up);
        this.home = { turn: 0.61, tilt: 0.42, distance: 2.6 * size, target: new THREE.Vector3() };
        this.pointers = new Map();
        this.held = null;  // takes drags in place of the camera
        canvas.addEventListener("pointerdown", (event) => this.down(event));
        canvas.addEventListener("pointermove", (event) => this.move(event));
        for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.release(event));
        canvas.addEventListener("contextmenu", (event) => event.preventDefault());
        canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            this.zoom(Math.exp(0.0012 * event.deltaY * (event.deltaMode === 1 ? 20 : 1)));
        }, { passive: false });
        canvas.addEventListener("keydown", (event) => this.key(event));
        this.reset();
    }

    reset() {
        Object.assign(this, this.home, { target: this.home.target.clone(), touched: false });  // by the user, since then
        this.place();
    }

    /** From what is looked at towards the eye, by angles [rad]. */
    toward({ turn, tilt }) {
        const level = this.back.clone().multiplyScalar(Math.cos(turn)).addScaledVector(this.right, Math.sin(turn));
        return level.multiplyScalar(Math.cos(tilt)).addScaledVector(this.up, Math.sin(tilt));
    }

    place() {
        this.camera.up.copy(this.up);
        this.camera.position.copy(this.target).addScaledVector(this.toward(this), this.distance);
        this.camera.lookAt(this.target);
        this.camera.near = this.distance / 100;
        this.camera.far = this.distance * 20 + 20 * this.size;
        this.camera.updateProjectionMatrix();
        this.camera.updateMatrixWorld();
        this.changed();
    }

    rotate(dx, dy) {
        this.touched = true;
        this.turn -= dx;
        this.tilt = Math.max(-1.54, Math.min(1.54, this.tilt + dy));
        this.place();
    }

    pan(dx, dy) {
        this.touched = true;
        const scale = (2 * this.distance * Math.tan((this.camera.fov * Math.PI) / 360)) / this.canvas.clientHeight;
        const x = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 0), y = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 1);
        this.target.addScaledVector(x, -dx * scale).addScaledVector(y, dy * scale);
        this.place();
    }

    zoom(factor) {
        this.touched = true;
        this.distance = Math.max(NEAREST * this.size, Math.min(FARTHEST * this.size, this.distance * factor));
        this.place();
    }

    down(event) {
        this.canvas.setPointerCapture?.(event.pointerId);
        this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
        if (this.pointers.size === 1 && event.button === 0 && !event.shiftKey) this.held = this.grab?.(event) ?? null;
    }

    release(event) {
        this.pointers.delete(event.pointerId);
        this.held?.end();
        this.held = null;
    }

    move(event) {
        const last = this.pointers.get(event.pointerId);
        if (!last) return;
        const dx = event.clientX - last[0], dy = event.clientY - last[1];
        if (this.held) this.held.drag(event);
        else if (this.pointers.size === 1) {
            if (event.shiftKey || event.buttons === 2 || event.buttons === 4) this.pan(dx, dy);
            else this.rotate(0.008 * dx, 0.008 * dy);
        } else {
            const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
            const before = Math.hypot(last[0] - other[0], last[1] - other[1]);
            const now = Math.hypot(event.clientX - other[0], event.clientY - other[1]);
            this.pan(dx / 2, dy / 2);
            if (before > 5 && now > 5) this.zoom(before / now);
        }
        this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    }

    key(event) {
        const turns = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
        if (turns && event.shiftKey) this.pan(-200 * turns[0], 200 * turns[1]);
        else if (turns) this.rotate(...turns);
        else if (event.key === "+" || event.key === "=") this.zoom(0.9);
        else if (event.key === "-") this.zoom(1 / 0.9);
        else if (event.key === "Home") this.reset();
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
}
