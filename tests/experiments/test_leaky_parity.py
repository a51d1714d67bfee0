"""What the experiments on the leaky parity calculate, by second routes at small sizes."""

import itertools

import numpy as np
import pytest
from judging import results_of, verdicts

from paritylab.analysis import first_correlations
from paritylab.bounds import parity_correlations
from paritylab.experiments.learning_parities import lemmas, linear, separation
from paritylab.experiments.learning_parities.lemmas import good_neurons
from paritylab.experiments.learning_parities.linear import embeddings, kernels, many_features, small_cube


def test_probabilities_of_kinds_by_counting_all_weights():
    n, k = 6, 3
    counted = np.zeros((n - k + 1, k + 1, k + 1))
    for weights in itertools.product((-1, 0, 1), repeat=n):
        inside = np.array(weights[:k])
        counted[np.count_nonzero(weights[k:]), np.sum(inside == 1), np.sum(inside == -1)] += 3.0**-n
    np.testing.assert_allclose(good_neurons.kind_probabilities(n, k), counted, atol=1e-12)


def test_lemma_5_by_counting_all_weights():
    """E_w of the squared coefficients of one coordinate outside A and of the bias, times C(n-1, k)."""
    n, k = 6, 3
    found = [first_correlations(np.array(w), 1 / 24, range(k))[0] for w in itertools.product((-1, 0, 1), repeat=n)]
    squares = np.array([(n * each.weight[-1] ** 2, each.bias**2) for each in found]).mean(axis=0)
    assert lemmas.lemmas_5_and_6(n, k)["lemma-5-square"] == pytest.approx(10 * squares.max(), rel=1e-9)


def test_the_ideal_features_add_up_to_the_parity():
    """The largest coefficient is 2, and their sizes add up to 7, 9, 15, 17, 23."""
    for k, total in ((3, 7), (5, 9), (7, 15), (9, 17), (11, 23)):
        shares = good_neurons.parity_by_features(k)
        assert np.abs(shares).max() == pytest.approx(2) and np.abs(shares).sum() == pytest.approx(total)


def test_the_separator_of_lemma_12_is_right_on_the_full_support():
    found = good_neurons.separator_of_lemma_12(201, 5, 20_000, seed=1)
    assert found.margin >= 1 and found.outside == 0 and found.largest_unit <= 1
    norm, count = good_neurons.constants_of_lemma_12(7)
    assert norm == pytest.approx(25.405, abs=1e-3) and count == pytest.approx(0.0357, abs=1e-4)


def test_lemma_10_is_tight_and_theorem_13_needs_half_of_its_last_term():
    assert lemmas.lemma_10(3)["lemma-10"] == pytest.approx(1, abs=1e-9)
    assert lemmas.theorem_13(200, 5, 1)["theorem-13"] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("name", ["relu", "fourier", "gates", "quadratic"])
def test_correlations_of_embeddings_by_enumeration(name):
    n, k, count = 8, 3, 20
    table = embeddings.table(name, n, k, count, 5)
    assert table.shape == (2**n, embeddings.size(name, n, count)) and np.abs(table).max() <= 1
    expected = np.linalg.norm(parity_correlations(table, k), axis=1)
    found = embeddings.correlations(name, n, k, count, 5, embeddings.sets(n, k))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_a_monomial_of_degree_k_is_found_by_enumeration_only():
    with pytest.raises(ValueError, match="enumerate them at small n"):
        embeddings.correlations("cubic", 8, 3, 20, 0, embeddings.sets(8, 3))


@pytest.mark.parametrize("kernel", linear.KERNELS)
def test_the_best_loss_of_kernels_by_two_routes(kernel):
    for row in [*linear.by_formula(kernel, 20, 3), *linear.by_duality(kernel, 5, 3)]:
        assert row["least"] == pytest.approx(row["second"], abs=1e-6)


@pytest.mark.parametrize(("k", "right"), [(3, 0.25), (5, 0.6875), (7, 0.34375)])
def test_how_often_the_majority_is_the_parity(k, right):
    assert linear.majority(k) == {"counted": right, "formula": right}


@pytest.mark.acceptance
def test_the_printed_start_is_a_large_function_and_the_copied_one_is_zero():
    case = separation.Case(31, 5, 20, 8, 0.1, 10, ((0.1, 10), (0.1, 20)), (0.1, 20))
    assert separation.start_size(case, "copied")["size"] < 1e-12
    assert separation.start_size(case, "negated")["size"] > 1


