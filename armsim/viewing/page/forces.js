import { point } from "./kinematics.js";
import { aim, arrow } from "./world.js";

const LONGEST = 0.35;  // arrow, of the arm's size

/** The external forces of a run or scenario as arrows; the strongest has the longest. */
export class Forces {
    constructor(world, forces) {
        this.forces = forces;
        this.arrows = forces.map(() => world.extra("external", "external forces", arrow(0xcc3311)));
        this.scale = (LONGEST * world.size) / Math.max(...forces.map(({ force }) => Math.hypot(...force)), 1e-300);
    }

    /** Show what acts at time t [s], where links and tool stand in some frames. */
    show(t, frames) {
        this.forces.forEach(({ link, point: at, force, frame, start, end }, k) => {
            const T = frames[link], acts = (start === null || t >= start) && (end === null || t < end);
            const turned = frame === "world" ? force : [0, 4, 8].map((i) => T[i] * force[0] + T[i + 1] * force[1] + T[i + 2] * force[2]);
            aim(this.arrows[k], point(T, at), acts ? turned : [0, 0, 0], this.scale * Math.hypot(...force));
        });
    }
}
