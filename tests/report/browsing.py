"""Opens a report from disk in a headless Chromium and looks at it as a reader would."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

NEEDS = "needs the extra `browser` (pip install 'paritylab[browser]') and Chromium (apt-get install chromium)"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


@contextmanager
def opened(report: Path, width: int = 1200):
    """The page, and the addresses of all that it asked for."""
    playwright = pytest.importorskip("playwright.sync_api", reason=NEEDS)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip(NEEDS)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": width, "height": 900})
        asked, trouble = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(report.as_uri())
        yield page, asked
        browser.close()
    assert not trouble


def check(report: Path, figures: int, claims: int) -> None:
    """Every figure is loaded, nothing is asked from a network, and the ledger sorts by each of its columns."""
    with opened(report) as (page, asked):
        widths = page.eval_on_selector_all("img", "images => images.map(i => i.complete && i.naturalWidth)")
        assert len(widths) == figures and all(width > 100 for width in widths)
        heads = page.locator("#ledger thead th")
        assert page.locator("#ledger tbody tr").count() == claims
        for place in range(heads.count()):
            ascending, descending = (clicked(page, heads, place) for _ in range(2))
            assert ascending == page.evaluate(IN_ORDER, ascending), heads.nth(place).inner_text()
            full = [text for text in descending if text]
            assert full[::-1] == page.evaluate(IN_ORDER, full[::-1]) and sorted(descending) == sorted(ascending)
            assert descending == full + [""] * (claims - len(full))
            assert heads.nth(place).get_attribute("aria-sort") == "descending"
        assert all(url.startswith(("file:", "data:")) for url in asked), asked
        links = page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
        for link in links:
            if link.startswith("#"):
                assert page.locator(f'[id="{link[1:]}"]').count() == 1, link
            else:
                assert (report.parent / link).exists(), link


IN_ORDER = """texts => {
  const words = new Intl.Collator("en", { numeric: true });
  const full = texts.filter(text => text !== "");
  const numbers = full.filter(text => !isNaN(text)).sort((a, b) => a - b);
  const others = full.filter(text => isNaN(text)).sort(words.compare);
  return [...numbers, ...others, ...texts.filter(text => text === "")];
}"""
"""Numbers by size, then words by the alphabet with the numbers inside them by size, what is empty last."""


def clicked(page, heads, place: int) -> list[str]:
    """The values of a column after a click on its head."""
    heads.nth(place).locator("button").click()
    cells = page.locator(f"#ledger tbody tr td:nth-child({place + 1})")
    return cells.evaluate_all("cells => cells.map(cell => cell.dataset.value)")
