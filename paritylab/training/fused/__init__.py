"""Runs that never leave the chip: kernels that keep a run's weights in registers for thousands of steps.

A covered run (`coverage.py`) is trained by CUDA source of this package (`cuda/`), specialized by its shape
(`kernels.py`), compiled at run time (`nvrtc.py`) and started from inside the engine's compiled program (`frames.py`,
`launching.py`, `cuda_backend.py`); to the engine it is a rule (`descent.py`). All other runs, and all on a CPU, go the
general way.
"""
