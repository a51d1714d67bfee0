"""What was run at which scale: the tables, `list --status`, and what they say of the gallery."""

import datetime
import json
from pathlib import Path

from typer.testing import CliRunner

from paritylab.cli import app
from paritylab.experiments import status
from paritylab.experiments.status import COLUMNS, Ran, note, of_account, ran
from paritylab.registry import EXPERIMENTS, PAPERS
from paritylab.report.gallery import exhibits

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
ABOUT = {
    "experiment": "toys/squares",
    "scale": "paper",
    "runs": 3,
    "steps": 12,
    "seconds": 1.26,
    "origins": [{"device": "cpu", "commit": "0123456789ab"}, {"device": "H200", "commit": "0123456789ab"}],
}


def test_what_was_run_is_written_down_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr(status, "path_of", lambda paper: tmp_path / f"{paper}.csv")
    assert ran("toys") == {}
    (path,) = note([ABOUT], datetime.date(2026, 1, 2))
    row = Ran("toys/squares", "paper", 3, 12, 1.3, "H200, cpu", "0123456789", "2026-01-02")
    assert path == tmp_path / "toys.csv" and ran("toys") == {("toys/squares", "paper"): row}
    note([{**ABOUT, "scale": "quick"}, {**ABOUT, "runs": 4}], datetime.date(2026, 1, 3))
    assert [each.runs for each in ran("toys").values()] == [4, 3]


def test_every_experiment_has_a_row():
    found = CliRunner().invoke(app, ["list", "--status", "--json"])
    rows = json.loads(found.stdout)
    assert found.exit_code == 0 and [row["experiment"] for row in rows] == [*EXPERIMENTS]
    assert all(tuple(row) == COLUMNS for row in rows)
    for row in rows:
        counted = [row[name] for name in ("runs", "steps", "seconds", "device", "hold", "fail", "open")]
        assert (row["scale"] == "not run") == (counted == [None] * 7)
    lines = CliRunner().invoke(app, ["list", "--status"]).stdout.splitlines()
    assert len(lines) == 2 + len(EXPERIMENTS)


def test_status_is_about_all_experiments():
    found = CliRunner().invoke(app, ["list", "networks", "--status"])
    assert found.exit_code == 2 and "--status is about all experiments, got 'networks'" in found.stderr


def test_what_is_noted_at_paper_scale_is_what_the_gallery_shows():
    noted = {row.experiment: row for paper in PAPERS for row in ran(paper).values() if row.scale == "paper"}
    shown = {about["experiment"]: about for about in exhibits(GALLERY)}
    assert {*noted} == {*shown}
    for name, about in shown.items():
        if "runs" in about:  # exhibits before there was a table have no counts
            assert of_account(about, noted[name].date) == noted[name]
