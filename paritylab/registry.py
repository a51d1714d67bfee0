"""Names for the command line, free of JAX: what exists, and which setting of which paper it is."""

import difflib
from collections.abc import Iterable
from typing import Any, NamedTuple

from .demands import echo


class NetworkEntry(NamedTuple):
    """A network by name. `recipe` and `activation` are names in `paritylab`.

    An activation that is a class, such as `Zigzag`, is made with the degree k.
    """

    recipe: str
    activation: str | None
    settings: str
    what: str
    width: int = 100


NETWORKS = {
    "relu-mlp": NetworkEntry("MLP", "relu", "(i) width 10, (ii) 100, (iii) 1000, (*i) k", "two layers, ReLU"),
    "relu6-mlp": NetworkEntry("MLP", "relu6", "", "two layers, ReLU6"),
    "sigmoid-mlp": NetworkEntry("MLP", "sigmoid", "", "two layers, sigmoid"),
    "poly-mlp": NetworkEntry("MLP", "Power", "(iv) width 10, (v) 100, (vi) 1000, (*ii) k", "two layers, z^k"),
    "zigzag-mlp": NetworkEntry("MLP", "Zigzag", "(vii) width 1", "two layers, k-zigzag", 1),
    "oscillating-mlp": NetworkEntry(
        "MLP", "OscillatingPolynomial", "(viii) width 1", "two layers, oscillating polynomial", 1
    ),
    "triangle-mlp": NetworkEntry("MLP", "TriangleWave", "(ix) width 1", "two layers, infinite zigzag", 1),
    "sinusoid-mlp": NetworkEntry("MLP", "Sinusoid", "(x) width 1", "two layers, sinusoid", 1),
    "zigzag-neuron": NetworkEntry("Neuron", "Zigzag", "(xi)", "one neuron, k-zigzag"),
    "oscillating-neuron": NetworkEntry(
        "Neuron", "OscillatingPolynomial", "(xii)", "one neuron, oscillating polynomial"
    ),
    "triangle-neuron": NetworkEntry("Neuron", "TriangleWave", "(xiii)", "one neuron, infinite zigzag"),
    "sinusoid-neuron": NetworkEntry("Neuron", "Sinusoid", "(xiv)", "one neuron, sinusoid"),
    "polynet": NetworkEntry("PolyNet", None, "(xv)", "product of k affine functions"),
    "disjoint-polynet": NetworkEntry(
        "DisjointPolyNet", None, "Section 4.1", "product of k linear functions of k blocks"
    ),
    "transformer": NetworkEntry(
        "Transformer", None, "(*iii) embedding 1024, attention 8, 128 heads", "one attention block"
    ),
    "quadratic-mlp": NetworkEntry("MLP", "square", "C.7 width 2,1 or 10,10,1", "two or more layers, z^2"),
}

SETTINGS = {
    **{name: ("relu-mlp", width) for name, width in (("i", 10), ("ii", 100), ("iii", 1000), ("*i", "k"))},
    **{name: ("poly-mlp", width) for name, width in (("iv", 10), ("v", 100), ("vi", 1000), ("*ii", "k"))},
    "vii": ("zigzag-mlp", 1),
    "viii": ("oscillating-mlp", 1),
    "ix": ("triangle-mlp", 1),
    "x": ("sinusoid-mlp", 1),
    "xi": ("zigzag-neuron", None),
    "xii": ("oscillating-neuron", None),
    "xiii": ("triangle-neuron", None),
    "xiv": ("sinusoid-neuron", None),
    "xv": ("polynet", None),
    "*iii": ("transformer", None),
}
"""The settings of hidden-progress, Section 3.1: the name of the network, and its width (`k` is the target's degree)."""

TARGETS = {
    "parity": "product of k coordinates, at random per seed or by --support",
    "disjoint-parity": "product of one coordinate from each of k blocks, at random per seed",
    "full-parity": "product of all coordinates",
    "majority": "sign of the sum, n odd",
    "random-symmetric": "a fair sign per weight, at random per seed",
}

