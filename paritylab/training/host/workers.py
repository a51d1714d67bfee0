"""The host's side of the engine: workers that hand runs to compiled programs and collect what ended.

There is one worker per GPU, or one per core on a CPU. Each has its own lanes and asks one desk for
further runs; nothing is shared between devices, so one, two or eight of them give the same bits.
"""

import dataclasses
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int, PyTree, UInt32

from ...interruptions import hears_once
from ...progress import Status
from ...runtime import cores, make_room_for_programs, precision
from ..engine.lanes import Carry, Program, Slots, empty
from ..engine.loop import compiled_advance
from ..rules.base import AbstractBlockRule
from ..rules.leaves import Leaves
from ..rules.outcomes import Outcome
from .early_stopping import Races
from .observer import Observer

CALL_SECONDS = 0.7
"""How long one compiled call should last: long enough to be cheap, short enough for Ctrl-C."""


@dataclasses.dataclass(frozen=True)
class Ensemble:
    """Runs of one shape: row i of every array belongs to run i, except of those in `common`."""

    program: Program
    own: Leaves
    common: Leaves
    init_seeds: UInt32[np.ndarray, " runs"]
    data_seeds: UInt32[np.ndarray, " runs"]
    limits: Int[np.ndarray, " runs"]
    float64: bool = False
    races: Races | None = None

    def __len__(self) -> int:
        return len(self.limits)


@dataclasses.dataclass
class Collected:
    """What came out, row by row as in the ensemble; `RUNNING`, and the step it had come to, if it was interrupted."""

    outcome: Int[np.ndarray, " runs"]
    step: Int[np.ndarray, " runs"]
    statistics: list[Any]
    state: list[Any]
    log: list[tuple[np.ndarray, np.ndarray, PyTree]]
    interrupted: bool = False

    @classmethod
    def nothing(cls, runs: int) -> "Collected":
        """Before any run has begun."""
        return cls(np.zeros(runs, np.int8), np.zeros(runs, np.int32), [], [], [])

    def closed(self) -> "Collected":
        """The same when work has ended: what still waits for its first step was not started."""
        self.outcome[(self.outcome == Outcome.RUNNING) & (self.step == 0)] = Outcome.NOT_STARTED
        return self


def work_through(
    ensemble: Ensemble,
    *,
    refill: bool = True,
    watch: Callable[[Status], None] | None = None,
    devices: list[Any] | None = None,
    seconds: float = math.inf,
    most_workers: int | None = None,
    observer: Observer | None = None,
) -> Collected:
    """Trains every run of the ensemble. Ctrl-C ends it early and keeps what is finished, as `seconds` of work do.

    There is one worker per device, or per core of a CPU, or `most_workers` if these are fewer. An observer is given
    what comes of the runs while they train, and can hold them up or stop them.

    A further Ctrl-C changes nothing: threads that were left alone with the compiler would bring the process down.
    """
    make_room_for_programs()
    places = worker_places(devices or jax.devices())[:most_workers]
    desk = _Desk(ensemble, watch, len(places), observer)
    one_at_a_time = threading.Lock()

    def serve(device: Any) -> None:
        """Everything is done in threads, compilation too: an interruption in the midst of it is not safe."""
        with precision(ensemble.float64), jax.default_device(device):
            with one_at_a_time:
                worker = _Worker(ensemble, desk, device, refill)
            worker.work()

    with hears_once(raising=False) as interruption:
        with ThreadPoolExecutor(len(places)) as pool:
            futures = [pool.submit(serve, device) for device in places]
            try:
                while wait(futures, timeout=0.2, return_when=FIRST_EXCEPTION).not_done:
                    late = time.monotonic() > desk.begun + seconds
                    stopped = observer is not None and observer.stopped.is_set()
                    interruption.heard = interruption.heard or stopped
                    if interruption.heard or late or any(future.done() and future.exception() for future in futures):
                        desk.stop.set()
            except KeyboardInterrupt:  # where somebody else answers Ctrl-C
                interruption.heard = True
                desk.stop.set()
        desk.collected.interrupted = interruption.heard
    for future in futures:
        future.result()
    return desk.collected.closed()


def worker_places(devices: list[Any]) -> list[Any]:
    """A device for each worker."""
    if devices[0].platform != "cpu":
        return devices
    return [devices[i % len(devices)] for i in range(max(len(cores()), len(devices)))]


