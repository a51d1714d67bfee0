import math

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from halves import FOUR, HALVES as KNOWN, THREE

from paritylab import GateProduct, root_key
from paritylab.cube import cube
from paritylab.distributions import (
    AbstractOutputs,
    EasyHalf,
    IndependentOutputs,
    RandomSubset,
    SharedSign,
    equal_gates,
    independent_gates,
    leave_one_out,
    noisy_equal,
    random_subset,
    separation,
    sparse_pairs,
    stealth,
)
from paritylab.targets import random_gate_product

HALVES = KNOWN | {
    "E2 of one": random_subset(THREE, 1),
    "E5 dense": sparse_pairs(FOUR, 1.2),
    "E2 with an even r": EasyHalf(FOUR, RandomSubset(2, np.array([0.5, -0.2, 1.0, 0.3]))),
    "all in the subset": EasyHalf(FOUR, RandomSubset(4, np.ones(4))),
    "biased, noisy, even": EasyHalf(FOUR, SharedSign(np.array([1.0, -1.0, 1.0, 1.0]), 0.3, 0.2)),
}

sample = eqx.filter_jit(lambda distribution, key, batch: distribution.sample(key, batch))


def enumerated(outputs):
    return AbstractOutputs.moments(outputs)


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_moments_in_closed_form_are_those_of_the_enumeration(half):
    for exact, listed in zip(half.outputs.moments(), enumerated(half.outputs), strict=True):
        np.testing.assert_allclose(exact, listed, atol=1e-14)


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_the_outputs_under_the_half_have_their_distribution(half):
    points, labels, probability = (np.asarray(part, float) for part in half.support())
    assert probability.sum() == pytest.approx(1, abs=1e-6)
    np.testing.assert_array_equal(labels, jax.vmap(half.target)(cube(half.n)))
    s = np.asarray(jax.vmap(half.target.gate_outputs)(jnp.asarray(points, jnp.float32)))
    rows = ((s < 0) @ (1 << np.arange(s.shape[1]))).astype(int)
    distribution = jax.vmap(half.outputs.probability)(cube(s.shape[1]))
    np.testing.assert_allclose(np.bincount(rows, probability, len(distribution)), distribution, atol=1e-6)


def test_subsets_are_stable_at_any_size():
    # r of n: with all else +1 each gate correlates as often as it is in the subset.
    np.testing.assert_allclose(RandomSubset(667, np.ones(2001)).moments().correlation, 667 / 2001, rtol=1e-12)
    # The mean of products of a fixed number of signs, +1 for half: a Krawtchouk polynomial over a binomial.
    signs = np.where(np.arange(41) < 20, 1.0, -1.0)
    signs[40] = 0.0  # that gate's own place; its correlation is the mean over sets of 6 of the other 40 signs
    sets = sum((-1) ** j * math.comb(20, j) * math.comb(20, 6 - j) for j in range(7))
    expected = sets / math.comb(41, 6)
    assert RandomSubset(35, signs).moments().correlation[40] == pytest.approx(expected, rel=1e-12)


def test_sparse_pairs_have_one_distribution_for_all_gates():
    distributions = [sparse_pairs(GateProduct(gates), 0.4).support()[2] for gates in (("OR", "OR"), ("OR", "AND"))]
    np.testing.assert_allclose(distributions[0], distributions[1], rtol=1e-6)
    rare = 0.2
    single = np.array([1 - 3 * rare, rare, rare, rare])
    points = np.asarray(cube(4)) < 0
    by_hand = single[points[:, 0] + 2 * points[:, 2]] * single[points[:, 1] + 2 * points[:, 3]]
    np.testing.assert_allclose(distributions[0], by_hand, rtol=1e-6)


def test_stealth_pairs_are_uniform_each():
    points, _, probability = (np.asarray(part, float) for part in stealth(THREE).support())
    for i in range(3):
        pattern = (points[:, i] < 0) + 2 * (points[:, 3 + i] < 0)
        np.testing.assert_allclose(np.bincount(pattern.astype(int), probability), 0.25, atol=1e-6)


def test_a_distribution_of_your_own():
    class FirstDecides(AbstractOutputs):
        """The first output is fair, all others +1."""

        count: int = eqx.field(static=True)

        @property
        def pairs(self):
            return self.count

        def sample(self, key, batch):
            return jnp.ones((batch, self.count), jnp.float32).at[:, 0].set(jr.rademacher(key, (batch,), jnp.float32))

        def probability(self, s):
            return jnp.where(jnp.all(s[1:] > 0), 0.5, 0.0).astype(s.dtype)

    half = EasyHalf(THREE, FirstDecides(3))
    assert half.outputs.moments().correlation.tolist() == [1, 0, 0]
    x, y = half.sample(root_key(0), 100)
    np.testing.assert_array_equal(y, jax.vmap(THREE)(x))
    with pytest.raises(
        ValueError, match=r"of FirstDecides on 40 gates would need 2\*\*40 outputs, 3\.28e\+05 GiB; .* Write"
    ):
        FirstDecides(40).moments()


