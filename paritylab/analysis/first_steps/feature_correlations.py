"""Correlations E[f_A Psi_i] of fixed random features with a parity on uniform points, exactly, at any n.

A linear predictor over features Psi has a hinge loss of at least 1 - |w| |E[f_A Psi]|, so that these
correlations are all that the elementary form of Theorem 2 of learning-parities needs. Enumeration
(`bounds.parity_correlations`) ends near n = 20; these closed forms do not.
"""

import numpy as np
from jaxtyping import Float, Int, Integer

from ..gradients.population import members
from .ternary import StepTable, step_table


def cosine_correlations(
    weights: Float[np.ndarray, "features n"], phases: Float[np.ndarray, " features"], support: Integer[np.ndarray, " k"]
) -> Float[np.ndarray, " features"]:
    """E[chi_A cos(w . x + b)] of Gaussian random features, points +-1: Re of i^k e^(ib) prod_A sin prod_rest cos.

    (Rahimi and Recht 2007; the transform of independent signs.)

    >>> cosine_correlations(np.array([[np.pi / 2, 0.0]]), np.zeros(1), np.array([0])).round(12).tolist()
    [0.0]
    >>> cosine_correlations(np.array([[np.pi / 2, 0.0]]), np.array([np.pi / 2]), np.array([0])).round(12).tolist()
    [-1.0]
    """
    inside = members(weights.shape[1], support.tolist())
    product = np.prod(np.sin(weights[:, inside]), axis=1) * np.prod(np.cos(weights[:, ~inside]), axis=1)
    return np.asarray(product * np.cos(phases + len(support) * np.pi / 2))


def ternary_correlations(
    weights: Integer[np.ndarray, "features n"], bias: float, support: Integer[np.ndarray, " k"]
) -> Float[np.ndarray, " features"]:
    """E[chi_A ReLU6(w . x / sqrt(n) + b)] for weights in {-1, 0, 1} and odd k: learning-parities' own start.

    >>> ternary_correlations(np.array([[1, 1, 1, 0]]), 0.1, np.array([0, 1, 2])).round(4).tolist()
    [-0.025]
    """
    table, kinds = _kinds(weights, bias, support)
    return table.output[kinds]


def ternary_gate_correlations(
    weights: Integer[np.ndarray, "units n"], bias: float, support: Integer[np.ndarray, " k"]
) -> Float[np.ndarray, "units n"]:
    """E[chi_A x_j 1{0 < w . x / sqrt(n) + b < 6}], points +-1: the features of frozen gates, a row a unit.

    >>> ternary_gate_correlations(np.array([[1, 1, 1, 0]]), 0.1, np.array([0, 1, 2])).round(4).tolist()
    [[0.0, 0.0, 0.0, 0.0]]
    """
    table, kinds = _kinds(weights, bias, support)
    inside = members(weights.shape[1], support.tolist())
    found = weights * table.outside[kinds][:, None]
    found[:, inside] = np.take_along_axis(table.inside[kinds], weights[:, inside] + 1, axis=1)
    return found


def _kinds(
    weights: Integer[np.ndarray, "features n"], bias: float, support: Integer[np.ndarray, " k"]
) -> tuple[StepTable, tuple[Int[np.ndarray, " features"], ...]]:
    """The table, and where each neuron is on its first axes, on the uniform half."""
    inside = members(weights.shape[1], support.tolist())
    within, outside = weights[:, inside], weights[:, ~inside]
    kinds = tuple(np.count_nonzero(each, axis=1) for each in (outside, within == 1, within == -1))
    return step_table(weights.shape[1], len(support), bias, 0.0), kinds
