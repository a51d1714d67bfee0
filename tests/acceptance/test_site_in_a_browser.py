"""The site, built anew: no warning, no broken link, nothing asked of a network, and the same on a phone in the dark."""

import shutil
import subprocess
import sys

import pytest
from browsing import FLAGS, NEEDS
from pages import ROOT

PAGES = (
    "index.html",
    "notebooks/plateau.html",
    "gallery/index.html",
    "depth-separation.html",
    "reference/training.html",
)


@pytest.mark.acceptance
def test_the_site_is_built_without_a_warning_and_asks_no_network(tmp_path):
    command = [sys.executable, "docs/site/make_site.py", str(tmp_path / "docs")]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "WARNING" not in built.stderr
    playwright = pytest.importorskip("playwright.sync_api", reason=NEEDS)
    chromium = shutil.which("chromium") or pytest.skip(NEEDS)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        for width, mode in ((1280, "light"), (390, "dark")):
            view = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=mode)
            asked, trouble = [], []
            view.on("request", lambda request, asked=asked: asked.append(request.url))
            view.on("pageerror", lambda error, trouble=trouble: trouble.append(str(error)))
            for page in PAGES:
                view.goto((tmp_path / "docs" / "html" / page).as_uri())
                view.wait_for_timeout(500)
                assert view.evaluate("document.documentElement.scrollWidth") <= width, (page, width)
                wide = view.eval_on_selector_all(".bd-article img", "all => all.filter(i => !i.naturalWidth).length")
                assert wide == 0, f"{page}: pictures that are not shown"
            view.goto((tmp_path / "docs" / "html" / "depth-separation.html").as_uri())
            view.wait_for_selector("mjx-container svg")
            assert all(url.startswith(("file:", "data:", "blob:")) for url in asked) and not trouble
        browser.close()
