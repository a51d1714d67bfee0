"""paritylab: what can gradient descent learn on the Boolean cube, and what can it not?

The public names, in the order in which data moves. They are loaded on first use, so that importing
the package (and asking the command line for help) does not wait for JAX.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .cube import (
        bit_mask as bit_mask,
        root_key as root_key,
    )
    from .distributions import (
        AbstractDistribution as AbstractDistribution,
        AbstractOutputs as AbstractOutputs,
        Digits as Digits,
        EasyHalf as EasyHalf,
        Encoded as Encoded,
        EqualBits as EqualBits,
        FlippedLabels as FlippedLabels,
        Generative as Generative,
        HeldOut as HeldOut,
        Images as Images,
        IndependentOutputs as IndependentOutputs,
        Mixture as Mixture,
        OutputMoments as OutputMoments,
        Points as Points,
        Product as Product,
        RandomLeaky as RandomLeaky,
        RandomPatches as RandomPatches,
        RandomSubset as RandomSubset,
        RandomTask as RandomTask,
        SharedSign as SharedSign,
        ShiftedInputs as ShiftedInputs,
        Strips as Strips,
        Uniform as Uniform,
        balanced_gates as balanced_gates,
        cifar10 as cifar10,
        digit_strips as digit_strips,
        draw as draw,
        equal_gates as equal_gates,
        image_folder as image_folder,
        independent_gates as independent_gates,
        leaky as leaky,
        leave_one_out as leave_one_out,
        mnist as mnist,
        noisy_equal as noisy_equal,
        pooled as pooled,
        population as population,
        random_subset as random_subset,
        separation as separation,
        small_digits as small_digits,
        sparse_pairs as sparse_pairs,
        stealth as stealth,
    )
    from .networks import (
        MLP as MLP,
        AboveGates as AboveGates,
        AbstractInitialization as AbstractInitialization,
        BernoulliInitialization as BernoulliInitialization,
        ChosenInitialization as ChosenInitialization,
        DisjointPolyNet as DisjointPolyNet,
        FourierFeatures as FourierFeatures,
        FrozenGates as FrozenGates,
        GateLevel as GateLevel,
        GateNetwork as GateNetwork,
        GaussianInitialization as GaussianInitialization,
        GlorotInitialization as GlorotInitialization,
        Linearized as Linearized,
        LocalPairs as LocalPairs,
        NeuralGates as NeuralGates,
        NeuronRecipe as NeuronRecipe,
        OscillatingPolynomial as OscillatingPolynomial,
        PatchScores as PatchScores,
        PolyNet as PolyNet,
        PolynomialWindow as PolynomialWindow,
        PooledGates as PooledGates,
        Power as Power,
        RandomFeatures as RandomFeatures,
        SignInitialization as SignInitialization,
        Sinusoid as Sinusoid,
        Staircase as Staircase,
        StandardNormalInitialization as StandardNormalInitialization,
        TernaryInitialization as TernaryInitialization,
        TernaryPairs as TernaryPairs,
        Transformer as Transformer,
        TriangleWave as TriangleWave,
        UniformInitialization as UniformInitialization,
        UnitGates as UnitGates,
        Zigzag as Zigzag,
        gate_product_network as gate_product_network,
        indicator_network as indicator_network,
        narrowest_polynomial as narrowest_polynomial,
        polynomial_network as polynomial_network,
        realize as realize,
        relu as relu,
        relu6 as relu6,
        sharp_staircase as sharp_staircase,
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
        NearlySymmetric as NearlySymmetric,
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
        ChosenLoss as ChosenLoss,
        Confidence as Confidence,
        ErrorsByPart as ErrorsByPart,
        FirstThen as FirstThen,
        FreshError as FreshError,
        FreshLoss as FreshLoss,
        Hinge as Hinge,
        LayerDrift as LayerDrift,
        LearnedCircuit as LearnedCircuit,
        LinearFall as LinearFall,
        Optimizer as Optimizer,
        Outcome as Outcome,
        PackedPatterns as PackedPatterns,
        Parameters as Parameters,
        Progress as Progress,
        RegularizedHinge as RegularizedHinge,
        Runs as Runs,
        SampleError as SampleError,
        SamplePatterns as SamplePatterns,
        Snapshot as Snapshot,
        TopAccuracy as TopAccuracy,
        TrainedUnits as TrainedUnits,
        TreePatterns as TreePatterns,
        Updates as Updates,
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
        train_units as train_units,
    )

_HOMES = {
    "cube": "bit_mask root_key",
    "statistics": "median_interval quantile wilson_interval",
    "targets": "GATES AbstractTarget GateProduct NearlySymmetric Parity Symmetric TreeCircuit as_inner_product "
    "circuit_from_formula count_of_functions full_parity inner_product_mod_two majority parity_circuit "
    "random_circuit random_disjoint_parity random_gate_product random_parity random_symmetric "
    "razborov_sherstov",
    "distributions": "AbstractDistribution AbstractOutputs Digits EasyHalf Encoded EqualBits FlippedLabels Generative "
    "HeldOut Images IndependentOutputs Mixture OutputMoments Points Product RandomLeaky RandomPatches "
    "RandomSubset RandomTask SharedSign ShiftedInputs Strips Uniform balanced_gates cifar10 "
    "digit_strips draw equal_gates image_folder independent_gates leaky leave_one_out mnist noisy_equal "
    "pooled population random_subset separation small_digits sparse_pairs stealth",
    "networks": "MLP AboveGates AbstractInitialization BernoulliInitialization ChosenInitialization DisjointPolyNet "
    "FourierFeatures FrozenGates GateLevel GateNetwork GaussianInitialization GlorotInitialization "
    "Linearized LocalPairs NeuralGates NeuronRecipe OscillatingPolynomial PatchScores PolyNet PolynomialWindow "
    "PooledGates Power "
    "RandomFeatures SignInitialization Sinusoid Staircase StandardNormalInitialization "
    "TernaryInitialization TernaryPairs Transformer TriangleWave UniformInitialization UnitGates Zigzag "
    "gate_product_network indicator_network narrowest_polynomial polynomial_network realize relu relu6 "
    "sharp_staircase sigmoid square",
    "training": "AbstractRecord ChosenLoss Confidence ErrorsByPart FirstThen FreshError FreshLoss Hinge LayerDrift "
    "LearnedCircuit LinearFall Optimizer Outcome PackedPatterns Parameters Progress RegularizedHinge Runs SampleError "
    "SamplePatterns Snapshot TopAccuracy TrainedUnits TreePatterns Updates ValidationError Weights correlation drift "
    "follow gate_history learn_circuits logistic plan square_loss train train_gates train_units",
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
