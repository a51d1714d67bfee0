from .correlations import (
    Audit as Audit,
    audit as audit,
    correlation_intervals as correlation_intervals,
    influences as influences,
    label_gap as label_gap,
    node_correlations as node_correlations,
    reveals_gates as reveals_gates,
)
from .counts import (
    CountDistribution as CountDistribution,
    count_distribution as count_distribution,
)
from .gate_training import (
    TrainedGates as TrainedGates,
    drift as drift,
    gate_history as gate_history,
    train_gates as train_gates,
)
from .layerwise import (
    LearnedCircuit as LearnedCircuit,
    follow as follow,
    learn_circuits as learn_circuits,
)
from .patterns import (
    AbstractPatterns as AbstractPatterns,
    PackedPatterns as PackedPatterns,
    SamplePatterns as SamplePatterns,
    TreePatterns as TreePatterns,
)
from .second_layer import (
    hidden_outputs as hidden_outputs,
    least_squares_output as least_squares_output,
    one_step_layer as one_step_layer,
    sharp_embedding as sharp_embedding,
    sign_parity as sign_parity,
    with_output as with_output,
)
from .sign_test import (
    failure_probability as failure_probability,
    predicted_samples as predicted_samples,
    signal_to_noise as signal_to_noise,
    smallest_sample as smallest_sample,
)
from .tables import (
    GateTables as GateTables,
    enumerated_tables as enumerated_tables,
    gate_tables as gate_tables,
    nested_signals as nested_signals,
    sampled_tables as sampled_tables,
)
from .unit_training import (
    TrainedUnits as TrainedUnits,
    train_units as train_units,
)
