"""Upper bounds on sign-rank, checked by their factors."""

import numpy as np
import pytest

from paritylab.bounds import forster, gate_product_matrix, low_rank_signs, razborov_sherstov_matrix, sign_rank_found


@pytest.mark.parametrize(
    ("signs", "rank"),
    [
        (razborov_sherstov_matrix(1), 2),
        (gate_product_matrix(np.ones(2, int)), 3),  # the 4 x 4 Hadamard matrix: 2 is not enough
        (np.where(np.arange(9)[:, None] <= np.arange(9), 1.0, -1.0), 2),  # "at most", a staircase
    ],
)
def test_known_sign_ranks_are_found(signs, rank):
    found = sign_rank_found(signs, 5)
    assert found.rank == rank and forster(signs).value <= rank
    assert np.all(np.sign(found.left @ found.right) == signs) and found.margin > 0


def test_a_rank_that_cannot_be_is_not_found_and_a_wrong_one_is_said():
    assert low_rank_signs(razborov_sherstov_matrix(1), 1).margin < 0
    with pytest.raises(ValueError, match="from 1 to 2, got rank=3"):
        low_rank_signs(razborov_sherstov_matrix(1), 3)
