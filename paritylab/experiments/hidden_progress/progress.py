"""Until figure 13 imports them from `shared`."""

from .shared.progress import CASES, RED, Case, K, N, draw_weights, drawn_seed, milestones, noise_band

__all__ = ["CASES", "RED", "Case", "K", "N", "draw_weights", "drawn_seed", "milestones", "noise_band"]
