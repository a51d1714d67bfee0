"""How runs are looked at: curves and maps show the numbers of the table, tables go to other libraries."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import kstwobign

from paritylab.figures import one_panel
from paritylab.sweep import Results
from paritylab.training.views import View, Viewed

ROWS = [
    # rate, seed, outcome, steps, what was recorded at steps 0, 10, 20, ...
    (0.1, 0, "learned", 30, [0.5, 0.4, 0.2, 0.0]),
    (0.1, 1, "learned", 15, [0.5, 0.1]),
    (0.1, 2, "out_of_steps", 40, [0.5, 0.5, 0.5, 0.4, 0.3]),
    (1.0, 0, "learned", 20, [0.5, 0.3, 0.0]),
    (1.0, 1, "diverged", 10, [0.5]),
]


class Made(Viewed):
    """Runs that never were."""

    def __init__(self, rows=ROWS, recorded=True):
        names = ("rate", "seed", "outcome", "steps")
        table = pd.DataFrame([dict(zip(names, row[:4], strict=True)) for row in rows])
        table["converged_at"] = table.steps.where(table.outcome == "learned").astype("Int64")
        table["run"], table["error"] = range(len(rows)), 0.0
        long = [(i, 10 * j, value) for i, row in enumerate(rows) for j, value in enumerate(row[4])]
        curves = pd.DataFrame(long, columns=["run", "step", "validation_error"])
        self.view = View(table, ("rate",), recorded, lambda: curves)

    def _view(self):
        return self.view

    def _arrow(self):
        return pa.Table.from_pandas(self.view.table)


def lines_of(figure):
    return {line.get_label(): line.get_xydata() for line in figure.axes[0].get_lines()}


def test_a_band_has_the_quantiles_of_all_runs_whether_they_have_ended_or_not():
    """What learned stays at 0; what was last seen at step 15 is 0 there, and halfway between before."""
    figure = Made().plot(band=(0.0, 1.0))
    line = lines_of(figure)["rate 0.1"]
    expected = {0: [0.5, 0.5, 0.5], 10: [0.4, 0.1, 0.5], 15: [0.3, 0, 0.5], 20: [0.2, 0, 0.5], 30: [0, 0, 0.4]}
    expected[40] = [0, 0, 0.3]
    assert line[:, 0].tolist() == [*expected]
    np.testing.assert_allclose(line[:, 1], [np.median(values) for values in expected.values()])
    (edge, *_) = figure.axes[0].collections[0].get_paths()
    for step, values in expected.items():
        at = edge.vertices[edge.vertices[:, 0] == step][:, 1]
        np.testing.assert_allclose([at.min(), at.max()], [min(values), max(values)])


def test_a_run_that_was_stopped_leaves_the_band_which_ends_where_half_are_left():
    rows = [(0.1, seed, "running", 10 * (seed + 1), [0.5 - seed / 10] * (seed + 2)) for seed in range(4)]
    figure = Made(rows).plot(by="rate")
    line = lines_of(figure)["rate 0.1"]
    assert line[:, 0].tolist() == [0, 10, 20, 30]
    np.testing.assert_allclose(line[:, 1], [0.35, 0.35, 0.3, 0.25])


def test_without_a_band_there_is_a_line_for_each_run():
    lines = Made().plot(band=None).axes[0].get_lines()
    assert len(lines) == 5 and [line.get_label() for line in lines if line.get_label()[0] != "_"] == [
        "rate 0.1",
        "rate 1",
    ]


def test_the_share_that_learned_is_that_of_the_table():
    lines = lines_of(Made().plot("learned"))
    np.testing.assert_allclose(np.unique(lines["rate 0.1"], axis=0), [[0, 0], [15, 1 / 3], [30, 2 / 3], [40, 2 / 3]])
    np.testing.assert_allclose(np.unique(lines["rate 1"], axis=0), [[0, 0], [20, 0.5], [40, 0.5]])


def test_the_band_of_the_share_that_learned_is_that_of_kolmogorov_where_no_run_is_lost():
    """From the first step to the last, scipy's quantile of sqrt(runs) sup |F_n - F| to either side."""
    rows = [(0.1, seed, "learned", 10 * (seed + 1), [0.5]) for seed in range(16)]
    figure = Made(rows).plot("learned")
    (band,) = figure.axes[0].collections
    edge, share = band.get_paths()[0].vertices, lambda step: np.floor(step / 10) / 16
    half = kstwobign.ppf(0.95) / 4
    for step in (5.0, 35.0, 85.0, 155.0):
        ends = sorted({y for x, y in edge if x == 10 * np.floor(step / 10)})
        between = [max(0.0, share(step) - half), min(1.0, share(step) + half)]
        assert all(np.isclose(ends, each, atol=1e-9).any() for each in between), step
    assert not Made(rows).plot("learned", band=None).axes[0].collections


