"""How one run goes from step to step: the pure functions that the engine knows.

A rule is hashable: its leaves are passed to it, its shape is a static argument of the compiled engine.
"""

import abc
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Int, Key, PRNGKeyArray, UInt32

from .leaves import Leaves


class AbstractRule(abc.ABC):
    """Five pure functions of one run. The engine maps them over lanes and loops over steps."""

    levels: int
    """How many levels of validation `measure` has; the first is cheap, only the last is decisive."""

    @abc.abstractmethod
    def init(self, key: PRNGKeyArray, leaves: Leaves) -> Any:
        """The state before the first step; `key` is made from the initialization seed."""

    @abc.abstractmethod
    def step(self, state: Any, key: PRNGKeyArray, count: Int[Array, ""], leaves: Leaves) -> Any:
        """The state after step number `count`; `key` is made from the data seed and stays the same."""

    @abc.abstractmethod
    def memory(self, leaves: Leaves) -> Any:
        """What `measure` knows of a run that was never validated."""

    @abc.abstractmethod
    def measure(self, state: Any, memory: Any, leaves: Leaves, level: int) -> tuple[Any, Any]:
        """Statistics of the state, at a level of validation, and what to remember.

        What fails at one level fails at the next. Memory makes failures quicker to find; it never
        changes the statistics of the last level.
        """

    @abc.abstractmethod
    def ended(self, statistics: Any) -> Int[Array, ""]:
        """The outcome that the statistics of the last level show, or `RUNNING`."""


class AbstractRoundRule(AbstractRule):
    """A rule that takes many steps at once, for all lanes together: it loops in a way of its own."""

    @abc.abstractmethod
    def round(
        self,
        state: Any,
        key: Key[Array, " lanes"],
        first: Int[Array, " lanes"],
        on: Bool[Array, " lanes"],
        every: int,
        own: Leaves,
        whole: Callable[[Leaves], Leaves],
    ) -> Any:
        """The states after `every` steps from number `first`, of the lanes that are `on`.

        `own` are the leaves of each lane, a row each, and `whole` completes those of one lane.
        """


class AbstractBlockRule(AbstractRule):
    """A rule that takes a whole block of rounds at once, validation on some levels included."""

    levels_taken: int
    """How many levels of validation a block has gone through; all of them if its word is final."""

    @property
    @abc.abstractmethod
    def form(self) -> "AbstractBlockRule":
        """The rule as compiled programs know it: the same for all that differ only in what takes their blocks."""

    @abc.abstractmethod
    def prepared(self, lanes: int, rounds: int, every: int) -> UInt32[np.ndarray, "2"]:
        """Makes ready what takes a block of `rounds` rounds of `every` steps; the numbers name it to `block`."""

    @abc.abstractmethod
    def block(
        self,
        state: Any,
        memory: Any,
        key: Key[Array, " lanes"],
        step: Int[Array, " lanes"],
        limit: Int[Array, " lanes"],
        on: Bool[Array, " lanes"],
        kernel: UInt32[Array, "2"],
        own: Leaves,
        whole: Callable[[Leaves], Leaves],
    ) -> tuple[Any, Any, Int[Array, " lanes"], Int[Array, " lanes"], Any]:
        """The states and memories after a block that was prepared, and how far each lane has come.

        A lane halts after a round in which it seems to have ended, or that brings it to its limit. With its step come
        what it seems to have come to and the statistics that say so, as `ended` and `measure` give them.
        """
