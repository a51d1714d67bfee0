"""The page in a headless Chromium: what a person does with it, by mouse and by keyboard alone."""

import json
import re
import time
from contextlib import contextmanager

import matplotlib.pyplot as plt
import pytest
from browsing import SCREENS, opened
from serving import Stream, ask, served
from test_results import store_of, table

import paritylab as pl
from paritylab.documents import document
from paritylab.experiments.reproduce import write_ledger
from paritylab.page.presets import PRESETS

TINY = {"n": "8", "support": "1,5", "width": "12", "batch": "8", "rate": "0.3", "seeds": "5", "validation": "256"}


@contextmanager
def page_of(server, part: str = "watch", width: int = 1280, height: int = 900, scheme: str = "light"):
    """The page; at its end nothing was asked of another machine, and nothing was said on the console."""
    address = f"http://127.0.0.1:{server.server_address[1]}"
    with opened(f"{address}/#{part}", width, height, scheme) as (page, asked):
        page.wait_for_selector("#presets button[aria-pressed=true]", state="attached")
        yield page
        assert asked and all(url.startswith((f"{address}/", "data:")) for url in asked), asked


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    store_of(folder / "store", table(900))
    place = folder / "out" / "quick" / "toys" / "squares"
    place.mkdir(parents=True)
    figure, axes = plt.subplots()
    axes.plot([0, 1, 4])
    for kind in ("png", "pdf"):
        figure.savefig(place / f"squares.{kind}")
    plt.close(figure)
    (place / "runs.csv").write_text("x\n1\n")
    claim = {
        "claim": "toys/squares/grow", "statement": "they grow; the last", "paper": 4.0, "theory": None, "measured": 4.0,
        "interval": [4.0, 4.0], "region": "3 to 5", "verdict": "holds", "recorded": None, "explanation": "",
        "scale": "quick", "seconds": 1.0, "null": "", "tested_by": "",
    }  # fmt: skip
    about = {
        "experiment": "toys/squares", "title": "squares", "scale": "quick", "text": "Text.", "command": "paritylab",
        "seconds": 1.0, "settings": {}, "claims": [claim], "figures": ["squares.png"], "data": ["runs.csv"],
        "origins": [],
    }  # fmt: skip
    (place / "experiment.json").write_text(document(about))
    write_ledger(folder / "out")
    with served(folder) as made:
        yield made


