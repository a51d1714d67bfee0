"""HOW: losses, optimizers, rules, and the engine that trains thousands of networks at once."""

from ..lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
