"""Writes docs/images: carries out the commands of README.md and pages of docs/ that draw them, in a folder of its own.

`page.html.png` is a picture of page.html, by Chromium. Run it after figures have changed: `python docs/write_images.py`.
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
    print(f"{sum(image.stat().st_size for image in IMAGES.iterdir()) / 1e3:.0f} kB in {IMAGES}")


if __name__ == "__main__":
    main()
