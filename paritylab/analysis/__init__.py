"""WHAT CAME OUT, exactly: Fourier coefficients, population gradients and gaps in them."""

from .majority import (
    exact_majority_coefficient as exact_majority_coefficient,
    lemma1 as lemma1,
    majority_coefficients as majority_coefficients,
    majority_weight as majority_weight,
)
