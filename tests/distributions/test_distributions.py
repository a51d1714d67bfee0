import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from exports import row, things, without_a_row
from test_with_chain import CHAINED_UNDER_TEST

from paritylab import (
    FlippedLabels,
    GateProduct,
    Mixture,
    Parity,
    Points,
    Product,
    Uniform,
    distributions,
    majority,
    root_key,
)
from paritylab.cube import cube, encode
from paritylab.distributions import (
    Curriculum,
    Digits,
    EasyHalf,
    Encoded,
    EqualBits,
    Generative,
    HeldOut,
    Images,
    PartOfCube,
    Phase,
    RandomPatches,
    SharedSign,
    ShiftedInputs,
    Stratified,
    Strips,
    WeightedTasks,
    balanced_gates,
    digit_strips,
    draw,
    equal_gates,
    independent_gates,
    leaky,
    leave_one_out,
    made_up_images,
    noisy_equal,
    population,
    random_subset,
    seen,
    separation,
    sparse_pairs,
    stealth,
    unseen,
    zipf_tasks,
)
from paritylab.runtime import memory
from paritylab.targets import MultitaskParity, random_circuit

PARITY = Parity(5, (0, 2))
BIASED = Product(PARITY, [0.5, -0.2, 0.9, 0.0, -1.0])

IMAGES = Images(np.array([[[7]], [[200]], [[0]]], np.uint8), np.array([4, 7, 8], np.uint8))
TASKS = MultitaskParity(3, [(0, 1), (2,), (0, 2)])
TWO, THREE = GateProduct(("OR", "AND")), GateProduct(("OR", "AND", "AND"))

