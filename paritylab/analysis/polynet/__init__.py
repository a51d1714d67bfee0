"""Disjoint PolyNets: their errors, and gradient flow on them."""
