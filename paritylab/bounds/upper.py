"""Upper bounds: the theorems on the width, steps and samples with which gradient descent learns.

Each function checks the assumptions of its theorem one by one and returns what it guarantees for the given
numbers, with the constants as their proofs give them. Where a theorem hides a constant in O(.), the
constant is an argument that defaults to 1; the value is then a scale, not a guarantee.
"""

import dataclasses
import math

from ..analysis.fourier.majority import majority_coefficients
from ..analysis.polynet.errors import last_place
from .base import Assumption, Bound, Part, check_positive, check_subset_size, number, parts_of


def two_layer_loss(
    n: int,
    k: int,
    *,
    width: int,
    steps: int,
    failure: float,
    constants: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0),
    condition_constants: tuple[float, float] = (1.0, 1.0),
) -> Bound:
    """learning-parities, Theorem 3: the loss on D_A after gradient descent with 2q units, in four terms.

    O(k^10 / q + k^8 / sqrt(q) + q k / sqrt(n) + k^2 sqrt(q) / T), with probability 1 - failure, if k is odd,
    7 <= k <= c n^(1/10) and q >= C k^7 log(k / failure). `constants` are those of the terms,
    `condition_constants` are c and C. `width` is q.

    >>> bound = two_layer_loss(10**80, 7, width=10**17, steps=10**14, failure=0.1)
    >>> round(bound.value, 3), bound.applies
    (0.018, True)
    """
    check_subset_size(n, k)
    _check_fraction(failure=failure)
    check_positive(width=width, steps=steps)
    root = math.sqrt(width)
    raw = (k**10 / width, k**8 / root, width * k / math.sqrt(n), k**2 * root / steps)
    names = ("k^10/q", "k^8/sqrt(q)", "qk/sqrt(n)", "k^2 sqrt(q)/T")
    parts = tuple(Part(name, scale * term) for name, scale, term in zip(names, constants, raw, strict=True))
    value = math.fsum(part.value for part in parts)
    needed = condition_constants[1] * k**7 * math.log(k / failure)
    largest = condition_constants[0] * n**0.1
    sentence = (
        f"Gradient descent with {number(2 * width)} units reaches a loss of at most {number(value)} (up to the "
        f"constants of the terms) on D_A with |A| = {k} within {number(steps)} steps."
    )
    assumptions = (
        Assumption(f"k is odd and at least 7, here {k}", k % 2 == 1 and k >= 7),
        Assumption(f"k <= {number(largest)}, a constant times n^(1/10)", k <= largest),
        Assumption(f"q >= {number(needed)}, a constant times k^7 log(k/failure)", width >= needed),
    )
    return Bound(value, "at most", sentence, "learning-parities, Theorem 3", assumptions, parts)


def two_layer_sizes(k: int, *, loss: float, failure: float) -> Bound:
    """learning-parities, Corollary 4, corrected: sizes at which each term of Theorem 3 is of the order of the loss.

    q = loss^-2 k^16 log(k/failure), T = loss^-2 k^10 log(k/failure) and n >= loss^-6 k^34 log^2(k/failure); the
    printed q with loss^-1 leaves a term of sqrt(loss). The value is the number of steps.

    >>> bound = two_layer_sizes(7, loss=0.1, failure=0.1)
    >>> f"{bound.part('width'):.1e} {bound.part('steps'):.1e} {bound.part('n'):.1e}"
    '1.4e+16 1.2e+11 9.8e+35'
    """
    check_positive(k=k)
    _check_fraction(loss=loss, failure=failure)
    logarithm = math.log(k / failure)
    width, steps = loss**-2 * k**16 * logarithm, loss**-2 * k**10 * logarithm
    n = loss**-6 * k**34 * logarithm**2
    sentence = (
        f"About {number(steps)} steps with {number(width)} units reach a loss of the order of {number(loss)} on D_A "
        f"with |A| = {k}, for n of at least about {number(n)}."
    )
    assumptions = (Assumption(f"k is odd and at least 7, here {k}", k % 2 == 1 and k >= 7),)
    parts = parts_of(width=width, steps=steps, n=n)
    return Bound(steps, "at most", sentence, "learning-parities, Corollary 4 (corrected)", assumptions, parts)


