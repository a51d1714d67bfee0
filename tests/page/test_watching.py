"""What the page shows of runs that train is what the library says of them."""

import json
import shlex
import threading
import time

import numpy as np
import pytest
from serving import Stream, ask, served
from typer.testing import CliRunner

import paritylab as pl
from paritylab.analysis import gap_of_gradient, neuron_gradient
from paritylab.cli import app
from paritylab.names import plan_from_names
from paritylab.page.presets import PRESETS
from paritylab.page.session import Session
from paritylab.page.settings import CHOICES, WrongField, asked, values_of
from paritylab.page.snippets import command, python
from paritylab.page.watched import BAND
from paritylab.registry import NETWORKS, TARGETS, TRAIN_DEFAULTS
from paritylab.survival import CensoredTimes
from paritylab.sweep import Sweep
from paritylab.training.named import make_optimizer

FORM = {
    "n": "8", "support": "1,5", "width": "12", "batch": "8", "rate": "0.1,0.3", "seeds": "5", "steps": "2000",
    "validation": "256",
}  # fmt: skip


@pytest.fixture(scope="module")
def server():
    with served() as made:
        yield made


def watched(server, form):
    """What a session says of itself, and all of its documents."""
    about = ask(server, "/api/watch", form).json
    return about, [*Stream(server, about["session"])]


@pytest.fixture(scope="module")
def seen(server):
    return watched(server, FORM)


@pytest.fixture(scope="module")
def runs():
    """The same runs without the page."""
    subsets = ((0,), (1,), (0, 1))
    kept = (
        pl.FreshError(1024),
        pl.training.FreshLoss(1024),
        pl.training.Progress(),
        pl.training.SupportFourier(2, subsets),
    )
    records = pl.training.Recording(kept, 10)
    settings = {"batch": 8, "rate": [0.1, 0.3], "seeds": 5, "steps": 2000, "validation": 256}
    return pl.train(pl.Uniform(pl.Parity(8, (1, 5))), pl.MLP(12), records=records, **settings)


def test_the_last_document_is_what_training_gives(seen, runs):
    about, documents = seen
    last = documents[-1]
    assert (about["runs"], about["groups"], last["phase"]) == (10, ["rate 0.1", "rate 0.3"], "ended")
    assert about["names"][7] == "rate 0.3, seed 2"
    for group, summary in zip(last["groups"], runs.summary(), strict=True):
        assert (group["learned"], group["runs"]) == (summary["learned"], summary["runs"])
        assert group["median"] == (summary["median"] if np.isfinite(summary["median"]) else None)
    lines = {run: [] for run in range(10)}
    for run, *row in (line for document in documents for line in document["lines"]):
        lines[run].append(row)
    for run, curve in runs.curves().groupby("run"):
        rows = np.array(sorted(lines[run]), float)
        np.testing.assert_array_equal(rows[:, 0], curve.step)
        expected = {name: curve[name] for name in ("fresh_error", "fresh_loss", "progress")}
        expected["parity_coefficient"] = np.stack(curve.support_fourier)[:, 2]
        assert about["curves"] == [*expected]
        for place, values in enumerate(expected.values()):
            np.testing.assert_allclose(rows[:, place + 1], values, rtol=1e-4, atol=1e-6)  # five digits are sent


def test_bands_are_quantiles_of_all_runs(seen, runs):
    """A run that has ended counts with its last value."""
    curves = runs.curves()
    group = seen[1][-1]["groups"][0]
    mine = curves[curves.rate == 0.1].pivot(index="run", columns="step", values="fresh_error").ffill(axis=1)
    expected = np.quantile(mine.to_numpy(), BAND, axis=0)
    assert group["steps"] == mine.columns.tolist()
    np.testing.assert_allclose(group["bands"]["fresh_error"], expected, atol=1e-4)
    times = CensoredTimes(runs.censored.step[:5], runs.censored.learned[:5]).survival()
    assert group["survival"] == [[0, *times.step], [0, *(1 - times.share)]]


def session_of(form):
    made = asked(form)
    return Session(made.plan, made.settings)


def test_the_gap_is_that_of_the_analysis(server):
    session = session_of(FORM)
    weights = np.random.default_rng(0).normal(size=(12, 9)).astype(np.float32)
    found = session.gap_of(0, 3, 40, weights)
    exact = neuron_gradient(weights[3, :8].astype(float), pl.relu, (1, 5), bias=float(weights[3, 8])).gradient.weight
    np.testing.assert_allclose(found["coefficients"], exact, rtol=1e-4)
    assert found["weak"] == gap_of_gradient(exact, (1, 5)).weak and found["relevant"] == [1, 5]
    assert session.gap_of(0, 3, 40, weights * np.nan) is None
    session.stop()
    for form in ({"mean": "0.2"}, {"target": "random-symmetric", "support": ""}):  # no route for them
        other = session_of({**FORM, **form})
        assert other.gap_of(0, 3, 40, weights) is None
        other.stop()


