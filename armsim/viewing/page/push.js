import * as THREE from "three";
import { tool } from "./kinematics.js";

export const PUSH = 60;  // N per arm's size that the pointer is away from the tool

/** For `Orbit.grab`: a drag that begins at the arm pushes its tool towards the pointer; `put(force)` takes the force [N], zeros at the end. */
export function pusher(world, model, put) {
    const { arm } = model, caster = new THREE.Raycaster(), plane = new THREE.Plane(), end = new THREE.Vector3();
    const aimAt = (event) => {
        const box = world.canvas.getBoundingClientRect();
        const flat = new THREE.Vector2((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
        caster.setFromCamera(flat, world.camera);
    };
    const drag = (event) => {
        const at = new THREE.Vector3(...tool(arm, model.q));
        plane.setFromNormalAndCoplanarPoint(world.camera.getWorldDirection(new THREE.Vector3()), at);
        aimAt(event);
        if (caster.ray.intersectPlane(plane, end)) put(end.sub(at).multiplyScalar(PUSH / arm.size).toArray());
    };
    return (event) => {
        aimAt(event);
        const hit = caster.intersectObjects([...model.layers.solids, model.tool], true).length > 0;
        return hit ? { drag, end: () => put([0, 0, 0]) } : null;
    };
}
