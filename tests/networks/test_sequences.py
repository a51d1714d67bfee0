"""Networks that say a chain: links and weights that are exact, causality, and the same function by PyTorch."""

import itertools
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import paritylab as pl
from paritylab.cube import cube
from paritylab.distributions import WithChain
from paritylab.networks import CausalTransformer, OneMatrix
from paritylab.networks.base import outputs
from paritylab.networks.one_matrix import two_parity_link
from paritylab.targets import running_parity, tree_parity
from paritylab.training.rules.criteria import wrong


def test_the_link_is_the_printed_one_and_makes_two_signs_their_product():
    t = np.linspace(-1, 1, 401)
    printed = np.select([t < -0.5, t < 0.5], [-4 * t**2 - 8 * t - 3, 4 * t**2 - 1], -4 * t**2 + 8 * t - 3)
    np.testing.assert_allclose(two_parity_link(jnp.asarray(t, jnp.float32)), printed, atol=1e-6)
    for a, b in itertools.product((-1.0, 1.0), repeat=2):
        assert float(two_parity_link(jnp.float32((a + b) / 2))) == a * b
        assert float(jax.grad(two_parity_link)(jnp.float32((a + b) / 2))) == 0


def solved(target, recipe):
    """Scores of 200 at the two children of each node, among inputs and earlier nodes; e^-200 is 0 in float32."""
    d, steps = target.n, len(target.supports)
    network = recipe(d + steps - 1, key=pl.root_key(0))
    parts = [frozenset(each) for each in [*((i,) for i in range(d)), *target.supports]]
    scores = np.zeros((steps, d + steps - 1), np.float32)
    for step, whole in enumerate(parts[d:]):
        below = parts[: d + step]
        children = next(pair for pair in itertools.combinations(range(len(below)), 2) if splits(below, pair, whole))
        scores[step, list(children)] = 200
    return eqx.tree_at(lambda made: made.scores, network, jnp.asarray(scores))


def splits(parts, pair, whole):
    one, other = (parts[i] for i in pair)
    return not one & other and one | other == whole and len(one) == len(other)


@pytest.mark.parametrize("recipe", [OneMatrix(3), OneMatrix(3, "level"), OneMatrix(3, "level", 0.4)])
def test_weights_of_one_matrix_solve_the_task_whether_steps_are_given_or_not(recipe):
    target = tree_parity(6, (5, 2, 0, 3))
    network = solved(target, recipe)
    for given in (True, False):
        x, y, _ = WithChain(pl.Uniform(target), given).support()
        np.testing.assert_array_equal(outputs(network, x), y)
    attention = np.asarray(network.attention)
    assert np.all(np.sort(attention, axis=1)[:, -2:] == 0.5) and np.allclose(attention.sum(axis=1), 1)


def test_at_the_start_a_step_is_the_link_of_the_mean():
    x = cube(5)
    network = OneMatrix(2)(6, key=pl.root_key(0))
    said = outputs(network, jnp.concatenate([x, jnp.zeros((32, 1))], axis=1))
    first = two_parity_link(jnp.mean(x, axis=1))
    second = two_parity_link((jnp.sum(x, axis=1) + first) / 6)
    np.testing.assert_allclose(said, np.stack([first, second], axis=1), atol=1e-6)


def test_a_level_does_not_see_itself_and_says_nothing_before_the_level_below_is_sure():
    x = jr.normal(pl.root_key(1), (4, 9))
    scores = jr.normal(pl.root_key(2), (7, 9))
    make = lambda *options: eqx.tree_at(lambda made: made.scores, OneMatrix(7, *options)(9, key=pl.root_key(0)), scores)
    level = make("level").attention
    assert np.all(level[:4, 3:] == 0) and np.all(level[4:6, 7:] == 0) and np.all(level[6] > 0)
    position = make("position").attention
    assert all(np.count_nonzero(row) == 3 + i for i, row in enumerate(np.asarray(position)))
    said = outputs(make("level", 0.99), x)
    assert np.all(said[:, 4:] == 0) and np.all(said[:, :4] != 0)
    np.testing.assert_array_equal(outputs(make("level", 0.0), x), outputs(make("level"), x))


def test_an_output_does_not_change_with_what_comes_later():
    """By gradients, at random weights: position m of the chain, and all after it, are not seen by output m."""
    inputs, steps = 4, 4
    n = inputs + steps - 1
    x = jnp.where(jr.bernoulli(pl.root_key(3), shape=(n,)), 1.0, -1.0)
    matrix = OneMatrix(steps)(n, key=pl.root_key(0))
    matrix = eqx.tree_at(lambda made: made.scores, matrix, jr.normal(pl.root_key(4), (steps, n)))
    causal = CausalTransformer(8, layers=2, heads=2, outputs=steps, initialization=wide())(n, key=pl.root_key(0))
    for network in (matrix, causal):
        slopes = np.asarray(jax.jacobian(network)(x))
        for m in range(steps):
            assert np.all(slopes[m, inputs + m :] == 0) and np.all(slopes[m, : inputs + m] != 0)


