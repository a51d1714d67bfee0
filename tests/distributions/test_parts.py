import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab import Parity, root_key
from paritylab.cube import cube
from paritylab.distributions import PartOfCube, seen, unseen

PARITY = Parity(6, (0, 1))
ODD = [row for row in itertools.product((1, -1), repeat=3) if math.prod(row) == 1]
"""x0 x1 x2 = 1: the part of the cube on which x0 x1 is x2 (arXiv 2301.13105)."""


def inside(part, x):
    """Whether points are in a part, by its definition, one by one."""
    places, patterns = part.coordinates.tolist(), {tuple(row) for row in part.patterns.tolist()}
    return np.array([tuple(point[i] for i in places) in patterns for point in np.asarray(x).tolist()])


@pytest.mark.parametrize(
    ("part", "share"),
    [
        (seen(PARITY, {0: -1, 1: -1}), 3 / 4),
        (seen(PARITY, {3: 1}), 1 / 2),
        (seen(PARITY, {0: -1, 2: 1, 5: -1}), 7 / 8),
        (unseen(PARITY, {0: -1, 2: 1, 5: -1}), 1 / 8),
        (PartOfCube(PARITY, (0, 1, 2), ODD), 1 / 2),
    ],
)
def test_a_part_and_the_rest_are_the_cube(part, share):
    rest = part.rest()
    here, there = (np.asarray(each.support()[2], float) for each in (part, rest))
    np.testing.assert_array_equal(here > 0, inside(part, cube(6)))
    np.testing.assert_array_equal(there > 0, ~inside(part, cube(6)))
    np.testing.assert_allclose(share * here + (1 - share) * there, 1 / 64, rtol=1e-6)
    x, y = part.sample(root_key(0), 4000)
    assert np.all(inside(part, x))
    assert not np.any(inside(part, rest.sample(root_key(1), 4000)[0]))
    np.testing.assert_array_equal(y, jax.vmap(PARITY)(x))


def test_points_of_a_part_are_equally_likely():
    batch = 40_000
    x, _ = seen(Parity(4, (0, 1)), {0: -1, 1: -1}).sample(root_key(2), batch)
    counts = np.bincount(((1 - np.asarray(x)) / 2).astype(int) @ (2 ** np.arange(4)), minlength=16)
    assert np.all(counts[[3, 7, 11, 15]] == 0)
    kept = counts[counts > 0] / batch
    np.testing.assert_allclose(kept, np.full(12, 1 / 12), atol=5 * math.sqrt(1 / 12 / batch))


def test_on_what_is_seen_a_parity_is_of_lower_degree_and_elsewhere_it_is_not():
    # x0 x1 = x0 + x1 - 1 wherever not both are -1, and 1 instead of -3 where they are.
    for part, expected in ((seen(PARITY, {0: -1, 1: -1}), 0.0), (unseen(PARITY, {0: -1, 1: -1}), 16.0)):
        x, y, probability = (np.asarray(each, float) for each in part.support())
        assert probability @ (y - (x[:, 0] + x[:, 1] - 1)) ** 2 == pytest.approx(expected, abs=1e-6)


def test_other_coordinates_are_held_out_in_every_run():
    first, second = seen(PARITY, {0: -1, 1: -1}), seen(PARITY, {2: 1, 5: -1})
    stacked = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), first, second)
    x, _ = jax.vmap(lambda part: part.sample(root_key(3), 300))(stacked)
    assert np.all(inside(first, x[0])) and np.all(inside(second, x[1]))
    assert not np.all(inside(first, x[1]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: seen(PARITY, {}), r"fixes 1 to 16 of the coordinates 0\.\.5, each once, got \(\)"),
        (lambda: seen(PARITY, {6: -1}), r"of the coordinates 0\.\.5, each once, got \(6,\)"),
        (lambda: seen(PARITY, {0: 0}), r"a value -1 or \+1 for each of the coordinates \(0,\), got \[\(0,\)\]"),
        (lambda: PartOfCube(PARITY, (0, 0), [(1, 1)]), r"each once, got \(0, 0\)"),
        (lambda: PartOfCube(PARITY, (0, 1), []), r"at least one pattern, .* got \[\]"),
        (lambda: PartOfCube(PARITY, (0, 1), [(1,)]), r"each of the coordinates \(0, 1\), got \[\(1,\)\]"),
        (lambda: PartOfCube(PARITY, (0,), [(1,), (1,)]), r"at least one pattern, each once"),
        (lambda: PartOfCube(PARITY, (0,), [(1,), (-1,)]).rest(), r"is the whole cube: all 2 patterns are in it"),
    ],
)
def test_what_cannot_be_says_so(make, message):
    with pytest.raises(ValueError, match=message):
        make()
