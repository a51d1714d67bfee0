"""Kernels of networks, and what can be learned with them."""
