"""What tests ask of pages: that they are sound, what is drawn, and where armsim has the links."""

from __future__ import annotations

import io

import numpy as np
import pytest

from armsim.dynamics import frame_pose, link_poses

SINGLE = 1e-6  # positions are kept in single precision, 1e-7 of their size
UNFUSED = 1e-9  # the page rounds products that armsim fuses with sums


def sound(browser, page):
    """Open a page: it has no error, and asked for nothing but itself and what it has within."""
    browser.open(page)
    assert browser.errors == []
    assert [url for url in browser.requests if not url.startswith(("blob:", "data:"))] == [page.as_uri()]


def drawn(browser):
    """The scene's pixels, shape (height, width, 3)."""
    image = pytest.importorskip("PIL.Image")
    corners = "({x, y, width, height}) => [x, y, x + width, y + height]"
    box = browser.run(f"({corners})(document.querySelector('#scene').getBoundingClientRect())")
    return np.asarray(image.open(io.BytesIO(browser.picture())).convert("RGB").crop(box))


def rows(pose):
    return [[*map(float, row), float(p)] for row, p in zip(pose.rotation, pose.position, strict=True)]


def matrices(arm, q):
    """The links' frames and the tool's as armsim has them, shape (n + 1, 3, 4)."""
    return np.array([rows(pose) for pose in (*link_poses(arm, list(q)), frame_pose(arm, list(q), arm.tool))])


def page_matrices(found):
    return np.array(found).reshape(-1, 4, 4)[:, :3]
