"""MANY: sweeps over any number of runs, kept in a store that survives anything."""

from .canonical import canonical as canonical
from .executors import LocalPool as LocalPool
from .store import Store as Store
from .sweep import Results as Results, Sweep as Sweep, SweepFailed as SweepFailed
from .workloads import Call as Call
