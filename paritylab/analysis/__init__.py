"""WHAT CAME OUT, exactly: what theory says about the same targets, distributions and networks."""

from .correlations import (
    Audit as Audit,
    audit as audit,
    correlation_intervals as correlation_intervals,
    influences as influences,
    label_gap as label_gap,
    node_correlations as node_correlations,
    reveals_gates as reveals_gates,
)
from .sign_test import (
    failure_probability as failure_probability,
    predicted_samples as predicted_samples,
    signal_to_noise as signal_to_noise,
)
from .tables import (
    GateTables as GateTables,
    enumerated_tables as enumerated_tables,
    gate_tables as gate_tables,
    sampled_tables as sampled_tables,
)
