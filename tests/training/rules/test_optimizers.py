import math

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

from paritylab import MLP, Hinge, root_key
from paritylab.training import ChosenLoss, FirstThen, LinearFall, Optimizer, correlation, logistic, square_loss
from paritylab.training.rules.optimizers import block_normalized_sgd

LEAVES = ("hidden.0.weight", "hidden.0.bias", "hidden.1.weight", "hidden.1.bias", "output.weight", "output.bias")


def network():
    return eqx.filter(MLP((3, 2))(4, key=root_key(0)), eqx.is_inexact_array)


def gradients(step):
    """Some gradient for each step."""
    rng = np.random.default_rng(step)
    return jax.tree.map(lambda leaf: jnp.asarray(rng.normal(size=leaf.shape), jnp.float32), network())


def by_name(tree):
    return dict(zip(LEAVES, (np.asarray(leaf, float) for leaf in jax.tree.leaves(tree)), strict=True))


def two_steps(optimizer):
    """The parameters after two updates, by name."""
    params = network()
    state = optimizer.init(params)
    update = eqx.filter_jit(optimizer.update)
    for step in range(2):
        params, state = update(gradients(step), state, params, jnp.int32(step))
    return by_name(params)


def by_hand(rate, decay, convention):
    """The same for gradient descent, by the formulas of the three conventions.

    `rate` and `decay` are functions of a leaf's name and the step.
    """
    weights = by_name(network())
    for step in range(2):
        for name, gradient in by_name(gradients(step)).items():
            r, d, w = rate(name, step), decay(name, step), weights[name]
            weights[name] = {
                "loss": lambda r=r, d=d, w=w, g=gradient: w - r * (g + 2 * d * w),
                "decoupled": lambda r=r, d=d, w=w, g=gradient: (1 - d) * w - r * g,
                "rate": lambda r=r, d=d, w=w, g=gradient: (1 - r * d) * w - r * g,
            }[convention]()
    return weights


def assert_same(left, right):
    assert left.keys() == right.keys()
    for name in left:
        # Leaves of order 1, rounded to float32 a few times.
        np.testing.assert_allclose(left[name], right[name], atol=1e-6, err_msg=name)


conventions = pytest.mark.parametrize("convention", ["loss", "decoupled", "rate"])


@conventions
@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_one_rate_and_one_decay(convention, decay):
    expected = by_hand(lambda name, step: 0.1, lambda name, step: decay, convention)
    assert_same(two_steps(Optimizer(optax.sgd, rate=0.1, decay=decay, convention=convention)), expected)


@conventions
def test_a_decay_for_each_layer(convention):
    named = {"hidden": 0.3, "hidden.1.bias": 0.7, "output": 0.1}
    decays = dict(zip(LEAVES, (0.3, 0.3, 0.3, 0.7, 0.1, 0.1), strict=True))
    optimizer = Optimizer(optax.sgd, rate=0.2, decay=named, convention=convention)
    assert_same(two_steps(optimizer), by_hand(lambda name, step: 0.2, lambda name, step: decays[name], convention))


@conventions
def test_what_is_not_named_does_not_decay(convention):
    optimizer = Optimizer(optax.sgd, rate=0.2, decay={"hidden.0": 0.3}, convention=convention)
    decay = lambda name, step: 0.3 if name.startswith("hidden.0") else 0.0
    assert_same(two_steps(optimizer), by_hand(lambda name, step: 0.2, decay, convention))


@conventions
def test_a_rate_for_each_layer(convention):
    named = {"hidden": 0.3, "hidden.1.bias": 0.7, "output": 0.1}
    rates = dict(zip(LEAVES, (0.3, 0.3, 0.3, 0.7, 0.1, 0.1), strict=True))
    optimizer = Optimizer(optax.sgd, rate=named, decay=0.2, convention=convention)
    assert_same(two_steps(optimizer), by_hand(lambda name, step: rates[name], lambda name, step: 0.2, convention))