class _Desk:
    """Hands out runs and takes in results; the only thing that workers share."""

    def __init__(
        self, ensemble: Ensemble, watch: Callable[[Status], None] | None, workers: int, observer: Observer | None
    ):
        runs = len(ensemble)
        self.collected = Collected.nothing(runs)
        self.stop, self.workers, self.observer = threading.Event(), workers, observer
        self._lock, self._next, self._runs, self._watch = threading.Lock(), 0, runs, watch
        self._left: dict[int, float] = {}
        self.begun = math.inf
        """When the first worker had compiled its program."""
        self._limit = int(ensemble.limits.max(initial=0))
        self._races = ensemble.races
        self._order = np.arange(runs) if self._races is None else self._races.order()
        self.raced_out = np.zeros(runs, bool)
        """Runs that are to end as soon as possible."""

    @property
    def watched(self) -> bool:
        return self._watch is not None

    @property
    def more(self) -> bool:
        return self._next < self._runs

    def take(self, at_most: int) -> Int[np.ndarray, " some"]:
        """Leaves of runs to do next: no more than a fair share of what is left."""
        with self._lock:
            share = min(at_most, math.ceil((self._runs - self._next) / self.workers))
            first, self._next = self._next, self._next + share
        return self._order[first : first + share]

    def judge(self, runs: Int[np.ndarray, " some"], step: Int[np.ndarray, " some"]) -> None:
        """Some runs are under way and have come to a step: which runs are out of their race now?"""
        if self._races is not None:
            with self._lock:
                self.collected.step[runs] = step
                self.raced_out = self._races.lost(self.collected.outcome, self.collected.step, self.raced_out)

    def bring(self, runs: np.ndarray, outcome: np.ndarray, step: np.ndarray, statistics: Any, state: Any) -> None:
        with self._lock:
            given_up = self.raced_out[runs] & (outcome == Outcome.OUT_OF_STEPS)
            self.collected.outcome[runs] = np.where(given_up, Outcome.RACED_OUT, outcome)
            self.collected.step[runs] = step
            for kept, values in ((self.collected.statistics, statistics), (self.collected.state, state)):
                _store(kept, runs, jax.tree.leaves(values), self._runs)
            if self.observer is not None:
                self.observer.ended(runs, self.collected.outcome[runs], step)

    def bring_log(self, runs: np.ndarray, steps: np.ndarray, values: PyTree) -> None:
        with self._lock:
            if self.observer is None:
                self.collected.log.append((runs, steps, values))
            else:
                self.observer.recorded(runs, steps, values)

    def hold(self) -> None:
        """Returns when there is nothing that holds work up."""
        while self.observer is not None and not self.stop.is_set() and not self.observer.going.wait(0.1):
            pass

    @property
    def call_seconds(self) -> float:
        """How long one compiled call should last."""
        return CALL_SECONDS if self.observer is None else min(CALL_SECONDS, self.observer.seconds)

    def tell(self, worker: int, tail: float, lane_seconds_per_step: float) -> None:
        """`tail`: the most seconds that the runs a worker holds can take."""
        if self._watch is None:
            return
        with self._lock:
            self._left[worker] = tail
            queue = (self._runs - self._next) * self._limit * lane_seconds_per_step / self.workers
            ended = self.collected.outcome != Outcome.RUNNING
            learned = int(np.sum(self.collected.outcome == Outcome.LEARNED))
            self._watch(Status(int(ended.sum()), self._runs, learned, queue + max(self._left.values())))


def _store(kept: list[Any], runs: np.ndarray, leaves: list[Any], total: int) -> None:
    """Writes rows into arrays over all runs, made when the first rows arrive."""
    if not kept:
        kept.extend(np.zeros((total, *leaf.shape[1:]), leaf.dtype) for leaf in leaves)
    for array, leaf in zip(kept, leaves, strict=True):
        array[runs] = leaf


