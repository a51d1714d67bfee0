"""Ctrl-C is heard once. What follows while work is wound down is ignored, so that it ends as after the first.

SIGTERM, which a queue or a service sends to end a process, is heard in the same way.
"""

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
"""Seconds after the last of them for which another is ignored. One that comes later is raised: the first may have come
in the midst of a library that lets nothing out."""
LATER = 0.05
"""Seconds until one is tried again that came where nothing can be raised."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which is answered as Ctrl-C is."""


UNANSWERED: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
"""What is answered here, and what stands there while nobody answers it."""


class Interruption:
    """Answers Ctrl-C and SIGTERM: the first is heard, and raised if so wished; those soon after it change nothing."""

    def __init__(self, raising: bool = True):
        self.heard, self.raising, self.last = False, raising, 0.0
        self.number = signal.SIGINT
        """The signal that was heard."""
        self._answered: list[signal.Signals] = []
        self._hook = sys.unraisablehook

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        winding_down = self.heard and now < self.last + GRACE
        self.heard, self.last = True, now
        if winding_down:
            return
        self.number = signal.Signals(number)
        if self.raising:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    @property
    def exit_code(self) -> int:
        """Of a process that ends for what was heard, as shells count: 130 after Ctrl-C, 143 after SIGTERM."""
        return 128 + self.number

    @property
    def terminated(self) -> bool:
        return self.heard and self.number == signal.SIGTERM

    def install(self) -> None:
        """Answers what nobody else does."""
        sys.unraisablehook = self._not_raised
        for number, nobody in UNANSWERED.items():
            if signal.getsignal(number) is nobody:
                signal.signal(number, self)
                self._answered.append(number)

    def remove(self) -> None:
        for number in self._answered:
            signal.signal(number, UNANSWERED[number])
        self._answered.clear()
        sys.unraisablehook = self._hook

    def _not_raised(self, lost: Any) -> None:
        """Python says so and goes on if a destructor raises, or what JAX does when garbage is collected."""
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            self._hook(lost)
            return
        self.heard = False
        again = threading.Timer(LATER, os.kill, (os.getpid(), self.number))
        again.daemon = True
        again.start()


def answering() -> Interruption | None:
    """Who answers here, if it is one of us."""
    answers = map(signal.getsignal, UNANSWERED)
    return next((each for each in answers if isinstance(each, Interruption)), None)


@contextmanager
def hears_once(*, raising: bool = True) -> Iterator[Interruption]:
    """While this lasts, the first Ctrl-C or SIGTERM is raised, or with `raising=False` only noted; others are ignored.

    A process to which SIGTERM was sent ends with that, once work is wound down. Python answers signals in the main
    thread alone: in others this does nothing. Nor does it where somebody else answers them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield Interruption(raising)
        return
    if (current := answering()) is not None:
        before, current.raising = current.raising, raising
        try:
            yield current
        finally:
            current.last = time.monotonic()  # what comes next winds down, however long this took
            current.raising = before
        return
    made = Interruption(raising)
    try:
        made.install()
        yield made
    finally:
        made.remove()
        if made.terminated:
            signal.raise_signal(signal.SIGTERM)


def hear_once_to_the_end() -> Interruption:
    """The same from here on, for a process that ends when it was interrupted, and says so itself."""
    made = Interruption()
    made.install()
    return made


def hear_no_more() -> None:
    """For the last moments of a process: Python gives up its own answers before it is gone."""
    for number in UNANSWERED:
        signal.signal(number, signal.SIG_IGN)