def wide():
    return pl.networks.NormalInitialization(0.5)


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (2, 4)])
def test_float64_agrees_with_torch(layers, heads):
    """All tokens at once, with PyTorch's own attention, layer norm and GELU: the shape of GPT-2."""
    torch = pytest.importorskip("torch", reason="needs the bench extra: pip install 'paritylab[bench]'")
    f = torch.nn.functional
    inputs, steps, width = 5, 3, 8
    with jax.enable_x64(True):
        made = CausalTransformer(width, layers, heads, outputs=steps, initialization=wide())(7, key=pl.root_key(1))
        leaves = lambda key: [*jr.split(key, len(jax.tree.leaves(eqx.filter(made, eqx.is_array))))]
        moved = iter(leaves(pl.root_key(2)))  # biases and norms away from 0 and 1
        network = jax.tree.map(
            lambda leaf: leaf.astype(jnp.float64) + 0.3 * jr.normal(next(moved), leaf.shape, jnp.float64),
            made,
            is_leaf=eqx.is_array,
        )
        task = pl.Uniform(running_parity(inputs, (0, 3)))
        (x, y, _), (unsaid, _, _) = (WithChain(task, given).support() for given in (True, False))
        ours, free = (np.asarray(outputs(network, each.astype(jnp.float64))) for each in (x, unsaid))
    tensor = lambda array: torch.tensor(np.asarray(array))
    norm = lambda part, h: f.layer_norm(h, (width,), tensor(part[0]), tensor(part[1]))

    def said(tokens):
        h = tensor(network.tokens)[(tensor(tokens) > 0).long()] + tensor(network.positions)
        for i in range(layers):
            block = network.blocks
            affine = lambda part, h, i=i: h @ tensor(part.weight[i]).T + tensor(part.bias[i])
            normed = norm((block.before_attention.scale[i], block.before_attention.shift[i]), h)
            heads_of = lambda h: h.reshape(*h.shape[:2], heads, -1).transpose(1, 2)
            query, key, value = (heads_of(affine(part, normed)) for part in (block.query, block.key, block.value))
            mixed = f.scaled_dot_product_attention(query, key, value, is_causal=True)
            h = h + affine(block.mix, mixed.transpose(1, 2).reshape(h.shape))
            normed = norm((block.before_hidden.scale[i], block.before_hidden.shift[i]), h)
            h = h + affine(block.output, f.gelu(affine(block.hidden, normed), approximate="tanh"))
        logits = norm((network.last.scale, network.last.shift), h) @ tensor(network.tokens).T
        return (logits[..., 1] - logits[..., 0]).numpy()[:, inputs - 1 :]

    np.testing.assert_allclose(ours, said(np.asarray(x)), rtol=1e-9, atol=1e-9)
    # Its own chain, one token after the other.
    sequence = np.asarray(x).copy()
    for step in range(steps):
        values = said(sequence)[:, step]
        if step < steps - 1:
            sequence[:, inputs + step] = np.where(values >= 0, 1, -1)
    np.testing.assert_allclose(free, said(sequence), rtol=1e-9, atol=1e-9)
    # A point is right throughout with given steps exactly where it is so with its own.
    np.testing.assert_array_equal(wrong(y, jnp.asarray(ours)), wrong(y, jnp.asarray(free)))


def test_without_outputs_it_says_one_number_after_all_coordinates():
    one, many = (CausalTransformer(8, 1, 2, outputs=each)(6, key=pl.root_key(0)) for each in (None, 1))
    x = cube(6)
    assert outputs(one, x).shape == (64,)
    np.testing.assert_allclose(outputs(one, x), outputs(many, x)[:, 0], rtol=1e-6)


def test_it_starts_as_gpt_2_does():
    network = CausalTransformer(32, layers=3, heads=4)(50, key=pl.root_key(0))
    block = network.blocks
    # The root mean square of N numbers is within 5 / sqrt(2 N) of the deviation, relatively.
    for array, deviation in (
        (network.positions, 0.02),
        (block.query.weight, 0.02),
        (block.hidden.weight, 0.02),
        (block.mix.weight, 0.02 / 6**0.5),
        (block.output.weight, 0.02 / 6**0.5),
    ):
        assert abs(np.std(array) / deviation - 1) < 5 / (2 * array.size) ** 0.5 + 1e-3
    assert not block.query.bias.any() and np.all(np.asarray(network.last.scale) == 1)
    assert block.hidden.weight.shape == (3, 128, 32)


WRONG = {
    "no levels": (lambda: OneMatrix(4, "level"), "1, 3, 7, ... steps together, got outputs=4"),
    "no inputs": (lambda: OneMatrix(3)(2, key=pl.root_key(0)), "n >= 3 coordinates"),
    "a confidence of two": (lambda: OneMatrix(3, "level", 2.0), "`confidence` is a number from 0 to 1"),
    "unequal heads": (lambda: CausalTransformer(10, heads=4), "equal parts, got embedding=10 and heads=4"),
    "no layers": (lambda: CausalTransformer(8, layers=0), "width of at least 1"),
    "too few coordinates": (lambda: CausalTransformer(8, outputs=4)(3, key=pl.root_key(0)), "n >= 4 coordinates"),
}


@pytest.mark.parametrize(("make", "sentence"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_is_said(make, sentence):
    with pytest.raises((ValueError, TypeError), match=re.escape(sentence)):
        make()