def one_step_learning(n: int, k: int, *, loss: float) -> Bound:
    """hidden-progress, Theorem 10 (Theorem 4 in detail), corrected: width, batch and steps that reach a loss.

    One step of batch B on the first layer finds the support, then SGD trains the second. With
    L = log(128 k^3 n / loss) and xi the coefficient of majority at level k - 1:
    r = k 2^(k+1) log(8 (k+1) / loss), B = 2^12 k^2 n L log(32 n r / loss) / xi^2, T = 2^12 k^3 r n^2 / loss^2, for
    even k >= 4, odd n >= 128 k^4 L (n / (n-k))^2. The value is the number of steps.

    >>> bound = one_step_learning(1_000_001, 4, loss=0.1)
    >>> bound.applies, bound.part("width")
    (True, 767.0)
    >>> one_step_learning(501, 4, loss=0.1).applies
    False
    """
    check_subset_size(n, k)
    _check_fraction(loss=loss)
    logarithm = math.log(128 * k**3 * n / loss)
    width = math.ceil(k * 2 ** (k + 1) * math.log(8 * (k + 1) / loss))
    even, odd = k % 2 == 0 and k >= 4, n % 2 == 1
    coefficient = abs(float(majority_coefficients(n)[k - 1])) if even and odd else math.nan
    log_coefficient = math.log(coefficient) if coefficient != 0 else -math.inf
    log_batch = math.log(2**12 * k**2 * n * logarithm * math.log(32 * n * width / loss)) - 2 * log_coefficient
    batch = math.exp(log_batch) if log_batch < 700 else (math.inf if even and odd else math.nan)
    steps = math.ceil(2**12 * k**3 * width * n**2 / loss**2)
    least = 128 * k**4 * logarithm * (n / (n - k)) ** 2 if n > k else math.inf
    sentence = (
        f"{number(steps)} steps of {number(width)} ReLU units with a first batch of {number(batch)} examples reach an "
        f"expected hinge loss of {number(loss)} on the {k}-parities of {n} bits."
    )
    assumptions = (
        Assumption(f"k is even and at least 4, here {k}", even),
        Assumption(f"n is odd, here {n}", odd),
        Assumption(f"n >= {number(least)}, that is 128 k^4 log(128 k^3 n/loss) (n/(n-k))^2", n >= least),
    )
    parts, source = parts_of(width=width, batch=batch, steps=steps), "hidden-progress, Theorems 4 and 10 (corrected)"
    return Bound(float(steps), "at most", sentence, source, assumptions, parts)


def convex_descent(*, norm: float, gradient: float, steps: int) -> Bound:
    """hidden-progress, Theorem 9: how far SGD on a convex loss stays above the best weights of a norm, on average.

    From 0 with the rate M / (rho sqrt(T)), where M bounds the norm of the weights that it is compared with and rho that
    of the gradients: the mean over the steps of the expected loss is at most the loss of those weights plus M rho /
    sqrt(T).

    >>> convex_descent(norm=2.0, gradient=5.0, steps=10_000).value
    0.1
    """
    check_positive(norm=norm, gradient=gradient, steps=steps)
    value = norm * gradient / math.sqrt(steps)
    return Bound(
        value,
        "at most",
        f"The mean over {number(steps)} steps of SGD of the expected loss is at most {number(value)} above that of any "
        f"weights of norm {number(norm)}.",
        "hidden-progress, Theorem 9",
        (Assumption(f"gradients have norms of at most {number(gradient)}, and the loss is convex", True),),
        (Part("rate", norm / (gradient * math.sqrt(steps))),),
    )