WITHOUT_DEGREE = ("full-parity", "majority", "random-symmetric")
"""Targets that n alone describes."""

INITIALIZATIONS = {
    "uniform": "UniformInitialization",
    "gaussian": "GaussianInitialization",
    "bernoulli": "BernoulliInitialization",
    "glorot": "GlorotInitialization",
}

LOSSES = {"hinge": "Hinge", "square": "square_loss", "logistic": "logistic", "correlation": "correlation"}


class ExperimentEntry(NamedTuple):
    """A figure, table or theorem of a paper. `module` lies in `paritylab.experiments`."""

    module: str
    title: str
    quick_seconds: int | float
    """How long it takes at quick scale on two cores, compilation included."""
    headline: bool = False
    """Whether it belongs to the headline set: one deciding experiment per paper."""
    settings: str = "SETTINGS"
    """The name of its settings, where several experiments share a module."""


EXPERIMENTS = {
    "hidden-progress/fig1-left": ExperimentEntry(
        "hidden_progress.figure1_left", "training curves on the (50, 3)-parity: plateau, then drop", 75, headline=True
    ),
    "hidden-progress/fig1-right": ExperimentEntry(
        "hidden_progress.figure1_right", "median convergence times over n: powers of n, steeper for larger k", 30
    ),
    "hidden-progress/fig2-left": ExperimentEntry(
        "hidden_progress.figure2_left", "convergence times of many trials: none is early, some are late", 40
    ),
    "hidden-progress/fig2-centre": ExperimentEntry(
        "hidden_progress.figure2_centre", "the time depends on the initialization more than on the batches", 50
    ),
    "hidden-progress/fig2-right": ExperimentEntry(
        "hidden_progress.figure2_right", "the exponent of the convergence time grows with n", 30
    ),
    "hidden-progress/fig3": ExperimentEntry(
        "hidden_progress.figure3", "flat loss and accuracy while the weights move, and a measure of it", 25
    ),
    "hidden-progress/fig4-left": ExperimentEntry(
        "hidden_progress.width_times",
        "time against width on the (40, 3)-parity: no parallel speed-up",
        45,
        settings="FIGURE4_LEFT",
    ),
    "hidden-progress/fig4-right": ExperimentEntry(
        "hidden_progress.figure4_right", "training on a finite sample: grokking", 35
    ),
    "hidden-progress/fig5": ExperimentEntry(
        "hidden_progress.figure5", "disjoint PolyNet, correlation loss: population gradient and batches of 1", 30
    ),
    "hidden-progress/fig6": ExperimentEntry(
        "hidden_progress.figure6", "24 further training curves: sizes, batches, minimal and large networks", 90
    ),
    "hidden-progress/fig7": ExperimentEntry(
        "hidden_progress.figure7", "convergence times by architecture, degree and batch size", 75
    ),
    "hidden-progress/fig7-readings": ExperimentEntry(
        "hidden_progress.figure7_readings", "cells of figure 7 that differ, read in other ways", 40
    ),
    "hidden-progress/fig7-transformer": ExperimentEntry(
        "hidden_progress.figure7_transformer", "the Transformer's row of figure 7", 15
    ),
    "hidden-progress/fig8": ExperimentEntry(
        "hidden_progress.figure8", "percentage of runs that converge, on the same grid", 40
    ),
    "hidden-progress/fig9": ExperimentEntry(
        "hidden_progress.figure9", "coarse scaling of the convergence time: c and alpha of every architecture", 60
    ),
    "hidden-progress/fig10": ExperimentEntry(
        "hidden_progress.figure10", "median convergence times over n for twelve ways to train", 60
    ),
    "hidden-progress/fig11": ExperimentEntry(
        "hidden_progress.figure11", "exact Fourier gaps of random ReLU neurons, n = 15 to 1,001", 30
    ),
    "hidden-progress/fig12": ExperimentEntry(
        "hidden_progress.figure12", "Fourier gaps of sinusoidal neurons, at the start and along SGD", 40
    ),
    "hidden-progress/fig13": ExperimentEntry(
        "hidden_progress.figure13", "loss, weights and progress measure at several batch sizes", 60
    ),
    "hidden-progress/fig14": ExperimentEntry(
        "hidden_progress.width_times", "time against width for n = 30, 40, 50, as boxes", 65, settings="FIGURE14"
    ),
    "hidden-progress/fig15": ExperimentEntry(
        "hidden_progress.figure15", "finite samples: size of the sample against weight decay", 40
    ),
    "hidden-progress/fig16": ExperimentEntry("hidden_progress.figure16", "parities from noisy labels", 30),
    "hidden-progress/fig17": ExperimentEntry(
        "hidden_progress.figure17", "no plateau for wide networks of z^k units at large batches", 60
    ),
    "hidden-progress/fig18": ExperimentEntry(
        "hidden_progress.figure18", "the activation functions, through the points of the parity", 10
    ),
    "hidden-progress/counterexample": ExperimentEntry(
        "hidden_progress.counterexample", "deep networks of squares learn what no layer learns alone (C.7)", 45
    ),
    "hidden-progress/robust-space": ExperimentEntry(
        "hidden_progress.robust_space", "all combinations of architecture, n, k, batch, initialization and loss", 120
    ),
    "hidden-progress/theorem4": ExperimentEntry(
        "hidden_progress.theorem4", "one large step, then the second layer: exact and sampled, n = 21 to 1,001", 90
    ),
    "hidden-progress/proposition5": ExperimentEntry(
        "hidden_progress.proposition5", "the support read off one gradient, under noise and from samples", 20
    ),
    "hidden-progress/theorem7": ExperimentEntry(
        "hidden_progress.theorem7", "gradient flow on disjoint PolyNets: almost all of the time at chance", 40
    ),
    "hidden-progress/theorem8": ExperimentEntry(
        "hidden_progress.theorem8", "SGD with an adaptive rate on disjoint PolyNets: the proof, step by step", 60
    ),
    "learning-parities/ntk": ExperimentEntry(
        "learning_parities.ntk", "ReLU tangent kernel: eigenvalues, best hinge loss", 15
    ),
    "learning-parities/mnist": ExperimentEntry(
        "learning_parities.mnist", "parity of the sum of handwritten digits: a network against linear models", 60
    ),
    "learning-parities/separation": ExperimentEntry(
        "learning_parities.separation", "a network learns the leaky parity, linear methods do not", 100
    ),
    "learning-parities/linear": ExperimentEntry(
        "learning_parities.linear",
        "what no linear method with fixed features can do: proven optima and bounds",
        40,
        headline=True,
    ),
    "learning-parities/lemmas": ExperimentEntry(
        "learning_parities.lemmas", "Lemmas 5 to 16 as a table, with exact or measured constants", 30
    ),
    "symmetry/margin": ExperimentEntry("symmetry.margin", "exact margins of symmetric functions at the start", 15),
    "symmetry/fig1": ExperimentEntry("symmetry.figure1", "symmetric functions as sums of sigmoids and of ReLUs", 20),
    "symmetry/theory": ExperimentEntry(
        "symmetry.theory", "the modified perceptron and the drift of the embedding, against their bounds", 30
    ),
    "symmetry/theorem1": ExperimentEntry("symmetry.theorem1", "error against the number of examples", 20),
    "symmetry/fig2": ExperimentEntry(
        "symmetry.figure2", "both layers and the second alone: the same errors", 25, headline=True
    ),
    "symmetry/fig3": ExperimentEntry("symmetry.figure3", "large steps: fast, at the expense of the true error", 30),
    "symmetry/fig4": ExperimentEntry("symmetry.figure4", "the confidence beta = 0 does not hurt", 20),
    "symmetry/fig5": ExperimentEntry(
        "symmetry.starts", "parity of all bits from the symmetric start and from a random one", 60, settings="FIGURE5"
    ),
    "symmetry/fig6": ExperimentEntry(
        "symmetry.starts", "the same for random symmetric functions", 45, settings="FIGURE6"
    ),
    "symmetry/fig7": ExperimentEntry("symmetry.corrupted", "flipped labels in the sample", 25, settings="FIGURE7"),
    "symmetry/fig8": ExperimentEntry("symmetry.corrupted", "shifted inputs", 25, settings="FIGURE8"),
    "symmetry/beyond": ExperimentEntry(
        "symmetry.beyond", "how far the symmetric start reaches: Adam, batches, activations, other functions", 60
    ),
    "boolean-circuits/fig1": ExperimentEntry(
        "boolean_circuits.figure1", "a parity of 5 of 128 bits: uniform bits against biased ones", 110
    ),
    "boolean-circuits/recovery": ExperimentEntry(
        "boolean_circuits.recovery", "Algorithm 1 recovers circuits: sample size against theory", 65
    ),
    "boolean-circuits/regularizer": ExperimentEntry(
        "boolean_circuits.regularizer", "the printed sign of the regularizer fails, the other one does not", 5
    ),
    "boolean-circuits/lemmas": ExperimentEntry("boolean_circuits.lemmas", "Lemmas 15 to 22 along runs", 6),
    "boolean-circuits/necessity": ExperimentEntry(
        "boolean_circuits.necessity",
        "without correlation greedy layerwise training fails: gates, squares",
        28,
        headline=True,
    ),
    "boolean-circuits/log-parity": ExperimentEntry(
        "boolean_circuits.log_parity", "parities of log n biased bits: polynomial steps and examples", 10
    ),
    "boolean-circuits/comparison": ExperimentEntry(
        "boolean_circuits.comparison", "layerwise training against end-to-end training", 37
    ),
    "boolean-circuits/shallow": ExperimentEntry(
        "boolean_circuits.shallow", "depth-two networks: sign-rank from both sides, width by training", 55
    ),
    "boolean-circuits/fig4": ExperimentEntry(
        "boolean_circuits.figure4", "the class of an image from one random patch", 35
    ),
    "depth-separation/layerwise": ExperimentEntry(
        "depth_separation.layerwise", "depth three learns random products of gates, layer by layer", 37, headline=True
    ),
    "depth-separation/depth-two": ExperimentEntry(
        "depth_separation.depth_two", "depth two stays at chance on the hard half, with a proof for each network", 25
    ),
    "depth-separation/audit": ExperimentEntry(
        "depth_separation.audit", "which easy halves work: reveals the gates against local correlation", 16
    ),
    "depth-separation/samples": ExperimentEntry(
        "depth_separation.samples", "examples that recover all gates, measured against the sign test", 55
    ),
    "depth-separation/stage-two": ExperimentEntry(
        "depth_separation.stage_two", "four ways to learn the parity of the gates' outputs", 25
    ),
    "depth-separation/mixing": ExperimentEntry(
        "depth_separation.mixing", "examples against the share of the easy half", 7
    ),
    "depth-separation/noise": ExperimentEntry("depth_separation.noise", "examples against flipped labels", 9),
    "depth-separation/pairing": ExperimentEntry(
        "depth_separation.pairing", "the pairing of x and z is unknown: how many examples tell it", 5
    ),
    "depth-separation/end-to-end": ExperimentEntry(
        "depth_separation.end_to_end", "depth three from end to end: which easy halves help, and where it stops", 33
    ),
    "depth-separation/certificates": ExperimentEntry(
        "depth_separation.certificates", "lower bounds on loss and error against all networks we could think of", 13
    ),
    "depth-separation/widths": ExperimentEntry(
        "depth_separation.widths", "minimal width of depth two over n, from above and from below", 22
    ),
    "depth-separation/frontier": ExperimentEntry(
        "depth_separation.frontier", "the largest n that depth two learns, against width and against steps", 22
    ),
    "depth-separation/headline": ExperimentEntry(
        "depth_separation.headline", "the separation in one picture: error on the hard half over n, both depths", 110
    ),
}

