"""How fast a page of 100 001 rows opens and plays in headless Chromium, where the processor draws.

    PYTHONPATH=. python benchmarks/view_pace.py

Prints its size, how long it takes from its address to the first picture, what its own script takes of a frame, and how many
frames a second are drawn while it plays, in windows of several sizes. A graphics card has its own pace: this is the least.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import armsim
from tests.viewing.browser import Browser

WINDOWS = ((1280, 720), (1920, 1080), (390, 844))
SECONDS = 4.0  # of playing
PICTURE = """(() => { armsim.world.render(); const gl = armsim.world.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); })()"""
SCRIPT = """(count => { const begun = performance.now();
    for (let k = 0; k < count; k++) { armsim.seek(0.01 * k); armsim.world.render(armsim.world.sharpness.moving); }
    return (performance.now() - begun) / count; })(200)"""
PACE = """new Promise((done) => { armsim.seek(0); armsim.play(); let first = null, count = 0;
    const frame = (now) => { first ??= now; if (now - first > %f) done((1000 * count) / (now - first));
        else { count++; requestAnimationFrame(frame); } };
    requestAnimationFrame(frame); })"""


def main() -> None:
    """Write the page, open it, and play it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(folder, "long.html")
        run = armsim.simulate("arm5_reach", {"duration": 10, "log.every": 1e-4})
        armsim.view(run, page)
        print(f"{len(run.t)} rows, {page.stat().st_size / 1e6:.1f} MB")
        browser = Browser(Path(folder, "chromium"))
        for size in WINDOWS:
            browser.resize(*size)
            begun = time.perf_counter()
            browser.open(page)
            browser.run(PICTURE)
            opened = time.perf_counter() - begun
            pace = [browser.run(PACE % (1000 * SECONDS)) for _ in range(2)][-1]
            ratio = browser.run("armsim.world.sharpness.moving")
            browser.run("armsim.pause()")
            script = browser.run(SCRIPT)
            print(f"{size[0]} x {size[1]}: first picture after {opened:.2f} s, script {script:.2f} ms a frame, "
                  f"{pace:.0f} frames/s with {ratio:.2f} pixels to one of the window")  # fmt: skip
        browser.close()


if __name__ == "__main__":
    main()
