"""What every loss and every schedule keeps; their formulas are in test_optimizers.py."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exports import Row, row, things, without_a_row

from paritylab import training
from paritylab.training import (
    ChainLoss,
    ChosenLoss,
    Confidence,
    FirstThen,
    Hinge,
    LinearFall,
    RegularizedHinge,
    correlation,
    logistic,
    ramp,
    soft_logistic,
    square_loss,
)

LOSSES_UNDER_TEST = {
    "hinge": row(Hinge),
    "hinge of margin 0.5": row(Hinge, 0.5),
    "perceptron": row(Confidence),
    "confidence": row(Confidence, 0.5, 3),
    "regularized hinge": row(RegularizedHinge, 0.25),
    "regularized hinge as printed": row(RegularizedHinge, 0.25, 1),
    "square": Row(square_loss, square_loss),
    "logistic": Row(logistic, logistic),
    "ramp": Row(ramp, ramp),
    "soft logistic": Row(soft_logistic, soft_logistic),
    "correlation": Row(correlation, correlation),
    "steps and the answer": row(ChainLoss, 1.0, 0.1),
    "the second of two": row(ChosenLoss, (Hinge(), square_loss), 1),
}
OF_THE_MARGIN = (Hinge, Confidence, logistic, ramp, correlation)
"""Losses that fall, or stay, as y * output grows."""

SCHEDULES_UNDER_TEST = {"first, then": row(FirstThen, 1.0, 0.25), "linear fall": row(LinearFall, 4)}


def test_every_loss_and_every_schedule_is_under_test():
    assert not without_a_row(training, "loss", LOSSES_UNDER_TEST.values())
    assert not without_a_row(training, "schedule", SCHEDULES_UNDER_TEST.values())


@pytest.mark.parametrize("float64", [False, True], ids=["float32", "float64"])
@pytest.mark.parametrize("row", LOSSES_UNDER_TEST.values(), ids=LOSSES_UNDER_TEST)
def test_every_loss_keeps_the_contract(row, float64):
    with jax.enable_x64(float64):
        dtype = jnp.float64 if float64 else jnp.float32
        outputs = jnp.asarray([-30.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 30.0], dtype)
        for y in (jnp.asarray(-1, dtype), jnp.asarray(1, dtype)):
            one = jax.value_and_grad(lambda output, y=y: row.thing(y, output))
            values, slopes = jax.jit(jax.vmap(one))(outputs)
            assert values.dtype == slopes.dtype == dtype
            assert np.all(np.isfinite(values)) and np.all(np.isfinite(slopes))
            eager = jax.vmap(one)(outputs)
            np.testing.assert_allclose(eager, (values, slopes), rtol=1e-6)  # one rounding may differ
            if row.export in OF_THE_MARGIN:
                assert np.all(np.diff(np.asarray(values)[np.argsort(y * outputs)]) <= 0) and np.all(slopes * y <= 0)


@pytest.mark.parametrize("schedule", things(SCHEDULES_UNDER_TEST).values(), ids=SCHEDULES_UNDER_TEST)
def test_every_schedule_keeps_the_contract(schedule):
    assert isinstance(hash(schedule), int)  # part of a shape
    compiled = jax.jit(schedule)
    for step in (0, 1, 4, 5, 10**6):
        factor = compiled(jnp.int32(step))
        assert factor.shape == () and factor.dtype == jnp.float32 and 0 <= factor <= 1
        assert schedule(jnp.int32(step)) == factor
