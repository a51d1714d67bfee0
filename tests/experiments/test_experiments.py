"""What every experiment must define, how claims are judged, and what `reproduce` writes."""

import dataclasses
import itertools
import json
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import paritylab as pl
from paritylab.cli import app
from paritylab.cli.reproduce import work_off
from paritylab.distributions.digits import FILES
from paritylab.experiments import reproduce, status, verdicts
from paritylab.experiments.base import Claim, Measured, Region, chosen, judge, load, within_factor
from paritylab.experiments.measures import exactly, largest
from paritylab.experiments.verdicts import Recorded
from paritylab.registry import EXPERIMENTS, PAPERS, ExperimentEntry
from paritylab.report.page import write_report
from paritylab.sweep import Call, Sweep

HEADLINE = "hidden-progress/fig1-left"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_keeps_the_contract(name):
    experiment = load(name)
    assert experiment.__doc__ and set(experiment.SETTINGS) == {"quick", "paper"}
    assert name.split("/")[0] in PAPERS
    for scale, settings in experiment.SETTINGS.items():
        assert dataclasses.is_dataclass(settings)
        claims = [*experiment.claims(settings)]
        assert claims and len({claim.name for claim in claims}) == len(claims)
        for claim in claims:
            assert claim.statement and claim.region.low <= claim.region.high
            fails = verdicts.recorded(name, claim, scale) == "fails"
            assert claim.explanation or not fails, f"{claim.name} fails without an explanation"
    sweep = Sweep(experiment.plan(experiment.SETTINGS["quick"]))
    assert len(sweep) > 0
    for work in sweep.works:
        assert len(work.names[0]) >= 16  # can be written down


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "learning-parities/mnist"])
def test_every_experiment_can_be_planned_at_paper_scale(name):
    experiment = load(name)
    try:
        first = itertools.islice(experiment.plan(experiment.SETTINGS["paper"]), 1000)  # the others are like these
        assert len([*first]) > 0
    except ValueError as error:
        assert "CIFAR-10" in str(error)  # which not every machine has


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((1.0, 2.0), "holds"),
        ((0.5, 1.0), "inconclusive"),
        ((2.0, math.inf), "inconclusive"),
        ((2.1, math.inf), "fails"),
        ((0.0, 0.9), "fails"),
        ((0.0, 3.0), "inconclusive"),
    ],
)
def test_judge(interval, verdict):
    assert judge(Region(1, 2), interval) == verdict


@pytest.mark.parametrize("interval", [(2.0, 1.0), (math.nan, 1.0), (0.0, math.nan)])
def test_an_interval_has_two_ends_in_order(interval):
    with pytest.raises(ValueError, match="two ends in order"):
        judge(Region(1, 2), interval)


def test_a_factor_lies_on_both_sides():
    region = within_factor(100.0, 1.6)
    assert (region.low, region.high) == (62.5, 160)


def test_names_choose_experiments():
    assert chosen([]) == [name for name, entry in EXPERIMENTS.items() if entry.headline]
    assert chosen(["hidden-progress"]) == [name for name in EXPERIMENTS if name.startswith("hidden-progress/")]
    assert chosen([HEADLINE, "hidden-progress"])[0] == HEADLINE
    with pytest.raises(ValueError, match="did you mean 'hidden-progress'"):
        chosen(["hiden-progress"])


def square(x: int) -> dict[str, int]:
    return {"square": x * x}


@dataclasses.dataclass(frozen=True)
class Settings:
    count: int


def toy(explanation="", broken=False):
    """An experiment of calls: whether the largest of some squares is what it should be."""

    def plan(settings):
        return [Call(square, {"x": x}) for x in range(settings.count)]

    def claims(settings):
        nine = Claim(
            "largest",
            "The largest square is 9.",
            9.0,
            Region(9, 9),
            lambda table: largest(table.square),
            explanation=explanation,
        )
        return [nine, nine] if broken else [nine]

    def plot(settings, table):
        from paritylab.figures import one_panel

        figure, axes = one_panel(2, 2)
        axes.plot(table.x, table.square)
        return {"squares": figure}

    return SimpleNamespace(
        __doc__="Squares.\n\nThey grow.",
        SETTINGS={"quick": Settings(4), "paper": Settings(5)},
        plan=plan,
        claims=claims,
        plot=plot,
    )


