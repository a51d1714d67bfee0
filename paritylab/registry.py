"""Names for the command line, free of JAX: what exists, and which setting of which paper it is."""

import csv
import difflib
import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .demands import echo


class Row(NamedTuple):
    """A thing with a name: all that the command line, sweep files, `list`, `analyze` and the docs know of it.

    `paritylab list` prints it, and a test compares it with the constructor.
    """

    make: str
    """Its constructor, as `room:name`."""
    takes: str
    """What that is given, in order; `key` where it is drawn at random."""
    what: str
    """One phrase for people."""
    settings: str = ""
    """What the papers call it."""
    activation: str = ""
    """Of a network: the name of its activation."""
    width: int = 100
    """Of a network: its width if none is given."""
    by_support: str = ""
    """Of a target: the constructor that takes n and a support instead."""

    def load(self) -> Any:
        """The constructor."""
        return load(self.make)

    def has(self, setting: str) -> bool:
        """Whether a setting matters to it."""
        return setting in self.takes.split() or (
            setting == "k" and self.activation != "" and ACTIVATIONS[self.activation].has("k")
        )

    @property
    def sizes(self) -> list[str]:
        """Of a network: what a list of widths says, if that is more than one thing."""
        return [each for each in self.takes.split() if each not in ("k", "width")]


def load(place: str) -> Any:
    """What `room:name` stands for.

    >>> load("targets:majority").__name__
    'majority'
    """
    room, _, name = place.partition(":")
    return getattr(importlib.import_module(f"{__package__}.{room}"), name)


def find(kind: str, name: str, rows: Mapping[str, Any]) -> Any:
    """The row of a name; a sentence with the nearest name if there is none."""
    if name not in rows:
        raise ValueError(nearest(kind, name, rows))
    return rows[name]


TARGETS = {
    "parity": Row(
        "targets:random_parity",
        "n k key",
        "product of k coordinates, at random per seed or by --support",
        by_support="targets:Parity",
    ),
    "disjoint-parity": Row(
        "targets:random_disjoint_parity",
        "n k key",
        "product of one coordinate from each of k blocks, at random per seed",
    ),
    "full-parity": Row("targets:full_parity", "n", "product of all coordinates"),
    "majority": Row("targets:majority", "n", "sign of the sum, n odd"),
    "random-symmetric": Row("targets:random_symmetric", "n key", "a fair sign per weight, at random per seed"),
    "staircase-sign": Row(
        "targets:random_staircase_sign",
        "n k key",
        "sign of x0 + x0 x1 + ... of k coordinates, k odd, at random per seed",
    ),
}

ACTIVATIONS = {
    "relu": Row("networks:relu", "", "max(z, 0)"),
    "relu6": Row("networks:relu6", "", "min(max(z, 0), 6)"),
    "sigmoid": Row("networks:sigmoid", "", "1 / (1 + exp(-z))"),
    "gelu": Row("networks:gelu", "", "z times the probability that a Gaussian is below z"),
    "square": Row("networks:square", "", "z^2"),
    "power": Row("networks:Power", "k", "z^k"),
    "zigzag": Row("networks:Zigzag", "k", "k linear pieces between -1 and 1"),
    "oscillating": Row("networks:OscillatingPolynomial", "k", "a polynomial through the parity of k bits"),
    "triangle": Row("networks:TriangleWave", "k", "the zigzag without end"),
    "sinusoid": Row("networks:Sinusoid", "k", "a sine through the parity of k bits"),
}

NETWORKS = {
    "relu-mlp": Row("networks:MLP", "width", "two layers, ReLU", "(i) width 10, (ii) 100, (iii) 1000, (*i) k", "relu"),
    "relu6-mlp": Row("networks:MLP", "width", "two layers, ReLU6", "", "relu6"),
    "sigmoid-mlp": Row("networks:MLP", "width", "two layers, sigmoid", "", "sigmoid"),
    "poly-mlp": Row("networks:MLP", "width", "two layers, z^k", "(iv) width 10, (v) 100, (vi) 1000, (*ii) k", "power"),
    "zigzag-mlp": Row("networks:MLP", "width", "two layers, k-zigzag", "(vii) width 1", "zigzag", 1),
    "oscillating-mlp": Row(
        "networks:MLP", "width", "two layers, oscillating polynomial", "(viii) width 1", "oscillating", 1
    ),
    "triangle-mlp": Row("networks:MLP", "width", "two layers, infinite zigzag", "(ix) width 1", "triangle", 1),
    "sinusoid-mlp": Row("networks:MLP", "width", "two layers, sinusoid", "(x) width 1", "sinusoid", 1),
    "zigzag-neuron": Row("networks:Neuron", "", "one neuron, k-zigzag", "(xi)", "zigzag"),
    "oscillating-neuron": Row("networks:Neuron", "", "one neuron, oscillating polynomial", "(xii)", "oscillating"),
    "triangle-neuron": Row("networks:Neuron", "", "one neuron, infinite zigzag", "(xiii)", "triangle"),
    "sinusoid-neuron": Row("networks:Neuron", "", "one neuron, sinusoid", "(xiv)", "sinusoid"),
    "polynet": Row("networks:PolyNet", "k", "product of k affine functions", "(xv)"),
    "disjoint-polynet": Row(
        "networks:DisjointPolyNet", "k", "product of k linear functions of k blocks", "Section 4.1"
    ),
    "transformer": Row(
        "networks:Transformer",
        "embedding attention heads",
        "one attention block",
        "(*iii) embedding 1024, attention 8, 128 heads",
    ),
    "quadratic-mlp": Row("networks:MLP", "width", "two or more layers, z^2", "C.7 width 2,1 or 10,10,1", "square"),
}
"""All of them take an initialization, too."""

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