BOUNDS = {
    "linear": ("linear:fixed_features", "hinge loss of any N fixed features on k-parities, elementary form"),
    "linear-convexity": ("linear:fixed_features_by_convexity", "the same before the paper's last step"),
    "linear-theorem": ("linear:fixed_features_theorem", "the same as the theorem states it, on the mixture"),
    "kernel": ("linear:kernel", "hinge loss of any kernel with unit features on k-parities"),
    "kernel-dimension": ("linear:kernel_of_dimension", "the same with the dimension of the features"),
    "queries": ("queries:parity_queries", "statistical queries needed for k-parities"),
    "gate-queries": ("queries:gate_product_queries", "statistical queries needed for products of gates"),
    "integer-rank": ("sign_rank:integer_network_rank", "sign-rank of a shallow network with integer weights"),
    "integer-width": ("sign_rank:integer_width", "width of such a network for a function of given sign-rank"),
    "margin-rank": ("sign_rank:margin_network_rank", "sign-rank of a shallow network with real weights and a margin"),
    "margin-width": ("sign_rank:margin_width", "width of such a network for a function of given sign-rank"),
    "threshold": ("discrepancy:threshold_correlation", "correlation of a threshold unit with a product of gates"),
    "hard-tanh": ("discrepancy:hard_tanh_correlation", "correlation of a hard-tanh unit with a product of gates"),
    "variation": ("discrepancy:variation_correlation", "the same for any activation of bounded variation"),
    "depth-two": ("shallow:hinge_of_sizes", "hinge loss of any depth-two network on a product of gates"),
    "depth-two-width": ("shallow:discrepancy_width", "width of a depth-two network with a given correlation"),
    "depth-two-rank": ("shallow:error_from_rank", "error of a depth-two network by the rank of its units"),
    "two-layer": ("upper:two_layer_loss", "loss that gradient descent reaches on sparse parities with a leak"),
    "two-layer-sizes": ("upper:two_layer_sizes", "sizes that suffice for that loss"),
    "one-step": ("upper:one_step_learning", "one large step, then the second layer, on k-parities"),
    "near-chance": ("upper:time_near_chance", "share of the time that a disjoint PolyNet stays near chance"),
    "polynet": ("upper:polynet_steps", "steps of a disjoint PolyNet on a k-parity"),
    "circuit": ("upper:layerwise_circuit", "layerwise training of tree circuits"),
    "circuit-product": ("upper:layerwise_circuit_product", "the same under product distributions"),
    "symmetric": ("upper:symmetric_initialization", "samples and updates from the symmetric initialization"),
}
"""Bounds that need nothing but numbers: where they are in `paritylab.bounds`, and what they are about."""

