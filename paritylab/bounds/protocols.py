"""A bound on the 0-1 error of depth two that knows the number of units alone, whatever their weights.

x is given to one player and z to another; F is a product of gates of uniform (x, z), N(x, z) a network of k ReLU units
of pre-activations a_i(x) + c_i(z), with any weights.

- For each unit the first player sorts all x by a_i and cuts them into t groups of equal size, t a power of two, and
  sends the group of her own x: k log2 t bits. The other knows then whether the unit is active, unless -c_i(z) lies
  strictly within the group's values; for each z at most one group is like that, so that this has probability 1/t.
- He sends which units are active, k bits. Given that, N is a sum A(x) + C(z). She sorts all x by A into t groups, he
  sends the group that C(z) cuts, log2 t bits, and she the sign of N, one bit, unless her x is in that group.

So a protocol of k (1 + log2 t) + log2 t + 1 bits agrees with the sign of N but for a probability of (k + 1) / t. Its
answers are constant on that power of two of rectangles, with which F correlates by at most 2^(-n/2) times the sum of
the roots of their probabilities (Lindsey), and that is at most 2^((bits - n)/2). Source: depth-separation.
"""

import bisect

from ..demands import check_number
from .base import Bound, check_positive, number, parts_of

LARGEST_BITS = 64
"""Of t: no more groups than that are tried."""


def protocol_error(half: int, *, width: int) -> Bound:
    """The error of every ReLU network of so many units on a product of gates, with weights of any size.

    At least 1/2 - ((k + 1) / t + 2^((k (1 + log2 t) + log2 t + 1 - n) / 2 - 1)) for the best power of two t.

    >>> round(protocol_error(51, width=4).value, 3), protocol_error(51, width=8).value
    (0.45, 0.0)
    """
    check_positive(half=half, width=width)
    advantage, bits = min((_advantage(half, width, bits), bits) for bits in range(min(half, LARGEST_BITS) + 1))
    value = max(0.0, (1 - advantage) / 2)
    sentence = (
        f"No network of {width:,} ReLU units, whatever its weights, has an error below {number(value)} on a product "
        f"of {half} gates."
    )
    parts = parts_of(advantage=min(1.0, advantage), groups=2.0**bits)
    return Bound(value, "at least", sentence, "depth-separation, the bound without weights", parts=parts)


def protocol_width(half: int, *, error: int | float) -> Bound:
    """The units without which no network has so small an error, whatever its weights: of order n / log n.

    >>> [protocol_width(n, error=0.4).value for n in (51, 101, 201)]
    [5.0, 11.0, 21.0]
    """
    check_positive(half=half)
    check_number("error", error)
    if not 0 <= error < 0.5:
        raise ValueError(f"An error below chance lies in [0, 1/2), got error={error}.")
    enough = lambda width: protocol_error(half, width=width).value <= error
    width = 1 + bisect.bisect_left(range(1, half + 1), True, key=enough)
    sentence = f"A ReLU network needs at least {width:,} units for an error of {number(error)} on {half} gates."
    return Bound(float(width), "at least", sentence, "depth-separation, the bound without weights")


def _advantage(half: int, width: int, bits: int) -> float:
    """2 (k + 1) / t + 2^((k (1 + log2 t) + log2 t + 1 - n) / 2) for t = 2^bits, or 2 where it says nothing."""
    exponent = (width * (1 + bits) + bits + 1 - half) / 2
    return 2 * (width + 1) / 2.0**bits + 2.0**exponent if exponent < 1 else 2.0