class _Worker:
    """The slots and lanes of one device, seen from the host."""

    def __init__(self, ensemble: Ensemble, desk: _Desk, device: Any, refill: bool):
        self.ensemble, self.desk, self.device = ensemble, desk, device
        self.program = program = ensemble.program
        self.fill_at = jnp.int32(program.few if refill else program.lanes)
        self.run_in = np.full(program.slots, -1)
        kernel = rounds = None
        if isinstance(program.rule, AbstractBlockRule):
            kernel = program.rule.prepared(program.lanes, program.block, program.every)
            rounds = np.int32(program.block)
        self.slots = Slots(
            tuple(np.zeros((program.slots, *array.shape[1:]), array.dtype) for array in ensemble.own),
            jax.device_put(ensemble.common, device),
            np.zeros(program.slots, np.uint32),
            np.zeros(program.slots, np.uint32),
            np.zeros(program.slots, np.int32),
            kernel,
            rounds,
        )
        self.advance = compiled_advance(device.platform, fused=kernel is not None)
        self.rounds = 2
        self.sent = jax.device_put(self.slots, device)
        """The slots as the device knows them."""
        self.carry: Carry = jax.device_put(_empty(program.form, self.slots), device)
        self.carry, _ = self._call(0)  # compiles

    def _call(self, rounds: int) -> tuple[Carry, Any]:
        more = jnp.asarray(self.desk.more)
        return self.advance(self.program.form, self.carry, self.sent, jnp.int32(rounds), self.fill_at, more)

    def work(self) -> None:
        """Until there is nothing more to do, or work is stopped."""
        self.desk.begun = min(self.desk.begun, time.monotonic())
        while not self.desk.stop.is_set():
            self.desk.hold()
            self._receive()
            if not np.any(self.run_in >= 0):
                return
            begun = time.perf_counter()
            self.carry, done = self._call(self.rounds)
            rounds = int(done)
            seconds = time.perf_counter() - begun
            self._deliver()
            self._race()
            self._adjust(rounds, seconds)
        self._leave()

    def _receive(self) -> None:
        """Fills empty slots with further runs."""
        empty_slots = np.flatnonzero(self.run_in < 0)
        runs = self.desk.take(len(empty_slots))
        if not len(runs):
            return
        slot = empty_slots[: len(runs)]
        self.run_in[slot] = runs
        source = self.ensemble
        for array, values in zip(self.slots.own, source.own, strict=True):
            array[slot] = values[runs]
        self.slots.init_seed[slot], self.slots.data_seed[slot] = source.init_seeds[runs], source.data_seeds[runs]
        self.slots.limit[slot] = np.where(self.desk.raced_out[runs], 0, source.limits[runs])
        self.sent = jax.device_put(self.slots, self.device)
        waiting, outcome = np.array(self.carry.waiting), np.array(self.carry.results.outcome)
        waiting[slot], outcome[slot] = True, Outcome.RUNNING
        results = self.carry.results._replace(outcome=jax.device_put(outcome, self.device))
        self.carry = self.carry._replace(waiting=jax.device_put(waiting, self.device), results=results)

    def _deliver(self) -> None:
        """Brings what ended to the desk and empties its slots."""
        results = self.carry.results
        outcome = np.asarray(results.outcome)
        ended = np.flatnonzero((self.run_in >= 0) & (outcome != Outcome.RUNNING))
        if self.carry.log is not None:
            self._deliver_log()
        if len(ended):
            rows = jax.tree.map(lambda leaf: np.asarray(leaf)[ended], (results.step, results.statistics, results.state))
            self.desk.bring(self.run_in[ended], outcome[ended], *rows)
            self.run_in[ended] = -1

    def _race(self) -> None:
        """Runs that are out of their race have no further step to go."""
        if self.ensemble.races is None:
            return
        slot = np.asarray(self.carry.lanes.slot)
        taken = slot < self.program.slots
        self.desk.judge(self.run_in[slot[taken]], np.asarray(self.carry.lanes.step)[taken])
        out = np.flatnonzero((self.run_in >= 0) & self.desk.raced_out[self.run_in] & (self.slots.limit > 0))
        if len(out):
            self.slots.limit[out] = 0
            self.sent = jax.device_put(self.slots, self.device)

    def _leave(self) -> None:
        """How far the runs in hand have come, when work is stopped before they end."""
        slot = np.asarray(self.carry.lanes.slot)
        taken = slot < self.program.slots
        self.desk.collected.step[self.run_in[slot[taken]]] = np.asarray(self.carry.lanes.step)[taken]

    def _deliver_log(self) -> None:
        log = self.carry.log
        assert log is not None
        rows = int(log.rows)
        slot = np.asarray(log.slot)[:rows]
        row, lane = np.nonzero(slot < self.program.slots)
        if len(row):
            values = jax.tree.map(lambda leaf: np.asarray(leaf)[row, lane], log.values)
            self.desk.bring_log(self.run_in[slot[row, lane]], np.asarray(log.step)[row, lane], values)

    def _adjust(self, rounds: int, seconds: float) -> None:
        """Sizes the next call, and tells the desk how long the runs in hand can take at the most."""
        if not rounds:
            return
        per_round = seconds / rounds
        self.rounds = int(np.clip(self.desk.call_seconds / per_round, 1, 4 * self.rounds))
        if not self.desk.watched:
            return
        lanes, every = self.program.lanes, self.program.every
        per_step = per_round / every
        waiting = int(np.sum(np.asarray(self.carry.waiting)))
        slot = np.asarray(self.carry.lanes.slot)
        taken = slot < self.program.slots
        left = (self.slots.limit[slot[taken]] - np.asarray(self.carry.lanes.step)[taken]).max(initial=0)
        tail = (float(left) + waiting * float(self.slots.limit.max()) / lanes) * per_step
        self.desk.tell(id(self), float(tail), per_step / lanes)


def _empty(program: Program, slots: Slots) -> Carry:
    return jax.jit(empty, static_argnums=0)(program, slots)