def test_a_rate_for_the_rest():
    rates = dict(zip(LEAVES, (0.3, 0.3, 0.3, 0.3, 0.1, 0.1), strict=True))
    optimizer = Optimizer(optax.sgd, rate={"": 0.3, "output": 0.1})
    assert_same(two_steps(optimizer), by_hand(lambda name, step: rates[name], lambda name, step: 0.0, "loss"))


@pytest.mark.parametrize("rule", [optax.sgd, optax.adam])
def test_layers_without_a_rate_do_not_move(rule):
    before, after = by_name(network()), two_steps(Optimizer(rule, rate={"hidden.1": 0.5}))
    for name in LEAVES:
        moved = not np.array_equal(before[name], after[name])
        assert moved == name.startswith("hidden.1"), name


@conventions
def test_schedules_multiply_rate_and_decay(convention):
    optimizer = Optimizer(
        optax.sgd,
        rate=0.1,
        decay={"": 0.2, "output": 0.4},
        convention=convention,
        schedule=lambda step: 1 / (2 + step.astype(jnp.float32)),
        decay_schedule=lambda step: jnp.where(step == 0, 0.5, 2.0),
    )
    decay = lambda name, step: (0.4 if name.startswith("output") else 0.2) * (0.5 if step == 0 else 2.0)
    assert_same(two_steps(optimizer), by_hand(lambda name, step: 0.1 / (2 + step), decay, convention))


def test_a_schedule_with_a_rate_for_each_layer():
    optimizer = Optimizer(
        optax.sgd, rate={"hidden": 0.1, "output": 0.4}, schedule=lambda step: 1 / (1 + step.astype(jnp.float32))
    )
    rate = lambda name, step: (0.1 if name.startswith("hidden") else 0.4) / (1 + step)
    assert_same(two_steps(optimizer), by_hand(rate, lambda name, step: 0.0, "decoupled"))


def test_momentum_and_decoupled_decay():
    optimizer = Optimizer(lambda rate: optax.sgd(rate, momentum=0.9), rate=0.1, decay=0.2)
    weights, velocity = by_name(network()), dict.fromkeys(LEAVES, 0.0)
    for step in range(2):
        for name, gradient in by_name(gradients(step)).items():
            velocity[name] = 0.9 * velocity[name] + gradient
            weights[name] = (1 - 0.2) * weights[name] - 0.1 * velocity[name]
    assert_same(two_steps(optimizer), weights)


def test_adam_and_decay_in_the_loss():
    optimizer = Optimizer(optax.adam, rate=0.1, decay=0.2, convention="loss")
    weights = by_name(network())
    first, second = dict.fromkeys(LEAVES, 0.0), dict.fromkeys(LEAVES, 0.0)
    for step in range(2):
        for name, gradient in by_name(gradients(step)).items():
            gradient = gradient + 2 * 0.2 * weights[name]
            first[name] = 0.9 * first[name] + 0.1 * gradient
            second[name] = 0.999 * second[name] + 0.001 * gradient**2
            mean, scale = first[name] / (1 - 0.9 ** (step + 1)), second[name] / (1 - 0.999 ** (step + 1))
            weights[name] = weights[name] - 0.1 * mean / (np.sqrt(scale) + 1e-8)
    # 1 - 0.999**t loses three of the seven digits of float32.
    ours = two_steps(optimizer)
    for name in LEAVES:
        np.testing.assert_allclose(ours[name], weights[name], atol=2e-5, err_msg=name)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rate": -1.0}, r"A rate must be a finite number >= 0, got rate=-1\.0\."),
        ({"rate": math.nan}, r"A rate must be a finite number >= 0, got rate=nan\."),
        ({"rate": {"hidden": 0.1, "output": -0.1}}, r"A rate must be a finite number >= 0, got rate=-0\.1\."),
        ({"decay": -0.5}, r"A decay must be a finite number >= 0, got decay=-0\.5\."),
    ],
)
def test_what_cannot_be_says_so(settings, message):
    with pytest.raises(ValueError, match=message):
        Optimizer(**settings)


def test_an_unknown_convention_is_named(said_to_users):
    (said,) = said_to_users("pl.training.Optimizer(convention='weights')").values()
    assert said == "ValueError: There is no decay convention 'weights'; choose one of loss, decoupled, rate."


