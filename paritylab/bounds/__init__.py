"""Lower and upper bounds of the papers, with their assumptions checked one by one."""

from ..lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
