"""paritylab: what can gradient descent learn on the Boolean cube, and what can it not?

The names are in `__init__.pyi`, in the order in which data moves. They are loaded on first use, so that importing the
package (and asking the command line for help) does not wait for JAX.
"""

from .lazy import attach_stub

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
