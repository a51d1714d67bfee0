"""What asks for a value while it is compiled is refused in one sentence, with its own line."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import paritylab as pl

PARITY = pl.Uniform(pl.Parity(5, (0, 1)))


class Asking(pl.AbstractTarget):
    """A target with a line of a user's, by number."""

    way: int = eqx.field(static=True)
    n: int = eqx.field(static=True, default=5)

    def __call__(self, x):
        if self.way == 0:
            return x[1] if x[0] > 0 else x[2]
        if self.way == 1:
            return float(x[0])
        if self.way == 2:
            return np.sign(np.sum(x))
        if self.way == 3:
            return jnp.asarray([x[1], x[2]][(x[0] > 0).astype(int)])
        return jnp.prod(x[x > 0])


LINES = ("x[1] if x[0] > 0", "float(x[0])", "np.sign(np.sum(x))", "[(x[0] > 0).astype(int)]", "jnp.prod(x[x > 0])")


@pytest.mark.parametrize(("way", "line"), [*enumerate(LINES)])
def test_a_target_that_asks_for_values(way, line):
    with pytest.raises(TypeError, match=r"Asking\(.*compiled for all points at once.*jnp\.where") as found:
        pl.plan(pl.Uniform(Asking(way)), pl.MLP(4), seeds=1, steps=10)
    assert line in str(found.value) and "\n" not in str(found.value)


class AskingNetwork(eqx.Module):
    weight: object

    def __call__(self, x):
        s = self.weight @ x
        return s if s > 0 else -s


def test_a_network_that_asks_for_values():
    recipe = lambda n, *, key: AskingNetwork(jnp.ones(n))
    with pytest.raises(TypeError, match=r"This network is compiled .* as in 'return s if s > 0 else -s'"):
        pl.plan(PARITY, recipe, seeds=1, steps=10)


def absolute(y, f):
    return max(0.0, 1 - y * f)


def test_a_loss_that_asks_for_values():
    with pytest.raises(TypeError, match=r"The loss absolute is compiled .* as in 'return max\(0\.0, 1 - y \* f\)'"):
        pl.plan(PARITY, pl.MLP(4), loss=absolute, seeds=1, steps=10)


def test_what_fails_otherwise_is_not_taken_for_it():
    with pytest.raises(TypeError, match="A loss is a function of a label and an output"):
        pl.plan(PARITY, pl.MLP(4), loss=lambda y: y, seeds=1, steps=10)
