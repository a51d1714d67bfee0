"""Distributions over labelled examples."""

from ..lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