def until(page, question: str, seconds: float = 60):
    """The first answer that is true, asked again and again."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := page.evaluate(question):
            return answer
        page.wait_for_timeout(50)
    raise AssertionError(f"{question} did not come true; the page says {page.inner_text('#status')!r}")


PHASE = "document.getElementById('status').dataset.phase"
DRAWN = "name => document.getElementById(name).toDataURL()"
"""A picture as it is seen; a longer text has more in it."""


def enter(page, settings) -> None:
    for name, value in settings.items():
        box = page.locator(f"#f-{name}")
        if box.evaluate("box => box.tagName") == "SELECT":
            box.select_option(value)
        else:
            box.fill(value)


def test_runs_are_seen_to_learn_and_the_copied_program_gives_the_same(server):
    with page_of(server) as page:
        enter(page, {**TINY, "steps": "3000"})
        curves = ("fresh_error", "fresh_loss", "progress", "learned", "parity_coefficient")
        empty = {name: page.evaluate(DRAWN, name) for name in curves}  # axes alone
        page.click("#start")
        until(page, f"{PHASE} === 'ended'")
        for name in curves:
            assert page.evaluate(DRAWN, name) != empty[name]
            assert "Nothing yet" not in page.get_attribute(f"#{name}", "aria-label")
        assert all(len(page.evaluate(DRAWN, name)) > 5000 for name in ("weights", "fourier"))
        assert "Training" not in page.inner_text("#status")
        learned = int(page.evaluate("document.getElementById('status').dataset.learned"))
        assert "Triangles mark relevant coordinates" in page.inner_text("#weights-words")
        assert page.get_attribute("#fresh_error", "aria-label").startswith("error over step. At the end, rate 0.3: ")
        page.click("#copy-python")
        until(page, "/Copied|Marked/.test(document.getElementById('status').textContent)")
        program = page.inner_text("#python")
    scope = {"pl": pl}
    exec(program.replace("print(runs.summary())", ""), scope)
    assert sum(scope["runs"].outcome == pl.training.Outcome.LEARNED) == learned >= 1


def test_keys_alone_suffice(server):
    """To a field, a bad value, its sentence, the right one; then start, pause, go on, stop, and another tab."""

    def go_to(page, name):
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == name:
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", "it is not seen where one is"
                return
        raise AssertionError(f"{name} cannot be reached")

    with page_of(server) as page:
        enter(page, {**TINY, "rate": "0.000001", "steps": "10000000"})
        go_to(page, "f-k")
        page.keyboard.type("9")
        page.keyboard.press("Enter")
        until(page, "document.getElementById('status').textContent === 'k: see beside the field.'")
        assert page.inner_text("#wrong-k").startswith("support names 2 coordinates, and k says 9")
        assert page.get_attribute("#f-k", "aria-invalid") == "true"
        assert page.evaluate("document.activeElement.id") == "f-k"
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        page.keyboard.press("Enter")
        until(page, f"{PHASE} === 'training'")
        assert page.inner_text("#wrong-k") == "" and page.get_attribute("#f-k", "aria-invalid") is None
        for key, phase in (("Enter", "paused"), ("Space", "training")):
            page.locator("#f-validation").focus()
            go_to(page, "pause")
            page.keyboard.press(key)
            until(page, f"{PHASE} === '{phase}'")
        go_to(page, "stop")
        page.keyboard.press("Enter")
        until(page, f"{PHASE} === 'stopped'")
        page.locator("#tab-watch").focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.id") == "tab-results" and page.is_visible("#results")
        assert not page.is_visible("#watch")


@pytest.mark.acceptance
def test_closing_the_tab_ends_what_it_trains(server):
    with page_of(server) as page:
        enter(page, {**TINY, "rate": "0.000001", "steps": "10000000"})
        page.click("#start")
        until(page, f"{PHASE} === 'training'")
        assert len(server._sessions) == 1
        page.close()
        deadline = time.monotonic() + 10
        while server._sessions and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not server._sessions


def test_results_are_filtered(server):
    with page_of(server, "results") as page:
        until(page, "document.getElementById('store-status').dataset.matching === '900'")
        assert all(len(page.evaluate(DRAWN, name)) > 5000 for name in ("survival", "times", "map"))
        page.select_option("#where-k", label="3")
        until(page, "document.getElementById('store-status').dataset.matching < 900")
        assert re.match(r"\d+ of 900 runs: \d+ learned", page.inner_text("#store-status"))
        page.select_option("#by", "network")
        until(page, "document.getElementById('survival').getAttribute('aria-label').includes('network relu-mlp')")


def test_claims_are_shown_with_their_figures(server):
    with page_of(server, "claims") as page:
        frame = page.frame_locator("#ledger")
        frame.locator("figure img").wait_for()
        assert frame.locator(".result").inner_text() == "Its claim holds: they grow; the last: 4, the paper 4."
        assert page.inner_text("#claims-status") == "1 claims of the papers: 1 holds. All verdicts are as recorded."
        pdf = frame.locator("figcaption a").evaluate("link => link.href")
        answer = ask(server, "/" + pdf.split("/", 3)[3])
        assert answer.status == 200 and answer.body.startswith(b"%PDF") and pdf.endswith("squares.pdf")
        assert ask(server, "/report/out/quick/toys/squares/runs.csv").body == b"x\n1\n"
        for other in ("quick/toys/squares/experiment.json", "claims.json", "quick/toys/squares/../squares/runs.csv"):
            assert ask(server, f"/report/out/{other}").status == 404


def test_nothing_is_wider_than_the_screen(server):
    for (width, height), scheme in zip(SCREENS, ("light", "dark"), strict=True):
        with page_of(server, "watch", width, height, scheme) as page:
            assert page.locator("#fresh_error").bounding_box()["y"] < 0.55 * height
            inks = page.evaluate("['color', 'backgroundColor'].map(name => getComputedStyle(document.body)[name])")
            bright = [sum(map(int, re.findall(r"\d+", ink)[:3])) for ink in inks]
            assert (bright[0] > bright[1]) == (scheme == "dark")
            for part in ("watch", "results", "claims"):
                page.click(f"#tab-{part}")
                page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
                page.wait_for_timeout(200)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, part


@pytest.mark.acceptance
@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_reaches_its_drop(server, preset):
    """Its curves grow, it pauses and goes on, the median error falls to nothing, and the command gives the same."""
    with page_of(server) as page:
        page.click(f"#presets button[data-name={preset}]")
        until(
            page,
            f"document.querySelector('#presets button[data-name={preset}]').getAttribute('aria-pressed') === 'true'",
        )
        page.click("#start")
        until(page, f"{PHASE} === 'training'", 120)
        page.click("#pause")
        until(page, f"{PHASE} === 'paused'")
        page.wait_for_timeout(1500)
        before = page.get_attribute("#fresh_error", "aria-label"), page.evaluate(DRAWN, "fresh_error")
        page.wait_for_timeout(2500)
        assert before == (page.get_attribute("#fresh_error", "aria-label"), page.evaluate(DRAWN, "fresh_error"))
        page.click("#pause")
        until(page, f"{PHASE} === 'ended'", 300)
        assert (page.get_attribute("#fresh_error", "aria-label"), page.evaluate(DRAWN, "fresh_error")) != before
        assert len(page.evaluate(DRAWN, "coefficients")) > 3000 or preset == "polynet"  # whose gradient has no route
        learned = int(page.evaluate("document.getElementById('status').dataset.learned"))
        about = json.loads(ask(server, "/api/choices").body)["presets"][preset]["settings"]
        command = page.text_content("#command")
    assert learned >= 0.8 * int(about["seeds"]), learned
    name = ask(server, "/api/watch", about).json
    *_, last = Stream(server, name["session"])
    assert (last["learned"], name["command"]) == (learned, command)
    assert all(group["bands"]["fresh_error"][1][-1] <= 0.001 for group in last["groups"])
