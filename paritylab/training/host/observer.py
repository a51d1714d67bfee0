"""Whoever looks on while runs train: what is recorded comes to them at once, and they may pause and stop."""

import threading

import numpy as np
from jaxtyping import Int, PyTree


class Observer:
    """Looks on while runs train. `Plan.run(observer=...)` calls it from the threads that train, one at a time.

    What is recorded goes to the observer alone, who keeps what matters to it: the runs that come back have no curves.
    Looking on changes no number.

    >>> import paritylab as pl
    >>> class Learned(Observer):
    ...     times: tuple = ()
    ...     def ended(self, runs, outcome, step):
    ...         self.times += tuple(step.tolist())
    >>> observer = Learned()
    >>> plan = pl.plan(pl.Uniform(pl.Parity(6, (0, 1))), pl.MLP(10), rate=0.3, seeds=2, steps=3000)
    >>> runs = plan.run(observer=observer)
    >>> sorted(observer.times) == sorted(runs.steps.tolist())
    True
    """

    seconds = 0.25
    """How long a compiled call should last; between two of them something is seen."""

    def __init__(self) -> None:
        self.going = threading.Event()
        """Cleared while runs are to wait. A call that is under way goes on to its end."""
        self.going.set()
        self.stopped = threading.Event()
        """Set when runs are to end as Ctrl-C ends them."""

    def recorded(self, runs: Int[np.ndarray, " rows"], steps: Int[np.ndarray, " rows"], values: PyTree) -> None:
        """Rows of records: which run, at which step, and the values by their records' names."""

    def ended(
        self, runs: Int[np.ndarray, " some"], outcome: Int[np.ndarray, " some"], step: Int[np.ndarray, " some"]
    ) -> None:
        """Some runs have ended, with these outcomes and at these steps."""
