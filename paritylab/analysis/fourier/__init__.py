"""Fourier coefficients of functions on the cube."""