def test_weights_and_gaps_stream_in(seen):
    shown = [document for document in seen[1] if document.get("weights")]
    last = shown[-1]["weights"]
    assert np.shape(last["rows"]) == (12, 8) and last["relevant"] == [1, 5] and last["run"] == 0
    assert len({document["weights"]["step"] for document in shown}) > 1 or len(shown) == 1
    assert shown[-1]["fourier"]["subsets"] == [[1], [5], [1, 5]] and abs(shown[-1]["fourier"]["values"][2]) > 0.1


def test_runs_that_have_ended_can_be_looked_at(server, seen):
    """Another run and neuron than those that were shown to the end."""
    about, documents = seen
    news = ask(server, f"/api/watch/{about['session']}/look", {"run": 7, "neuron": 4}).json["news"]
    assert news["weights"]["run"] == 7 and news["gap"]["neuron"] == 4 and news["learned"] == documents[-1]["learned"]
    assert sorted(news["lines"]) == sorted(line for document in documents for line in document["lines"])
    assert news["phase"] == "ended"


def test_the_copied_snippets_give_the_same_numbers(seen, runs, tmp_path):
    about, documents = seen
    scope = {}
    exec(about["python"].replace("print(runs.summary())", ""), scope)
    assert scope["runs"].table().equals(runs.table())
    said = CliRunner().invoke(app, [*about["command"].split()[1:], "--json"])
    found = json.loads(said.stdout)["runs"]
    assert [row["steps"] for row in found] == runs.steps.tolist()
    assert [row["outcome"] for row in found] == runs.table().outcome.tolist()
    assert documents[-1]["learned"] == sum(row["outcome"] == "learned" for row in found)


def forms():
    """Every target and every network, and what else a form can say."""
    for target in TARGETS:
        yield {"target": target, "n": "9", "seeds": "3", "noise": "0.1"}
        yield {"target": target, "n": "9", "seeds": "3", "mean": "-0.25"}
    yield {"support": "1,5", "n": "9", "seeds": "3", "mean": "0.5", "noise": "0.1"}
    yield {"support": "1,5", "n": "9", "seeds": "3", "mean": "0.5", "share": "0.25", "encoding": "bits"}
    mixture = "0.5 uniform + 0.5 equal-bits"
    yield {"n": "9", "seeds": "3", "inputs": mixture, "noise": "0.1"}
    yield {"support": "1,5,7", "n": "9", "seeds": "3", "inputs": mixture, "encoding": "unit"}
    for network, row in NETWORKS.items():
        width = {"width": "8,2,2"} if row.sizes else {"width": "4"} if row.has("width") else {}
        start = {"init": "gaussian"} if network not in ("transformer",) else {}
        yield {"network": network, "n": "9", "k": "3", "seeds": "3", **width, **start}
    yield {"n": "9", "k": "2", "loss": "square", "optimizer": "adam", "decay": "0.01", "sample": "50", "every": "5"}


@pytest.mark.parametrize("form", [*forms()], ids=lambda form: "-".join(form.values()))
def test_snippets_name_the_same_runs(form, monkeypatch):
    """A sweep names a run by all that it is: equal names are equal runs."""
    settings = values_of({**form, "steps": "20", "validation": "32", "rate": "0.1,0.2"})
    plan, _ = plan_from_names({**TRAIN_DEFAULTS, **settings})
    scope, told = {}, []
    exec(python(settings).replace("pl.train(", "pl.plan(").replace("print(runs.summary())", ""), scope)

    def listen(configuration):
        told.append(plan_from_names(configuration)[0])
        raise ValueError("heard")

    monkeypatch.setattr("paritylab.names.plan_from_names", listen)
    said = CliRunner().invoke(app, shlex.split(command(settings))[1:])
    assert said.stderr == "paritylab: heard\n", said.stderr
    runs = [[name for work in Sweep([each]).works for name in work.names] for each in (plan, scope["runs"], *told)]
    assert runs[0] == runs[1] == runs[2]


