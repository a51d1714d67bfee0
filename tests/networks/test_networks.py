import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from exports import row, things, without_a_row
from scipy.special import erf, softmax

from paritylab import MLP, Neuron, PolyNet, Transformer, networks, root_key
from paritylab.cube import cube
from paritylab.networks import (
    BernoulliInitialization,
    CausalTransformer,
    ChosenInitialization,
    DisjointPolyNet,
    FourierFeatures,
    FrozenGates,
    GaussianInitialization,
    GlorotInitialization,
    Linearized,
    LocalPairs,
    MeanFieldInitialization,
    NeuralGates,
    NormalInitialization,
    OneMatrix,
    OscillatingPolynomial,
    PatchScores,
    PerturbedSigns,
    PooledGates,
    Power,
    RandomFeatures,
    SignInitialization,
    Sinusoid,
    SparseInitialization,
    Staircase,
    StandardNormalInitialization,
    TernaryInitialization,
    TernaryPairs,
    TriangleWave,
    UniformInitialization,
    Zigzag,
    relu6,
    sigmoid,
    square,
)
from paritylab.networks.activations import gelu
from paritylab.networks.base import outputs
from paritylab.networks.mlp import paired

RECIPES_UNDER_TEST = {
    "relu MLP": row(MLP, 7),
    "deep MLP": row(MLP, (5, 4, 3), initialization=GaussianInitialization()),
    "paired MLP": row(MLP, 6, paired=True),
    "relu6 MLP": row(MLP, 7, relu6, BernoulliInitialization()),
    "sigmoid MLP": row(MLP, 7, sigmoid),
    "square MLP": row(MLP, (4, 2), square),
    "power MLP": row(MLP, 7, Power(3)),
    "zigzag MLP": row(MLP, 1, Zigzag(3)),
    "triangle MLP": row(MLP, 2, TriangleWave(4)),
    "oscillating MLP": row(MLP, 2, OscillatingPolynomial(3), GlorotInitialization()),
    "sinusoid MLP": row(MLP, 2, Sinusoid(3, scale=2.0)),
    "zigzag neuron": row(Neuron, Zigzag(2)),
    "sinusoid neuron": row(Neuron, Sinusoid(3), GaussianInitialization()),
    "PolyNet": row(PolyNet, 3),
    "disjoint PolyNet": row(DisjointPolyNet, 3),
    "ternary pairs": row(TernaryPairs, 6, 3),
    "ternary pairs as printed": row(TernaryPairs, 6, 3, "negated"),
    "transformer": row(Transformer, embedding=8, attention=3, heads=2),
    "transformer with a wide MLP": row(Transformer, embedding=5, attention=2, heads=3, hidden=9),
    "random features": row(RandomFeatures, 7),
    "Fourier features": row(FourierFeatures, 7, 2.0),
    "frozen gates": row(FrozenGates, 7),
    "linearized MLP": row(Linearized, MLP(7)),
    "local pairs": row(LocalPairs, 2, (5,)),
    "neural gates": row(NeuralGates, 6, 0.7),
    "pooled gates": row(PooledGates, 6, scale=0.7),
    "scores of patches": row(PatchScores, (5,), 3),
    "one matrix": row(OneMatrix, 3),
    "one matrix by levels": row(OneMatrix, 3, "level", 0.1),
    "causal transformer": row(CausalTransformer, 8, 2, 2),
    "causal transformer with steps": row(CausalTransformer, 8, 1, 2, hidden=5, outputs=3),
    "staircase": row(Staircase),
    "staircase of sigmoids": row(Staircase, 4, sigmoid, "output"),
}
POWERS_OF_TWO = (NeuralGates, PooledGates)
"""Recipes for n = 8; the others are asked for n = 6."""
FIXED = (Staircase, OneMatrix)
"""Recipes that draw nothing."""


def test_every_recipe_is_under_test():
    assert not without_a_row(networks, "recipe", RECIPES_UNDER_TEST.values())


