"""Until figure 15 imports them from `shared`."""

from ..measures import fraction
from .shared.finite_samples import BATCH, K, Settings, draw, draw_legend, fits, learned_of, plan
from .shared.measures import median_within as median

__all__ = ["BATCH", "K", "Settings", "draw", "draw_legend", "fits", "fraction", "learned_of", "median", "plan"]
