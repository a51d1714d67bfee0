"""What is recorded of runs so that they can be watched, and which of the records are drawn."""

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..cube import root_key
from ..distributions import AbstractDistribution
from ..networks.mlp import FeedForward, OneNeuron
from ..training.engine.lanes import data_key, init_key, zeros
from ..training.plans import Cell, Plan
from ..training.rules.fourier_records import SupportFourier
from ..training.rules.gradient_descent import network_made_by
from ..training.rules.records import (
    AbstractRecord,
    FreshError,
    FreshLoss,
    Neurons,
    Progress,
    SampleError,
    Weights,
    first_weights,
)
from ..training.views import View, grouping
from .watched import Drawn, relevant_of, subsets_of, told_apart

ROWS = 400
"""How often a run that goes to its last step is recorded, and how many points a curve has at most."""
POINTS = 1024
"""Fresh examples behind each recorded error, loss and coefficient."""
SHOWN_NEURONS, SHOWN_WEIGHTS = 64, 2**13
"""Of each run, of the layer that sees the input."""
USUAL = ("fresh_error", "fresh_loss", "progress", "parity_coefficient")
"""The curves of a parity that is learned from fresh examples."""
ORDER = ("fresh_error", "validation_error", "sample_error", *USUAL[1:])
"""Of all curves; others follow."""
MOST_RUNS = 10_000
"""Of those that are watched in a notebook."""


def watchable(plan: Plan) -> Plan:
    """The same runs with what the page draws recorded, every so many steps; what they record already stays."""
    cell = plan.cells[0]
    support = relevant_of(distribution_of(plan, 0))
    wanted: list[AbstractRecord] = [FreshError(POINTS), FreshLoss(POINTS), Progress(), *neurons_of(cell)]
    if cell.sample is not None:
        wanted.append(SampleError())
    if support:
        wanted.append(SupportFourier(len(support), subsets_of(len(support)), POINTS))
    known = {record.name for record in cell.records}
    records = (*cell.records, *(record for record in wanted if record.name not in known))
    every = cell.every * max(1, round(cell.steps / ROWS / cell.every))
    cells = tuple(
        dataclasses.replace(each, records=records, record_every=each.record_every or every) for each in plan.cells
    )
    return dataclasses.replace(plan, cells=cells)


def neurons_of(cell: Cell) -> list[AbstractRecord]:
    """The record of the first neurons of the layer that sees the input; none where that is no matrix of weights."""
    n = cell.problem.distribution.n
    made = network_made_by(cell.network, n)
    shape = eqx.filter_eval_shape(first_weights, made).shape
    if len(shape) != 2 or shape[1] != n:
        return []
    shown = tuple(range(min(shape[0], SHOWN_NEURONS, max(1, SHOWN_WEIGHTS // n))))
    return [Neurons(shown) if isinstance(made, FeedForward | OneNeuron) else Weights(shown)]


def distribution_of(plan: Plan, run: int) -> AbstractDistribution:
    """What a run is trained on."""
    task = plan.cells[plan.cell[run]].task
    return task if isinstance(task, AbstractDistribution) else task(root_key(np.uint32(plan.seeds.target[run])))


def drawn_of_plan(plan: Plan, by: str | Sequence[str] | None) -> Drawn:
    """What is drawn of runs that are to be trained."""
    size = plan.size(jax.default_backend())
    program, seed = size.program, jnp.uint32(0)
    assert program.records is not None
    records, rule, leaves = program.records, program.rule, program.whole(size.own, size.common)
    state = jax.eval_shape(lambda: rule.init(init_key(seed), leaves))
    values = jax.eval_shape(
        lambda: records.values(rule, zeros(state), jnp.int32(0), init_key(seed), data_key(seed), leaves)
    )
    table = pd.DataFrame(plan.columns)
    view = View(table, tuple(name for name in plan.columns if name != "seed"), True, pd.DataFrame)
    shapes = {name: value.shape for name, value in values.items()}
    steps = max(each.steps for each in plan.cells)
    return drawn(view, by, shapes, records.records, records.every, steps)


def drawn(
    view: View,
    by: str | Sequence[str] | None,
    shapes: dict[str, tuple[int, ...]],
    records: Sequence[AbstractRecord],
    every: int,
    steps: int,
) -> Drawn:
    """What is drawn of runs with records of these shapes."""
    if len(view.table) > MOST_RUNS:
        raise ValueError(
            f"Up to {MOST_RUNS:,} runs are watched at once, got {len(view.table):,}. Use plot() for more, or a part."
        )
    curves: dict[str, tuple[str, int | None]] = {name: (name, None) for name, shape in shapes.items() if shape == ()}
    there = [record for record in records if record.name in shapes]
    fourier = next((record for record in there if isinstance(record, SupportFourier)), None)
    if fourier is not None and (whole := tuple(range(fourier.degree))) in fourier.subsets:
        curves["parity_coefficient"] = ("support_fourier", fourier.subsets.index(whole))
    layer = next((name for name in ("neurons", "weights") if len(shapes.get(name, ())) == 2), "")
    known = [name for name in ORDER if name in curves]
    return Drawn(
        {name: curves[name] for name in (*known, *(name for name in curves if name not in known))},
        every * max(1, round(steps / ROWS / every)),
        steps,
        told_apart(view.table, [name for name in (*view.names, "seed") if name in view.table]),
        told_apart(view.table, grouping(view, by)),
        layer,
        shapes[layer][0] if layer else 0,
        () if fourier is None else fourier.subsets,
    )
