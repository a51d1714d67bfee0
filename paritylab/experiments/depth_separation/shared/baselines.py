"""Tasks, starts and rates that trained baselines share: random products of gates under mixtures of both halves.

Not an experiment. It stays in this place because the names of stored runs contain that of `RandomSeparation`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import PRNGKeyArray

import paritylab as pl

from ....networks.activations import Activation
from ....networks.base import Recipe
from ....training.plans import Plan
from .families import FAMILIES

STARTS = (pl.networks.UniformInitialization(), pl.networks.GaussianInitialization(), pl.networks.GlorotInitialization())
"""Where weights may start: U[-c, c] with c = fan-in^-1/2, N(0, 2/fan-in), Glorot's with biases 0."""
RATES = (3e-4, 1e-3, 3e-3, 1e-2)
"""Adam's rates, which then fall linearly to 0."""
WIDE = 1024
"""Above so many units the rates are a third of that."""


@dataclass(frozen=True)
class RandomSeparation:
    """Each run its own random gates, half of the examples from an easy half and half uniform."""

    pairs: int
    family: str = "E1"

    def __call__(self, key: PRNGKeyArray) -> pl.Mixture:
        target = pl.targets.random_gate_product(self.pairs, key=key)
        alone = self.family == "hard"  # then the easy half, any, has no weight
        easy, share = FAMILIES["E4" if alone else self.family](target), 0.0 if alone else 0.5
        return pl.Mixture([easy, pl.Uniform(target)], [share, 1 - share])


def rates_of(width: int) -> list[float]:
    return [rate if width <= WIDE else rate / 3 for rate in RATES]


def shallow(width: int, start: int, activation: Activation = pl.relu) -> pl.MLP:
    """One hidden layer, with a start from one of these."""
    return pl.MLP(width, activation, pl.networks.ChosenInitialization(STARTS, start))


def falling(
    task: RandomSeparation, network: Recipe, *, steps: int, points: int, record_every: int | None = None, **options: Any
) -> Plan:
    """Adam with a rate that falls linearly to 0 on fresh batches; errors on both halves are recorded at the end."""
    records = (pl.training.ErrorsByPart(points), *options.pop("records", ()))
    recording, fall = pl.training.Recording(records, record_every or steps), pl.training.LinearFall(steps)
    how: dict[str, Any] = {"optimizer": "adam", "schedule": fall, "validation": 0, **options}
    return pl.plan(task, network, steps=steps, records=recording, **how)


def last_records(curves: pd.DataFrame) -> pd.DataFrame:
    """What was recorded last of each run: error and loss on either half, with the easy one first."""
    last = curves.sort_values("step").groupby("run", sort=False).tail(1)
    by_part = np.stack([np.stack(list(each)) for each in last.errors_by_part])
    return last.assign(
        easy_error=by_part[:, 0, 0], easy_loss=by_part[:, 0, 1], hard_error=by_part[:, 1, 0], hard_loss=by_part[:, 1, 1]
    )