def linear_results(settings, least=0.97, learned=0.0, apart=0.0):
    """Optima that never were: of fixed features, of learned ones, and by two routes that differ by a number."""
    optimum = {"gap": 1e-9, "right": 1.0, "loss_on_both": 0.5, "right_of_both": 1.0, "seed": 0, "which": 0}
    rows = [
        {"part": "exhaustive", "embedding": name, "norm": norm, "count": 36, "least": least, "gap": 1e-9, "seed": 0}
        for name in embeddings.TITLES
        for norm in small_cube.NORMS
    ]
    rows += [
        {"part": "curve", "embedding": name, "norm": norm, "least": learned if name == "learned" else 0.9} | optimum
        for name in small_cube.DRAWN
        for norm in small_cube.CURVE
    ]
    rows += [
        {"part": "large", "embedding": name, "n": n, "k": k, "count": 10_000, "length": length}
        for n, k in settings.large
        for name in many_features.EMBEDDINGS
        for length in (1e-5, 2e-5)
    ]
    kernel = {"radius": 1.0, "least": 0.5, "second": 0.5 + apart}
    dimensions = [("formula", n, k) for n in settings.dimensions for k in (3, 5)]
    rows += [
        {"part": part, "kernel": name, "n": n, "k": k} | kernel
        for name in kernels.KERNELS
        for part, n, k in [*dimensions, ("duality", 8, 3)]
    ]
    return results_of(
        [*rows, *({"part": "majority", "k": k, "counted": right} for k, right in ((3, 0.25), (5, 0.6875)))]
    )


def test_linear_methods_from_made_up_optima():
    settings = linear.SETTINGS["quick"]
    assert set(verdicts(linear, settings, linear_results(settings)).values()) == {"holds"}
    found = verdicts(linear, settings, linear_results(settings, least=0.5, learned=0.3, apart=0.1))
    failed = {name for name, verdict in found.items() if verdict == "fails"}
    assert failed == {name for name in found if name.startswith(("exhaustive/", "kernels/", "learned"))} - {
        "exhaustive/proven", "learned/accuracy",
    }  # fmt: skip


def separation_results(settings, perfect, length):
    """Runs that never were: which ways of training succeed, and how long a second layer has to be."""
    rows = []
    for case in settings.cases:
        for kind, _, steps, _ in case.ways():
            for seed in range(40):
                errors = [[0.0, 0.0], [0.0, 0.0]] if perfect[kind] else [[0.25, 1.0], [0.0, 0.0]]
                run = {"part": "train", "case": case.name, "kind": kind, "seed": seed, "limit": steps}
                rows.append(run | {"recorded_step": [0, steps], "errors_by_part": [errors, errors]})
        for _ in range(10):
            found = {"inside": 2 * case.n**1.5, "outside": 1.0, "good": 0.3, "separator": length, "units": 10.0}
            rows.append({"part": "contrast", "case": case.name, **found})
        rows += [
            {"part": "start", "pairing": name, "size": size} for name, size in (("copied", 0.0), ("negated", 50.0))
        ]
    rows.append({"part": "sampled", "inside": 63.6, "outside": 1.0, "examples": 20_000})
    for n in settings.dimensions:
        rows += [{"part": "linear", "n": n, "k": k, "tangent": 0.99, "gaussian": 0.98, "bound": 0.9} for k in (3, 5)]
    return results_of(rows)


def test_the_separation_from_made_up_runs():
    """All but the fast frozen network succeed; then none does, and the frozen ones need a long second layer."""
    settings = separation.SETTINGS["quick"]
    every = {"both layers": True, "slower": True, "fast": False, "slow": True}
    found = verdicts(separation, settings, separation_results(settings, every, 20.0))
    assert {name for name, said in found.items() if said != "holds"} == {"n31-k3/first-step", "n51-k3/first-step"}
    found = verdicts(separation, settings, separation_results(settings, dict.fromkeys(every, False), 200.0))
    for name in ("succeeds", "slower", "network", "frozen/slow", "frozen/slow-bound", "frozen/slower-bound"):
        assert found[f"n31-k3/{name}"] == "fails", name


def test_a_short_second_layer_separates_points_that_it_was_not_found_on():
    found = separation.contrast(separation.three(31), 0)
    assert 10 < found["separator"] < 40 and 5 < found["units"] < 40


def test_corollary_4_needs_more_units_than_printed():
    assert lemmas.corollary_4(2) == pytest.approx(1, abs=0.01) and lemmas.corollary_4(1) < 0.6
