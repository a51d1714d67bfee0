"""The live page of `paritylab serve`, and its pictures in notebooks: training watched while it goes on, stores, claims.

It computes nothing that the library does not: runs are plans of `plan_from_names` under an `Observer`, tables are those
of a `Store`, claims are those of the report. It asks nothing of any other machine.
"""

from ..lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
