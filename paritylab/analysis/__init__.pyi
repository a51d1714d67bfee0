from .baselines.methods import (
    Elimination as Elimination,
    GoldreichLevin as GoldreichLevin,
    LowDegreeRegression as LowDegreeRegression,
    SupportSearch as SupportSearch,
    monomial_count as monomial_count,
)
from .baselines.needed import (
    AbstractBaseline as AbstractBaseline,
    Attempt as Attempt,
    Needed as Needed,
    what_is_needed as what_is_needed,
)
from .elimination import (
    Eliminated as Eliminated,
    parity_by_elimination as parity_by_elimination,
)
from .first_steps.alignment import (
    Alignment as Alignment,
    alignment_rate as alignment_rate,
    initial_alignment as initial_alignment,
)
from .first_steps.biased_signs import (
    biased_sign_gradient as biased_sign_gradient,
    scaled_sign_gradient as scaled_sign_gradient,
)
from .first_steps.exact import (
    FirstStep as FirstStep,
    first_correlations as first_correlations,
    first_step as first_step,
    first_step_quality as first_step_quality,
)
from .first_steps.feature_correlations import (
    cosine_correlations as cosine_correlations,
    ternary_correlations as ternary_correlations,
    ternary_gate_correlations as ternary_gate_correlations,
)
from .first_steps.power_signs import (
    SignStep as SignStep,
    examples_for_signs as examples_for_signs,
    exponent_of_examples as exponent_of_examples,
    sign_step as sign_step,
)
from .first_steps.sign_weights import (
    OneStepMLP as OneStepMLP,
    first_rate as first_rate,
    parity_outputs as parity_outputs,
    presence_probability as presence_probability,
    sampled_correlations as sampled_correlations,
    sign_correlations as sign_correlations,
)
from .first_steps.ternary import (
    AfterFirstStep as AfterFirstStep,
    StepTable as StepTable,
    step_table as step_table,
)
from .fourier.heavy import (
    Heavy as Heavy,
    heavy_coefficients as heavy_coefficients,
)
from .fourier.krawtchouk import (
    SymmetricSpectrum as SymmetricSpectrum,
    symmetric_spectrum as symmetric_spectrum,
)
from .fourier.majority import (
    exact_majority_coefficient as exact_majority_coefficient,
    lemma1 as lemma1,
    majority_coefficients as majority_coefficients,
    majority_weight as majority_weight,
)
from .fourier.spectrum import (
    Spectrum as Spectrum,
    spectrum as spectrum,
    table_of as table_of,
    values_of as values_of,
)
from .fourier.transform import (
    coefficients as coefficients,
    walsh_hadamard as walsh_hadamard,
)
from .gradients.blocks import (
    SignedProduct as SignedProduct,
    gradient_by_blocks as gradient_by_blocks,
    signed_products as signed_products,
)
from .gradients.gaps import (
    FourierGap as FourierGap,
    fourier_gap as fourier_gap,
    gap_of_gradient as gap_of_gradient,
    good_coordinates as good_coordinates,
    majority_gap as majority_gap,
    samples_to_detect as samples_to_detect,
    weak_gap as weak_gap,
)
from .gradients.population import (
    NeuronGradient as NeuronGradient,
    gradient_by_enumeration as gradient_by_enumeration,
    gradient_of_polynomial as gradient_of_polynomial,
    gradient_of_sinusoid as gradient_of_sinusoid,
    population_gradient as population_gradient,
    slope_polynomial as slope_polynomial,
)
from .gradients.routes import (
    Routed as Routed,
    neuron_gradient as neuron_gradient,
)
from .gradients.sums import (
    exact_gradient_by_sums as exact_gradient_by_sums,
    gradient_by_sums as gradient_by_sums,
    signed_masses as signed_masses,
)
from .gradients.symmetric_zeros import (
    zero_by_symmetry as zero_by_symmetry,
)
from .gradients.thresholds import (
    Integrated as Integrated,
    gradient_of_threshold as gradient_of_threshold,
    sign_coefficients as sign_coefficients,
)
from .interpolators import (
    Interpolator as Interpolator,
    least_degree_interpolator as least_degree_interpolator,
)
from .kernels.hinge_ball import (
    HingeOptimum as HingeOptimum,
    best_hinge_over_ball as best_hinge_over_ball,
)
from .kernels.networks import (
    SupportVectorMachine as SupportVectorMachine,
    conjugate_kernel as conjugate_kernel,
    level_eigenvalues as level_eigenvalues,
    linearized_training as linearized_training,
    ridge_regression as ridge_regression,
    support_vector_machine as support_vector_machine,
    tangent_kernel as tangent_kernel,
)
from .kernels.relu import (
    ReluKernel as ReluKernel,
    arc_cosine_0 as arc_cosine_0,
    arc_cosine_1 as arc_cosine_1,
    best_hinge as best_hinge,
    gaussian_eigenvalues as gaussian_eigenvalues,
    mlp_ntk as mlp_ntk,
    relu_conjugate_kernel as relu_conjugate_kernel,
    relu_ntk as relu_ntk,
)
from .leaps import (
    LeapOrder as LeapOrder,
    leap as leap,
    leap_order as leap_order,
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
from .plateaus import (
    NoisyFlow as NoisyFlow,
    blow_up_times as blow_up_times,
    noisy_flow_times as noisy_flow_times,
    uniform_blow_up_times as uniform_blow_up_times,
)
from .polynet.errors import (
    Lemma6 as Lemma6,
    SignMeans as SignMeans,
    disjoint_error as disjoint_error,
    last_place as last_place,
    lemma6 as lemma6,
    long_sign_mean as long_sign_mean,
    polynet_error as polynet_error,
    relevant_path as relevant_path,
    sign_error as sign_error,
    sign_means as sign_means,
)
from .polynet.gradient_flow import (
    Lemma5 as Lemma5,
    Shares as Shares,
    equal_time as equal_time,
    flow_times as flow_times,
    lemma5 as lemma5,
    limit_of_scaled as limit_of_scaled,
    real_share_bound as real_share_bound,
    real_shares as real_shares,
    sign_share_bound as sign_share_bound,
    sign_shares as sign_shares,
    time_to_gain as time_to_gain,
)
