"""Gaussian elimination over two elements: it finds the parity, and says when it cannot."""

import itertools

import numpy as np
import pytest

from paritylab.analysis import parity_by_elimination


@pytest.mark.parametrize(("n", "k"), [(7, 0), (7, 1), (15, 4), (30, 30), (64, 3)])
def test_the_support_is_found_from_about_n_examples(n, k):
    rng = np.random.default_rng([n, k])
    support = tuple(sorted(rng.choice(n, k, replace=False).tolist()))
    x = rng.choice([-1.0, 1.0], (n + 40, n))
    found = parity_by_elimination(x, np.prod(x[:, support], axis=1))
    assert found.support == support and found.consistent and n <= found.examples <= n + 20


def test_all_parities_of_four_bits_by_enumeration():
    """Whatever is left open has as many parities that agree as the rank says."""
    rng = np.random.default_rng(0)
    subsets = [s for k in range(5) for s in itertools.combinations(range(4), k)]
    for _ in range(40):
        x = rng.choice([-1.0, 1.0], (int(rng.integers(1, 7)), 4))
        y = rng.choice([-1.0, 1.0], len(x))
        agree = [s for s in subsets if np.all(np.prod(x[:, s], axis=1) == y)]
        found = parity_by_elimination(x, y)
        if found.support is not None:
            used = slice(found.examples)
            assert [s for s in subsets if np.all(np.prod(x[used][:, s], axis=1) == y[used])] == [found.support]
        else:
            assert found.consistent == bool(agree) and (not agree or len(agree) == 2 ** (4 - found.rank))


def test_one_wrong_label_is_found_or_misleads():
    rng = np.random.default_rng(1)
    x = rng.choice([-1.0, 1.0], (60, 20))
    y = x[:, 0] * x[:, 1]
    y[3] *= -1
    found = parity_by_elimination(x, y)
    assert found.support != (0, 1)  # elimination does not survive noise


def test_other_values_are_turned_down():
    with pytest.raises(ValueError, match="bits and labels of"):
        parity_by_elimination(np.zeros((2, 3)), np.ones(2))
