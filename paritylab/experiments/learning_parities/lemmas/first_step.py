"""What the first step does to neurons, exactly or for random ones: the numbers of Lemmas 5 to 12 and 14."""

import functools
import math

import numpy as np

from ....analysis import first_step_quality, step_table
from ....cube import cube
from .good_neurons import EPSILON, interval_of, kind_probabilities, separator_of_lemma_12, worst_feature_error


def lemmas_5_and_6(n: int, k: int) -> dict[str, float]:
    """Exact probabilities over w that a coefficient on the uniform half is large; points +-1, which is stronger."""
    table, scale = step_table(n, k, 1 / (8 * k), 0.0), math.comb(n - 1, k) ** -0.5
    rest, all_kinds = kind_probabilities(n - 1, k), kind_probabilities(n, k)
    # A coordinate outside A with weight 0 (probability 1/3) has coefficient 0; else it is one of the active ones.
    outside, bias = np.abs(table.outside[1:]), np.abs(table.bias)
    square = max(2 / 3 * float(np.sum(rest * outside**2)), float(np.sum(all_kinds * bias**2))) / scale**2
    tail = max(
        c * max(2 / 3 * float(rest[outside > c * scale].sum()), float(all_kinds[bias > c * scale].sum()))
        for c in (2, 5, 10)
    )
    worst = np.maximum(bias, np.abs(table.outside))
    union = max(c * float(all_kinds[worst > c * (n - 1) * scale].sum()) for c in (0.1, 0.5, 1, 2))
    return {"lemma-5-square": square, "lemma-5": tail, "lemma-6": union}


def lemma_7_and_good(n: int, k: int) -> dict[str, float]:
    """The largest weight outside A and bias shift of neurons whose weights in A add up to 0."""
    even, all_kinds = np.arange((k + 1) // 2), lambda table: float(np.max(np.abs(table.outside)))
    largest = lambda table: max(float(np.max(np.abs(part[:, even, even]))) for part in (table.outside, table.bias))
    return {
        "lemma-7": largest(step_table(n, k, 1 / (8 * k), 1.0)),
        "good": largest(step_table(n, k, 1 / (8 * k), 0.5)),
        "lemma-7-others": all_kinds(step_table(n, k, 1 / (8 * k), 1.0)),
        "lemma-good-others": all_kinds(step_table(n, k, 1 / (8 * k), 0.5)),
        "lemma-14": float(np.max(np.abs(step_table(n, k, 1 / (8 * k)).output))) * math.sqrt(n) / k,
    }


def lemma_8(n: int, k: int, neurons: int) -> dict[str, float]:
    """The worst constant over random neurons, for the worst sign h of the bits in A."""
    weights = np.random.default_rng((n, k)).integers(-1, 2, (neurons, n))
    found = [first_step_quality(each, 1 / (8 * k), range(k)).scaled_deviation for each in weights]
    return {"lemma-8": max(found)}


def balanced(n: int, k: int, neurons: int) -> np.ndarray:
    """Random neurons whose weights in A add up to 0."""
    rng = np.random.default_rng((n, k, 1))
    weights = rng.integers(-1, 2, (neurons, n))
    inside = rng.integers(-1, 2, (100 * neurons, k))
    weights[:, :k] = inside[inside.sum(axis=1) == 0][:neurons]
    return weights


def lemmas_9_and_11(n: int, k: int, neurons: int) -> dict[str, float]:
    """Good neurons at an n that the lemmas allow: alpha, C_1, and the probability over u of an ideal feature."""
    trinomial = kind_probabilities(n, k, outside=False)
    share = float(sum(trinomial[i, i] for i in range(k // 2 + 1)))
    qualities = [first_step_quality(each, 1 / (8 * k), range(k)) for each in balanced(n, k, neurons)]
    alphas = np.array([each.alpha for each in qualities])
    # |w_j - alpha u / sqrt(n)| for the best alpha and the largest u = n/k
    spread = float(np.max(np.ptp(alphas, axis=1))) / 2 * math.sqrt(n) / k
    epsilon, patterns = 1.0, np.asarray(cube(k), float)
    ratios = []
    for r in range(-k, k + 1, 2):
        error = functools.partial(worst_feature_error, r=r, k=k, n=n, patterns=patterns)
        reach = [
            interval_of(functools.partial(error, alphas=alpha), r, float(alpha.mean()), n, k, 2 * epsilon)
            for alpha in alphas
        ]
        ratios.append(share * float(np.mean(reach)) / (epsilon / (112 * k**2.5)))
    return {
        "lemma-9-share": share * 14 * math.sqrt(k),
        "lemma-9-least": float(alphas.min()),
        "lemma-9-most": float(alphas.max()),
        "lemma-9-c1": spread,
        "lemma-11": min(ratios),
    }


def lemma_10(k: int) -> dict[str, float]:
    """The least probability over u, for all r and some alpha and epsilon, over eps / (8 k^2); any n is the same."""
    n, ratios = 1000, []
    for r in range(-k, k + 1, 2):
        for alpha in (0.25, 0.5, 1.0):
            for epsilon in (0.1, 1.0, 0.5 * k):
                # All that is between is straight: it is enough to look at ends and kinks, on a line of z.
                error = lambda u, alpha=alpha, r=r: worst_feature_error(
                    u, np.array([alpha]), r, k, n, np.array([[-k], [k], [r], [_kink(u, alpha, k, n)]], float)
                )
                ratios.append(interval_of(error, r, alpha, n, k, epsilon) / (epsilon / (8 * k**2)))
    return {"lemma-10": min(ratios)}


def _kink(u: float, alpha: float, k: int, n: int) -> float:
    """Where the unit's argument is 0, if that is within [-k, k]."""
    return float(np.clip(-n / (8 * k * alpha * u), -k, k)) if u else float(k)


def used_share(n: int, k: int, epsilon: float = EPSILON) -> float:
    """The probability that a neuron is good and its u within eps/k of an ideal one, at the mean alpha of good ones."""
    trinomial = kind_probabilities(n, k, outside=False)
    share = float(sum(trinomial[i, i] for i in range(k // 2 + 1)))
    qualities = [first_step_quality(each, 1 / (8 * k), range(k)).alpha for each in balanced(n, k, 10)]
    return share * sum(2 * epsilon / (8 * k * float(np.mean(qualities)) * r) for r in range(1, k + 1, 2))


def lemma_12(n: int, k: int, pairs: int) -> dict[str, float]:
    """The separator of the proof: its margin over the full support, and its constants."""
    found = separator_of_lemma_12(n, k, pairs, seed=0)
    return {
        "lemma-12": found.margin,
        "lemma-12-norm": float(np.linalg.norm(found.outputs)) * math.sqrt(pairs) / k**5,
        "lemma-12-count": float(np.count_nonzero(found.outputs)) / (2 * pairs * used_share(n, k)),
        "lemma-12-largest": found.largest_unit,
        "lemma-12-outside": found.outside,
    }
