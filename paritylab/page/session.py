"""Runs that train while they are watched: in a thread of their own, for a tab or a notebook."""

import dataclasses
import functools
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from jaxtyping import Int, PyTree

from ..analysis import gap_of_gradient, neuron_gradient
from ..analysis.gradients.routes import QUICK_ENUMERATION
from ..distributions import AbstractDistribution, FlippedLabels, Uniform
from ..networks.activations import OscillatingPolynomial, Power, Sinusoid, relu, relu6, square
from ..training.plans import Plan
from ..training.runs import Log, Part, Runs
from .curves import numbers
from .watchable import distribution_of, drawn_of_plan
from .watched import Watched, relevant_of

MOST_SECONDS = 3600.0
"""Of training, after which the page stops it."""
UNWATCHED_SECONDS = 15.0
"""After which a session without a reader ends."""
GAP_SECONDS = 0.4
"""Between two exact gradients, each of which takes up to a quarter of a second of one core."""


class Training(Watched):
    """Runs that train in a thread of their own. `plan` records what is to be seen (`watchable`).

    With `keep` the runs have curves in the end; weights are among them only if it names them.
    """

    def __init__(self, plan: Plan, by: str | Sequence[str] | None = None, *, keep: Collection[str] | None = None):
        super().__init__(drawn_of_plan(plan, by))
        records = plan.cells[0].records
        self._kept = [
            each.name for each in records if keep is not None and each.name not in {self.drawn.layer} - {*keep}
        ]
        self._log: Log = []
        self.plan, self.begun = plan, 0.0
        self._pool = ThreadPoolExecutor(2)
        self._done: Future[Runs] | None = None
        self._gap: Future[dict[str, Any] | None] | None = None
        self._gap_begun, self._ended_at = 0.0, 0.0
        self._relevant = functools.lru_cache(maxsize=None)(lambda run: relevant_of(distribution_of(plan, run)))

    def recorded(self, runs: Int[np.ndarray, " rows"], steps: Int[np.ndarray, " rows"], values: PyTree) -> None:
        super().recorded(runs, steps, values)
        if self._kept:
            self._log.append((runs, steps, {name: values[name] for name in self._kept}))

    def start(self) -> None:
        """Begins to train."""
        self.begun = time.monotonic()
        self._done = self._pool.submit(self.plan.run, self)

    def stop(self) -> None:
        """Ends it, as Ctrl-C would; a compilation that is under way goes on to its end."""
        with self._lock:
            if not self.over:
                self.stopped.set()
            self._pool.shutdown(wait=False)

    def result(self) -> Runs:
        """The runs, once they have ended, with the records that are kept."""
        assert self._done is not None
        runs = self._done.result()
        if not self._log:
            return runs
        parts = [Part(part.ensemble, dataclasses.replace(part.collected, log=self._log)) for part in runs._parts]
        return dataclasses.replace(runs, _parts=tuple(parts))

    @property
    def over(self) -> bool:
        return self._done is not None and self._done.done()

    @property
    def phase(self) -> str:
        """What goes on."""
        if self.over and self._done is not None:
            return "failed" if self._done.exception() else "stopped" if self.stopped.is_set() else "ended"
        if not self.going.is_set():
            return "paused"
        return "training" if self._step.any() or self._lines else "compiling"

    @property
    def sentence(self) -> str:
        """What there is to say beside the numbers."""
        error = self._done.exception() if self._done is not None and self._done.done() else None
        return "" if error is None else f"Training ended with {type(error).__name__}: {first_line(error):.300}"

    @property
    def seconds_taken(self) -> float:
        """Since it began; it stands still once it is over."""
        if not self.over:
            self._ended_at = time.monotonic()
        return self._ended_at - self.begun

    def relevant(self, run: int) -> list[int]:
        return [*self._relevant(run)]

    def _gap_at(self, step: int, weights: np.ndarray) -> dict[str, Any] | None:
        """The exact gradient of a neuron at its weights. While runs train it comes as soon as it is there, and the next
        one is begun; afterwards it is waited for."""
        if self.drawn.layer != "neurons":
            return None
        if self.over:
            return exact(lambda: self.gap_of(self.watched, self.neuron, step, weights))
        found = None
        if (gap := self._gap) is not None and gap.done():
            found, self._gap = exact(gap.result), None
        late = time.monotonic() > self._gap_begun + GAP_SECONDS
        with self._lock:  # nothing is begun once it was stopped
            if self._gap is None and late and not self.stopped.is_set() and not self.over:
                self._gap_begun = time.monotonic()
                self._gap = self._pool.submit(self.gap_of, self.watched, self.neuron, step, weights)
        return found

    def gap_of(self, run: int, neuron: int, step: int, weights: np.ndarray) -> dict[str, Any] | None:
        """The Fourier coefficients that the gradient of a neuron consists of, and their gap; None where there are no
        exact ones."""
        if not on_uniform_points(distribution_of(self.plan, run)):  # the routes are for these
            return None
        return gap_at(self.plan.cells[0].network, self.relevant(run), run, neuron, step, weights)


def exact(gap: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
    """A gap, or None where there is no exact gradient at these weights."""
    try:
        return gap()
    except ValueError:
        return None


def first_line(error: BaseException) -> str:
    """What an error says, or nothing if it says nothing."""
    return (str(error).splitlines() or [""])[0]


def on_uniform_points(distribution: AbstractDistribution) -> bool:
    """Whether inputs are uniform, whatever happens to labels in training."""
    while isinstance(distribution, FlippedLabels):
        distribution = distribution.base
    return isinstance(distribution, Uniform)


def gap_at(
    network: Any, support: list[int], run: int, neuron: int, step: int, weights: np.ndarray
) -> dict[str, Any] | None:
    """The exact gradient of a neuron of a network's recipe on the parity of a support, and its Fourier gap."""
    activation = getattr(network, "activation", None)
    vector, bias = weights[neuron, :-1].astype(float), float(weights[neuron, -1])
    closed = isinstance(activation, Sinusoid | Power | OscillatingPolynomial)
    closed = closed or any(activation is each for each in (square, relu, relu6))
    if (
        activation is None
        or not support
        or not (closed or len(vector) <= QUICK_ENUMERATION)
        or not np.all(np.isfinite(weights[neuron]))
    ):
        return None
    gradient = neuron_gradient(vector, activation, support, bias=bias).gradient.weight
    gap = gap_of_gradient(gradient, support)
    return {
        "run": run,
        "neuron": neuron,
        "step": step,
        "coefficients": numbers(gradient),
        "weak": gap.weak,
        "relevant": support,
    }


class Session(Training):
    """Runs that train for one tab, as long as somebody reads of them."""

    def __init__(self, plan: Plan, settings: dict[str, Any]):
        super().__init__(plan, by="rate")
        self.name, self.settings, self.read_at = secrets.token_urlsafe(16), settings, time.monotonic()

    @property
    def forsaken(self) -> bool:
        """Whether nobody has read for some time."""
        return time.monotonic() > self.read_at + UNWATCHED_SECONDS

    def about(self) -> dict[str, Any]:
        return {"session": self.name, **super().about()}

    def document(self, since: int) -> tuple[dict[str, Any], int]:
        self.read_at = time.monotonic()
        if self._too_long:
            self.stopped.set()
        return super().document(since)

    @property
    def _too_long(self) -> bool:
        return bool(self.begun) and self.read_at > self.begun + MOST_SECONDS

    @property
    def sentence(self) -> str:
        if self.stopped.is_set() and self._too_long:
            return f"The page trains for {MOST_SECONDS / 60:.0f} minutes at most. Use `paritylab train` for more."
        return super().sentence
