"""Upper bounds: their arithmetic by a second route, and small runs that must satisfy them."""

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

from paritylab import bounds
from paritylab.analysis import majority_coefficients
from paritylab.cube import cube, root_key


@pytest.mark.parametrize("loss", [0.01, 0.1])
@pytest.mark.parametrize("k", [7, 9])
def test_the_corrected_sizes_bring_every_term_to_the_loss(k, loss):
    sizes = bounds.two_layer_sizes(k, loss=loss, failure=0.1)
    n, width, steps = (math.ceil(sizes.part(name)) for name in ("n", "width", "steps"))
    bound = bounds.two_layer_loss(n, k, width=width, steps=steps, failure=0.1)
    assert all(part.value <= loss * (1 + 1e-12) for part in bound.parts)
    # The printed width, with loss^-1, leaves the second term near sqrt(loss).
    printed = bounds.two_layer_loss(n, k, width=int(width * loss), steps=steps, failure=0.1)
    assert printed.part("k^8/sqrt(q)") == pytest.approx(math.sqrt(loss / math.log(k / 0.1)), rel=1e-6)


def test_the_assumptions_of_the_two_layer_theorem():
    settings = {"width": 10**17, "steps": 10**14, "failure": 0.1}
    assert bounds.two_layer_loss(7**10, 7, **settings).applies
    assert not bounds.two_layer_loss(7**10 - 1, 7, **settings).applies
    assert not bounds.two_layer_loss(10**20, 8, **settings).applies
    assert not bounds.two_layer_loss(10**20, 7, width=1000, steps=10, failure=0.1).applies
    doubled = bounds.two_layer_loss(10**20, 7, constants=(0.0, 2.0, 0.0, 0.0), **settings)
    assert doubled.value == pytest.approx(2 * 7**8 / math.sqrt(10**17))


@pytest.mark.parametrize("k", [4, 6])
def test_the_width_holds_all_needed_units(k):
    """One of a pair has the sign pattern with probability 2^(1-k) and the bias with 1/(2k-1); k + 1 are needed."""
    for loss in (0.01, 0.3):
        width = bounds.one_step_learning(101, k, loss=loss).part("width")
        missing = (k + 1) * (1 - 2.0 ** (1 - k) / (2 * k - 1)) ** (width / 2)
        assert missing <= loss / 8


def test_the_batch_and_steps_of_one_step_learning():
    n, k, loss = 1_000_001, 4, 0.1
    bound = bounds.one_step_learning(n, k, loss=loss)
    logarithm = math.log(128 * k**3 * n / loss)
    coefficient = abs(majority_coefficients(n)[k - 1])
    accuracy = coefficient / (32 * k * math.sqrt(2 * n * logarithm))
    width = bound.part("width")
    assert bound.part("batch") == pytest.approx(2 / accuracy**2 * math.log(32 * n * width / loss), rel=1e-9)
    # Theorem 9 with M = 8 k sqrt(k) and rho = 2 sqrt(r) n leaves loss / 4.
    assert 8 * k**1.5 * 2 * math.sqrt(width) * n / math.sqrt(bound.value) == pytest.approx(loss / 4, rel=1e-6)
    assert bound.applies
    for n, k in ((1_000_002, 4), (1_000_001, 5), (1_000_001, 2), (1001, 4)):
        assert not bounds.one_step_learning(n, k, loss=loss).applies


@pytest.mark.parametrize(
    ("k", "block", "share"), [(3, 256, 0.803), (3, 4096, 0.957), (4, 256, 0.9795), (4, 4096, 0.9990)]
)
def test_time_near_chance_as_measured_before(k, block, share):
    bound = bounds.time_near_chance(block, k)
    assert bound.value == pytest.approx(share, abs=6e-4)


@pytest.mark.parametrize(("k", "block"), [(3, 4), (3, 5), (4, 4)])
def test_time_near_chance_by_enumeration_and_integration(k, block):
    """The flow by quadrature, the error of the network itself over the whole cube, from start to end."""
    flow = scipy.integrate.solve_ivp(
        lambda _, v: v ** (k - 1), (0, 1), [1.0], rtol=1e-10, atol=1e-12, dense_output=True,
        events=_reaches(block - 1),
    )  # fmt: skip
    end = flow.t_events[0][0]
    times = np.linspace(0, end, 400)[:-1] + 1e-7
    x = np.asarray(cube(k * block), float).reshape(-1, k, block)
    first, others = x[:, :, 0], x[:, :, 1:].sum(axis=2)
    errors = [(np.sign((v * first + others).prod(axis=1)) != first.prod(axis=1)).mean() for v in flow.sol(times)[0]]
    for error in (0.3, 0.4, 0.45):
        near = times[np.array(errors) >= error]
        expected = near.max() / end if len(near) else 0.0
        found = bounds.time_near_chance(block, k, error=error).value
        assert found == pytest.approx(expected, abs=2 / 400)