@pytest.mark.parametrize("row", RECIPES_UNDER_TEST.values(), ids=RECIPES_UNDER_TEST)
def test_every_recipe_keeps_the_contract(row):
    n = 8 if row.export in POWERS_OF_TWO else 6
    make = eqx.filter_jit(lambda key: row.thing(n, key=key))
    network, same, other = make(root_key(0)), make(root_key(0)), make(root_key(1))
    arrays = [jax.tree.leaves(eqx.filter(each, eqx.is_inexact_array)) for each in (network, same, other)]
    assert all(array.dtype == jnp.float32 for array in arrays[0])
    assert all(np.array_equal(left, right) for left, right in zip(*arrays[:2], strict=True))
    differ = any(not np.array_equal(left, right) for left, right in zip(arrays[0], arrays[2], strict=True))
    assert differ != (row.export in FIXED)
    # One key, one draw, alone or among others.
    drawn = lambda key: jax.tree.leaves(eqx.filter(row.thing(n, key=key), eqx.is_inexact_array))
    keys = jr.split(root_key(2), 3)
    together, alone = jax.jit(jax.vmap(drawn))(keys), [jax.jit(drawn)(key) for key in keys]
    for leaf, *each in zip(together, *alone, strict=True):
        np.testing.assert_array_equal(leaf, np.stack(each))

    x = cube(n)
    plain = network(x[5])  # one point, operation by operation
    several = () if getattr(row.thing, "outputs", None) is None else (row.thing.outputs,)
    assert plain.shape == several and plain.dtype == jnp.float32
    values = eqx.filter_jit(outputs)(network, x)
    assert values.shape == (2**n, *several)
    # The same sums in another order: a few of 6e-8 relative to terms of order 1.
    np.testing.assert_allclose(values[5], plain, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(eqx.filter_jit(eqx.filter_vmap(network))(x), values, rtol=1e-6, atol=1e-6)

    grads = eqx.filter_jit(eqx.filter_grad(lambda network: outputs(network, x[:5]).sum()))(network)
    leaves = jax.tree.leaves(grads)
    assert all(np.all(np.isfinite(leaf)) for leaf in leaves)
    assert any(np.any(leaf != 0) for leaf in leaves)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MLP(0), r"width of at least 1, got width=0"),
        (lambda: MLP((3, -1)), r"width of at least 1, got width=-1"),
        (lambda: MLP(5, paired=True), r"Paired units come in twos, got width=5\. Use an even width\."),
        (lambda: Transformer(embedding=0), r"width of at least 1, got width=0"),
        (lambda: Transformer(heads=0), r"width of at least 1, got width=0"),
        (lambda: Transformer(hidden=0), r"width of at least 1, got width=0"),
        (lambda: PolyNet(0), r"at least one factor, got degree=0"),
        (lambda: DisjointPolyNet(-1), r"at least one factor, got degree=-1"),
        (lambda: DisjointPolyNet(3)(8, key=root_key(0)), r"got n=8 and degree=3\. Make n a multiple of the degree\."),
        (lambda: Power(0), r"1 <= k <= 15, got k=0"),
        (lambda: Zigzag(16), r"1 <= k <= 15, got k=16"),
        (lambda: TriangleWave(-1), r"1 <= k <= 15, got k=-1"),
        (lambda: OscillatingPolynomial(16), r"1 <= k <= 15, got k=16"),
        (lambda: Sinusoid(0), r"1 <= k <= 15, got k=0"),
    ],
)
def test_what_cannot_be_says_so(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# Formulas, by plain numpy.


def test_a_deep_mlp_is_its_formula():
    network = MLP((5, 4), sigmoid)(6, key=root_key(0))
    layers = [(np.asarray(layer.weight, float), np.asarray(layer.bias, float)) for layer in network.hidden]
    assert [weight.shape for weight, _ in layers] == [(5, 6), (4, 5)]
    for x in np.asarray(cube(6), float)[[0, 9, 63]]:
        z = x
        for weight, bias in layers:
            z = 1 / (1 + np.exp(-(weight @ z + bias)))
        expected = np.asarray(network.output.weight, float) @ z + float(network.output.bias)
        assert float(network(jnp.asarray(x, jnp.float32))) == pytest.approx(expected, abs=1e-6)


def test_negated_pairs_are_a_clipped_line_each():
    """u sigma(z) - u sigma(-z) = u clip(z, -6, 6): the start that learning-parities prints is not zero."""
    network, x = TernaryPairs(8, 3, "negated")(9, key=root_key(0)), np.asarray(cube(9), float)
    weight, bias, u = (
        np.asarray(each, float)[:4] for each in (*network.hidden[0].__dict__.values(), network.output.weight)
    )
    np.testing.assert_allclose(outputs(network, cube(9)), np.clip(x @ weight.T + bias, -6, 6) @ u, atol=1e-4)
    np.testing.assert_allclose(outputs(TernaryPairs(8, 3)(9, key=root_key(0)), cube(9)), 0, atol=1e-5)


def test_polynets_are_their_formulas():
    x = np.asarray(cube(6), float)
    poly = PolyNet(3)(6, key=root_key(0))
    expected = np.prod(x @ np.asarray(poly.weight, float).T + np.asarray(poly.bias, float), axis=1)
    np.testing.assert_allclose(outputs(poly, cube(6)), expected, atol=1e-6)
    disjoint = DisjointPolyNet(3)(6, key=root_key(0))
    factors = [x[:, 2 * i : 2 * i + 2] @ np.asarray(disjoint.weight[i], float) for i in range(3)]
    np.testing.assert_allclose(outputs(disjoint, cube(6)), np.prod(factors, axis=0), atol=1e-6)


def test_the_gradient_of_a_polynet_survives_factors_that_are_zero():
    poly = eqx.tree_at(
        lambda net: (net.weight, net.bias), PolyNet(3)(4, key=root_key(0)), (jnp.zeros((3, 4)), jnp.ones(3))
    )
    poly = eqx.tree_at(lambda net: net.bias, poly, jnp.array([0.0, 2.0, 3.0]))
    grad = eqx.filter_grad(lambda net: net(jnp.ones(4)))(poly)
    assert grad.bias.tolist() == [6, 0, 0]


@pytest.mark.parametrize("hidden", [None, 7])
def test_the_transformer_is_attention_over_all_tokens(hidden):
    n = 6
    with jax.enable_x64(True):
        drawn = Transformer(embedding=5, attention=3, heads=4, hidden=hidden, initialization=GaussianInitialization())
        network = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), drawn(n, key=root_key(0)))
        values = np.asarray(outputs(network, cube(n).astype(jnp.float64)))
    w = {name: np.asarray(array) for name, array in vars(network).items()}
    minus, plus, cls = w["tokens"]
    for x, value in zip(np.asarray(cube(n)), values, strict=True):
        embedded = np.where(x[:, None] > 0, plus, minus) + w["positions"]
        tokens = np.concatenate([cls[None], embedded])
        q, k, v = (np.einsum("te,hea->hta", tokens, w[name]) for name in ("query", "key", "value"))
        attention = softmax(np.einsum("hta,hsa->hts", q, k) / np.sqrt(q.shape[-1]), axis=-1)
        z = tokens + np.einsum("hts,hsa,hae->te", attention, v, w["out"])
        inner = z @ w["first_weight"].T + w["first_bias"]
        z = z + (inner * (1 + erf(inner / np.sqrt(2))) / 2) @ w["second_weight"].T + w["second_bias"]
        assert value == pytest.approx(z[0] @ w["head"], rel=1e-10, abs=1e-10)