@pytest.fixture
def register(monkeypatch, tmp_path_factory):
    """Registers a toy experiment in the place of all others, with a table of verdicts of its own."""

    monkeypatch.setenv("PARITYLAB_CORES", "1")  # four squares need no second worker
    tables = tmp_path_factory.mktemp("tables")
    monkeypatch.setattr(verdicts, "table_of", lambda paper: tables / f"{paper}.csv")
    monkeypatch.setattr(status, "path_of", lambda paper: tables / f"{paper}-runs.csv")

    def do(recorded="holds", statement="The largest square is 9.", **options):
        wording = verdicts.wording(statement, "9 to 9")
        row = Recorded(
            "toys/squares/largest", "quick", recorded, "9 to 9", "theory", "0123456789", "2026-01-01", wording
        )
        verdicts.write("toys", [row] if recorded else [])
        entry = ExperimentEntry("toy", "squares", quick_seconds=1, headline=True)
        for name in [*EXPERIMENTS]:
            monkeypatch.delitem(EXPERIMENTS, name)
        monkeypatch.setitem(EXPERIMENTS, "toys/squares", entry)
        monkeypatch.setitem(sys.modules, "paritylab.experiments.toy", toy(**options))

    yield do
    verdicts.verdicts.cache_clear()


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_reproduce_writes_figures_data_claims_and_a_report(register, tmp_path):
    register()
    done = run("reproduce", "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    (claim,) = document["claims"]
    assert claim == json.loads((tmp_path / "out" / "claims.json").read_text())[0]
    assert (claim["claim"], claim["paper"], claim["measured"]) == ("toys/squares/largest", 9, 9)
    assert (claim["interval"], claim["verdict"], claim["recorded"], claim["scale"]) == (
        [9, 9],
        "holds",
        "holds",
        "quick",
    )
    folder = tmp_path / "out" / "quick" / "toys" / "squares"
    assert sorted(path.name for path in folder.iterdir()) == [
        "experiment.json", "runs.csv", "runs.parquet", "squares.pdf", "squares.png",
    ]  # fmt: skip
    assert document["report"] == str(tmp_path / "out" / "report.html")

    told = run("reproduce", "toys/squares", "--out", tmp_path / "out")
    assert told.exit_code == 0 and told.stdout.splitlines()[-1] == document["report"]
    assert [cell for cell in told.stdout.splitlines()[2].split("  ") if cell][-1].strip() == "holds"


def test_many_runs_are_written_as_parquet_alone(register, monkeypatch, tmp_path):
    register()
    folder = tmp_path / "quick/toys/squares"
    reproduce.reproduce("toys/squares", "quick", tmp_path)
    assert (folder / "runs.csv").exists()
    monkeypatch.setattr(reproduce, "MOST_ROWS_OF_CSV", 3)
    assert reproduce.reproduce("toys/squares", "quick", tmp_path)["data"] == ["runs.parquet"]
    assert (folder / "runs.parquet").exists() and not (folder / "runs.csv").exists()


def test_an_experiment_whose_runs_are_those_of_another_is_written_too(register, monkeypatch, tmp_path):
    register()
    monkeypatch.setitem(EXPERIMENTS, "toys/again", EXPERIMENTS["toys/squares"])
    done = run("reproduce", "toys", "--out", tmp_path, "--json")
    assert done.exit_code == 0, done.stderr
    assert [row["claim"] for row in json.loads(done.stdout)["claims"]] == ["toys/squares/largest", "toys/again/largest"]
    assert len(pl.sweep.Store(tmp_path / "store").manifests()) == 4  # each square once


def test_an_experiment_that_cannot_be_planned_stops_none_before_it(register, monkeypatch, tmp_path):
    def plan(settings):
        raise ValueError("There are no images here.")

    register()
    wrong = toy()
    wrong.plan = plan
    monkeypatch.setitem(EXPERIMENTS, "toys/wrong", ExperimentEntry("wrong", "no images", quick_seconds=1))
    monkeypatch.setitem(sys.modules, "paritylab.experiments.wrong", wrong)
    done = run("reproduce", "toys", "--out", tmp_path)
    assert done.exit_code == 2 and "paritylab: There are no images here.\n" in done.stderr
    assert (tmp_path / "quick" / "toys" / "squares" / "experiment.json").exists()


def test_the_paper_scale_stands_beside_the_quick_one(register, tmp_path):
    register(explanation="There is a fifth square.")
    assert run("reproduce", "--out", tmp_path).exit_code == 0
    assert run("reproduce", "--out", tmp_path, "--scale", "paper").exit_code == 0
    ledger = json.loads((tmp_path / "claims.json").read_text())
    assert [(row["scale"], row["verdict"]) for row in ledger] == [("quick", "holds"), ("paper", "fails")]
    assert "There is a fifth square." in (tmp_path / "report.html").read_text()


def test_a_verdict_that_is_news_is_said_and_exits_1(register, tmp_path):
    register(explanation="Believed to fail.", recorded="fails")
    done = run("reproduce", "--out", tmp_path)
    assert done.exit_code == 1
    assert "paritylab: toys/squares/largest was recorded as 'fails' and now holds.\n" in done.stderr


@pytest.fixture
def done(register, tmp_path) -> Path:
    """A folder in which the toy experiment is done, so that no worker has to start for it again."""
    register()
    with ThreadPoolExecutor(1) as executor:
        store = pl.sweep.Store.create(tmp_path / "store")
        reproduce.reproduce("toys/squares", "quick", tmp_path, store, executor=executor)
    reproduce.write_ledger(tmp_path)
    write_report(tmp_path)
    return tmp_path


def test_damaged_documents_are_named_and_made_again(done):
    account = done / "quick" / "toys" / "squares" / "experiment.json"
    documents = account, done / "claims.json", done / "report.html"
    whole = [path.read_text() for path in documents]
    other = done / "paper" / "toys" / "squares" / "experiment.json"
    other.parent.mkdir(parents=True)
    for path in (other, *documents):
        path.write_text(whole[0][:100])
    said = run("reproduce", "--out", done, "--json")
    assert said.exit_code == 0 and len(json.loads(said.stdout)["claims"]) == 1
    fates = (
        (other, "left out of the report; make it again with 'paritylab reproduce toys/squares --scale paper'."),
        (account, "it is made again."),
        (done / "claims.json", "it is made again."),
    )
    for line, (path, fate) in zip(said.stderr.splitlines()[:3], fates, strict=True):
        assert line.startswith(f"paritylab: {path} is damaged (it is no JSON: ") and line.endswith(fate), line
    assert [path.read_text() for path in documents] == whole and other.read_text() == whole[0][:100]


def test_a_full_disk_leaves_documents_as_they_were_and_claims_are_still_printed(done, monkeypatch):
    before = {path: path.read_bytes() for path in done.rglob("*") if path.is_file()}
    replace = os.replace

    def full(source, target):
        if "store" not in Path(target).parts:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    said = run("reproduce", "--out", done, "--json")
    assert said.exit_code == 1, said.exception
    (claim,) = json.loads(said.stdout)["claims"]
    assert (claim["claim"], claim["verdict"], json.loads(said.stdout)["report"]) == (
        "toys/squares/largest",
        "holds",
        None,
    )
    assert said.stderr.count("\n") == 1 and "cannot be written (No space left on device); what was" in said.stderr
    assert {path: path.read_bytes() for path in done.rglob("*") if path.is_file()} == before
    for name in ("claims.json", "report.html"):  # where the experiment's own folder can take in its documents
        monkeypatch.setattr(os, "replace", lambda source, target, name=name: (
            full(source, target) if Path(target).name == name else replace(source, target)
        ))  # fmt: skip
        told = run("reproduce", "--out", done)
        assert told.exit_code == 1 and "toys/squares/largest" in told.stdout and told.stderr.count("paritylab: ") == 1


@pytest.mark.parametrize("words", [(), ("--executor", "nowhere")], ids=["data", "executor"])
def test_wrong_data_or_executors_leave_no_files(register, monkeypatch, tmp_path, words):
    def plan(settings):
        raise ValueError("There are no images here.")

    register()
    if not words:
        monkeypatch.setattr(sys.modules["paritylab.experiments.toy"], "plan", plan)
    done = run("reproduce", "--out", tmp_path / "out", *words)
    assert (done.exit_code, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_wrong_folder_of_mnist_leaves_no_files(monkeypatch, tmp_path):
    """It has files of the right names, and another content."""
    for name in FILES:
        (tmp_path / name).write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 5]))
    monkeypatch.setenv("PARITYLAB_DATA", "")  # taken back at the end
    done = run("reproduce", "learning-parities/mnist", "--out", tmp_path / "out", "--data", tmp_path)
    assert (done.exit_code, done.stdout) == (2, "") and "Copy both files from one place." in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_verdict_belongs_to_a_wording(register, tmp_path):
    register(recorded="fails", statement="The largest square is 16.")
    assert run("reproduce", "--out", tmp_path).exit_code == 0
    assert json.loads((tmp_path / "claims.json").read_text())[0]["recorded"] is None


