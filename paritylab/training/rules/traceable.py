"""What a user wrote is compiled before any value is known; where it asks for one, that is said in one sentence."""

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import jax

NOT_KNOWN_YET = (
    jax.errors.ConcretizationTypeError,  # `if`, `and`, `while`, float(), int()
    jax.errors.TracerArrayConversionError,  # a function of NumPy
    jax.errors.TracerIntegerConversionError,  # an index of a list
    jax.errors.NonConcreteBooleanIndexError,
)
HOME = Path(__file__).parents[2]


@contextlib.contextmanager
def traceable(what: str) -> Iterator[None]:
    """Raise with `what` it was, and the line, where values are asked for that a compiled program does not have yet."""
    try:
        yield
    except NOT_KNOWN_YET as error:
        raise TypeError(
            f"{what} is compiled for all points at once and cannot ask for the value of one"
            f"{_line(error.__traceback__)}. Write `jnp.where(condition, a, b)` for `if`, `&` for `and`, and the "
            "functions of `jax.numpy` for Python's and NumPy's."
        ) from error


def _line(raised: TracebackType | None) -> str:
    """The last line that is neither the lab's nor a library's."""
    lines = [frame.line for frame in traceback.extract_tb(raised) if frame.line and _is_theirs(Path(frame.filename))]
    return f", as in {lines[-1]!r}" if lines else ""


def _is_theirs(file: Path) -> bool:
    return HOME not in file.parents and not {"site-packages", "dist-packages"} & {*file.parts}
