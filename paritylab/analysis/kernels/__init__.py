"""Kernels of networks, and predictors that use them."""