def _reaches(level: float):
    event = lambda _, v: v[0] - level
    event.terminal = True
    return event


def test_polynet_steps_are_the_least_and_suffice():
    for block, k, error, failure in itertools.product((2, 5, 20), (2, 3), (0.1, 0.4), (0.05,)):
        steps = bounds.polynet_steps(block, k, error=error, failure=failure).value
        needed = lambda T, b=block, j=k, e=error, d=failure: (
            48 * math.log(2 * j * b * T / d) * math.log(2 * j / e) * (3 * b - 2) ** (2 * j - 1)
        )
        assert steps >= needed(steps) * (1 - 1e-12) and 0.99 * steps < needed(0.99 * steps)
        # Claims 14 and 15 and Lemma 6, corrected: what the weights are then, and the error that follows.
        growth = math.sqrt(steps / (32 * math.log(2 * k * block * steps / failure)))
        relevant = 0.5 + growth / (3 * block - 2) ** (k - 1)
        assert 2 * k * math.exp(-(relevant**2) / (2 * 9 / 4 * (block - 1))) <= error


def test_a_polynet_keeps_the_promise_of_its_theorem():
    """Two blocks of 2, batches of one, the schedule of the proof: the error after the promised steps, exactly."""
    block = k = 2
    error = failure = 0.4
    steps = int(bounds.polynet_steps(block, k, error=error, failure=failure).value)
    scale = 1 / (4 * math.sqrt(2 * steps * math.log(2 * k * block * steps / failure)))
    seeds = 16
    start = jr.rademacher(root_key(0), (seeds, k, block), jnp.float32)
    start = start.at[:, :, 0].set(1.0)  # the theorem is for a positive product, and turning two blocks changes nothing

    def step(weights, key):
        x = jr.rademacher(key, weights.shape, jnp.float32)
        label = jnp.prod(x[:, :, 0], axis=1)
        sums = jnp.sum(weights * x, axis=2)
        sizes = jnp.sum(jnp.abs(weights), axis=2)
        others, bounded = sums[:, ::-1], sizes[:, ::-1]  # k = 2: the other block
        return weights + scale * (label[:, None] * others / bounded)[:, :, None] * x, None

    keys = jr.split(root_key(1), steps)
    weights = np.asarray(jax.jit(functools.partial(jax.lax.scan, step))(start, keys)[0], float)
    x = np.asarray(cube(4), float).reshape(-1, k, block)
    outputs = np.einsum("skb,pkb->spk", weights, x).prod(axis=2)
    errors = (np.sign(outputs) != x[:, :, 0].prod(axis=1)).mean(axis=1)
    assert np.mean(errors > error) <= failure


@pytest.mark.parametrize("depth", range(1, 9))
def test_the_failures_of_the_circuit_theorem_add_up(depth):
    n, failure = 2**depth, 0.05
    bound = bounds.layerwise_circuit(n, correlation=0.2, pattern=0.05, failure=failure)
    width = bound.part("width")
    assert bound.applies and width >= math.log(2 * n * depth / failure) / math.log(4 / 3)
    assert 4 * (n - 1) * 0.75**width + (n - 1) * failure / (n * depth) <= failure * (1 + 1e-12)
    assert bound.part("steps") > 6 * n / (math.sqrt(2) * bound.part("rate") * 0.05 * 0.2)
    product = bounds.layerwise_circuit_product(n, correlation=0.2, failure=failure)
    assert product.value == pytest.approx(2**15 / 0.2**6 * math.log(8 * n * depth / failure), rel=1e-6)
    assert product.part("steps") == pytest.approx(24 * n / (math.sqrt(2) * product.part("rate") * 0.2**3), rel=1e-6)
    assert not bounds.layerwise_circuit(n + 1, correlation=0.2, pattern=0.05, failure=failure).applies


