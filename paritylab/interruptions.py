"""Ctrl-C is heard once. What follows while work is wound down is ignored, so that it ends as after the first."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

GRACE = 30.0
"""Seconds after the last Ctrl-C for which another is ignored. One that comes later is raised: the first may have come
in the midst of a library that lets nothing out."""
LATER = 0.05
"""Seconds until one is tried again that came where nothing can be raised."""


class Interruption:
    """Answers Ctrl-C: the first is heard, and raised if so wished; those that come soon after it change nothing."""

    def __init__(self, raising: bool = True):
        self.heard, self.raising, self.last = False, raising, 0.0
        self._before, self._hook = signal.getsignal(signal.SIGINT), sys.unraisablehook

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        winding_down = self.heard and now < self.last + GRACE
        self.heard, self.last = True, now
        if self.raising and not winding_down:
            raise KeyboardInterrupt

    def install(self) -> None:
        sys.unraisablehook = self._not_raised
        signal.signal(signal.SIGINT, self)

    def remove(self) -> None:
        signal.signal(signal.SIGINT, self._before)
        sys.unraisablehook = self._hook

    def _not_raised(self, lost: Any) -> None:
        """Python says so and goes on if a destructor raises, or what JAX does when garbage is collected."""
        if lost.exc_type is not KeyboardInterrupt:
            self._hook(lost)
            return
        self.heard = False
        again = threading.Timer(LATER, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()


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
        made.install()
        yield made
    finally:
        made.remove()


def hear_once_to_the_end() -> None:
    """The same from here on, for a process that ends when it was interrupted."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        Interruption().install()


def hear_no_more() -> None:
    """For the last moments of a process: Python gives up its own answers before it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
