from . import (
    analysis as analysis,
    bounds as bounds,
    circuits as circuits,
    distributions as distributions,
    networks as networks,
    style as style,
    sweep as sweep,
    targets as targets,
    training as training,
)
from .cube import root_key as root_key
from .distributions import (
    AbstractDistribution as AbstractDistribution,
    FlippedLabels as FlippedLabels,
    Mixture as Mixture,
    Points as Points,
    Product as Product,
    RandomTask as RandomTask,
    Uniform as Uniform,
)
from .experiments.reproduce import reproduce as reproduce
from .networks import (
    MLP as MLP,
    Neuron as Neuron,
    PolyNet as PolyNet,
    Transformer as Transformer,
    relu as relu,
)
from .page import watch as watch
from .sweep import (
    Call as Call,
    Store as Store,
    Sweep as Sweep,
)
from .targets import (
    AbstractTarget as AbstractTarget,
    GateProduct as GateProduct,
    Parity as Parity,
    Symmetric as Symmetric,
    TreeCircuit as TreeCircuit,
    majority as majority,
    random_parity as random_parity,
)
from .training import (
    AbstractRecord as AbstractRecord,
    FreshError as FreshError,
    Hinge as Hinge,
    Outcome as Outcome,
    Plan as Plan,
    Runs as Runs,
    load as load,
    plan as plan,
    train as train,
)

__version__: str
