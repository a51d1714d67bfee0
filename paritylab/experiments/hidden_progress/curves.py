"""Until figures 12 to 17 import them from `shared`."""

from typing import Any

from ..measures import fraction as share
from .shared.curves import DROPPED, PLATEAU, Panel, draw_curves, plateau_fractions
from .shared.measures import median_within as median, slowdown

__all__ = ["DROPPED", "HOLDS", "PLATEAU", "Panel", "draw_curves", "median", "plateau_fractions", "share", "slowdown"]

HOLDS: Any = {"quick": "holds"}
