"""Correlations of gates with the label, and layerwise training of circuits from them."""

from ..lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
