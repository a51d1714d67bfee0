"""What is asked of single values, whatever they are for: one sentence with the value, the rule and the way out."""

import math
import operator
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

LONGEST_ECHO = 80
"""Characters of a value that a sentence repeats: enough to find it again, and no page of it."""


def echo(value: Any) -> str:
    """A value as a sentence repeats it, cut where it is long.

    >>> echo("x"), echo("x" * 100)[-6:], len(echo("x" * 100))
    ("'x'", 'xxx...', 80)
    """
    if isinstance(value, int) and value.bit_length() > 4 * LONGEST_ECHO:  # Python writes no more than some digits
        return f"a whole number of {value.bit_length()} bits"
    text = " ".join((str if hasattr(value, "dtype") else repr)(value).split())  # an array as its numbers
    return text if len(text) <= LONGEST_ECHO else f"{text[: LONGEST_ECHO - 3]}..."


def check_whole(name: str, value: Any, least: int | None = None, most: int | None = None, what: str = "") -> None:
    """A size is a whole number; a truth value is none, although Python counts with it. `what` is a rule in words."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(
            f"{what}, got {name}={echo(value)}." if what else f"`{name}` is a whole number, got {echo(value)}."
        )
    if (least is not None and number < least) or (most is not None and number > most):
        above = f" of at least {least}" if least is not None else ""
        below = f" up to {most}" if most is not None else ""
        raise ValueError(f"`{name}` is a whole number{above}{below}, got {name}={echo(value)}.")


def check_number(name: str, value: Any, least: int | float = -math.inf, most: int | float = math.inf) -> None:
    """A finite number within limits."""
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)
    except OverflowError:  # a whole number beyond the range of floats
        number = sys.float_info.max * (1 if value > 0 else -1)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise (ValueError if isinstance(value, float) else TypeError)(
            f"`{name}` is a finite number, got {name}={echo(value)}."
        )
    if not least <= number <= most:
        raise ValueError(f"`{name}` is a number {_between(least, most)}, got {name}={echo(value)}.")


def _between(least: int | float, most: int | float) -> str:
    if math.isinf(most):
        return f"of at least {least:g}"
    return f"of at most {most:g}" if math.isinf(least) else f"from {least:g} to {most:g}"


def as_numbers(name: str, values: Any) -> "np.ndarray":
    """One number or several, as an array of float64."""
    import numpy as np  # the command line's help does not wait for it

    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` is a number, or a sequence of numbers, got {echo(values)}.") from None


def check_function(name: str, value: Any, such_as: str) -> None:
    """A function, and not the number or the name that stands for one elsewhere."""
    if not callable(value):
        raise TypeError(f"`{name}` is a function, such as {such_as}, got {echo(value)}.")


def check_kind(name: str, value: Any, kind: type | tuple[type, ...], such_as: str) -> None:
    """One of the lab's own things."""
    if not isinstance(value, kind):
        raise TypeError(f"`{name}` is {such_as}, got {echo(value)}.")


def numbers(text: str, name: str) -> list[float]:
    """A list as it is written on the command line: `1,0.1`."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} takes numbers with commas between them, such as 1,0.1, got {echo(text)}.") from None


def whole_numbers(text: str, name: str) -> list[int]:
    """A list of whole numbers: `3,14,15`."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{name} takes whole numbers with commas between them, such as 3,14,15, got {echo(text)}."
        ) from None
