"""WHAT CAME OUT, exactly: Fourier coefficients, population gradients and gaps in them."""

from .first_step import (
    FirstStep as FirstStep,
    first_correlations as first_correlations,
    first_step as first_step,
    first_step_quality as first_step_quality,
)
from .gaps import (
    FourierGap as FourierGap,
    fourier_gap as fourier_gap,
    gap_of_gradient as gap_of_gradient,
    good_coordinates as good_coordinates,
    majority_gap as majority_gap,
    samples_to_detect as samples_to_detect,
    weak_gap as weak_gap,
)
from .gradients import (
    NeuronGradient as NeuronGradient,
    gradient_by_enumeration as gradient_by_enumeration,
    gradient_of_polynomial as gradient_of_polynomial,
    gradient_of_sinusoid as gradient_of_sinusoid,
    population_gradient as population_gradient,
    slope_polynomial as slope_polynomial,
)
from .majority import (
    exact_majority_coefficient as exact_majority_coefficient,
    lemma1 as lemma1,
    majority_coefficients as majority_coefficients,
    majority_weight as majority_weight,
)
from .routes import Routed as Routed, neuron_gradient as neuron_gradient
from .sums import (
    exact_gradient_by_sums as exact_gradient_by_sums,
    gradient_by_sums as gradient_by_sums,
    signed_law as signed_law,
)
from .thresholds import (
    Integrated as Integrated,
    gradient_of_threshold as gradient_of_threshold,
    sign_coefficients as sign_coefficients,
)