def test_patterns_of_your_own():
    patterns = np.array([[0.5, 0.5, 0.0, 1.0], [1.0, 0.2, 0.3, 0.5]])
    half = EasyHalf(GateProduct(("OR", "AND")), IndependentOutputs(np.array([0.2, -0.4])), patterns)
    batch = 40_000
    x, _ = sample(half, root_key(0), batch)
    counts = np.bincount(((np.asarray(x) < 0) @ np.array([1, 2, 4, 8])).astype(int), minlength=16)
    p = np.asarray(half.support()[2], float)
    assert np.all(np.abs(counts / batch - p) <= 5 * np.sqrt(p * (1 - p) / batch))


def test_random_targets_share_a_program():
    @eqx.filter_jit
    @eqx.debug.assert_max_traces(max_traces=1)
    def draw(key):
        target = random_gate_product(5, key=key)
        parts = [separation(stealth(target)), separation(sparse_pairs(target, 0.25)), separation(equal_gates(target))]
        return target, [part.sample(key, 8) for part in parts]

    for seed in range(3):
        target, samples = draw(root_key(seed))
        for x, y in samples:
            np.testing.assert_array_equal(y, jax.vmap(target)(x))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: equal_gates(FOUR), r"E1 needs an odd number of gates, got 4: .* Use `leave_one_out` \(E1'\)"),
        (lambda: noisy_equal(FOUR, 0.1), r"E6 needs an odd number of gates, got 4"),
        (lambda: stealth(FOUR), r"E7 needs an odd number of gates, got 4"),
        (lambda: leave_one_out(THREE), r"an even number of gates, got 3\. Use `equal_gates`"),
        (lambda: random_subset(FOUR, 2), r"an odd r between 1 and 4, got r=2\. With an even r"),
        (lambda: random_subset(FOUR, 5), r"an odd r between 1 and 4, got r=5"),
        (lambda: random_subset(FOUR, -1), r"an odd r between 1 and 4, got r=-1"),
        (lambda: independent_gates(THREE, 1.0), r"a mean 0 < b < 1, got b=1\.0"),
        (lambda: independent_gates(THREE, 0), r"a mean 0 < b < 1, got b=0\. Mean 0 is `balanced_gates`"),
        (lambda: sparse_pairs(THREE, 1.0), r"0 < 3c < 3, the number of pairs, got c=1\.0"),
        (lambda: sparse_pairs(THREE, 0.0), r"0 < 3c < 3, the number of pairs, got c=0\.0"),
        (lambda: noisy_equal(THREE, 0.5), r"a flip rate 0 <= e < 1/2, got e=0\.5"),
        (lambda: noisy_equal(THREE, -0.1), r"a flip rate 0 <= e < 1/2, got e=-0\.1"),
        (lambda: separation(equal_gates(THREE), 1.0), r"both halves, 0 < share < 1, got share=1\.0"),
        (lambda: EasyHalf(THREE, SharedSign(np.ones(4), 0.0)), r"has 3 gates and the distribution of outputs 4"),
        (
            lambda: EasyHalf(GateProduct(("OR",)), SharedSign(np.ones(1), 0.0), np.array([[0.5, 0.5, 0.0, 0.0]])),
            r"with output -1 of gate 0, OR, have probabilities of sum 0 given that output\. Let those of each",
        ),
        (
            lambda: EasyHalf(GateProduct(("OR",)), SharedSign(np.ones(1), 0.0), np.array([[1.5, -0.5, 0.0, 1.0]])),
            r"four probabilities for each of 1 pairs, got",
        ),
        (lambda: SharedSign(np.ones(3), 3.0), r"means between -1 and 1, got mean=3\.0"),
        (lambda: SharedSign(np.ones(3), 0.0, 2.0), r"probability between 0 and 1, got flip=2\.0"),
        (lambda: SharedSign(np.array([1.0, 0.5]), 0.0), r"directions that are -1 or \+1, got direction=\[1\. +0\.5\]"),
        (lambda: IndependentOutputs([5, 5]), r"means between -1 and 1, got mean=\[5, 5\]"),
        (lambda: IndependentOutputs(np.array([0.5, math.nan])), r"means between -1 and 1, got mean=\[0\.5 nan\]"),
        (lambda: RandomSubset(9, np.ones(3)), r"of 3 outputs has a size from 0 to 3, got size=9"),
        (lambda: RandomSubset(-1, np.ones(3)), r"of 3 outputs has a size from 0 to 3, got size=-1"),
        (lambda: RandomSubset(1, np.array([0.0, -2.0])), r"means between -1 and 1, got rest=\[ 0\. -2\.\]"),
    ],
)
def test_what_cannot_be_says_so(make, message):
    with pytest.raises(ValueError, match=message):
        make()
