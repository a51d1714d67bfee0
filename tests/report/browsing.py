"""Opens a report from disk in a headless Chromium and looks at it as a reader would."""

import itertools
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

NEEDS = "needs the extra `browser` (pip install 'paritylab[browser]') and Chromium (apt-get install chromium)"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


SCREENS = ((1280, 900), (390, 844))
"""Of a desk and of a phone."""


@contextmanager
def opened(address: str, width: int = 1200, height: int = 900, scheme: str = "light"):
    """The page, and the addresses of all that it asked for. Nothing may be said on its console."""
    playwright = pytest.importorskip("playwright.sync_api", reason=NEEDS)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip(NEEDS)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        asked, trouble = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(address)
        yield page, asked
        browser.close()
    assert not trouble, trouble


def check(report: Path, figures: int, claims: int) -> None:
    """Every figure is loaded, nothing is asked from a network, and the ledger sorts by each of its columns."""
    check_screens(report)
    with opened(report.as_uri()) as (page, asked):
        page.locator("details.all > summary").click()
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


def check_screens(report: Path) -> None:
    """On a desk and on a phone, by day and by night: the first figure begins on the first screen, and nothing is wider
    than the screen, even with all that is folded opened."""
    for (width, height), scheme in itertools.product(SCREENS, ("light", "dark")):
        with opened(report.as_uri(), width, height, scheme) as (page, _):
            first = page.locator("figure img").first.bounding_box()
            assert first["y"] < 0.75 * height and first["width"] > 0.3 * width
            page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            inks = page.evaluate("['color', 'backgroundColor'].map(name => getComputedStyle(document.body)[name])")
            brightness = [sum(map(int, re.findall(r"\d+", ink)[:3])) for ink in inks]
            assert (brightness[0] > brightness[1]) == (scheme == "dark")


def narrowed(page, **choices: str) -> tuple[int, int]:
    """How many experiments and claims are left once a paper or a verdict was chosen with the keyboard's means."""
    for name, value in choices.items():
        page.locator(f"#filters select[name={name}]").select_option(value)
    seen = lambda what: page.locator(what).evaluate_all("all => all.filter(each => !each.hidden).length")
    return seen("section.card"), seen("#ledger tbody tr")


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
