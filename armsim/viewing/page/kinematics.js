// Where an arm of `armsim.viewing.arm_data` is, by the program that armsim prints for it. Matrices are 4 by 4, row by row.

/** Load the program of an arm, and put its joints and those that follow them in one list of links. */
export async function prepare(arm) {
    arm.links = [...arm.joints];
    for (const follower of arm.followers ?? []) arm.links.splice(follower.at, 0, follower);
    arm.frames = (await loaded(arm.program)).frames;
    arm.near = arm.pairs && (await loaded(arm.pairs.program)).distances;
    arm.touch = arm.contacts && (await loaded(arm.contacts.program)).contacts;
}

export function point(T, p) {
    return [0, 4, 8].map((i) => T[i] * p[0] + T[i + 1] * p[1] + T[i + 2] * p[2] + T[i + 3]);
}

/** The links' own frames in the world; the tool's last. */
export function poses(arm, q) {
    const found = arm.frames(q);
    return [...arm.links, "tool"].map((_, i) => [...found.slice(12 * i, 12 * i + 12), 0, 0, 0, 1]);
}

/** Where the tool is [m]. */
export function tool(arm, q) {
    const found = arm.frames(q), first = 12 * arm.links.length;
    return [3, 7, 11].map((i) => found[first + i]);
}

/** The centre of mass of links and payload [m]; null for an arm without mass. */
export function center(arm, q) {
    const [x, y, z, mass] = arm.frames(q).slice(-4);
    return mass > 0 ? [x / mass, y / mass, z / mass] : null;
}
