"""Writes docs/images: carries out the commands of README.md and pages of docs/ that draw them, in a folder of its own.

`page.html.png` is a picture of page.html, by Chromium; `robots.png` shows the arms of docs/robots.md. Run it after figures have
changed: `python docs/write_images.py`.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
ROBOTS = DOCS / "robots.md"
PAGES = (DOCS / "view.md", DOCS.parent / "README.md", DOCS / "assignment.md", DOCS / "tuning.md")


def images(page: str) -> set[str]:
    """The images that a page shows."""
    return set(re.findall(r"images/([\w.-]+)", page))


def photograph(page: Path, moment: float = 0.3) -> None:
    """Take a picture of a page that plays a run, at a moment [s]."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("pictures of pages take chromium")
    picture = Path(f"{page}.png")
    flags = ["--headless=new", "--no-sandbox", "--hide-scrollbars"]
    software = ["--enable-unsafe-swiftshader", "--use-angle=swiftshader"]
    size = ["--window-size=1120,700", "--virtual-time-budget=4000", f"--screenshot={picture}"]
    subprocess.run(
        [program, *flags, *software, *size, f"{page.as_uri()}#t={moment}"], check=True, stderr=subprocess.DEVNULL
    )
    reduce(picture)


def reduce(picture: Path) -> None:
    """Give a picture a palette of its own, which makes it a third as large."""
    from PIL import Image

    Image.open(picture).convert("RGB").quantize(240, kmeans=3).save(picture, optimize=True)


def draw_robots(picture: Path) -> None:
    """Draw the robots of the table of docs/robots.md at their initial poses, all to one scale."""
    from armsim.figures.drawn_arm import DrawnArm
    from armsim.figures.scene import ArmArtists, Scene, camera, scale_bar
    from armsim.figures.style import new_figure
    from armsim.loading import load_robot_file

    names = re.findall(r"^\| `(\w+)` \|", ROBOTS.read_text(encoding="utf-8"), re.MULTILINE)
    tall, wide = (0.95, 1.4), len(names) // 2 + 1  # m, of either row
    figure = new_figure(9.0, 4.2)
    panels = figure.subplots(2, wide, height_ratios=tall).ravel()
    for k, (axis, name) in enumerate(zip(panels, names, strict=False)):
        drawn = DrawnArm.of(load_robot_file(name).document)
        scene, frames = Scene(drawn, camera(drawn.arm)), drawn.frames(drawn.arm.initial)
        ArmArtists(axis, scene).pose(frames)
        points = scene.points(frames)
        left, low = points.min(axis=0)
        middle = (left + points[:, 0].max()) / 2
        axis.set(xlim=(middle - 0.6, middle + 0.6), ylim=(low - 0.02, low - 0.02 + tall[k // wide]))
        axis.set_title(name, fontsize=9, y=-0.14 / tall[k // wide])
    for axis in panels[len(names) :]:
        axis.set(xlim=(0, 1.2), ylim=(0, tall[1]), aspect="equal")
        axis.set_axis_off()
    scale_bar(panels[len(names)], 2.5)
    figure.savefig(picture, dpi=110)
    reduce(picture)


def commands(page: str) -> list[list[str]]:
    """The commands of a page that draw an image of it, and those that write the runs which these are of."""
    shown = {name.removesuffix(".png") if name.endswith(".html.png") else name for name in images(page)}
    lines = [shlex.split(line, comments=True)[1:] for block in re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
             for line in block.replace("\\\n", " ").splitlines() if line.startswith("armsim ")]  # fmt: skip
    drawing = [line for line in lines if shown & set(line)]
    runs = {word for line in drawing for word in line if line[0] in ("plot", "animate", "view")}
    return [line for line in lines if line in drawing or ("-o" in line and line[line.index("-o") + 1] in runs)]


def main() -> None:
    """Carry out the commands, and keep the images."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            for line in commands(text):
                subprocess.run([sys.executable, "-m", "armsim", *line, "--force"], cwd=folder, check=True)
            for name in sorted(images(text)):
                if name.endswith(".html.png"):
                    photograph(Path(folder, name.removesuffix(".png")))
                elif name.endswith(".png"):
                    reduce(Path(folder, name))
                shutil.copyfile(Path(folder, name), IMAGES / name)
    draw_robots(IMAGES / "robots.png")
    print(f"{sum(image.stat().st_size for image in IMAGES.iterdir()) / 1e3:.0f} kB in {IMAGES}")


if __name__ == "__main__":
    main()
