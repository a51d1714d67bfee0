"""Watching in a notebook: what the board is told is what the runs are, and what views ask for is done."""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import numpy as np
import pytest
from browsing import SCREENS, opened

import paritylab as pl
from paritylab.page.bundle import bundled
from paritylab.page.finished import Finished
from paritylab.page.session import gap_at
from paritylab.page.widget import Board
from paritylab.training.host.observer import Observer

TASK = pl.Uniform(pl.Parity(8, (1, 5)))
SETTINGS = {"rate": [0.1, 0.3], "batch": 8, "seeds": 3, "steps": 2000, "validation": 256}
SLOW = {**SETTINGS, "rate": 1e-6, "steps": 10_000_000}


@pytest.fixture
def told(monkeypatch):
    """What boards send to their views, in order."""
    kept = []
    monkeypatch.setattr(Board, "send", lambda self, content, buffers=None: kept.append(content))
    return kept


def wait_for(true, seconds=60):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def runs():
    return pl.train(TASK, pl.MLP(12), **SETTINGS)


@pytest.fixture(scope="module")
def watched():
    """A board whose runs have ended, with what they are."""
    board = pl.watch(pl.plan(TASK, pl.MLP(12), **SETTINGS))
    found = board.runs
    wait_for(lambda: board.news)
    return board, found


def test_looking_on_changes_no_number(watched, runs):
    board, found = watched
    assert found.table().equals(runs.table())
    assert repr(board) == "Board(6 runs: 6 learned)"
    last = board.news
    assert last["phase"] == "ended" and last["learned"] == 6
    for group, summary in zip(last["groups"], runs.summary(), strict=True):
        assert (group["learned"], group["median"]) == (summary["learned"], summary["median"])


def test_lines_are_the_curves_of_the_runs(watched):
    """Points of lines, their rows in `curves()`, and the bands at the end are three ways to the same numbers."""
    board, found = watched
    curves = found.curves()
    assert "neurons" not in curves  # 64 rows of weights for each row would be most of the memory
    lines = np.array(board.news["lines"], float)
    lines = lines[np.lexsort((lines[:, 1], lines[:, 0]))]
    np.testing.assert_array_equal(lines[:, :2], curves[["run", "step"]])
    for place, name in enumerate(("fresh_error", "fresh_loss", "progress")):
        np.testing.assert_allclose(lines[:, 2 + place], curves[name], rtol=1e-4)
    parity = np.stack(curves.support_fourier)[:, 2]
    np.testing.assert_allclose(lines[:, 5], parity, rtol=1e-4, atol=1e-6)
    ends = [curves[(curves.run == run)].fresh_error.iloc[-1] for run in range(3)]
    assert board.news["groups"][0]["bands"]["fresh_error"][1][-1] == pytest.approx(np.median(ends), rel=1e-4)


def test_what_views_are_sent_adds_up_to_the_last_document(told):
    board = pl.watch(pl.plan(TASK, pl.MLP(12), **SETTINGS))
    assert len(board.runs) == 6
    wait_for(lambda: told and told[-1]["news"]["phase"] == "ended")
    lines = []
    for message in told:
        if message["from"] == 0:
            lines = []
        assert message["from"] == len(lines)
        lines += message["news"]["lines"]
    assert sorted(lines) == sorted(board.news["lines"])
    json.dumps(told, allow_nan=False)


def test_views_pause_stop_and_look(told):
    board = pl.watch(pl.plan(TASK, pl.MLP(12), **SLOW))
    board._hear(board, {"wish": "look", "run": 1, "neuron": 3}, [])
    wait_for(lambda: told[-1]["news"].get("weights"))
    assert told[-1]["news"]["weights"]["run"] == 1 and told[-1]["news"]["weights"]["relevant"] == [1, 5]
    board._hear(board, {"wish": "pause"}, [])
    wait_for(lambda: told[-1]["news"]["phase"] == "paused")
    assert repr(board) == "Board(paused: 3 runs)"
    board._hear(board, {"wish": "resume"}, [])
    wait_for(lambda: told[-1]["news"]["phase"] == "training")
    board._hear(board, {"wish": "stop"}, [])
    assert set(board.runs.table().outcome) == {"running"} and board.runs.interrupted
    wait_for(lambda: told[-1]["news"]["phase"] == "stopped")
    for wrong in ({"wish": "look", "run": 7, "neuron": 0}, {"wish": "look", "run": "x", "neuron": 0}, {"wish": "tea"}):
        with pytest.raises(ValueError, match=r"There are runs 0 to 2|are whole numbers|asks for pause"):
            board._hear(board, wrong, [])


def test_ctrl_c_while_waiting_ends_the_runs(told, monkeypatch):
    board = pl.watch(pl.plan(TASK, pl.MLP(12), **SLOW))
    result, calls = board._seen.result, []

    def interrupted_once():
        calls.append(0)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return result()

    monkeypatch.setattr(board._seen, "result", interrupted_once)
    assert board.runs.interrupted and len(calls) == 2


def test_closing_a_board_ends_what_it_trains(told):
    board = pl.watch(pl.plan(TASK, pl.MLP(12), **SLOW))
    board.close()
    wait_for(lambda: board._seen.over)


def test_what_fails_is_said(told, monkeypatch):
    def fail(self, observer: Observer | None = None):
        raise RuntimeError("no more\nof it")

    monkeypatch.setattr(pl.Plan, "run", fail)
    board = pl.watch(pl.plan(TASK, pl.MLP(12), **SETTINGS))
    wait_for(lambda: board.news)
    assert (board.news["phase"], board.news["sentence"]) == ("failed", "Training ended with RuntimeError: no more")
    with pytest.raises(RuntimeError, match="no more"):
        board.runs  # noqa: B018


