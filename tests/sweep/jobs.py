"""Functions for jobs, in a module of their own so that workers can import them."""

import itertools
import os
import signal
import time
from pathlib import Path

import pandas as pd


def square(x: int) -> dict[str, int]:
    return {"square": x * x}


def table_of(x: int) -> pd.DataFrame:
    return pd.DataFrame({"i": range(x), "power": [2.0**i for i in range(x)]})


def fails_on(x: int, bad: int) -> dict[str, int]:
    if x == bad:
        raise RuntimeError(f"{x} is bad")
    return {"x": x}


def fails_at_first(folder: str, x: int) -> dict[str, int]:
    """Fails the first time it is called with x."""
    mark = Path(folder) / f"tried-{x}"
    if not mark.exists():
        mark.touch()
        raise RuntimeError("not yet")
    return {"x": x}


def dies_on(x: int, bad: int) -> dict[str, int]:
    if x == bad:
        os._exit(9)
    return {"x": x}


def pid(wait: float = 0.0) -> int:
    time.sleep(wait)
    return os.getpid()


def sleeps(seconds: float, x: int) -> dict[str, int]:
    time.sleep(seconds)
    return {"x": x}


def deaf() -> int:
    """Keeps the interpreter to itself for minutes: no other thread of the process runs meanwhile."""
    return max(itertools.repeat(0, 10**11))


def kills(x: int, pid: int) -> dict[str, int]:
    """Kills a process, once earlier results have arrived, and goes on for a while; with x = 0 it does nothing."""
    if x:
        time.sleep(1)
        os.kill(pid, signal.SIGKILL)
        time.sleep(60)
    return {"x": x}


def leaves(mark: str) -> dict[str, int]:
    Path(mark).touch()
    return {"left": 1}


def waits_for(mark: str) -> dict[str, int]:
    """Waits for what `leaves` does, for a while."""
    for _ in range(600):
        if Path(mark).exists():
            return {"waited": 1}
        time.sleep(0.05)
    raise TimeoutError(f"{mark} never came")


def rises(folder: str, x: int) -> dict[str, int]:
    """Goes on when `falls` of the same x is under way."""
    return {"x": meets(folder, f"rises-{x}", f"falls-{x}") * x}


def falls(folder: str, x: int) -> dict[str, int]:
    """Goes on when `rises` of the same x is under way."""
    return {"x": meets(folder, f"falls-{x}", f"rises-{x}") * x}


def meets(folder: str, own: str, other: str) -> int:
    """Waits until the other is under way, which waits for this one."""
    (Path(folder) / own).touch()
    return waits_for(str(Path(folder) / other))["waited"]


def core() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def area(side):
    """A number, and no mapping."""
    return side * side
