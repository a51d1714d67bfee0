"""WHAT CAME OUT, exactly: what theory can compute about targets, networks and records."""

from .margins import (
    Drift as Drift,
    Margin as Margin,
    PerceptronBounds as PerceptronBounds,
    check_drift as check_drift,
    explicit_separator as explicit_separator,
    largest_step as largest_step,
    lifted as lifted,
    maximal_margin as maximal_margin,
    modified_perceptron_bounds as modified_perceptron_bounds,
    parity_margin as parity_margin,
    perceptron_bound as perceptron_bound,
    symmetric_embedding as symmetric_embedding,
)