def test_verdicts_are_written_down_once(register, tmp_path, monkeypatch):
    monkeypatch.setenv("PARITYLAB_COMMIT", "abcdef0123456789")
    register(recorded=None)
    for _ in range(2):
        assert run("reproduce", "--out", tmp_path / "out", "--record").exit_code == 0
    lines = verdicts.table_of("toys").read_text().splitlines()
    assert len(lines) == 2 and lines[1].startswith("toys/squares/largest,quick,holds,9 to 9,chosen before,abcdef0123,")


def test_two_claims_of_one_name_are_a_mistake_of_the_experiment(register, tmp_path):
    register(broken=True)
    with pytest.raises(AssertionError, match="Two claims have one name"):
        reproduce.reproduce("toys/squares", "quick", tmp_path, pl.sweep.Store.create(tmp_path / "store"))


def test_wrong_input_is_one_sentence(tmp_path):
    for words, sentence in (
        (("reproduce", "fig1"), "There is no experiment or paper 'fig1'; did you mean "),
        (("reproduce", "--scale", "huge"), "--scale is quick or paper, got 'huge'."),
        (("report", tmp_path), "holds no experiment."),
    ):
        said = run(*words)
        assert (said.exit_code, said.stdout) == (2, "")
        assert said.stderr.startswith("paritylab: ") and sentence in said.stderr and said.stderr.count("\n") == 1


def test_a_measurement_is_a_value_and_its_interval():
    assert exactly(3.0) == Measured(3.0, (3.0, 3.0))


def test_an_experiment_that_cannot_be_drawn_stops_no_other(tmp_path, monkeypatch):
    written = []

    def do_runs(names, *_, **__):
        yield from ((name, SimpleNamespace(missing=0), []) for name in names)

    def account_of(name, *_):
        if name == "a/bad":
            raise ValueError("Axis limits cannot be NaN")
        return {"claims": [], "title": name, "seconds": 1.0}, {}

    monkeypatch.setattr("paritylab.experiments.reproduce.do_runs", do_runs)
    monkeypatch.setattr("paritylab.experiments.reproduce.account_of", account_of)
    monkeypatch.setattr(
        "paritylab.experiments.reproduce.write_account", lambda about, *_: written.append(about["title"])
    )
    with pytest.raises(RuntimeError, match="The runs of a/bad are there, but cannot be judged or drawn: Axis limits"):
        work_off(["a/bad", "a/good"], {}, "quick", tmp_path, None, True)
    assert written == ["a/good"]
