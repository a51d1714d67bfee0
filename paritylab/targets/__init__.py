"""WHAT is learned: functions from {-1,+1}^n to -1 or +1."""

from .base import AbstractTarget as AbstractTarget
from .parity import (
    Parity as Parity,
    random_disjoint_parity as random_disjoint_parity,
    random_parity as random_parity,
)
from .symmetric import (
    Symmetric as Symmetric,
    full_parity as full_parity,
    majority as majority,
    random_symmetric as random_symmetric,
)
