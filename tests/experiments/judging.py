"""What the tests of experiments share: results that never were, and what an experiment makes of results."""

import numpy as np
import pyarrow as pa

from paritylab.experiments.base import Measured, judge, measured, read
from paritylab.sweep import Results


def results_of(rows: list[dict]) -> Results:
    """Results of runs that never were: plain values, and arrays over recorded steps."""
    listed = lambda value: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [listed(row.get(name)) for row in rows] for name in names}
    return Results(pa.table({"run": [str(i) for i in range(len(rows))], **columns}), 0)


def values(experiment, settings, results: Results) -> dict[str, Measured]:
    """Our value of each claim, by name; the figures are drawn too."""
    data = read(experiment, settings, results)
    for figure in experiment.plot(settings, data).values():
        figure.canvas.draw()
    return {claim.name: ours for claim, ours in measured(experiment, settings, data).items()}


def verdicts(experiment, settings, results: Results) -> dict[str, str]:
    """The verdict of each claim, by name; the figures are drawn too."""
    found = values(experiment, settings, results)
    return {claim.name: judge(claim.region, found[claim.name].interval) for claim in experiment.claims(settings)}
