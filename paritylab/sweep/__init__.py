"""MANY: sweeps over any number of runs, kept in a store that survives anything."""

from ..lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
