"""Workers are gone when their parent is, however it ended: a small process of its own sees to that.

A worker cannot do this alone. While it imports its libraries, or while one of them keeps the interpreter to itself,
no thread of it gets to look whether the parent is still there.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable


class Keeper:
    """Kills the processes that it was told of when the process that made it ends, or when it is dismissed itself.

    It needs Linux. Elsewhere it does nothing, and workers look after their parent in a thread of theirs.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def watch(self, pid: int) -> None:
        """From now on this process ends with us."""
        if not hasattr(os, "pidfd_open"):
            return
        with self._lock, contextlib.suppress(OSError):  # one that is gone is no loss: there is the workers' own thread
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", __file__],  # it needs nothing that is installed
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    start_new_session=True,  # Ctrl-C in a terminal is not meant for it
                )
            assert self._process.stdin is not None
            print(pid, file=self._process.stdin, flush=True)

    def dismiss(self) -> None:
        """Ends the keeper, and whatever it still keeps."""
        with self._lock:
            if self._process is not None:
                with contextlib.suppress(OSError):
                    self._process.communicate()
                self._process = None


def keep(lines: Iterable[str]) -> None:
    """The life of a keeper: one number of a process per line, and when no more can come, the end of them all.

    Processes are held by handles, since the number of one that ended may be given to another.
    """
    kept: list[int] = []
    for line in lines:
        for ended in select.select(kept, [], [], 0)[0]:
            kept.remove(ended)
            os.close(ended)
        with contextlib.suppress(ProcessLookupError):
            kept.append(os.pidfd_open(int(line)))
    for each in kept:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(each, signal.SIGKILL)


if __name__ == "__main__":
    keep(sys.stdin)
