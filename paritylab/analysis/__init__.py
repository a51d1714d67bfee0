"""Exact analysis: Fourier spectra, population gradients, margins, kernels."""

from ..lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
