"""The gallery: what it holds is what its tables say."""

import json
import os
import re
from pathlib import Path

import pytest
from pages import anchors_of
from PIL import Image
from slow import SLOW_EXHIBITS

from paritylab.documents import DocumentCannotBeWritten, plain
from paritylab.experiments.base import judge, load, measured, read, value_without
from paritylab.experiments.verdicts import recorded, verdicts
from paritylab.registry import PAPERS
from paritylab.report.gallery import LARGEST, exhibits, results_of, write_gallery

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"


def exhibit(name):
    """Those whose intervals take seconds are for `make acceptance`."""
    return pytest.param(name, marks=pytest.mark.acceptance if name in SLOW_EXHIBITS else ())


@pytest.mark.parametrize("name", [exhibit(about["experiment"]) for about in exhibits(GALLERY)])
def test_the_claims_of_an_exhibit_follow_from_its_table(name):
    about = next(each for each in exhibits(GALLERY) if each["experiment"] == name)
    place = GALLERY / name.replace("/", "-")
    assert (place / "runs.parquet").stat().st_size <= LARGEST
    assert all((place / figure).exists() for figure in about["figures"])
    assert all(origin["commit"] and origin["device"] for origin in about["origins"])
    if not about["curves_kept"]:
        pytest.skip("its curves were too large to keep")
    experiment = load(name)
    settings = experiment.SETTINGS["paper"]
    data = read(experiment, settings, results_of(about, GALLERY))
    known = {f"{name}/{claim.name}": (claim, ours) for claim, ours in measured(experiment, settings, data).items()}
    for row in about["claims"]:
        claim, ours = known[row["claim"]]
        assert plain(ours.value) == pytest.approx(row["measured"])  # what is not known is null there
        assert judge(claim.region, ours.interval, value_without(claim.null, data)) == row["verdict"]
        assert recorded(name, claim, "paper") == row["verdict"], "the record says otherwise"
    if name == "learning-parities/mnist":
        return  # its figure shows digits, which are not on every machine; test_mnist.py draws it with others
    for figure in experiment.plot(settings, data).values():
        figure.canvas.draw()


def test_no_verdict_at_paper_scale_is_recorded_that_no_exhibit_backs():
    shown = {row["claim"]: row["verdict"] for about in exhibits(GALLERY) for row in about["claims"]}
    known = {row.claim: row.verdict for paper in PAPERS for row in verdicts(paper).values() if row.scale == "paper"}
    assert known == shown


def test_the_page_shows_every_exhibit_and_says_what_the_experiments_say():
    page = (GALLERY / "index.md").read_text()
    for about in exhibits(GALLERY):
        assert f"## {about['experiment']}: " in page
        experiment = load(about["experiment"])
        known = {claim.name: claim for claim in experiment.claims(experiment.SETTINGS["paper"])}
        for row in about["claims"]:
            claim = known[row["claim"].removeprefix(f"{about['experiment']}/")]
            assert (row["statement"], row["explanation"]) == (claim.statement, claim.explanation)
            assert row["statement"].split("|")[0] in page


def test_the_page_begins_with_a_tally_and_contents_that_lead_to_every_exhibit():
    page = (GALLERY / "index.md").read_text()
    verdicts = [row["verdict"] for about in exhibits(GALLERY) for row in about["claims"]]
    count = verdicts.count
    tally = f"{count('holds')} hold, {count('fails')} fail, {count('inconclusive')} are undecided"
    tally = f"{len(exhibits(GALLERY))} experiments with {len(verdicts):,} claims: {tally}"
    assert tally in page.split("## What was run")[0]
    contents = page.split("## Contents")[1].split("\n## ")[0]
    for about in exhibits(GALLERY):
        (line,) = [line for line in contents.splitlines() if f"[{about['experiment']}: " in line]
        (anchor,) = re.findall(r"\]\(#(.*?)\)", line)
        assert anchor in anchors_of(page) and f"/{about['figures'][0]}" in line
        found = [row["verdict"] for row in about["claims"]]
        assert line.endswith(f"| {found.count('holds')} | {found.count('fails')} | {found.count('inconclusive')} |")


@pytest.fixture
def out(tmp_path) -> Path:
    """A folder as `reproduce` leaves it, of one exhibit."""
    source = GALLERY / "hidden-progress-fig8"
    about = json.loads((source / "experiment.json").read_text())
    place = tmp_path / "paper" / about["experiment"]
    place.mkdir(parents=True)
    for path in source.iterdir():
        (place / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_a_table_that_is_too_large_is_said(out, monkeypatch):
    monkeypatch.setattr("paritylab.report.gallery.LARGEST", 1000)
    with pytest.raises(ValueError, match="more than 1000"):
        write_gallery(out, out / "gallery")
    assert not (out / "gallery" / "hidden-progress-fig8").exists()


def test_what_cannot_be_read_or_written_leaves_the_gallery_as_it_was(out, monkeypatch):
    assert write_gallery(out, out / "gallery").exists()
    kept = {path: path.read_bytes() for path in (out / "gallery").rglob("*") if path.is_file()}
    assert {path.name for path in kept} >= {"index.md", "experiment.json", "runs.parquet"}
    place = out / "paper" / "hidden-progress" / "fig8"
    account = json.loads((place / "experiment.json").read_text())
    (place / "experiment.json").write_text(json.dumps({**account, "title": "another"}))
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", raise_full)
        with pytest.raises(DocumentCannotBeWritten, match="No space left on device"):
            write_gallery(out, out / "gallery")
    table = (place / "runs.parquet").read_bytes()
    (place / "runs.parquet").write_bytes(table[:-10])
    with pytest.raises(ValueError, match=r"runs.parquet is damaged \(.*\). Make it again with 'paritylab reproduce'."):
        write_gallery(out, out / "gallery")
    (place / "runs.parquet").write_bytes(table)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(ValueError, match="has more than the 100 pixels"):
        write_gallery(out, out / "gallery")
    assert {path: path.read_bytes() for path in (out / "gallery").rglob("*") if path.is_file()} == kept
    (out / "gallery" / "hidden-progress-fig8" / "experiment.json").write_text("{")
    with pytest.raises(ValueError, match=r"experiment.json is damaged \(it is no JSON"):
        exhibits(out / "gallery")


def raise_full(*_):
    raise OSError(28, "No space left on device")
