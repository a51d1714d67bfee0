"""WHAT CAME OUT, exactly: Fourier analysis, population gradients, correlations, margins, kernels."""

from .fourier import Spectrum as Spectrum, spectrum as spectrum, table_of as table_of
from .heavy import Heavy as Heavy, heavy_coefficients as heavy_coefficients
from .krawtchouk import SymmetricSpectrum as SymmetricSpectrum, symmetric_spectrum as symmetric_spectrum
from .transform import coefficients as coefficients, walsh_hadamard as walsh_hadamard
