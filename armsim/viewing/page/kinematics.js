// Forward kinematics of an arm of `armsim.viewing.arm_data`. Matrices are 4 by 4, row by row.

export function product(a, b) {
    const c = new Array(16);
    for (let i = 0; i < 16; i += 4)
        for (let j = 0; j < 4; j++) c[i + j] = a[i] * b[j] + a[i + 1] * b[4 + j] + a[i + 2] * b[8 + j] + a[i + 3] * b[12 + j];
    return c;
}

export function point(T, p) {
    return [0, 4, 8].map((i) => T[i] * p[0] + T[i + 1] * p[1] + T[i + 2] * p[2] + T[i + 3]);
}

/** A joint's own motion at position q [rad or m]: a turn about z, and a shift along it. */
export function motion(joint, q) {
    const x = q + joint.offset, c = Math.cos(joint.turns * x), s = Math.sin(joint.turns * x);
    return [c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, joint.slides * x, 0, 0, 0, 1];
}

/** The links' own frames in the world; the tool's last. */
export function poses(arm, q) {
    let T = arm.base;
    const found = arm.joints.map((joint, i) => (T = product(product(T, joint.fixed), motion(joint, q[i]))));
    return [...found, product(T, arm.tool)];
}

/** Where the tool is [m]. */
export function tool(arm, q) {
    const T = poses(arm, q).at(-1);
    return [T[3], T[7], T[11]];
}

/** The centre of mass of links and payload [m]; null for an arm without mass. */
export function center(arm, frames) {
    const sum = [0, 0, 0];
    let mass = 0;
    arm.joints.forEach((joint, i) => {
        const T = frames[i];
        for (let k = 0; k < 3; k++) {
            const h = joint.moment;
            sum[k] += T[4 * k] * h[0] + T[4 * k + 1] * h[1] + T[4 * k + 2] * h[2] + joint.mass * T[4 * k + 3];
        }
        mass += joint.mass;
    });
    return mass > 0 ? sum.map((x) => x / mass) : null;
}