def test_finished_runs_show_what_they_recorded(tmp_path):
    records = (pl.training.ValidationError(), pl.training.Neurons((0, 1, 2)), pl.training.NeuronFourier(((1, 5),)))
    done = pl.train(TASK, pl.MLP(12), **SETTINGS, records=pl.training.Recording(records, 10))
    board = done.watch()
    assert board.runs is done and board.about["curves"] == ["validation_error"] and board.about["neurons"] == 3
    assert board.about["groups"] == ["rate 0.1", "rate 0.3"] and board.news["phase"] == "ended"
    curves = done.curves()
    last = curves[curves.run == 0].iloc[-1]
    assert board.news["weights"]["step"] == last.step and board.news["weights"]["relevant"] == [1, 5]
    np.testing.assert_allclose(board.news["weights"]["rows"], last.neurons[:, :-1], rtol=1e-4)
    expected = gap_at(pl.MLP(12), [1, 5], 0, 0, int(last.step), last.neurons)
    assert board.news["gap"] == expected and expected["relevant"] == [1, 5]
    seen = Finished(done, by="seed")
    assert seen.groups == ["seed 0", "seed 1", "seed 2"]
    done.save(tmp_path / "kept")
    again = pl.load(tmp_path / "kept").watch()  # what the runs were trained on is not in the folder: no triangles
    assert again.news["groups"] == board.news["groups"] and again.news["weights"]["relevant"] == []


def test_results_and_runs_without_records_show_who_learned(runs, tmp_path):
    board = runs.watch()
    assert board.about["curves"] == [] and board.about["neurons"] == 0 and "weights" not in board.news
    assert [group["learned"] for group in board.news["groups"]] == [3, 3]
    sweep = pl.Sweep([pl.plan(TASK, pl.MLP(12), **SETTINGS, records=(pl.FreshError(64),))])
    with ThreadPoolExecutor(1) as executor:
        results = sweep.run(tmp_path / "store", executor=executor)
    shown = results.watch()
    assert shown.about["curves"] == ["fresh_error"] and shown.news["learned"] == 6
    assert [group["median"] for group in shown.news["groups"]] == [group["median"] for group in board.news["groups"]]


def test_other_tasks_and_networks_are_watched_too(told):
    """No parity: no coefficients of it; no matrix of first weights: none are shown; records of one's own stay."""
    own = pl.training.ValidationError()
    task = pl.Product(pl.majority(9), 0.2)
    board = pl.watch(pl.plan(task, lambda n, *, key: eqx.nn.MLP(n, "scalar", 8, 1, key=key), seeds=2, steps=20,
                             validation=64, sample=30, records=(own,)))  # fmt: skip
    assert board.about["curves"] == ["fresh_error", "validation_error", "sample_error", "fresh_loss", "progress"]
    assert {"validation_error", "fresh_error", "sample_error"} <= {*board.runs.curves()}
    wait_for(lambda: board.news)
    assert board.news["weights"]["relevant"] == [] and board.news["gap"] is None


def test_without_the_extra_a_sentence_says_how_to_get_it(runs, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "paritylab.page.widget")
    with pytest.raises(ImportError, match=r"needs anywidget: pip install 'paritylab\[notebook\]'"):
        runs.watch()


HOST = """<!doctype html><body style="background: {paper}"><div id="place"></div><script type="module">
const module = await import(URL.createObjectURL(new Blob([{script}], {{ type: "text/javascript" }})));
const heard = [], sent = [];
const listen = {{ on: (_, act) => heard.push(act), off: () => {{}}, send: (wish) => sent.push(wish) }};
const model = {{ get: (name) => ({state})[name], ...listen }};
module.default.render({{ model, el: document.getElementById("place") }});
Object.assign(window, {{ heard, sent, ready: true }});
</script>"""
"""What Jupyter does for an anywidget: a module with `render`, a model with state and messages."""


@pytest.mark.parametrize("paper", ["#ffffff", "#111111"])
def test_the_board_is_drawn_in_a_browser(watched, tmp_path, paper):
    """Where the page is light the widget is, whatever the system says; nothing is asked of a network."""
    board, _ = watched
    state = json.dumps({"about": board.about, "news": {}})
    (tmp_path / "host.html").write_text(
        HOST.format(paper=paper, script=json.dumps(bundled("widget.js")).replace("</", "<\\/"), state=state)
    )
    scheme = "dark" if paper == "#ffffff" else "light"
    for width, height in SCREENS:
        with opened((tmp_path / "host.html").as_uri(), width, height, scheme) as (page, asked):
            page.wait_for_function("window.ready")
            assert page.evaluate("sent") == [{"wish": "all"}]
            page.evaluate("news => heard.forEach(act => act({ news, from: 0 }))", board.news)
            inside = page.locator("#place > div")
            inside.locator("#weights").wait_for()
            assert inside.locator("#status").inner_text().startswith("Done")
            assert inside.locator("canvas:visible").count() >= 7
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            ink = inside.locator("#status").evaluate("each => getComputedStyle(each).color")
            assert (ink == "rgb(27, 27, 27)") == (paper == "#ffffff")
            inside.locator("#neuron").select_option("3")
            assert page.evaluate("sent").pop() == {"wish": "look", "run": 0, "neuron": 3}
            assert inside.locator("#pause").is_disabled()
            assert all(url.startswith(("file:", "blob:", "data:")) for url in asked), asked