# Initializations. Of N independent draws of w the mean has sigma sqrt(E w^2 / N), and the mean of w^2 has
# sigma sqrt((E w^4 - (E w^2)^2) / N).

INITIALIZATIONS_UNDER_TEST = {
    "uniform": row(UniformInitialization),
    "Gaussian": row(GaussianInitialization),
    "standard normal": row(StandardNormalInitialization),
    "Bernoulli": row(BernoulliInitialization),
    "Glorot": row(GlorotInitialization),
    "signs": row(SignInitialization, 3),
    "ternary": row(TernaryInitialization, 6, 3),
    "perturbed signs": row(PerturbedSigns, 0.5),
    "perturbed signs, Gaussians alone": row(PerturbedSigns, np.inf),
    "sparse": row(SparseInitialization, 2),
    "normal": row(NormalInitialization, 0.1),
    "mean field": row(MeanFieldInitialization),
    "chosen": row(ChosenInitialization, (UniformInitialization(), SignInitialization(2)), 1),
}


def test_every_initialization_is_under_test():
    assert not without_a_row(networks, "initialization", INITIALIZATIONS_UNDER_TEST.values())


@pytest.mark.parametrize("start", things(INITIALIZATIONS_UNDER_TEST).values(), ids=INITIALIZATIONS_UNDER_TEST)
def test_every_initialization_keeps_the_contract(start):
    for part, shape in itertools.product(("weights", "biases", "outputs"), [(5, 6), (6,)]):
        draw = lambda key, part=part, shape=shape: getattr(start, part)(key, shape, 6)
        drawn = draw(root_key(0))
        assert drawn.shape == shape and drawn.dtype == jnp.float32 and np.all(np.isfinite(drawn))
        # One key, one draw: compiled, and among others.
        keys = jr.split(root_key(1), 3)
        alone = [jax.jit(draw)(key) for key in keys]
        # Another program may round a product and a sum once or twice: entries are at most about 1.
        np.testing.assert_allclose(alone[0], draw(keys[0]), rtol=3e-7, atol=1e-7)
        np.testing.assert_allclose(jax.jit(jax.vmap(draw))(keys), np.stack(alone), rtol=3e-7, atol=1e-7)