def test_a_figure_is_drawn_on_axes_that_are_given():
    figure, axis = one_panel(2, 2)
    assert Made().plot("learned", ax=axis) is figure and len(axis.get_lines()) > 0
    assert isinstance(figure._repr_png_(), bytes)


def test_a_map_shows_a_number_for_each_cell():
    rows = [
        (rate, seed, "learned" if seed < some else "out_of_steps", 10 * (seed + 1), [0.5])
        for rate, some in ((0.1, 1), (1.0, 4))
        for seed in range(4)
    ]
    made = Made(rows)
    made.view.table["width"] = [5, 5, 10, 10] * 2
    texts = lambda figure: sorted((text.get_position(), text.get_text()) for text in figure.axes[0].texts)
    assert texts(made.heat_map(over=("width", "rate"))) == [
        ((0, 0), "50%"),
        ((0, 1), "100%"),
        ((1, 0), "0%"),
        ((1, 1), "100%"),
    ]
    times = dict(texts(made.heat_map("median", over=("width", "rate"))))
    assert times == {(0, 0): "10", (0, 1): "10", (1, 0): "not\nreached", (1, 1): "30"}
    steps = dict(texts(made.heat_map("steps", over=("rate", "width"))))
    assert steps == {(0, 0): "15", (1, 0): "15", (0, 1): "35", (1, 1): "35"}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda made: made.plot("fresh_eror"), "There is no record of these runs called 'fresh_eror'"),
        (lambda made: made.plot(by="width"), "no column of these runs called 'width'"),
        (lambda made: made.plot(band=(0.9, 0.1)), r"between two quantiles, such as \(0.1, 0.9\), got \(0.9, 0.1\)"),
        (lambda made: made.heat_map(over=("rate",)), r"over=\('width', 'batch'\), got over=\('rate',\)"),
        (lambda made: made.heat_map("outcome", over=("rate", "seed")), "no value of runs called 'outcome'"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(Made())


def test_results_are_looked_at_as_runs_are():
    rows = [{"run": f"{i:032x}", "job": "j", "width": 5 * (i % 2 + 1), "rate": 0.1, "seed": i // 2} for i in range(4)]
    ended = [{"outcome": "learned", "converged_at": 10 * i + 10, "steps": 10 * i + 10, "error": 0.0} for i in range(4)]
    arrow = pa.Table.from_pylist([{**row, **end} for row, end in zip(rows, ended, strict=True)])
    results = Results(arrow, 0, labels=("width", "rate"))
    assert [*results.table()] == ["width", "rate", "seed", *ended[0], "run", "job"]
    assert [row["median"] for row in results.summary("width")] == [10, 20]
    assert repr(results) == "Results(4 runs: 4 learned.)" and "4 of 4" not in results._repr_html_()
    assert results._repr_html_().count("2 of 2") == 2
    assert [*lines_of(results.plot())][::2] == ["width 5", "width 10"]
    calls = Results(pa.table({"run": ["a"], "n": [3], "value": [0.25]}), 1)
    assert "1 rows of calls. 1 of them are missing." in calls._repr_html_() and "0.25" in calls._repr_html_()
    with pytest.raises(ValueError, match="of runs that were trained"):
        calls.plot()


def test_other_libraries_read_runs_as_arrow_streams():
    made = Made()
    table = pa.RecordBatchReader.from_stream(made).read_all()
    assert table.to_pandas().rate.tolist() == made.view.table.rate.tolist()
    arrow = pa.table({"run": ["a"], "value": [1]})
    assert pa.RecordBatchReader.from_stream(Results(arrow, 0)).read_all().equals(arrow)


def test_tables_in_html_escape_what_is_in_them_and_say_how_runs_ended():
    made = Made()
    made.view.table["rate"] = "<b>"
    page = made._repr_html_()
    assert "&lt;b&gt;" in page and "<b>" not in page
    assert "5 runs: 3 learned, 1 out of steps, 1 diverged" in page
    assert made.summary()[0]["runs"] == 5
