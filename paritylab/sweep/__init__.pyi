from .canonical_form import canonical as canonical
from .executors import LocalPool as LocalPool
from .store import Store as Store
from .sweep import Results as Results, Sweep as Sweep, SweepFailed as SweepFailed
from .workloads import Call as Call
