"""Training that a tab watches: what the runs record, gathered as it comes, and told as one document after the other."""

import secrets
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, PyTree

from ..analysis import gap_of_gradient, neuron_gradient
from ..analysis.gradients.routes import QUICK_ENUMERATION
from ..cube import root_key
from ..distributions import AbstractDistribution
from ..networks.activations import OscillatingPolynomial, Power, Sinusoid, relu, relu6, square
from ..statistics import bands
from ..targets import Parity
from ..training.host.observer import Observer
from ..training.rules.outcomes import Outcome
from ..training.runs import Runs
from ..training.summaries import censored_times
from .curves import learned_by_step, number, numbers
from .settings import Asked

CURVES = ("fresh_error", "fresh_loss", "progress", "sample_error")
"""What is drawn over steps; the last of them where there is a finite sample."""
LINES = 60
"""Runs that are drawn one by one; bands are of all."""
BAND = (0.1, 0.5, 0.9)
ENOUGH = 0.75
"""The share of the begun runs of which a step of a band must be known: those ahead are a faster worker's."""
MOST_SECONDS = 3600.0
"""Of training, after which the page stops it."""
UNWATCHED_SECONDS = 15.0
"""After which a session without a reader ends."""
GAP_SECONDS = 0.4
"""Between two exact gradients, each of which takes up to a quarter of a second of one core."""