PAPERS = {
    "hidden-progress": "Hidden Progress in Deep Learning: SGD Learns Parities Near the Computational Limit",
    "learning-parities": "Learning Parities with Neural Networks",
    "symmetry": "On Symmetry and Initialization for Neural Networks",
    "boolean-circuits": "Learning Boolean Circuits with Neural Networks",
    "depth-separation": "[DRAFT] Depth Separation",
}

TRAIN_DEFAULTS: dict[str, Any] = {
    "target": "parity",
    "n": 30,
    "k": None,
    "support": None,
    "network": "relu-mlp",
    "width": None,
    "init": "default",
    "batch": 32,
    "rate": 0.1,
    "loss": "hinge",
    "optimizer": "sgd",
    "decay": 0.0,
    "noise": 0.0,
    "sample": None,
    "seeds": 25,
    "steps": 100_000,
    "every": 10,
    "validation": 8192,
    "float64": False,
}
"""What a run of training can be told by name, on the command line and in a sweep's file, and what it is if not told."""


def nearest(kind: str, name: str, names: Iterable[str]) -> str:
    """One sentence for a name that does not exist, with the nearest that does."""
    if not (names := list(names)):
        return f"There is no {kind} {echo(name)}, and there are no others."
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
    return f"There is no {kind} {echo(name)}; did you mean {close[0]!r}? There are: {', '.join(names)}."
