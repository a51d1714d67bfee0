"""Which runs a fused kernel can train, and why it cannot train the others: asked by exact types, never by looks."""

from typing import Any

import numpy as np
import optax

from ...distributions.base import AbstractDistribution
from ...distributions.inputs import Product, Uniform
from ...distributions.wrappers import FlippedLabels
from ...networks import activations as functions
from ...networks.mlp import FeedForward, Layer, OneNeuron
from ...networks.polynet import PolyNetwork
from ...targets.parity import Parity
from ...targets.polynomials import PolynomialSign
from ...targets.symmetric import Symmetric
from ..rules.gradient_descent import GradientDescent, Problem, network_made_by
from ..rules.losses import ChosenLoss, Hinge, correlation, logistic, square_loss
from ..rules.optimizers import constant
from ..rules.validation import FIRST_DRAW
from .kernels import ACTIVATIONS, LOSSES, MOST_SHARED, PLAIN, Family, Kernel

LARGEST = {"weights": 160, "units": 1024, "batch": 15, "terms": 16}
"""Weights of a thread, units of a network, examples of a batch that neither tensor cores nor whole threads take, and
terms of a polynomial, which is computed for every example."""


class NotCovered(Exception):
    """Why the general engine trains a run; the text completes 'because ...'."""


def kernel_for(rule: Any, problem: Problem) -> Kernel:
    """The kernel of a rule, or `NotCovered`."""
    if type(rule) is not GradientDescent:
        raise NotCovered("it jumps from one violation of the margin to the next")
    if rule.sample is not None or rule.float64:
        raise NotCovered("it trains on a finite sample" if rule.sample is not None else "it trains in float64")
    if 0 < rule.validation <= FIRST_DRAW:
        raise NotCovered(f"it has no more than {FIRST_DRAW} validation points")
    if problem.learned is not None:
        raise NotCovered("it has a criterion of its own for what was learned")
    distribution = problem.distribution
    inputs = inputs_of(distribution)
    if inputs is None or type(inputs.target) not in (Parity, Symmetric, PolynomialSign):
        raise NotCovered(
            "its examples are not independent signs labelled by a parity, a symmetric function or a polynomial's sign"
        )
    family, units, activation = _network(network_made_by(problem.network, distribution.n))
    number, scale, of_degree = _activation(activation)
    kernel = Kernel(
        family=family,
        n=distribution.n,
        units=units,
        batch=rule.batch,
        activation=number,
        scale=scale,
        of_degree=of_degree,
        loss=_loss(problem.loss),
        parity=type(inputs.target) is Parity,
        terms=_terms(inputs.target),
        uniform=type(inputs) is Uniform,
        noisy=inputs is not distribution,
        decay=_decays(problem.optimizer),
        shared_points=rule.validation if type(inputs) is Uniform else 0,
        checked=rule.validation > 0,
    )
    _check_size(kernel)
    return kernel


def _terms(target: Any) -> int:
    """Of the polynomial whose sign it is."""
    if type(target) is not PolynomialSign:
        return 0
    if (terms := np.shape(target.polynomial.coefficients)[-1]) > LARGEST["terms"]:
        raise NotCovered(f"its polynomial has more than {LARGEST['terms']} terms")
    return int(terms)


def inputs_of(distribution: AbstractDistribution) -> Uniform | Product | None:
    """The distribution of inputs under label noise, if it is one of independent signs."""
    inputs = distribution.base if type(distribution) is FlippedLabels else distribution
    return inputs if type(inputs) in (Uniform, Product) else None  # type: ignore[return-value]


def _network(made: Any) -> tuple[Family, int, Any]:
    """The family, the units and the activation of a network; a PolyNet has none."""
    parts: tuple[Any, ...]
    found: tuple[Family, int, Any]
    if type(made) is FeedForward and len(made.hidden) == 1:
        parts, found = (made.hidden[0], made.output), ("mlp", made.hidden[0].bias.size, made.activation)
        if made.output.bias.ndim:
            raise NotCovered("its network has several outputs")
    elif type(made) is OneNeuron:
        parts, found = (made.hidden,), ("neuron", 1, made.activation)
    elif type(made) is PolyNetwork:
        parts, found = (made,), ("polynet", made.weight.shape[0], None)
    else:
        raise NotCovered("its network is not a two-layer MLP, a neuron or a PolyNet of the lab")
    arrays = [array for part in parts for array in (part.weight, part.bias)]
    if any(type(part) not in (Layer, PolyNetwork) for part in parts) or any(a.dtype != np.float32 for a in arrays):
        raise NotCovered("its network is not of float32 layers")
    return found


def _activation(given: Any) -> tuple[int, float, bool]:
    """Its number, its scale, and whether it has a degree."""
    if given is None:
        return ACTIVATIONS.index("identity"), 1.0, False
    name = type(given).__name__
    if name in ACTIVATIONS and type(given) is getattr(functions, name, None):
        return ACTIVATIONS.index(name), float(getattr(given, "scale", 1.0)), True
    for number, name in enumerate(PLAIN):
        if given is getattr(functions, name):
            return number, 1.0, False
    raise NotCovered("its activation is not one of the lab's")


def _loss(given: Any) -> int:
    """Its number."""
    if type(given) is not ChosenLoss:
        return number_of_loss(given)
    for each in given.losses:
        number_of_loss(each)
    if sum(type(each) is Hinge for each in given.losses) > 1:
        raise NotCovered("its loss is chosen among several hinge losses")
    return LOSSES.index("ChosenLoss")


def number_of_loss(given: Any) -> int:
    """That of a loss which is none of several."""
    named = {id(each): each.__name__ for each in (square_loss, logistic, correlation)}
    name = "Hinge" if type(given) is Hinge else named.get(id(given))
    if name is None:
        raise NotCovered("its loss is none of hinge, square, logistic and correlation loss")
    return LOSSES.index(name)


def _decays(optimizer: Any) -> bool:
    if optimizer.rule is not optax.sgd:
        raise NotCovered("its optimizer is not plain SGD")
    if optimizer.schedule is not constant or optimizer.decay_schedule is not constant:
        raise NotCovered("its rate or its decay has a schedule")
    return bool(optimizer.decay)


def _check_size(kernel: Kernel) -> None:
    if kernel.layout == "tiles":
        if kernel.shared_bytes > MOST_SHARED:
            raise NotCovered("a step does not fit into shared memory")
        return
    per = -(-kernel.units // kernel.threads)
    if kernel.units > LARGEST["units"] or per * kernel.n > LARGEST["weights"]:
        raise NotCovered("its weights do not fit into registers")
    if not kernel.whole and kernel.batch > LARGEST["batch"]:
        raise NotCovered(f"its batch is larger than {LARGEST['batch']}, and its network too large for tensor cores")