NETWORKS, INPUTS, WIDTH = 300, 40, 25

MOMENTS = {
    # initialization: E w^2 and E w^4 at fan-in f
    "uniform": lambda f: (1 / (3 * f), 1 / (5 * f**2)),
    "Gaussian": lambda f: (2 / f, 3 * (2 / f) ** 2),
    "Bernoulli": lambda f: (1 / f, 1 / f**2),
    "perturbed signs": lambda f: (1 / f, (0.8**2 + 6 * 0.8 * 0.2 + 3 * 0.2**2) / f**2),  # 1 and .25, over their sum
    "perturbed signs, Gaussians alone": lambda f: (1 / f, 3 / f**2),
    "normal": lambda f: (0.1**2, 3 * 0.1**4),
}


def many(recipe):
    """Networks of many keys, stacked."""
    return eqx.filter_jit(eqx.filter_vmap(lambda key: recipe(INPUTS, key=key)))(jr.split(root_key(0), NETWORKS))


@pytest.mark.parametrize("name", MOMENTS)
def test_weights_and_biases_have_the_moments_of_their_fan_in(name):
    initialization = INITIALIZATIONS_UNDER_TEST[name].thing
    networks = many(MLP(WIDTH, initialization=initialization))
    (hidden,) = networks.hidden
    layers = [
        (hidden.weight, INPUTS),
        (hidden.bias, INPUTS),
        (networks.output.weight, WIDTH),
        (networks.output.bias, WIDTH),
    ]
    for drawn, fan_in in layers:
        w = np.asarray(drawn, float).reshape(-1)
        second, fourth = MOMENTS[name](fan_in)
        assert abs(w.mean()) <= 5 * math.sqrt(second / w.size)
        # 1e-6: float32, for the case without variance.
        assert abs((w**2).mean() - second) <= 5 * math.sqrt(max(0, fourth - second**2) / w.size) + 1e-6 * second
        if name == "uniform":
            assert np.abs(w).max() <= fan_in**-0.5
        if name == "Bernoulli":
            assert len(np.unique(w)) == 2
    # Weights of one network are not copies of each other, nor of those of another.
    if name != "Bernoulli":
        assert len(np.unique(hidden.weight)) > 0.98 * hidden.weight.size


