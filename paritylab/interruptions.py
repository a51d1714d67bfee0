"""Ctrl-C is heard once. What follows while work is wound down is ignored, so that it ends as after the first."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

GRACE = 30.0
"""Seconds after the last Ctrl-C for which another is ignored. One that comes later is raised: the first may have come
in a place from which nothing is raised (a destructor, say)."""


class Interruption:
    """Answers Ctrl-C: the first is heard, and raised if so wished; those that come soon after it change nothing."""

    def __init__(self, raising: bool = True):
        self.heard, self.raising, self.last = False, raising, 0.0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        winding_down = self.heard and now < self.last + GRACE
        self.heard, self.last = True, now
        if self.raising and not winding_down:
            raise KeyboardInterrupt


@contextmanager
def hears_once(*, raising: bool = True) -> Iterator[Interruption]:
    """While this lasts, the first Ctrl-C is raised, or with `raising=False` only noted, and others are ignored.

    Python answers signals in the main thread alone: in others this does nothing. Nor does it where somebody
    else answers Ctrl-C.
    """
    current, here = signal.getsignal(signal.SIGINT), threading.current_thread() is threading.main_thread()
    if here and isinstance(current, Interruption):
        before, current.raising = current.raising, raising
        try:
            yield current
        finally:
            current.last = time.monotonic()  # what comes next winds down, however long this took
            current.raising = before
        return
    made = Interruption(raising)
    if not here or current is not signal.default_int_handler:
        yield made
        return
    try:
        signal.signal(signal.SIGINT, made)
        yield made
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def hear_once_to_the_end() -> None:
    """The same from here on, for a process that ends when it was interrupted."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, Interruption())


def hear_no_more() -> None:
    """For the last moments of a process: Python gives up its own answers before it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
