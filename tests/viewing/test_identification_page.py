"""The page of an identification in a browser."""

from __future__ import annotations

import armsim
from armsim.reports.identification_page import write_identification_page
from tests.identification.simulated import logged, rod
from tests.viewing.pages import sound


def test_the_page_of_an_identification_has_its_report_its_plots_and_the_arm(browser, tmp_path):
    found = armsim.identify(logged(rod(), seconds=2.0, noise=1e-4), rod(0.02, 0.1), method="rk4")
    written = found.save(tmp_path)
    sound(browser, tmp_path.joinpath(write_identification_page(found, str(tmp_path), written[0])))
    assert found.verdict in browser.run("document.body.innerText").replace("\n", " ")
    assert browser.run("[...document.images].map((x) => x.naturalWidth > 0)") == [True]
    assert browser.run("document.querySelector('#scene').getBoundingClientRect().height") > 0