DISTRIBUTIONS_UNDER_TEST = {
    "uniform parity": row(Uniform, PARITY),
    "product with one mean": row(Product, PARITY, 0.3),
    "product with a mean for each": row(Product, PARITY, [0.5, -0.2, 0.9, 0.0, -1.0]),
    "product at a corner": row(Product, PARITY, 1.0),
    "flipped labels": row(FlippedLabels, Uniform(PARITY), 0.1),
    "labels always flipped": row(FlippedLabels, BIASED, 1.0),
    "mixture of two": row(Mixture, [Uniform(PARITY), BIASED], [0.25, 0.75]),
    "mixture of three with an unused part": row(
        Mixture, [BIASED, Uniform(PARITY), Uniform(majority(5))], [0.5, 0.0, 0.5]
    ),
    "mixture with flips": row(Mixture, [FlippedLabels(BIASED, 0.3), Uniform(majority(5))], [0.5, 0.5]),
    "unit encoding": row(Encoded, BIASED, "unit"),
    "bits encoding": row(Encoded, FlippedLabels(BIASED, 0.2), "bits"),
    "points": row(Points, np.array([[1.0, -1.0], [1.0, 1.0], [0.5, 2.0]]), np.array([1.0, -1.0, -1.0])),
    "equal bits": row(EqualBits, Parity(5, (0, 2, 3))),
    "leaky parity": row(leaky, Parity(5, (0, 2, 3)), 0.25),
    "generative circuit": row(Generative, random_circuit(4, key=root_key(3))),
    "easy half": row(EasyHalf, TWO, SharedSign(np.array([1.0, -1.0]), 0.4, 0.1)),
    "equal gates": row(equal_gates, THREE),
    "equal gates but one": row(leave_one_out, TWO),
    "independent gates": row(independent_gates, TWO, 0.7),
    "balanced gates": row(balanced_gates, TWO),
    "nearly equal gates": row(noisy_equal, THREE, 0.1),
    "equal gates and uniform": row(separation, equal_gates(THREE), 0.25),
    "a random subset of gates": row(random_subset, TWO, 1),
    "sparse pairs": row(sparse_pairs, TWO, 0.5),
    "stealth": row(stealth, THREE),
    "strips of two digits": row(Strips, IMAGES, 2),
    "strips of digits, others held out": row(digit_strips, Digits("digits", IMAGES, IMAGES), 2),
    "held out": row(HeldOut, BIASED, Uniform(PARITY)),
    "sample": row(draw, BIASED, 20, key=root_key(7)),
    "population": row(population, Uniform(PARITY)),
    "curriculum": row(Curriculum, [Phase(BIASED, steps=10), Phase(Uniform(PARITY))]),
    "stratified sample": row(Stratified, [BIASED, FlippedLabels(Uniform(PARITY), 0.1)], [3, 9]),
    "shifted inputs": row(ShiftedInputs, BIASED, 0.25),
    "patterns on three coordinates": row(
        PartOfCube, PARITY, (4, 0, 2), [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
    ),
    "all but a part of the cube": row(seen, PARITY, {0: -1, 3: -1}),
    "a part of the cube": row(unseen, PARITY, {1: 1, 4: -1}),
    "tasks with weights": row(WeightedTasks, TASKS, [0.5, 0.0, 0.5]),
    "tasks by Zipf": row(zipf_tasks, TASKS, 1.4),
    "one task": row(WeightedTasks, TASKS, [0.0, 1.0, 0.0]),
    "patches of images": row(RandomPatches, made_up_images(20, side=4), 2),
}
ENDLESS = (ShiftedInputs, RandomPatches)
"""Those whose support is not enumerated."""

enumerable = pytest.mark.parametrize(
    "distribution",
    [pytest.param(row.thing, id=name) for name, row in DISTRIBUTIONS_UNDER_TEST.items() if row.export not in ENDLESS],
)


def test_every_distribution_is_under_test():
    rows = [*DISTRIBUTIONS_UNDER_TEST.values(), *CHAINED_UNDER_TEST.values()]
    assert not without_a_row(distributions, "distribution", rows)


@pytest.mark.parametrize("distribution", things(DISTRIBUTIONS_UNDER_TEST).values(), ids=DISTRIBUTIONS_UNDER_TEST)
def test_every_distribution_gives_points_and_signs(distribution):
    x, y = distribution.sample(root_key(5), 7)
    assert x.shape == (7, distribution.n) and y.shape == (7,) and x.dtype == y.dtype == jnp.float32
    assert np.all(np.isfinite(x)) and np.all(np.abs(y) == 1)
    for ours, compiled in zip((x, y), jax.jit(lambda key: distribution.sample(key, 7))(root_key(5)), strict=True):
        np.testing.assert_array_equal(ours, compiled)  # jit changes nothing
    assert distribution.clean().n == distribution.n


@pytest.mark.parametrize("export", ENDLESS)
def test_a_support_that_is_not_enumerated_says_so(export):
    distribution = next(row.thing for row in DISTRIBUTIONS_UNDER_TEST.values() if row.export is export)
    with pytest.raises(ValueError, match="use `sample`"):
        distribution.support()


@enumerable
def test_every_distribution_keeps_the_contract(distribution):
    points, labels, probability = (np.asarray(part, float) for part in distribution.support())
    assert points.shape == (len(probability), distribution.n)
    assert labels.shape == probability.shape
    assert np.all(probability >= 0)
    # float32: each of at most 96 probabilities has a relative error of a few 6e-8.
    assert probability.sum() == pytest.approx(1, abs=1e-6)

    batch = 20_000
    sample = jax.jit(lambda key: distribution.sample(key, batch))
    keys = jr.split(root_key(0), 2)
    alone = [sample(key) for key in keys]
    x, y = alone[0]
    assert x.shape == (batch, distribution.n) and y.shape == (batch,)
    assert x.dtype == y.dtype == jnp.float32

    # One key, one draw, alone or among others; another key, another draw.
    together = jax.vmap(sample)(keys)
    again = sample(keys[0])
    for i, values in enumerate(together):
        np.testing.assert_array_equal(again[i], alone[0][i])
        np.testing.assert_array_equal(values, np.stack([each[i] for each in alone]))
    if np.sum(probability > 0) > 1:
        assert any(not np.array_equal(one, other) for one, other in zip(*alone, strict=True))

    # The sample lies in the support, and has its moments: E[x_i], E[y], E[y x_i].
    possible = np.column_stack([points, labels])[probability > 0]
    drawn = np.unique(np.column_stack([x, y]).astype(float), axis=0)
    assert {tuple(row) for row in drawn.tolist()} <= {tuple(row) for row in possible.tolist()}
    exact = moments(points, labels)
    mean = probability @ exact
    variance = np.maximum(probability @ exact**2 - mean**2, 0)
    # Five sigma of a mean over the batch; 1e-6 for constants, which have none and are rounded to float32.
    tolerance = 5 * np.sqrt(variance / batch) + 1e-6
    sampled = moments(np.asarray(x, float), np.asarray(y, float)).mean(axis=0)
    assert np.all(np.abs(sampled - mean) <= tolerance)


def moments(x, y):
    return np.column_stack([x, y, x * y[:, None]])


def test_product_probabilities_are_products():
    points, _, probability = BIASED.support()
    np.testing.assert_array_equal(points, cube(5))
    by_hand = [math.prod((1 + m * x) / 2 for m, x in zip(BIASED.mean, row, strict=True)) for row in np.asarray(points)]
    np.testing.assert_allclose(probability, by_hand, rtol=1e-6)


def test_the_coordinates_of_a_product_are_independent():
    batch, mean = 20_000, np.array([0.5, -0.2, 0.9, 0.0])
    x = np.asarray(Product(Parity(4, (0,)), mean).sample(root_key(0), batch)[0], float)
    # x_i x_j is a sign of mean m_i m_j, so its variance is at most 1.
    products, expected = x.T @ x / batch, np.outer(mean, mean)
    np.fill_diagonal(expected, 1)
    np.testing.assert_allclose(products, expected, atol=5 / math.sqrt(batch))


def test_flips_come_at_the_rate_asked_for_and_leave_points_alone():
    batch, rate = 20_000, 0.3
    x, y = FlippedLabels(Uniform(PARITY), rate).sample(root_key(0), batch)
    flipped = np.asarray(y != jax.vmap(PARITY)(x))
    assert abs(flipped.mean() - rate) <= 5 * math.sqrt(rate * (1 - rate) / batch)


@pytest.mark.parametrize(
    ("noisy", "clean"),
    [
        (FlippedLabels(BIASED, 0.2), BIASED),
        (FlippedLabels(FlippedLabels(BIASED, 0.2), 0.3), BIASED),
        (Encoded(FlippedLabels(BIASED, 0.2), "bits"), Encoded(BIASED, "bits")),
        (
            Mixture([FlippedLabels(BIASED, 0.2), Uniform(PARITY)], [0.5, 0.5]),
            Mixture([BIASED, Uniform(PARITY)], [0.5, 0.5]),
        ),
        (ShiftedInputs(FlippedLabels(BIASED, 0.2), 0.1), ShiftedInputs(BIASED, 0.1)),
        (BIASED, BIASED),
        (Uniform(PARITY), Uniform(PARITY)),
    ],
    ids=["flips", "flips of flips", "encoded", "mixture", "shifted", "product", "uniform"],
)
def test_clean_removes_flips_and_nothing_else(noisy, clean):
    made = noisy.clean()
    assert jax.tree.structure(made) == jax.tree.structure(clean)
    for left, right in zip(jax.tree.leaves(made), jax.tree.leaves(clean), strict=True):
        np.testing.assert_array_equal(left, right)


def test_the_labels_of_a_sample_stay_as_they_were_drawn():
    noisy = draw(FlippedLabels(Uniform(PARITY), 1.0), 10, key=root_key(0))
    np.testing.assert_array_equal(noisy.clean().y, -jax.vmap(PARITY)(noisy.x))


def test_shifts_are_uniform_and_leave_labels_alone():
    batch, amplitude = 20_000, 0.25
    shifted = ShiftedInputs(Uniform(PARITY), amplitude)
    x, y = shifted.sample(root_key(0), batch)
    assert shifted.n == 5
    corner = jnp.sign(x)
    np.testing.assert_array_equal(y, jax.vmap(PARITY)(corner))
    shift = np.asarray(x - corner, float)
    assert np.abs(shift).max() <= amplitude + 1e-7  # rounding of x to float32 near 1
    # A uniform number in [-a, a] has mean 0, variance a^2/3 and fourth moment a^4/5.
    np.testing.assert_allclose(shift.mean(axis=0), 0, atol=5 * amplitude / math.sqrt(3 * batch))
    sigma = amplitude**2 * math.sqrt((1 / 5 - 1 / 9) / batch)
    np.testing.assert_allclose((shift**2).mean(axis=0), amplitude**2 / 3, atol=5 * sigma)


@pytest.mark.parametrize("encoding", ["signs", "unit", "bits"])
def test_an_encoding_changes_points_and_not_labels(encoding):
    x, y = BIASED.sample(root_key(4), 30)
    encoded_x, encoded_y = Encoded(BIASED, encoding).sample(root_key(4), 30)
    np.testing.assert_array_equal(encoded_x, encode(x, encoding))
    np.testing.assert_array_equal(encoded_y, y)


def test_draw_keeps_one_sample():
    sample = draw(BIASED, 12, key=root_key(5))
    x, y = BIASED.sample(root_key(5), 12)
    np.testing.assert_array_equal(sample.x, x)
    np.testing.assert_array_equal(sample.y, y)
    picked_x, picked_y = sample.examples(jnp.array([3, 0, 3]))
    np.testing.assert_array_equal(picked_x, x[np.array([3, 0, 3])])
    np.testing.assert_array_equal(picked_y, y[np.array([3, 0, 3])])


def test_memory_is_a_plausible_number_of_bytes():
    assert 2**28 < memory() < 2**50


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Product(PARITY, 1.5), r"means between -1 and 1, got mean=1\.5"),
        (lambda: Product(PARITY, [0.0, 0.0, 0.0, 0.0, -1.1]), r"means between -1 and 1, got mean=\[0\.0, .*, -1\.1\]"),
        (lambda: Product(PARITY, math.nan), r"means between -1 and 1, got mean=nan"),
        (lambda: FlippedLabels(BIASED, 1.5), r"probability between 0 and 1, got probability=1\.5"),
        (lambda: FlippedLabels(BIASED, -0.1), r"probability between 0 and 1, got probability=-0\.1"),
        (lambda: ShiftedInputs(BIASED, -0.1), r"amplitude >= 0, got amplitude=-0\.1"),
        (
            lambda: ShiftedInputs(BIASED, 0.5).support(),
            r"amplitude=0\.5 is continuous and has no .* use `sample`",
        ),
        (lambda: Mixture([BIASED], [0.5, 0.5]), r"each of its 1 parts, with sum 1, got weights=\[0\.5, 0\.5\]"),
        (lambda: Mixture([BIASED, BIASED], [0.5, 0.4]), r"each of its 2 parts, with sum 1, got weights=\[0\.5, 0\.4\]"),
        (lambda: Mixture([BIASED, BIASED], [1.5, -0.5]), r"a weight >= 0 .* got weights=\[1\.5, -0\.5\]"),
        (lambda: Mixture([BIASED, Uniform(majority(3))], [0.5, 0.5]), r"must share n, got n=\[5, 3\]"),
        (lambda: Points(np.zeros((0, 2)), np.zeros(0)), r"at least one row of x .* got x \(0, 2\) and y \(0,\)"),
        (
            lambda: Points(np.ones((2, 1)), np.array([1.0, 0.0])),
            r"labels that are -1 or \+1, got 0\.0\. Write 0 and 1 as",
        ),
        (lambda: draw(BIASED, 0, key=root_key(0)), r"at least one example, got size=0"),
        (
            lambda: draw(BIASED, 10**12, key=root_key(0)),
            r"size=1000000000000 with n=5, drawn and copied, would take about 44,703 GiB, .* GiB\. Draw fewer",
        ),
    ],
)
def test_what_cannot_be_says_so(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_wrong_words_and_shapes_are_named(said_to_users):
    encoded = "pl.distributions.Encoded(pl.Uniform(pl.Parity(3, (0,))), 'hex')"
    unequal = "pl.Points(np.zeros((3, 2)), np.zeros(2))"
    flat = "pl.Points(np.zeros(3), np.zeros(3))"
    assert said_to_users(encoded, unequal, flat) == {
        encoded: "ValueError: There is no encoding 'hex'; choose one of signs, unit, bits.",
        unequal: "ValueError: `Points` needs at least one row of x and one label a row, got x (3, 2) and y (2,).",
        flat: "ValueError: `Points` needs at least one row of x and one label a row, got x (3,) and y (3,).",
    }
