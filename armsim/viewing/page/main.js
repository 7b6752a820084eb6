import { prepare } from "./kinematics.js";
import { followTheme, unpacked } from "./parts.js";
import { robotPage } from "./robot.js";
import { runPage } from "./run.js";
import { scenarioPage } from "./scenario.js";

const PAGES = { run: runPage, robot: robotPage, scenario: scenarioPage, text: textPage };

/** A page of sections alone. */
function textPage() {
    for (const part of ["main", "footer"]) document.querySelector(part).remove();
    return {};
}

/** How many triangles meshes have, in words; nothing where they have all of those of their files. */
function reduced(arms = []) {
    const meshes = arms.flatMap(({ parts }) => parts).filter(({ shape }) => shape === "mesh").map(({ sizes }) => sizes);
    const left = meshes.reduce((sum, { corners }) => sum + unpacked(corners).length / 9, 0), of = meshes.reduce((sum, sizes) => sum + sizes.of, 0);
    return left < of ? [`meshes with ${left} of ${of} triangles`] : [];
}

const failed = (error) => {
    const place = document.getElementById("failure");
    place.hidden = false;
    place.textContent = `This page cannot be shown: ${error.message}`;
};
try {
    const data = JSON.parse(document.getElementById("data").textContent);
    document.getElementById("title").textContent = data.name;
    document.getElementById("subtitle").textContent = [data.subtitle, ...reduced(data.arms)].join("; ");
    document.getElementById("pose").textContent = data.described;
    document.getElementById("scene").setAttribute("aria-label", `${data.name}: arrow keys turn the view, + and − zoom, Home resets it`);
    followTheme();
    await Promise.all((data.arms ?? []).map(prepare));
    window.armsim = await PAGES[data.kind](data);  // for scripts: poses(), and what a page can do
} catch (error) {
    failed(error);
    throw error;
}