class Session(Observer):
    """Runs that train for one tab. The thread that reads `document` is another than those that train."""

    def __init__(self, asked: Asked):
        super().__init__()
        self.name, self.plan, self.begun, self.read_at = secrets.token_urlsafe(16), asked.plan, 0.0, time.monotonic()
        self.settings, self.neurons, self.with_bias = asked.settings, asked.neurons, asked.with_bias
        cell = self.plan.cells[0]
        assert cell.record_every is not None
        self.every, self.steps, runs = cell.record_every, cell.steps, len(self.plan)
        self._lock = threading.Lock()
        self.curves = CURVES if cell.sample is not None else CURVES[:-1]
        self._values = np.full((len(self.curves), runs, -(-self.steps // self.every) + 1), np.nan, np.float32)
        self._step, self._outcome = np.zeros(runs, np.int64), np.zeros(runs, np.int8)
        self._weights: dict[int, tuple[int, np.ndarray]] = {}
        """The last ones of each run."""
        self._lines: list[list[Any]] = []
        self._line = set(np.unique(np.linspace(0, runs - 1, min(runs, LINES)).astype(int)).tolist())
        self.watched, self.neuron = 0, 0
        self._pool = ThreadPoolExecutor(2)
        self._done: Future[Runs] | None = None
        self._gap: Future[dict[str, Any] | None] | None = None
        self._gap_at = 0.0

    # What the threads that train call.

    def recorded(self, runs: Int[np.ndarray, " rows"], steps: Int[np.ndarray, " rows"], values: PyTree) -> None:
        row = -(-steps // self.every)  # the last step of a run may lie between two rows, of which it takes the later
        with self._lock:
            for place, name in enumerate(self.curves):
                self._values[place, runs, row] = values[name]
            self._step[runs] = np.maximum(self._step[runs], steps)
            weights = values["neurons" if self.with_bias else "weights"]
            for i, run in enumerate(runs.tolist()):
                known = self._weights.get(run)
                if known is None or known[0] <= steps[i]:
                    self._weights[run] = (int(steps[i]), weights[i].copy())
                if run in self._line:
                    self._lines.append([run, int(steps[i]), *(number(values[name][i]) for name in CURVES[:-1])])

    def ended(
        self, runs: Int[np.ndarray, " some"], outcome: Int[np.ndarray, " some"], step: Int[np.ndarray, " some"]
    ) -> None:
        with self._lock:
            self._outcome[runs], self._step[runs] = outcome, step

    # What the page asks for.

    def start(self) -> None:
        """Begins to train, in a thread of its own."""
        self.begun = time.monotonic()
        self._done = self._pool.submit(self.plan.run, self)

    def stop(self) -> None:
        """Ends it, as Ctrl-C would; a compilation that is under way goes on to its end."""
        with self._lock:
            self.stopped.set()
            self._pool.shutdown(wait=False)

    @property
    def over(self) -> bool:
        return self._done is not None and self._done.done()

    @property
    def forsaken(self) -> bool:
        """Whether nobody has read for some time."""
        return time.monotonic() > self.read_at + UNWATCHED_SECONDS

    def look_at(self, run: int, neuron: int) -> None:
        """Chooses whose weights and whose gradient are shown."""
        if not (0 <= run < len(self.plan) and 0 <= neuron < self.neurons):
            raise ValueError(
                f"There are runs 0 to {len(self.plan) - 1} and neurons 0 to {self.neurons - 1}, got {run} and {neuron}."
            )
        self.watched, self.neuron = run, neuron

    def about(self) -> dict[str, Any]:
        """What does not change while it trains."""
        rates = [str(rate) for rate in dict.fromkeys(self.plan.columns["rate"].tolist())]
        return {
            "session": self.name,
            "runs": len(self.plan),
            "steps": self.steps,
            "every": self.every,
            "n": self.plan.cells[0].problem.distribution.n,
            "neurons": self.neurons,
            "rates": rates,
            "rate_of": [rates.index(str(rate)) for rate in self.plan.columns["rate"].tolist()],
            "seed_of": self.plan.columns["seed"].tolist(),
        }

    def document(self, since: int) -> tuple[dict[str, Any], int]:
        """All that is to be shown now, with the lines' points from the given one on; and how many there are."""
        self.read_at = time.monotonic()
        if self.begun and self.read_at > self.begun + MOST_SECONDS:
            self.stopped.set()
        over = self.over  # asked before the numbers are taken: of what is over all are there
        with self._lock:
            values, step, outcome = self._values.copy(), self._step.copy(), self._outcome.copy()
            lines, weights = self._lines[since:], self._weights.get(self.watched)
        rates = self.plan.columns["rate"]
        groups = [self._group(rates == rate, values, step, outcome) for rate in dict.fromkeys(rates.tolist())]
        shown: dict[str, Any] = {
            "phase": self._phase(over, step),
            "sentence": self._sentence(),
            "seconds": self.read_at - self.begun,
            "finished": int(np.sum(outcome != Outcome.RUNNING)),
            "learned": int(np.sum(outcome == Outcome.LEARNED)),
            "groups": groups,
            "lines": lines,
        }
        if weights is not None:
            shown |= {"weights": self._shown_weights(*weights), "gap": self._last_gap(*weights)}
        return shown, since + len(lines)

    def _phase(self, over: bool, step: Int[np.ndarray, " runs"]) -> str:
        if over and self._done is not None:
            return "failed" if self._done.exception() else "stopped" if self.stopped.is_set() else "ended"
        if not self.going.is_set():
            return "paused"
        return "training" if step.any() or self._weights else "compiling"

    def _sentence(self) -> str:
        error = self._done.exception() if self._done is not None and self._done.done() else None
        if error is not None:
            return f"Training ended with {type(error).__name__}: {str(error).splitlines()[0]:.300}"
        if self.stopped.is_set() and self.read_at > self.begun + MOST_SECONDS:
            return f"The page trains for {MOST_SECONDS / 60:.0f} minutes at most. Use `paritylab train` for more."
        return ""

    def _group(
        self,
        mine: np.ndarray,
        values: Float[np.ndarray, "curves runs rows"],
        step: Int[np.ndarray, " runs"],
        outcome: Int[np.ndarray, " runs"],
    ) -> dict[str, Any]:
        """The runs of one rate: bands of what they record, and when they learned."""
        ended, last = outcome[mine] != Outcome.RUNNING, -(-step[mine] // self.every)
        reach = int(last.max(initial=0)) + 1
        kept = values[:, mine, :reach]
        stays = ended[:, None] & (np.arange(reach) > last[:, None])
        kept = np.where(stays, np.take_along_axis(kept, np.minimum(last, reach - 1)[None, :, None], axis=2), kept)
        there = np.sum(~np.isnan(kept[0]), axis=0)
        kept = kept[:, :, : int(np.max(np.flatnonzero(there >= ENOUGH * there[0]), initial=0)) + 1]
        words = np.array([each.word for each in Outcome])
        times = censored_times(pd.DataFrame({"outcome": words[outcome[mine]], "steps": step[mine]}))
        return {
            "runs": int(mine.sum()),
            "learned": int(times.learned.sum()),
            "median": number(times.quantile(0.5)),
            "steps": (np.arange(kept.shape[2]) * self.every).tolist(),
            "reach": int(step[mine].max(initial=0)),
            "bands": {name: numbers(bands(each, BAND)) for name, each in zip(self.curves, kept, strict=True)},
            "survival": learned_by_step(times),
        }

    def _shown_weights(self, step: int, weights: np.ndarray) -> dict[str, Any]:
        rows = weights[:, :-1] if self.with_bias else weights
        return {"run": self.watched, "step": step, "relevant": self.relevant(self.watched), "rows": numbers(rows)}

    def relevant(self, run: int) -> list[int]:
        """The coordinates on which the target of a run depends, where it is a parity; none are marked if not."""
        task = self.plan.cells[0].task
        if not isinstance(task, AbstractDistribution):
            task = task(root_key(np.uint32(self.plan.seeds.target[run])))
        while hasattr(task, "base"):
            task = task.base
        target = getattr(task, "target", None)
        return list(target.support) if isinstance(target, Parity) else []

    def _last_gap(self, step: int, weights: np.ndarray) -> dict[str, Any] | None:
        """The exact gradient of a neuron at its weights, as soon as one is there; the next one is begun."""
        found = None
        if self._gap is not None and self._gap.done():
            done, self._gap = self._gap, None
            if not isinstance(done.exception(), ValueError):  # no exact gradient at these weights
                found = done.result()
        late = time.monotonic() > self._gap_at + GAP_SECONDS
        with self._lock:  # nothing is begun once it was stopped
            if self.with_bias and self._gap is None and late and not self.stopped.is_set() and not self.over:
                self._gap_at = time.monotonic()
                self._gap = self._pool.submit(self.gap_of, self.watched, self.neuron, step, weights)
        return found

    def gap_of(self, run: int, neuron: int, step: int, weights: np.ndarray) -> dict[str, Any] | None:
        """The Fourier coefficients that the gradient of a neuron consists of, and their gap; None where there are no
        exact ones."""
        cell, support = self.plan.cells[0], self.relevant(run)
        activation = getattr(cell.network, "activation", None)
        vector, bias = weights[neuron, :-1].astype(float), float(weights[neuron, -1])
        closed = isinstance(activation, Sinusoid | Power | OscillatingPolynomial)
        closed = closed or any(activation is each for each in (square, relu, relu6))
        if (
            activation is None
            or not support
            or "mean" in self.settings  # the routes are for uniform points
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
