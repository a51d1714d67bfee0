"""Records of what is learned in parts: output by output, task by task, phase by phase."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array

from ...demands import check_function, check_kind, check_whole
from ...distributions import AbstractDistribution
from ...distributions.base import check_distribution
from ...networks.base import outputs
from .criteria import wrong
from .losses import Loss, square_loss
from .records import RECORD_STREAM, AbstractRecord, Snapshot


class OutputErrors(AbstractRecord):
    """For each output of a network: the fraction of fresh examples at which it has not the sign of its label."""

    points: int = eqx.field(static=True, default=1024)
    name = "output_errors"

    def __check_init__(self) -> None:
        check_whole("points", self.points, 1)

    def __call__(self, snapshot: Snapshot) -> Array:
        x, y = snapshot.fresh(self.points)
        if y.ndim != 2:
            raise ValueError("`OutputErrors` are for networks of several outputs; use `FreshError` for one.")
        return jnp.mean(~(outputs(snapshot.network, x) * y > 0), axis=0, dtype=jnp.float32)


class OutputLosses(AbstractRecord):
    """For each output of a network: the mean of a loss over fresh examples, (y - f)^2 unless another is given."""

    loss: Loss = eqx.field(static=True, default=square_loss)
    points: int = eqx.field(static=True, default=1024)
    name = "output_losses"

    def __check_init__(self) -> None:
        check_function("loss", self.loss, "square_loss")
        check_whole("points", self.points, 1)

    def __call__(self, snapshot: Snapshot) -> Array:
        x, y = snapshot.fresh(self.points)
        each = self.loss(y, outputs(snapshot.network, x))
        if y.ndim != 2 or each.shape != y.shape:
            raise ValueError(
                "`OutputLosses` are for networks of several outputs and a loss of single numbers; use `FreshLoss`."
            )
        return jnp.mean(each, axis=0)


class ErrorsOn(AbstractRecord):
    """For each of some distributions: the fraction of mistakes on examples of it, other ones at every step.

    Of the tasks of a multitask parity these are the errors task by task; `Runs.first_below` turns them into times.
    """

    distributions: tuple[AbstractDistribution, ...]
    points: int = eqx.field(static=True)
    name = "errors_on"

    def __init__(self, distributions: Sequence[AbstractDistribution], points: int = 1024):
        check_kind("distributions", distributions, Sequence, "a sequence of distributions")
        for each in distributions:
            check_distribution(each, "ErrorsOn")
        if not distributions:
            raise ValueError("`ErrorsOn` no distribution would record nothing. Name at least one.")
        check_whole("points", points, 1)
        self.distributions, self.points = tuple(distributions), points

    def __call__(self, snapshot: Snapshot) -> Array:
        key = jr.fold_in(jr.fold_in(snapshot.data_key, RECORD_STREAM), snapshot.step)

        def error(number: int, distribution: AbstractDistribution) -> Array:
            x, y = distribution.sample(jr.fold_in(key, number), self.points)
            values = outputs(snapshot.network, x.astype(snapshot.rule.dtype))
            return jnp.mean(wrong(y.astype(snapshot.rule.dtype), values), dtype=jnp.float32)

        return jnp.stack([error(number, each) for number, each in enumerate(self.distributions)])


class CurriculumPhase(AbstractRecord):
    """The number of the phase in which a run is, from 0 on."""

    name = "phase"

    def __call__(self, snapshot: Snapshot) -> Array:
        if (progress := snapshot.state.progress) is None:
            raise ValueError("A `CurriculumPhase` needs a `Curriculum` to train on.")
        return jnp.asarray(progress.phase)
