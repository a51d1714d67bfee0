"""paritylab: what can gradient descent learn on the Boolean cube, and what can it not?

The public names, in the order in which data moves. They are loaded on first use, so that importing
the package (and asking the command line for help) does not wait for JAX.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .cube import bit_mask as bit_mask, root_key as root_key
    from .distributions import (
        AbstractDistribution as AbstractDistribution,
        AbstractOutputs as AbstractOutputs,
        EasyHalf as EasyHalf,
        Encoded as Encoded,
        FlippedLabels as FlippedLabels,
        Generative as Generative,
        IndependentOutputs as IndependentOutputs,
        Mixture as Mixture,
        OutputMoments as OutputMoments,
        Points as Points,
        Product as Product,
        RandomPatches as RandomPatches,
        RandomSubset as RandomSubset,
        RandomTask as RandomTask,
        SharedSign as SharedSign,
        ShiftedInputs as ShiftedInputs,
        Uniform as Uniform,
        balanced_gates as balanced_gates,
        cifar10 as cifar10,
        draw as draw,
        equal_gates as equal_gates,
        image_folder as image_folder,
        independent_gates as independent_gates,
        leave_one_out as leave_one_out,
        noisy_equal as noisy_equal,
        random_subset as random_subset,
        separation as separation,
        sparse_pairs as sparse_pairs,
        stealth as stealth,
    )
    from .networks import (
        MLP as MLP,
        AbstractInitialization as AbstractInitialization,
        BernoulliInitialization as BernoulliInitialization,
        DisjointPolyNet as DisjointPolyNet,
        FourierFeatures as FourierFeatures,
        FrozenGates as FrozenGates,
        GateLevel as GateLevel,
        GateNetwork as GateNetwork,
        GaussianInitialization as GaussianInitialization,
        GlorotInitialization as GlorotInitialization,
        Linearized as Linearized,
        NeuralGates as NeuralGates,
        NeuronRecipe as NeuronRecipe,
        OscillatingPolynomial as OscillatingPolynomial,
        PatchScores as PatchScores,
        PolyNet as PolyNet,
        PooledGates as PooledGates,
        Power as Power,
        RandomFeatures as RandomFeatures,
        SignInitialization as SignInitialization,
        Sinusoid as Sinusoid,
        TernaryInitialization as TernaryInitialization,
        Transformer as Transformer,
        TriangleWave as TriangleWave,
        UniformInitialization as UniformInitialization,
        Zigzag as Zigzag,
        realize as realize,
        relu as relu,
        relu6 as relu6,
        sigmoid as sigmoid,
        square as square,
    )
    from .statistics import (
        median_interval as median_interval,
        quantile as quantile,
        wilson_interval as wilson_interval,
    )
    from .targets import (
        GATES as GATES,
        AbstractTarget as AbstractTarget,
        GateProduct as GateProduct,
        Parity as Parity,
        Symmetric as Symmetric,
        TreeCircuit as TreeCircuit,
        as_inner_product as as_inner_product,
        circuit_from_formula as circuit_from_formula,
        count_of_functions as count_of_functions,
        full_parity as full_parity,
        inner_product_mod_two as inner_product_mod_two,
        majority as majority,
        parity_circuit as parity_circuit,
        random_circuit as random_circuit,
        random_disjoint_parity as random_disjoint_parity,
        random_gate_product as random_gate_product,
        random_parity as random_parity,
        random_symmetric as random_symmetric,
        razborov_sherstov as razborov_sherstov,
    )
    from .training import (
        AbstractRecord as AbstractRecord,
        FreshError as FreshError,
        FreshLoss as FreshLoss,
        Hinge as Hinge,
        LearnedCircuit as LearnedCircuit,
        Optimizer as Optimizer,
        Outcome as Outcome,
        Progress as Progress,
        RegularizedHinge as RegularizedHinge,
        Runs as Runs,
        SampleError as SampleError,
        SamplePatterns as SamplePatterns,
        Snapshot as Snapshot,
        TopAccuracy as TopAccuracy,
        TreePatterns as TreePatterns,
        ValidationError as ValidationError,
        Weights as Weights,
        correlation as correlation,
        drift as drift,
        follow as follow,
        gate_history as gate_history,
        learn_circuits as learn_circuits,
        logistic as logistic,
        plan as plan,
        square_loss as square_loss,
        train as train,
        train_gates as train_gates,
    )

_HOMES = {
    "cube": "bit_mask root_key",
    "statistics": "median_interval quantile wilson_interval",
    "targets": "GATES AbstractTarget GateProduct Parity Symmetric TreeCircuit as_inner_product circuit_from_formula "
    "count_of_functions full_parity inner_product_mod_two majority parity_circuit random_circuit "
    "random_disjoint_parity random_gate_product random_parity random_symmetric razborov_sherstov",
    "distributions": "AbstractDistribution AbstractOutputs EasyHalf Encoded FlippedLabels Generative "
    "IndependentOutputs Mixture OutputMoments Points Product RandomPatches RandomSubset RandomTask SharedSign "
    "ShiftedInputs Uniform balanced_gates cifar10 draw equal_gates image_folder independent_gates leave_one_out "
    "noisy_equal random_subset separation sparse_pairs stealth",
    "networks": "MLP AbstractInitialization BernoulliInitialization DisjointPolyNet FourierFeatures FrozenGates "
    "GateLevel GateNetwork GaussianInitialization GlorotInitialization Linearized NeuralGates NeuronRecipe "
    "OscillatingPolynomial PatchScores PolyNet PooledGates Power RandomFeatures SignInitialization Sinusoid "
    "TernaryInitialization Transformer TriangleWave UniformInitialization Zigzag realize relu relu6 sigmoid square",
    "training": "AbstractRecord FreshError FreshLoss Hinge LearnedCircuit Optimizer Outcome Progress RegularizedHinge "
    "Runs SampleError SamplePatterns Snapshot TopAccuracy TreePatterns ValidationError Weights correlation drift "
    "follow gate_history learn_circuits logistic plan square_loss train train_gates",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