@pytest.mark.parametrize("gate", [(1, -1, -1, -1), (1, 1, 1, -1)], ids=["and", "or"])
def test_a_gate_keeps_the_promise_of_the_circuit_theorem(gate):
    """n = 2, the generative distribution, the population gradient: recovered within the promised steps."""
    patterns = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], float)
    labels = np.array(gate, float)
    probability = np.where(labels == 1, 0.5 / (labels == 1).sum(), 0.5 / (labels == -1).sum())
    correlation, pattern, failure, seeds = 0.49, 0.16, 0.2, 40
    promise = bounds.layerwise_circuit(2, correlation=correlation, pattern=pattern, failure=failure)
    width, rate, scale = int(promise.part("width")), promise.part("rate"), promise.part("scale")
    regularizer = correlation / 4  # E[y] = 0; the regularizer is lambda |1 + output|
    rng = np.random.default_rng(0)
    weights = rng.uniform(-scale, scale, (seeds, width, 2))
    signs = rng.choice([-1.0, 1.0], (seeds, width))
    for _ in range(int(promise.part("steps") / 10)):  # the promise is generous, and a gate that is right stays so
        inputs = weights @ patterns.T
        outputs = np.einsum("sw,swp->sp", signs, np.maximum(inputs, 0))
        pull = np.where(np.abs(outputs) < 1, probability * (labels - regularizer), 0)
        weights += rate * np.einsum("sw,swp,pd->swd", signs, (inputs > 0) * pull[:, None], patterns)
    assert np.mean(np.any(np.clip(outputs, -1, 1) != labels, axis=1)) <= failure


@pytest.mark.parametrize("n", [4, 9])
def test_samples_of_the_symmetric_theorem(n):
    """The mass of unseen weights over 4,000 samples: above the error less often than the promised failure."""
    error, failure = 0.2, 0.2
    bound = bounds.symmetric_initialization(n, error=error, failure=failure)
    assert bound.applies
    rng = np.random.default_rng(n)
    for distribution in (np.full(n + 1, 1 / (n + 1)), np.array([math.comb(n, w) for w in range(n + 1)]) / 2**n):
        seen = rng.multinomial(int(bound.value), distribution, size=4000) > 0
        assert np.mean((distribution * ~seen).sum(axis=1) > error) <= failure
    assert not bounds.symmetric_initialization(n, error=error, failure=failure, constant=0.1).applies


@pytest.mark.parametrize("n", [3, 6])
def test_updates_of_the_symmetric_theorem(n):
    """The perceptron of the output layer on the n + 1 embedded weights, with the confidence of Lemma 4."""
    bound = bounds.symmetric_initialization(n, error=0.1, failure=0.1)
    step, confidence = bound.part("step"), bound.part("confidence")
    weights = np.arange(n + 1)
    embedded = np.column_stack([np.maximum(weights[:, None] + 2 - np.arange(1, n + 4), 0), np.ones(n + 1)])
    radius = np.linalg.norm(embedded, axis=1).max()
    assert confidence == pytest.approx(radius**2 * step)
    labels = (-1.0) ** weights
    output, updates = np.zeros(n + 4), 0
    while np.any(wrong := labels * (embedded @ output) <= confidence):
        chosen = np.flatnonzero(wrong)[0]
        output, updates = output + step * labels[chosen] * embedded[chosen], updates + 1
    assert updates <= bound.part("updates")
    # The margin behind it, for every symmetric function: the least separator that has all outputs at the labels.
    every = np.array(list(itertools.product((-1.0, 1.0), repeat=n + 1)))
    separators = every @ np.linalg.pinv(embedded).T
    np.testing.assert_allclose(separators @ embedded.T, every, atol=1e-9)
    assert 1 / np.linalg.norm(separators, axis=1).max() >= 1 / math.sqrt(16 * n + 1)


def test_wrong_numbers_say_so():
    with pytest.raises(ValueError, match="0 < failure < 1, got failure=0"):
        bounds.two_layer_sizes(7, loss=0.1, failure=0.0)
    with pytest.raises(ValueError, match="for k >= 3"):
        bounds.time_near_chance(10, 2)
    with pytest.raises(ValueError, match="got k=12 on n=11"):
        bounds.one_step_learning(11, 12, loss=0.1)


def test_sgd_on_a_convex_loss_keeps_theorem_9():
    """Hinge loss of random features; the weights compared with are those that made the labels, scaled to a margin."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 5)) / np.sqrt(5)
    best = rng.normal(size=5)
    features = features[np.abs(features @ best) > 0.3]
    y, best = np.sign(features @ best), best / 0.3  # a margin of 1: its hinge loss is 0
    norm, gradient, steps = float(np.linalg.norm(best)), float(np.linalg.norm(features, axis=1).max()), 400
    bound = bounds.convex_descent(norm=norm, gradient=gradient, steps=steps)
    loss = lambda u: float(np.maximum(1 - y * (features @ u), 0).mean())
    means = []
    for _ in range(20):
        u, losses = np.zeros(5), []
        for i in rng.integers(len(y), size=steps):
            losses.append(loss(u))
            u = u + bound.part("rate") * (y[i] * (features[i] @ u) < 1) * y[i] * features[i]
        means.append(np.mean(losses))
    assert loss(best) == 0 and 0.02 * bound.value < np.mean(means) <= bound.value