def test_signs_without_perturbation_are_signs_and_a_small_one_is_small():
    draw = lambda sigma: np.asarray(PerturbedSigns(sigma).weights(root_key(0), (2000,), 4)) * 2
    assert set(draw(0.0)) == {-1.0, 1.0}
    assert np.abs(draw(1e-3) - draw(0.0)).max() < 6e-3


def test_a_sparse_unit_sees_a_random_set_of_inputs():
    weights = np.asarray(SparseInitialization(3).weights(root_key(0), (4000, 8), 8))
    seen = weights != 0
    assert np.all(seen.sum(axis=1) == 3) and set(np.abs(weights[seen])) == {np.float32(3**-0.5)}
    assert np.abs(seen.mean(axis=0) - 3 / 8).max() < 5 * math.sqrt(3 / 8 * 5 / 8 / 4000)
    with pytest.raises(ValueError, match="cannot have nonzero=9"):
        SparseInitialization(9).weights(root_key(0), (4, 8), 8)


@pytest.mark.parametrize("which", range(3))
def test_a_chosen_initialization_is_the_one_that_is_chosen(which):
    starts = (UniformInitialization(), TernaryInitialization(20, 3), GlorotInitialization())
    chosen = MLP(4, initialization=ChosenInitialization(starts, which))(20, key=root_key(3))
    expected = MLP(4, initialization=starts[which])(20, key=root_key(3))
    assert eqx.tree_equal(chosen, expected)
    with pytest.raises(ValueError, match="below 3, got which=3"):
        ChosenInitialization(starts, 3)


def test_glorot_weights_have_the_variance_of_both_fans_and_no_biases():
    networks = many(MLP(WIDTH, initialization=GlorotInitialization()))
    (hidden,) = networks.hidden
    for drawn, fans in ((hidden.weight, INPUTS + WIDTH), (networks.output.weight, WIDTH + 1)):
        w = np.asarray(drawn, float)
        variance = 2 / fans  # c^2/3 with c^2 = 6 / fans; the fourth moment is c^4/5 = 9/5 variance^2
        assert np.abs(w).max() <= math.sqrt(6 / fans)
        assert abs((w**2).mean() - variance) <= 5 * variance * math.sqrt((9 / 5 - 1) / w.size)
    assert not np.any(hidden.bias) and not np.any(networks.output.bias)


def uniform_on(values, drawn):
    """Whether draws take these values, each with a frequency within five sigma of its fair share."""
    drawn, share = np.asarray(drawn, float).reshape(-1), 1 / len(values)
    frequency = np.isclose(drawn[:, None], values, atol=1e-6).mean(axis=0)
    return frequency.sum() == pytest.approx(1) and np.all(
        np.abs(frequency - share) <= 5 * math.sqrt(share * (1 - share) / drawn.size)
    )


def test_sign_initialization_is_uniform_on_its_supports():
    k = 3
    networks = many(MLP(WIDTH, initialization=SignInitialization(k)))
    (hidden,) = networks.hidden
    assert uniform_on([-1, 1], hidden.weight)
    assert uniform_on([-1, 1], networks.output.weight)
    assert uniform_on([-1 + i / k for i in range(1, 2 * k)], hidden.bias)


def test_ternary_initialization_is_uniform_on_its_supports():
    k = 4
    networks = many(MLP(WIDTH, initialization=TernaryInitialization(INPUTS, k)))
    (hidden,) = networks.hidden
    assert uniform_on([-1, 0, 1], hidden.weight)
    assert set(np.unique(hidden.bias).tolist()) == {1 / (8 * k)}
    u, bound = np.asarray(networks.output.weight, float), INPUTS / k
    assert np.abs(u).max() <= bound
    assert abs(u.mean()) <= 5 * bound / math.sqrt(3 * u.size)
    assert abs((u**2).mean() - bound**2 / 3) <= 5 * bound**2 * math.sqrt((1 / 5 - 1 / 9) / u.size)


