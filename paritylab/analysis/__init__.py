"""WHAT CAME OUT, exactly: what theory can compute about targets, networks and records."""

from .kernels import (
    SupportVectorMachine as SupportVectorMachine,
    conjugate_kernel as conjugate_kernel,
    level_eigenvalues as level_eigenvalues,
    linearized_training as linearized_training,
    ridge_regression as ridge_regression,
    support_vector_machine as support_vector_machine,
    tangent_kernel as tangent_kernel,
)
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
from .relu_kernels import (
    ReluKernel as ReluKernel,
    arc_cosine_0 as arc_cosine_0,
    arc_cosine_1 as arc_cosine_1,
    best_hinge as best_hinge,
    gaussian_eigenvalues as gaussian_eigenvalues,
    mlp_ntk as mlp_ntk,
    relu_conjugate_kernel as relu_conjugate_kernel,
    relu_ntk as relu_ntk,
)
