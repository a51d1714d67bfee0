import enum


class Outcome(enum.IntEnum):
    """How a run ended. Each outcome has a sentence for people."""

    RUNNING = 0
    LEARNED = 1
    OUT_OF_STEPS = 2
    DIVERGED = 3
    RACED_OUT = 4
    SETTLED = 5
    NOT_STARTED = 6

    @property
    def word(self) -> str:
        return self.name.lower()

    @property
    def unfinished(self) -> bool:
        """Whether the run was stopped by something other than itself, so that it may still learn."""
        return self in (Outcome.RUNNING, Outcome.RACED_OUT, Outcome.NOT_STARTED)

    @property
    def never_learns(self) -> bool:
        """Whether no further step can make it learn."""
        return self in (Outcome.DIVERGED, Outcome.SETTLED)

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Outcome.RUNNING: "The run was interrupted before it ended.",
    Outcome.LEARNED: "Every validation point was classified correctly.",
    Outcome.OUT_OF_STEPS: "The steps ran out first: a lower bound on the time, not a failure. Allow more steps.",
    Outcome.DIVERGED: "The output became infinite or undefined. Lower the rate.",
    Outcome.RACED_OUT: "Another rate was sure to be better, so the run was given up. Train without a race to know.",
    Outcome.SETTLED: "No example of the sample asked for an update any more: the network has come to rest.",
    Outcome.NOT_STARTED: "Work ended before the run began.",
}