@pytest.mark.parametrize(
    ("width", "initialization"),
    [
        (2, UniformInitialization()),
        (20, UniformInitialization()),
        ((5, 6), GaussianInitialization()),
        (20, SignInitialization(3)),
        (20, TernaryInitialization(8, 3)),
    ],
)
def test_paired_networks_start_as_zero_and_have_gradients(width, initialization):
    recipe = MLP(width, initialization=initialization, paired=True)
    network = eqx.filter_jit(lambda key: recipe(8, key=key))(root_key(0))
    last, u = network.hidden[-1], np.asarray(network.output.weight)
    half = len(u) // 2
    np.testing.assert_array_equal(last.weight[:half], last.weight[half:])
    np.testing.assert_array_equal(last.bias[:half], last.bias[half:])
    np.testing.assert_array_equal(u[:half], -u[half:])
    assert float(network.output.bias) == 0
    # A sum of m terms has an error of at most m eps times the sum of their sizes. Those sums, through all layers, are
    # at most what the network with positive weights gives at the point of all +1: its units are then all active.
    x = cube(8)
    positive = jax.tree.map(lambda leaf: jnp.abs(leaf) if eqx.is_array(leaf) else leaf, network)
    terms = sum(layer.weight.shape[-1] + 1 for layer in (*network.hidden, network.output))
    bound = terms * np.finfo(np.float32).eps * float(positive(x[0]))
    np.testing.assert_allclose(eqx.filter_jit(outputs)(network, x), 0, atol=bound)

    grads = eqx.filter_jit(eqx.filter_grad(lambda network: outputs(network, x) @ x[:, 0]))(network)
    assert np.any(grads.hidden[0].weight != 0)
    assert np.any(grads.output.weight != 0)


def test_pairing_keeps_the_first_half():
    network = MLP((5, 6))(8, key=root_key(0))
    pairs = paired(network)
    np.testing.assert_array_equal(pairs.hidden[0].weight, network.hidden[0].weight)
    np.testing.assert_array_equal(pairs.hidden[1].weight[:3], network.hidden[1].weight[:3])
    np.testing.assert_array_equal(pairs.output.weight[:3], network.output.weight[:3])


# Activations.

OSCILLATING = (Zigzag, TriangleWave, OscillatingPolynomial, Sinusoid)


