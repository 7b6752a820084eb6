"""Contacts on pages: points, and forces as arrows."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim.dynamics import distances, watched_pairs
from tests.viewing.pages import SINGLE, sound

POINT, NORMAL, FRICTION = (f"armsim.world.extras.contacts[0].children[{k}]" for k in range(3))


@pytest.fixture(scope="module")
def wipe():
    return armsim.simulate("wipe", {"duration": 1.5})


def test_friction_along_the_worlds_axes_is_as_large_as_told_and_against_the_slip(wipe):
    friction = np.stack([wipe[f"friction{axis}_tool_table_N"] for axis in "xyz"])
    assert np.linalg.norm(friction, axis=0) == pytest.approx(wipe["friction_tool_table_N"], abs=1e-12)
    slips = wipe["slip_tool_table_m_s"] > 1e-3
    assert slips.any()
    assert (friction[0] * wipe["vx_m_s"])[slips].max() < 0
    assert not friction[2].any()


def test_forces_of_a_run_are_arrows_from_the_contact_in_their_ratio(browser, tmp_path, wipe):
    armsim.view(wipe, tmp_path / "wipe.html")
    sound(browser, tmp_path / "wipe.html")
    t, k = 1.2, int(np.searchsorted(wipe["t_s"], 1.2 - 1e-9))
    browser.run(f"armsim.seek({t})")
    tool = [wipe[f"{axis}_m"][k] for axis in "xyz"]
    assert browser.run(f"{POINT}.position.toArray()") == pytest.approx(tool, abs=SINGLE)
    turned = "{0}.localToWorld({0}.position.clone().set(0, 1, 0)).sub({0}.position).toArray()"
    up, along = (np.array(browser.run(turned.format(arrow))) for arrow in (NORMAL, FRICTION))
    assert up == pytest.approx([0, 0, 1], abs=1e-6)
    assert along == pytest.approx([-1, 0, 0], abs=1e-2)
    length = "{0}.cone.position.y * {0}.cone.parent.scale.y"
    normal, friction = (browser.run(length.format(arrow)) for arrow in (NORMAL, FRICTION))
    ratio = wipe["friction_tool_table_N"][k] / wipe["normal_force_tool_table_N"][k]
    assert friction / normal == pytest.approx(ratio, rel=1e-5)
    assert browser.run("armsim.world.grid.visible") is False  # the table's pane stands in for the ground


@pytest.mark.slow
def test_a_simulation_in_the_page_draws_its_contacts_force(browser, tmp_path):
    armsim.view("wipe", tmp_path / "live.html")
    sound(browser, tmp_path / "live.html")
    browser.run("armsim.pause(), armsim.steps(100), 1")
    assert browser.run(f"[{NORMAL}.visible, {FRICTION}.visible]") == [True, True]


@pytest.fixture(scope="module")
def drop():
    return armsim.simulate("drop", {"duration": 1})


@pytest.mark.slow
def test_the_nearest_pair_of_a_run_is_told_as_it_is(browser, tmp_path, drop):
    armsim.view(drop, tmp_path / "drop.html")
    sound(browser, tmp_path / "drop.html")
    arm, notes = drop.plant.arm, "[...document.querySelectorAll('.note')].map((x) => x.textContent).join('\\n')"
    watched = [pair for pair, is_watched in watched_pairs(arm).items() if is_watched]
    met = set()
    for k in range(0, len(drop.t), 20):
        browser.run(f"armsim.seek({drop.t[k]})")
        found = dict(zip(watched, distances(arm, drop.q[k].tolist(), watched), strict=True))
        pair = min(found, key=found.get)
        met.add(pair)
        lines = browser.run(notes).splitlines()
        if found[pair] <= 0.0:
            assert f"{pair} touch" in lines
        else:
            told = next(line for line in lines if line.startswith("nearest pair")).split()
            assert told[2] == pair
            assert float(told[3]) == pytest.approx(1000 * found[pair], rel=0.01)
    assert len(met) > 1