def time_near_chance(block: int, k: int, *, error: float = 0.49) -> Bound:
    """hidden-progress, Theorem 7, exactly: the share of its time that a disjoint PolyNet spends near chance.

    Gradient flow from all ones moves the k relevant weights as v(t) = (1 - (k-2) t)^(-1/(k-2)). With p the
    probability that the sum of the block - 1 other coordinates exceeds v, the error is (1 - (1 - 2p)^k) / 2; it is
    zero from v = block - 1 on. The share T(error) / T(0) is 1 - O(block^(1 - k/2)); the part `scaled` is
    (1 - share) block^(k/2 - 1), which has a limit.

    >>> round(time_near_chance(4096, 3).value, 3)
    0.957
    """
    check_positive(block=block - 2)
    _check_fraction(error=error)
    if k < 3:
        raise ValueError(f"Theorem 7 is for k >= 3 (for k = 2 the weights never become infinite), got k={k}.")
    others, last = block - 1, last_place(block, k, error)
    time = lambda v: (1 - float(v) ** (2 - k)) / (k - 2)
    value = time(last) / time(others)
    sentence = (
        f"Under gradient flow, a disjoint PolyNet with {k} blocks of {block} spends a share of {number(value)} of the "
        f"time to zero error at an error of {number(error)} or more."
    )
    parts = parts_of(scaled=(1 - value) * block ** (k / 2 - 1))
    return Bound(value, "at least", sentence, "hidden-progress, Theorem 7", parts=parts)


def polynet_steps(block: int, k: int, *, error: float, failure: float) -> Bound:
    """hidden-progress, Theorem 13 (Theorem 8 in detail), corrected: steps of SGD on a disjoint PolyNet.

    The least T with T >= 48 log(2 n T / failure) log(2k / error) (3 block - 2)^(2k - 1), n = k block, at any batch
    size, given that the product of the relevant weights starts positive (probability 1/2). Printed with 6.

    >>> round(polynet_steps(3, 2, error=0.1, failure=0.1).value, -4)
    1140000.0
    """
    check_positive(block=block, k=k)
    _check_fraction(error=error, failure=failure)
    scale = 48 * math.log(2 * k / error) * float(3 * block - 2) ** (2 * k - 1)
    steps = scale
    for _ in range(100):  # the map has slope 1 / log(...) < 1 there
        steps = max(scale, scale * math.log(2 * k * block * steps / failure))
    value, source = float(math.ceil(steps)), "hidden-progress, Theorems 8 and 13 (corrected)"
    sentence = (
        f"{number(value)} steps of SGD at any batch size bring the error of a disjoint PolyNet with {k} blocks of "
        f"{block} to {number(error)}."
    )
    assumptions = (Assumption(f"a block has at least 2 coordinates, here {block}", block >= 2),)
    return Bound(value, "at most", sentence, source, assumptions)


def layerwise_circuit(n: int, *, correlation: float, pattern: float, failure: float) -> Bound:
    """boolean-circuits, Theorem 4, corrected: samples, width, rate and steps of layerwise gradient descent.

    `correlation` is Delta (property 1) and `pattern` is epsilon (property 3). Width k >= log(2nd/failure) / log(4/3),
    rate 1 / (16 sqrt(2) k), first weights up to 1 / (8k), more than 6n / (sqrt(2) rate epsilon Delta) steps per layer
    and 2^11 / (epsilon Delta)^2 log(8nd/failure) samples. The width is raised where needed
    so that the failures of the weights, 4 (n-1) (3/4)^k, and of the sample, (n-1) failure / (nd), add up to no more
    than `failure` (only for d <= 2). The value is the number of samples.

    >>> bound = layerwise_circuit(16, correlation=0.19, pattern=0.05, failure=0.1)
    >>> bound.part("width"), round(bound.value / 1e6, 2)
    (25.0, 193.81)
    """
    check_positive(n=n)
    _check_fraction(correlation=correlation, pattern=pattern, failure=failure)
    depth = max(1, round(math.log2(n)))
    room = failure * (1 - (n - 1) / (n * depth))
    fewest = max(2 * n * depth / failure, 4 * (n - 1) / room)
    width = math.ceil(math.log(fewest) / math.log(4 / 3))
    rate = 1 / (16 * math.sqrt(2) * width)
    steps = math.floor(6 * n / (math.sqrt(2) * rate * pattern * correlation)) + 1
    samples = math.floor(2**11 / (pattern * correlation) ** 2 * math.log(8 * n * depth / failure)) + 1
    sentence = (
        f"{number(samples)} samples, gates of {number(width)} units and {number(steps)} steps per layer recover every "
        f"gate of a tree circuit on {n} bits."
    )
    assumptions = (
        Assumption(f"n is a power of 2 and at least 2, here {n}", n == 2**depth),
        Assumption("Delta, epsilon and the failure are below 1/2", max(correlation, pattern, failure) < 0.5),
    )
    parts = parts_of(samples=samples, width=width, rate=rate, steps=steps, scale=1 / (8 * width))
    return Bound(float(samples), "at most", sentence, "boolean-circuits, Theorem 4 (corrected)", assumptions, parts)


