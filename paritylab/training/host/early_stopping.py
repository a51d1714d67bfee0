"""Races: of several ways to train, those that can no longer be the best need not run on.

The entrants of a race are the cells of one plan, say one for each rate, and the best is the one with
the least quantile of its convergence times. Once an entrant cannot have the least any more, whatever
its runs do from now on, they end as `raced_out`. The least quantile, and the runs of all entrants
that have it, are exactly what they are without a race.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int

from ...statistics import quantile
from ..rules.outcomes import Outcome


@dataclasses.dataclass(frozen=True)
class Races:
    """Who runs against whom."""

    race: Int[np.ndarray, " runs"]
    """The number of the race that each run takes part in; -1 for none."""
    entrant: Int[np.ndarray, " runs"]
    shares: Sequence[float]
    """Which quantile of the times counts, race by race."""
    every: int
    """Times are multiples of this."""

    def order(self) -> Int[np.ndarray, " runs"]:
        """In which order to begin the runs: first one of each entrant, then the next of each."""
        rank = np.zeros(len(self.race), int)
        for entrant in np.unique(self.entrant):
            here = np.flatnonzero(self.entrant == entrant)
            rank[here] = np.arange(len(here))
        return np.lexsort((self.entrant, np.where(self.race < 0, 0, rank), self.race))

    def lost(
        self, outcome: Int[np.ndarray, " runs"], step: Int[np.ndarray, " runs"], raced_out: Bool[np.ndarray, " runs"]
    ) -> Bool[np.ndarray, " runs"]:
        """Which runs belong to an entrant that cannot be the best, given how far every run has come.

        >>> races = Races(np.zeros(4, int), np.array([0, 0, 1, 1]), [0.0], every=10)
        >>> outcome, step = np.array([Outcome.LEARNED, 0, 0, 0]), np.array([40, 100, 30, 30])
        >>> races.lost(outcome, step, np.zeros(4, bool)).tolist()  # the second could still learn at step 40
        [False, False, False, False]
        >>> races.lost(outcome, np.array([40, 100, 40, 40]), np.zeros(4, bool)).tolist()
        [False, False, True, True]
        """
        learned = outcome == Outcome.LEARNED
        latest = np.where(learned, step, np.inf)
        soonest = np.where((outcome == Outcome.RUNNING) & ~raced_out, step + self.every, latest)
        lost = raced_out.copy()
        for number, share in enumerate(self.shares):
            here = np.flatnonzero(self.race == number)
            entrants = [here[self.entrant[here] == entrant] for entrant in np.unique(self.entrant[here])]
            best = min((quantile(latest[runs], share) for runs in entrants), default=np.inf)
            for runs in entrants:
                if quantile(soonest[runs], share) > best:
                    lost[runs] = True
        return lost & ~learned & ((outcome == Outcome.RUNNING) | raced_out)
