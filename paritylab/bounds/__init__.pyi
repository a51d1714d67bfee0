from .base import (
    Assumption as Assumption,
    Bound as Bound,
    Part as Part,
)
from .blocks import (
    Split as Split,
    best_split as best_split,
    block_hinge as block_hinge,
)
from .certificates import (
    CorrelationCertificate as CorrelationCertificate,
    ErrorCertificate as ErrorCertificate,
    activation_bounds as activation_bounds,
    certified_error as certified_error,
    correlation_bound as correlation_bound,
    power_sizes as power_sizes,
)
from .discrepancy import (
    UnitBounds as UnitBounds,
    best_unit_bounds as best_unit_bounds,
    hard_tanh_correlation as hard_tanh_correlation,
    threshold_correlation as threshold_correlation,
    truncation_norm as truncation_norm,
    unit_bounds as unit_bounds,
    unit_correlation as unit_correlation,
    variation_correlation as variation_correlation,
)
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
from .polynomials import (
    OutputLaw as OutputLaw,
    Polynomial as Polynomial,
    best_polynomial as best_polynomial,
    error_of_moments as error_of_moments,
    kept_places as kept_places,
    moment_bounds as moment_bounds,
    polynomial_error as polynomial_error,
)
from .protocols import (
    protocol_error as protocol_error,
    protocol_width as protocol_width,
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
from .shallow import (
    ShallowNetwork as ShallowNetwork,
    discrepancy_width as discrepancy_width,
    error_from_moments as error_from_moments,
    error_from_rank as error_from_rank,
    hinge_curve as hinge_curve,
    hinge_of_sizes as hinge_of_sizes,
    margin_error as margin_error,
    network_correlation as network_correlation,
    network_hinge as network_hinge,
    weighted_error as weighted_error,
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
from .sign_search import (
    LowRank as LowRank,
    low_rank_signs as low_rank_signs,
    sign_rank_found as sign_rank_found,
)
from .unit_search import (
    FoundUnit as FoundUnit,
    search_unit as search_unit,
)
from .units import (
    unit_gate_examples as unit_gate_examples,
)
from .upper import (
    convex_descent as convex_descent,
    layerwise_circuit as layerwise_circuit,
    layerwise_circuit_product as layerwise_circuit_product,
    one_step_learning as one_step_learning,
    polynet_steps as polynet_steps,
    symmetric_initialization as symmetric_initialization,
    time_near_chance as time_near_chance,
    two_layer_loss as two_layer_loss,
    two_layer_sizes as two_layer_sizes,
)
