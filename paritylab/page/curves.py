"""Numbers and curves as the page draws them: few digits, few points, and nothing that JSON does not know."""

import math
from typing import Any

import numpy as np

from ..survival import CensoredTimes

POINTS = 300
"""Of a curve; a screen shows no more."""


def number(value: Any) -> float | None:
    """A number of five digits, or nothing where there is none.

    >>> number(1.23456789), number(float("inf"))
    (1.2346, None)
    """
    return float(f"{value:.5g}") if math.isfinite(value) else None


def numbers(values: np.ndarray) -> Any:
    """All numbers of an array, in lists."""
    return [numbers(each) for each in values] if values.ndim > 1 else [number(each) for each in values.tolist()]


def learned_by_step(times: CensoredTimes) -> list[list[float]]:
    """Steps, and the share of runs that has learned by each of them (Kaplan-Meier), thinned where there are many."""
    step, _, _, share = times.survival()
    kept = np.unique(np.linspace(0, len(step) - 1, min(len(step), POINTS)).astype(int)) if len(step) else np.arange(0)
    return [[0.0, *step[kept].tolist()], [0.0, *(1 - share[kept]).tolist()]]