INITIALIZATIONS = {
    "uniform": Row("networks:UniformInitialization", "", "uniform between +-1 / sqrt(fan-in), the default"),
    "gaussian": Row("networks:GaussianInitialization", "", "Gaussian of variance 2 / fan-in"),
    "bernoulli": Row("networks:BernoulliInitialization", "", "+-1 / sqrt(fan-in), at random"),
    "glorot": Row("networks:GlorotInitialization", "", "uniform between +-sqrt(6 / (fan-in + fan-out)), biases 0"),
}

LOSSES = {
    "hinge": Row("training:Hinge", "", "max(0, 1 - y f)"),
    "square": Row("training:square_loss", "", "(y - f)^2"),
    "ramp": Row("training:ramp", "", "min(1, max(0, (1 - y f) / 2))"),
    "logistic": Row("training:logistic", "", "log(1 + exp(-y f))"),
    "correlation": Row("training:correlation", "", "-y f"),
}

CIRCUIT_DISTRIBUTIONS = {
    "uniform": Row("distributions:Product", "target mean", "independent coordinates, all of one mean"),
    "generative": Row("distributions:Generative", "target", "inputs drawn from the label down to the leaves"),
}
GATE_DISTRIBUTIONS = {
    "uniform": Row("distributions:Uniform", "target", "every point equally likely: no easy half"),
    "equal": Row("distributions:equal_gates", "target", "E1: all gates equal one fair sign"),
    "stealth": Row("distributions:stealth", "target", "E7: every single pair is exactly uniform"),
    "independent": Row("distributions:independent_gates", "target", "E3: independent gates of mean 1 - 1 / pairs"),
    "sparse": Row("distributions:sparse_pairs", "target", "E5: a pair is rarely other than (+,+)"),
}
"""Easy halves, which are mixed with the uniform half."""


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
    cut: str = ""
    """What the settings at paper scale leave out of the paper's."""


def _experiments() -> dict[str, ExperimentEntry]:
    """The rows of `experiments/experiments.csv`."""
    with open(Path(__file__).parent / "experiments" / "experiments.csv", newline="") as file:
        return {
            row["name"]: ExperimentEntry(
                row["module"],
                row["title"],
                float(row["quick_seconds"]),
                row["headline"] == "yes",
                row["settings"] or "SETTINGS",
                row["cut"],
            )
            for row in csv.DictReader(file)
        }


EXPERIMENTS = _experiments()

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
    "depth-two-units": ("protocols:protocol_error", "error of a depth-two network by the number of its units alone"),
    "depth-two-units-width": ("protocols:protocol_width", "units of a depth-two network with a given error"),
    "unit-gates": ("units:unit_gate_examples", "examples from which single units become all gates of a product"),
    "two-layer": ("upper:two_layer_loss", "loss that gradient descent reaches on sparse parities with a leak"),
    "two-layer-sizes": ("upper:two_layer_sizes", "sizes that suffice for that loss"),
    "one-step": ("upper:one_step_learning", "one large step, then the second layer, on k-parities"),
    "near-chance": ("upper:time_near_chance", "share of the time that a disjoint PolyNet stays near chance"),
    "convex-descent": ("upper:convex_descent", "how far SGD on a convex loss is above the best weights"),
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
    "laws": "Laws of hidden progress, of our own: no paper, see docs/laws.md",
    "followups": "Results that came after, each of a paper of its own, which its title names",
}

TRAIN_DEFAULTS: dict[str, Any] = {
    "target": "parity",
    "n": 30,
    "k": None,
    "support": None,
    "mean": 0.0,
    "share": 1.0,
    "encoding": "signs",
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
    "fused": True,
}
"""What a run of training can be told by name, on the command line and in a sweep's file, and what it is if not told."""


def nearest(kind: str, name: str, names: Iterable[str]) -> str:
    """One sentence for a name that does not exist, with the nearest that does."""
    if not (names := list(names)):
        return f"There is no {kind} {echo(name)}, and there are no others."
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
    return f"There is no {kind} {echo(name)}; did you mean {close[0]!r}? There are: {', '.join(names)}."