@pytest.mark.parametrize("k", range(1, 9))
@pytest.mark.parametrize("activation", OSCILLATING, ids=lambda each: each.__name__)
def test_oscillating_activations_alternate_at_the_values_of_a_sum_of_signs(activation, k):
    z = np.arange(k, -k - 1, -2)
    # The sine of multiples of pi/2 up to 8 pi has an error of 8 pi eps; the polynomial adds k terms of up to 2^k.
    np.testing.assert_allclose(activation(k)(jnp.asarray(z, jnp.float32)), (-1.0) ** ((k - z) // 2), atol=1e-4)


@pytest.mark.parametrize("k", [1, 2, 5, 6])
def test_a_zigzag_is_straight_between_the_turns_and_beyond_the_ends(k):
    turns = np.arange(-k, k + 1, 2)
    values = (-1.0) ** ((k - turns) // 2)
    inside = np.linspace(-k, k, 101)
    np.testing.assert_allclose(Zigzag(k)(jnp.asarray(inside)), np.interp(inside, turns, values), atol=1e-5)
    np.testing.assert_allclose(TriangleWave(k)(jnp.asarray(inside)), np.interp(inside, turns, values), atol=1e-5)
    beyond = np.array([0.5, 1.0, 7.25, 100.0])
    np.testing.assert_allclose(Zigzag(k)(jnp.asarray(k + beyond)), 1 + beyond, rtol=1e-6)
    np.testing.assert_allclose(Zigzag(k)(jnp.asarray(-k - beyond)), (-1) ** k * (1 + beyond), rtol=1e-6)
    slope = jax.grad(lambda z: Zigzag(k)(z))
    assert float(slope(jnp.float32(k + 0.5))) == 1
    assert float(slope(jnp.float32(-k - 0.5))) == -((-1) ** k)


def test_the_waves_have_period_four_for_ever():
    z = jnp.linspace(-3, 3, 49)
    for wave in (TriangleWave(3), Sinusoid(3)):
        np.testing.assert_allclose(wave(z + 40), wave(z), atol=1e-4)  # z + 40 is rounded to 4e-6
        np.testing.assert_allclose(wave(z + 2), -wave(z), atol=1e-5)


@pytest.mark.parametrize("k", range(1, 9))
def test_the_sinusoid_is_its_formula(k):
    z = np.linspace(-9, 9, 101)
    for scale in (1.0, 3.0):
        with jax.enable_x64(True):
            values = Sinusoid(k, scale)(jnp.asarray(z))
        np.testing.assert_allclose(values, np.cos(np.pi / 2 * (scale * z - k)), atol=1e-12)


@pytest.mark.parametrize("k", range(1, 16))
def test_the_oscillating_polynomial_interpolates(k):
    z = np.linspace(-k - 1, k + 1, 57)
    nodes = np.arange(k, -k - 1, -2.0)
    values = (-1.0) ** np.arange(k + 1)
    expected = np.zeros_like(z)
    for i, (node, value) in enumerate(zip(nodes, values, strict=True)):  # Lagrange's form
        others = np.delete(nodes, i)
        expected += value * np.prod((z[:, None] - others) / (node - others), axis=1)
    with jax.enable_x64(True):
        ours = np.asarray(OscillatingPolynomial(k)(jnp.asarray(z)))
    # Both forms add terms of at most about 4^k, which at k = 15 is 1e9 times the 1e-16 of float64.
    np.testing.assert_allclose(ours, expected, atol=4.0**k * 1e-14 + 1e-12)


@pytest.mark.parametrize("k", range(1, 16))
def test_power_is_the_power_and_its_gradient_is_finite(k):
    # Up to where z**k comes near the largest float32, 3e38: any other factor than those k needs would overflow.
    largest = 10 ** (36 / k)
    z = np.array([-largest, -1.7, -1.0, -0.3, 0.0, 0.3, 1.0, 1.7, largest], np.float32)
    exact = z.astype(float)
    # k - 1 products, each rounded by 6e-8.
    np.testing.assert_allclose(Power(k)(jnp.asarray(z)), exact**k, rtol=2e-6)
    slopes = jax.vmap(jax.grad(lambda z: Power(k)(z)))(jnp.asarray(z))
    np.testing.assert_allclose(slopes, k * exact ** (k - 1), rtol=4e-6)


def test_the_degree_is_a_number_of_the_run():
    z = jnp.linspace(-2, 2, 9)
    for activation in (*OSCILLATING, Power):
        stacked = eqx.tree_at(lambda each: each.k, activation(1), jnp.array([1, 2, 5], jnp.int32))
        together = eqx.filter_vmap(lambda each: each(z))(stacked)
        np.testing.assert_allclose(together, [activation(k)(z) for k in (1, 2, 5)], rtol=1e-5, atol=1e-6)


def test_square_and_gelu():
    z = np.linspace(-4, 4, 33)
    np.testing.assert_allclose(square(jnp.asarray(z)), z**2, rtol=1e-6)
    # The tails of erf are differences of numbers near 1, exact to about 1e-7.
    np.testing.assert_allclose(gelu(jnp.asarray(z)), z * (1 + erf(z / math.sqrt(2))) / 2, rtol=1e-6, atol=1e-6)