# Losses.

OUTPUTS = np.array([-3.0, -1.0, -0.4, 0.0, 0.4, 1.0, 3.0])

FORMULAS = {
    "hinge": (Hinge(), lambda y, o: max(0.0, 1 - y * o)),
    "hinge of margin 0.5": (Hinge(0.5), lambda y, o: max(0.0, 0.5 - y * o)),
    "hinge of margin 0": (Hinge(0.0), lambda y, o: max(0.0, -y * o)),
    "square": (square_loss, lambda y, o: (y - o) ** 2),
    "logistic": (logistic, lambda y, o: math.log(1 + math.exp(-y * o))),
    "correlation": (correlation, lambda y, o: -y * o),
    "the second of two": (ChosenLoss((Hinge(), square_loss), 1), lambda y, o: (y - o) ** 2),
}


@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize("loss", FORMULAS)
def test_losses_are_their_formulas(loss, y):
    ours, formula = FORMULAS[loss]
    values = jax.vmap(ours, in_axes=(None, 0))(jnp.float32(y), jnp.asarray(OUTPUTS, jnp.float32))
    np.testing.assert_allclose(values, [formula(y, output) for output in OUTPUTS], rtol=1e-6, atol=1e-7)


def slope(loss, y, output):
    return float(jax.grad(loss, argnums=1)(jnp.float32(y), jnp.float32(output)))


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_the_slope_of_the_hinge(y):
    assert slope(Hinge(), y, 0.0) == -y
    assert slope(Hinge(), y, y) == 0  # the corner
    assert slope(Hinge(), y, 0.999 * y) == -y
    assert slope(Hinge(), y, 2 * y) == 0
    assert slope(Hinge(0.5), y, 0.5 * y) == 0
    assert slope(Hinge(2.0), y, y) == -y


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_the_slopes_of_smooth_losses(y):
    assert slope(square_loss, y, 0.5) == pytest.approx(-2 * (y - 0.5), rel=1e-6)
    assert slope(logistic, y, 0.5) == pytest.approx(-y / (1 + math.exp(0.5 * y)), rel=1e-6)
    assert slope(logistic, y, -100 * y) == -y  # far out on the wrong side: no overflow
    assert slope(correlation, y, 7.0) == -y


def test_a_negative_margin_says_so():
    with pytest.raises(ValueError, match=r"margin >= 0, got margin=-1\.0"):
        Hinge(-1.0)


def test_blocks_are_divided_by_the_norms_of_the_others():
    """By the chain rule on one example of a disjoint PolyNet: every entry of the step is at most the rate."""
    weight = jr.normal(root_key(1), (3, 4))
    x = jr.rademacher(root_key(2), (3, 4), jnp.float32)
    gradient = jax.grad(lambda w: jnp.prod(jnp.sum(w * x, axis=1)))(weight)
    update, _ = block_normalized_sgd(0.1).update(gradient, block_normalized_sgd(0.1).init(weight), weight)
    norms, factors = np.abs(np.asarray(weight)).sum(axis=1), np.asarray((weight * x).sum(axis=1))
    for i in range(3):
        shares = np.delete(factors / norms, i)
        expected = -0.1 * np.prod(shares) * np.asarray(x[i])
        np.testing.assert_allclose(update[i], expected, rtol=1e-5)
    assert np.abs(update).max() < 0.1


def test_blocks_are_rows():
    with pytest.raises(ValueError, match="rows of a matrix of weights, got weights of shape"):
        optimizer = Optimizer(block_normalized_sgd, 0.1)
        optimizer.update(jnp.ones(4), optimizer.init(jnp.ones(4)), jnp.ones(4), jnp.int32(0))


def test_schedules_are_computed_in_the_precision_of_training():
    """A third is no number of float32: in float64 it is that of float64."""
    step = jnp.asarray(1)
    assert LinearFall(3)(step).dtype == FirstThen(1.0, 0.1)(step).dtype == jnp.float32
    with jax.enable_x64(True):
        assert float(LinearFall(3)(step)) == 1 - 1 / 3 and float(FirstThen(1.0, 0.1)(step)) == 0.1
