"""Any optax optimizer, with rates and decays that are leaves of the run.

`Optimizer(optax.adam, rate=1e-3)` is plain Adam. A rate or a decay may be a mapping from the names
of layers (`hidden`, `output`, `hidden.0.bias`: paths into the network, longest match wins, anything
not named gets 0), and `schedule` and `decay_schedule` multiply them step by step.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from ...demands import check_function, check_number, echo

Convention = Literal["loss", "decoupled", "rate"]
CONVENTIONS: tuple[Convention, ...] = get_args(Convention)

Schedule = Callable[[Int[Array, ""]], Float[Array, ""]]
ByLayer = float | Mapping[str, float]
LARGEST = float(np.finfo(np.float32).max)


def constant(step: Int[Array, ""]) -> Float[Array, ""]:
    """The schedule that changes nothing."""
    return jnp.ones((), jnp.float32)


def scale_by_other_blocks() -> optax.GradientTransformation:
    """Divides the gradient of each block by the product of the L1 norms of all other blocks.

    A block is a row of a matrix of weights, such as those of a disjoint PolyNet, prod_i w_i . x_i. There every entry of
    the gradient of block i is at most that product in size, so that what is left is at most 1
    (hidden-progress, Theorem 13).
    """

    def scaled(gradient: Array, weight: Array) -> Array:
        if weight.ndim != 2:
            raise ValueError(f"Blocks are the rows of a matrix of weights, got weights of shape {weight.shape}.")
        norms = jnp.sum(jnp.abs(weight), axis=1)
        others = jnp.prod(jnp.where(jnp.eye(len(norms), dtype=bool), 1, norms[None]), axis=1)
        return gradient / others[:, None]

    def update(updates: PyTree, state: optax.OptState, params: PyTree = None) -> tuple[PyTree, optax.OptState]:
        return jax.tree.map(scaled, updates, params), state

    return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


def block_normalized_sgd(rate: Any) -> optax.GradientTransformation:
    """SGD with rate r / prod over l != i of |w_l|_1 for block i: the adaptive rate of hidden-progress, Theorem 13.

    >>> weight = jnp.array([[1.0, -3.0], [2.0, 0.0]])
    >>> rule = block_normalized_sgd(0.5)
    >>> rule.update(jnp.ones((2, 2)), rule.init(weight), weight)[0].tolist()
    [[-0.25, -0.25], [-0.125, -0.125]]
    """
    return optax.chain(scale_by_other_blocks(), optax.sgd(rate))


@dataclasses.dataclass(frozen=True)
class SignDescent:
    """Steps of one size against the sign of the gradient, and none where that is within the dead zone (2404.12376).

    An optimizer like those of optax: `optimizer=SignDescent(0.1)`.

    >>> rule = SignDescent(0.1)(0.5)
    >>> gradient = jnp.array([0.3, -0.2])
    >>> rule.update(gradient, rule.init(gradient))[0].tolist()
    [-0.5, 0.5]
    """

    dead_zone: float = 0.0

    def __post_init__(self) -> None:
        check_number("dead_zone", self.dead_zone, 0)

    def __call__(self, rate: Any) -> optax.GradientTransformation:
        def signs(updates: PyTree, state: optax.OptState, params: PyTree = None) -> tuple[PyTree, optax.OptState]:
            sign = lambda each: jnp.where(jnp.abs(each) > self.dead_zone, jnp.sign(each), 0)
            return jax.tree.map(sign, updates), state

        zoned = optax.GradientTransformation(lambda params: optax.EmptyState(), signs)
        return optax.chain(zoned, optax.scale_by_learning_rate(rate))


def _by_layer(values: ByLayer, what: str) -> dict[str, np.ndarray]:
    named = dict(values) if isinstance(values, Mapping) else {"": values}
    if not named:
        raise ValueError(f"A mapping of layers to a {what} names at least one layer, got {{}}. Give a number for all.")
    for value in named.values():
        given = None if isinstance(value, bool | str | Mapping) else value
        if given is None or np.shape(given) or not isinstance(np.asarray(given).item(), int | float):
            raise TypeError(f"A {what} is a number, or a mapping from names of layers to numbers, got {echo(value)}.")
        if not 0 <= float(given) <= LARGEST:
            raise ValueError(
                f"A {what} must be a finite number >= 0, got {what}={value}. In float32 {LARGEST:.1e} is the largest."
            )
    return {name: np.asarray(value, float) for name, value in named.items()}


def check_rule(rule: Any) -> None:
    """An optimizer is a function of a rate, and what it makes steps by gradients alone."""
    told = (
        "An optimizer is a function of optax that takes a learning rate, such as optax.adam, without a call: the rate "
        f"is given by `rate`. Got {echo(rule)}."
    )
    if not callable(rule) or isinstance(rule, Optimizer | optax.GradientTransformation):
        raise TypeError(told)
    if not _makes_steps(rule):
        raise TypeError(told)


@functools.cache
def _makes_steps(rule: Any) -> bool:
    """Whether a rate makes an optimizer of it; one that wants more than gradients is named."""
    try:
        made = rule(0.1)
    except TypeError:
        return False
    if not isinstance(made, optax.GradientTransformation):
        return False
    try:
        jax.eval_shape(lambda weights: made.update(weights, made.init(weights), weights), jnp.zeros((2, 2)))
        jax.eval_shape(lambda weight: made.update(weight, made.init(weight), weight), jnp.zeros(()))
    except ValueError:  # it is for networks of matrices alone, and says so if it meets another
        pass
    except (TypeError, IndexError) as error:  # it wants the loss itself, or knows no single numbers
        raise TypeError(
            f"The optimizer {getattr(rule, '__name__', echo(rule))!r} does not go by gradients of weights and biases "
            "alone. Use one that does, such as optax.adam."
        ) from error
    return True


def check_schedule(name: str, schedule: Any) -> None:
    """A function from the number of a step to a factor."""
    if schedule is constant:
        return
    check_function(name, schedule, "LinearFall(1000)")
    try:
        jax.eval_shape(schedule, jax.ShapeDtypeStruct((), jnp.int32))
    except TypeError as error:
        raise TypeError(f"`{name}` is a function of the number of a step, and {echo(schedule)} is none.") from error


def spread(values: dict[str, Any], params: PyTree) -> PyTree:
    """The value of each leaf of the network: that of the longest name that its path begins with."""

    used, paths = set(), []

    def value(path: Any, leaf: Any) -> Any:
        name = jax.tree_util.keystr(path, simple=True, separator=".")
        found = [given for given in values if given == "" or name == given or name.startswith(given + ".")]
        used.update(found)
        paths.append(name)
        return values[max(found, key=len)] if found else 0.0

    spread = jax.tree_util.tree_map_with_path(value, params)
    if unknown := sorted(set(values) - used):
        raise ValueError(f"The network has no layer named {unknown[0]!r}; it has {', '.join(paths)}.")
    return spread


class Optimizer(eqx.Module):
    """An optax optimizer (any function whose first argument is the learning rate), and weight decay.

    Three conventions of decay are in use in the papers, with w a weight, r the rate, d the decay:

    - `loss`: the loss has d * |w|**2 added, so its gradient has 2 d w added (learning-parities);
    - `decoupled`: w becomes (1 - d) w minus the step (hidden-progress, equation 3);
    - `rate`: w becomes (1 - r d) w minus the step (PyTorch's SGD without momentum).
    """

    rule: Callable[..., optax.GradientTransformation] = eqx.field(static=True)
    rate: dict[str, Any]
    decay: dict[str, Any]
    convention: Convention = eqx.field(static=True)
    schedule: Schedule = eqx.field(static=True)
    decay_schedule: Schedule = eqx.field(static=True)

    def __init__(
        self,
        rule: Callable[..., optax.GradientTransformation] = optax.sgd,
        rate: ByLayer = 0.1,
        decay: ByLayer = 0.0,
        convention: Convention = "decoupled",
        schedule: Schedule = constant,
        decay_schedule: Schedule = constant,
    ):
        check_rule(rule)
        check_schedule("schedule", schedule)
        check_schedule("decay_schedule", decay_schedule)
        if convention not in CONVENTIONS:
            raise ValueError(
                f"There is no decay convention {echo(convention)}; choose one of {', '.join(CONVENTIONS)}."
            )
        self.rule, self.convention = rule, convention
        self.rate = _by_layer(rate, "rate")
        # The number 0 means that there is no decay, and no code for it in the compiled step.
        self.decay = (
            {} if isinstance(decay, int | float) and decay == 0 and decay is not False else _by_layer(decay, "decay")
        )
        self.schedule, self.decay_schedule = schedule, decay_schedule

    def _transformation(self, params: PyTree) -> optax.GradientTransformation:
        def at(rate: Any) -> optax.GradientTransformation:
            if self.schedule is constant:
                return self.rule(rate)
            return self.rule(lambda count: rate * jnp.asarray(self.schedule(count)).astype(jnp.result_type(rate)))

        if set(self.rate) == {""}:
            return at(self.rate[""])
        names = spread({name: name for name in self.rate}, params)
        labels = jax.tree.map(lambda name: name if isinstance(name, str) else "frozen", names)
        rules = {name: at(rate) for name, rate in self.rate.items()}
        # A network is callable, and optax calls labels that are: so it is given a function that returns them.
        return optax.multi_transform({**rules, "frozen": optax.set_to_zero()}, lambda _: labels)

    def init(self, params: PyTree) -> optax.OptState:
        return self._transformation(params).init(params)

    def update(
        self, grads: PyTree, state: optax.OptState, params: PyTree, step: Int[Array, ""]
    ) -> tuple[PyTree, optax.OptState]:
        """New parameters and new state. The step is given: a counter of our own would slow the loop down."""
        shrink = self._shrinkage(step, params) if self.decay else None
        if shrink is not None and self.convention == "loss":
            grads = jax.tree.map(lambda grad, decay, weight: grad + 2 * decay * weight, grads, shrink, params)
        steps, state = self._transformation(params).update(grads, state, params)
        if shrink is not None and self.convention != "loss":
            steps = jax.tree.map(lambda move, decay, weight: move - decay * weight, steps, shrink, params)
        return optax.apply_updates(params, steps), state

    def _shrinkage(self, step: Int[Array, ""], params: PyTree) -> PyTree:
        """The decay of each leaf at this step, times its rate where the convention says so."""
        dtype = jax.tree.leaves(params)[0].dtype
        shrink = jax.tree.map(
            lambda decay: jnp.asarray(self.decay_schedule(step)).astype(dtype) * decay, spread(self.decay, params)
        )
        if self.convention != "rate":
            return shrink
        rates = spread(self.rate, params)
        factor = jnp.asarray(self.schedule(step)).astype(dtype)
        return jax.tree.map(lambda decay, rate: decay * rate * factor, shrink, rates)