WRONG = [
    ({"n": "5", "k": "7", "support": ""}, "k", "A k-parity needs 1 <= k <= n, got k=7 on n=5"),
    ({"support": "1,1"}, "support", "distinct coordinates"),
    ({"support": "1,x"}, "support", "whole numbers with commas"),
    ({"support": "1,99"}, "support", "distinct coordinates in 0..7"),
    ({"k": "3"}, "k", "support names 2 coordinates, and k says 3"),
    ({"target": "majority"}, "target", "support goes with the target"),
    ({"target": "paritty"}, "target", "did you mean 'parity'"),
    ({"network": "relu"}, "network", "did you mean"),
    ({"rate": "-1"}, "rate", "A rate must be a finite number >= 0"),
    ({"rate": "fast"}, "rate", "rate takes numbers with commas"),
    ({"rate": "0.1,0.1"}, "rate", "named twice"),
    ({"batch": "0"}, "batch", "at least one example"),
    ({"batch": "2.5"}, "batch", "batch is a whole number, got '2.5'."),
    ({"steps": "25"}, "steps", "positive multiple of the validation interval"),
    ({"noise": "2"}, "noise", "probability between 0 and 1"),
    ({"mean": "2"}, "mean", "mean is that of every coordinate, between -1 and 1, got 2.0."),
    ({"inputs": "tea"}, "inputs", "did you mean"),
    ({"inputs": "equal-bits"}, "support", "Use an odd k"),
    ({"inputs": "product(0.5)", "mean": "0.5"}, "mean", "Leave out mean."),
    ({"share": "0.5"}, "share", "got 0.5 and no mean"),
    ({"encoding": "hex"}, "encoding", "did you mean"),
    ({"noise": "often"}, "noise", "noise is a number, got 'often'."),
    ({"seeds": "0"}, "seeds", "at least 1"),
    ({"sample": "0"}, "sample", "a size from 1"),
    ({"width": "0"}, "width", "width"),
    ({"width": "5", "network": "polynet"}, "network", "has no width"),
    ({"optimizer": "adamm"}, "optimizer", "did you mean 'adam'"),
    ({"every": "0"}, "every", "at least 1"),
]


@pytest.mark.parametrize(("changed", "field", "words"), WRONG, ids=lambda case: str(case)[:40])
def test_a_bad_value_is_said_beside_its_field(changed, field, words):
    with pytest.raises(WrongField) as wrong:
        asked({**FORM, **changed})
    assert (wrong.value.field, words in str(wrong.value)) == (field, True), str(wrong.value)
    assert "--" not in str(wrong.value) and "\n" not in str(wrong.value)


def test_what_the_form_offers_is_there():
    assert {*CHOICES} <= {*TRAIN_DEFAULTS}
    for name in CHOICES["optimizer"]:
        make_optimizer(name)
    for preset in PRESETS.values():
        made = asked(preset.settings)
        assert made.settings and len(made.plan) >= 24


def test_pause_and_stop(server, monkeypatch):
    """While it is paused nothing moves; then it goes on, until it is stopped."""
    monkeypatch.setattr("paritylab.page.server.ALIVE_SECONDS", 0.2)
    about = ask(server, "/api/watch", {**FORM, "rate": "0.000001,0.000002", "steps": "10000000"}).json
    stream, path = Stream(server, about["session"]), f"/api/watch/{about['session']}"
    documents = iter(stream)

    def reach(phase: str, beyond: int = -1) -> int:
        """The farthest step of a document in this phase."""
        for document in documents:
            farthest = max(group["reach"] for group in document["groups"])
            if document["phase"] == phase and farthest > beyond:
                return farthest
        raise AssertionError(f"the stream ended before it was {phase}")

    reach("training", 0)
    ask(server, f"{path}/pause", {})
    reach("paused")
    time.sleep(1.0)  # a call that was under way ends
    still = next(documents)
    assert still["phase"] == "paused"
    settled = reach("paused")
    assert [reach("paused") for _ in range(2)] == [settled] * 2
    ask(server, f"{path}/resume", {})
    assert reach("training", settled) > settled
    ask(server, f"{path}/stop", {})
    assert reach("stopped") > settled and not [*documents]


def test_two_tabs_do_not_disturb_each_other(server, seen):
    both = [[], []]
    other = {**FORM, "seeds": "4"}
    threads = [
        threading.Thread(target=lambda kept=kept, form=form: kept.append(watched(server, form)))
        for kept, form in zip(both, (FORM, other), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = (kept[0][1][-1] for kept in both)
    alone = seen[1][-1]
    assert [group["survival"] for group in first["groups"]] == [group["survival"] for group in alone["groups"]]
    assert first["groups"][0]["bands"] == alone["groups"][0]["bands"]
    assert [group["runs"] for group in second["groups"]] == [4, 4] and second["phase"] == "ended"