def layerwise_circuit_product(n: int, *, correlation: float, failure: float) -> Bound:
    """boolean-circuits, Theorem 2, corrected: Theorem 4 with epsilon = Delta^2 / 4, which product distributions have.

    For a Delta-non-degenerate product distribution with local correlations of Delta: more than
    2^15 / Delta^6 log(8nd/failure) samples and 24 n / (sqrt(2) rate Delta^3) steps per layer.

    >>> layerwise_circuit_product(16, correlation=0.3, failure=0.1).part("samples")
    383907449.0
    """
    bound = layerwise_circuit(n, correlation=correlation, pattern=correlation**2 / 4, failure=failure)
    sentence = f"Under a non-degenerate product distribution, {bound.sentence}"
    return dataclasses.replace(bound, sentence=sentence, source="boolean-circuits, Theorem 2 (corrected)")


def symmetric_initialization(n: int, *, error: float, failure: float, constant: float = 1.0) -> Bound:
    """symmetry, Theorem 1: samples and SGD updates that learn any symmetric function of n bits from n + 3 ReLU units.

    m >= c (n + log(1/failure)) / error samples, for every distribution. After training the output depends on
    the weight of a point alone wherever that was seen, so the error is at most the mass of unseen weights;
    the union over the 2^(n+1) sets of weights gives ((n+1) log 2 + log(1/failure)) / error, that is c = 1 for
    n >= 3. Updates: at most 20 R^2 / gamma^2, with step gamma^(5/2) / (100 R^2 sqrt(n)) and confidence R^2 times the
    step (Lemma 4), R^2 = 1 + (n+1)(n+2)(2n+3)/6 and margin gamma >= 1 / sqrt(16n + 1).
    The value is the number of samples.

    >>> bound = symmetric_initialization(30, error=0.1, failure=0.05)
    >>> bound.value, round(bound.part("updates") / 1e6)
    (330.0, 100)
    """
    check_positive(n=n, constant=constant)
    _check_fraction(error=error, failure=failure)
    samples = math.ceil(constant * (n + math.log(1 / failure)) / error)
    proven = ((n + 1) * math.log(2) + math.log(1 / failure)) / error
    margin = 1 / math.sqrt(16 * n + 1)
    radius = math.sqrt(1 + (n + 1) * (n + 2) * (2 * n + 3) / 6)
    step = margin**2.5 / (100 * radius**2 * math.sqrt(n))
    updates = math.floor(20 * radius**2 / margin**2)
    sentence = (
        f"{number(samples)} samples and at most {number(updates)} updates learn any symmetric function of {n} bits to "
        f"an error of {number(error)}, from the symmetric initialization with {n + 3} ReLU units."
    )
    assumptions = (
        Assumption(f"the constant is large enough: {number(proven)} samples suffice", samples >= proven),
        Assumption("the largest input has norm above 1 (n >= 2)", n >= 2),
    )
    parts = parts_of(samples=samples, units=n + 3, updates=updates, step=step, confidence=radius**2 * step)
    return Bound(float(samples), "at most", sentence, "symmetry, Theorem 1", assumptions, parts)


def _check_fraction(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < 1:
            raise ValueError(f"A theorem needs 0 < {name} < 1, got {name}={value}.")
