"""Things in a few words: what differs in a number reads differently."""

import numpy as np

import paritylab as pl
from paritylab.brief import brief


def test_things_in_a_few_words():
    assert brief(pl.MLP(4)).startswith("MLP(widths=(4,), activation=relu")
    assert brief(pl.Hinge()) == "Hinge(margin=1.0)" and brief(pl.training.square_loss) == "square_loss"
    expected = "RandomTask(target=random_parity, arguments=(5, 2), noise=0.0)"
    assert brief(pl.RandomTask(pl.random_parity, (5, 2))) == expected
    assert brief(pl.Uniform(pl.Parity(6, (0, 3)))) == "Uniform(target=Parity(n=6, mask={0, 3}))"


def test_distributions_that_differ_in_a_number_read_differently():
    parity = pl.Parity(40, (0, 1))
    half, more = (brief(pl.Product(parity, mean)) for mean in (0.5, 0.6))
    assert half == "Product(target=Parity(n=40, mask={0, 1}), mean=0.5)" and "mean=0.6" in more
    means = np.linspace(-0.5, 0.5, 40)
    one, other = (brief(pl.Product(parity, means + shift)) for shift in (0.0, 1e-9))
    assert one != other and "float64[40]#" in one
