"""WHAT CANNOT BE, and what is promised: bounds with their assumptions checked one by one."""

from .base import Assumption as Assumption, Bound as Bound, Part as Part
from .linear import (
    fixed_features as fixed_features,
    fixed_features_by_convexity as fixed_features_by_convexity,
    fixed_features_theorem as fixed_features_theorem,
    given_features as given_features,
    gradient_at_zero as gradient_at_zero,
    kernel as kernel,
    kernel_of_dimension as kernel_of_dimension,
    parity_correlations as parity_correlations,
)
from .queries import (
    correlated_members as correlated_members,
    family_queries as family_queries,
    gate_product_queries as gate_product_queries,
    gram as gram,
    gram_of_targets as gram_of_targets,
    parity_queries as parity_queries,
    spectral_dimension as spectral_dimension,
)
from .sign_rank import (
    forster as forster,
    forster_weighted as forster_weighted,
    gate_product_matrix as gate_product_matrix,
    integer_network_rank as integer_network_rank,
    integer_width as integer_width,
    margin_network_rank as margin_network_rank,
    margin_width as margin_width,
    rank_of_units as rank_of_units,
    razborov_sherstov_matrix as razborov_sherstov_matrix,
    search_weights as search_weights,
)
