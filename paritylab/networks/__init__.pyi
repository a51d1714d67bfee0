from .activations import (
    OscillatingPolynomial as OscillatingPolynomial,
    Power as Power,
    Sinusoid as Sinusoid,
    TriangleWave as TriangleWave,
    Zigzag as Zigzag,
    gelu as gelu,
    relu as relu,
    relu6 as relu6,
    sigmoid as sigmoid,
    square as square,
)
from .base import (
    Network as Network,
    Recipe as Recipe,
)
from .causal_transformer import (
    CausalTransformer as CausalTransformer,
)
from .combs import (
    Comb as Comb,
    best_comb as best_comb,
    comb_network as comb_network,
    law_of_count as law_of_count,
)
from .constructions import (
    realize as realize,
)
from .features import (
    FourierFeatures as FourierFeatures,
    Frozen as Frozen,
    FrozenGates as FrozenGates,
    Linearized as Linearized,
    RandomFeatures as RandomFeatures,
)
from .gate_products import (
    PolynomialWindow as PolynomialWindow,
    gate_product_network as gate_product_network,
    narrowest_polynomial as narrowest_polynomial,
    polynomial_network as polynomial_network,
)
from .gate_units import AboveGates as AboveGates, UnitGates as UnitGates, sharp_staircase as sharp_staircase
from .initializations import (
    AbstractInitialization as AbstractInitialization,
    BernoulliInitialization as BernoulliInitialization,
    ChosenInitialization as ChosenInitialization,
    GaussianInitialization as GaussianInitialization,
    GlorotInitialization as GlorotInitialization,
    MeanFieldInitialization as MeanFieldInitialization,
    NormalInitialization as NormalInitialization,
    PerturbedSigns as PerturbedSigns,
    SignInitialization as SignInitialization,
    SparseInitialization as SparseInitialization,
    StandardNormalInitialization as StandardNormalInitialization,
    TernaryInitialization as TernaryInitialization,
    UniformInitialization as UniformInitialization,
)
from .local import (
    LocalPairs as LocalPairs,
)
from .mlp import (
    MLP as MLP,
    Neuron as Neuron,
    paired as paired,
)
from .neural_gates import (
    GateLevel as GateLevel,
    GateNetwork as GateNetwork,
    NeuralGates as NeuralGates,
    PooledGates as PooledGates,
    first_gates as first_gates,
    first_levels as first_levels,
)
from .one_matrix import (
    OneMatrix as OneMatrix,
)
from .polynet import (
    DisjointPolyNet as DisjointPolyNet,
    PolyNet as PolyNet,
)
from .scores import (
    PatchScores as PatchScores,
)
from .staircase import (
    Staircase as Staircase,
    indicator_network as indicator_network,
)
from .ternary import (
    TernaryPairs as TernaryPairs,
)
from .transformer import (
    Transformer as Transformer,
)
