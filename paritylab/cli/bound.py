"""`paritylab bound`."""

import inspect
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..demands import echo
from ..registry import BOUNDS, find, load, nearest
from .app import app, exit_2_on_bad_input
from .options import AsJson, OutFolder
from .printing import deliver, shown, table

if TYPE_CHECKING:
    from ..bounds import Bound


@app.command(context_settings={"ignore_unknown_options": True})
def bound(
    name: Annotated[str, typer.Argument(help="Which bound; 'paritylab list bounds' names them.")],
    numbers: Annotated[list[str] | None, typer.Argument(metavar="--NUMBER VALUE ...", help="What it is about.")] = None,
    out: OutFolder = None,
    as_json: AsJson = False,
) -> None:
    """What a theorem says for given numbers: bound kernel --n 30 --k 3 --norm 10; a list (--n 10,20) gives a curve."""
    with exit_2_on_bad_input():
        function = load(f"bounds.{find('bound', name, BOUNDS)[0]}")
        points = points_of(name, function, numbers or [])
        found = [(point, value_at(name, function, point)) for point in points]
        varied = [key for key in points[0] if len({point[key] for point in points}) > 1]
        document = {"bound": name, "points": [document_of(point, each) for point, each in found]}
        code = deliver(f"bound-{name}", document, as_json, out, lambda: picture(name, found, varied))
    if not as_json:
        print_bounds(found, varied)
    raise typer.Exit(code)


def value_at(name: str, function: "Callable[..., Bound]", point: dict[str, Any]) -> "Bound":
    """The bound at a point; some numbers are legal and still lead beyond what a float can hold."""
    try:
        return function(**point)
    except ArithmeticError:
        at = " ".join(f"--{key.replace('_', '-')} {value}" for key, value in point.items())
        raise ValueError(
            f"The bound {name!r} at {at} leads to numbers beyond what a float can hold. Use less extreme ones."
        ) from None


def points_of(name: str, function: Callable[..., Any], words: list[str]) -> list[dict[str, Any]]:
    """The arguments that words like `--n 10,20` stand for, one for each combination."""
    parameters = inspect.signature(function).parameters
    known = {key: each for key, each in parameters.items() if not key.endswith("constants")}
    given: dict[str, list[float]] = {}
    pairs = list(itertools.chain.from_iterable(word.split("=", 1) if "=" in word else [word] for word in words))
    if len(pairs) % 2:
        raise ValueError(f"The numbers of a bound are written --n 30 --k 3, got {echo(' '.join(words))}.")
    for flag, text in zip(pairs[::2], pairs[1::2], strict=True):
        word = flag.lstrip("-")
        key = word.replace("-", "_")
        if key not in known:
            raise ValueError(nearest(f"number of the bound {name!r} called", word, known))
        if not flag.startswith("--"):
            raise ValueError(f"The numbers of a bound are written with two dashes, got {echo(flag)}. Write --{word}.")
        if key in given:
            raise ValueError(f"--{word} is given twice. Several values have commas between them: --{word} 10,20.")
        given[key] = [number(part, flag, known[key]) for part in text.split(",")]
    needed = [key for key, parameter in known.items() if parameter.default is parameter.empty]
    if missing := [f"--{key.replace('_', '-')}" for key in needed if key not in given]:
        all_of = " ".join(f"--{key.replace('_', '-')}" for key in known)
        raise ValueError(f"The bound {name!r} also needs {' '.join(missing)}. It takes: {all_of}.")
    return [dict(zip(given, values, strict=True)) for values in itertools.product(*given.values())]


def number(text: str, flag: str, parameter: inspect.Parameter) -> int | float:
    """A number of the kind that the bound wants."""
    whole = parameter.annotation in (int, "int")
    word = "a whole number" if whole else "a finite number"
    refusal = ValueError(f"{flag} takes {word}, or several with commas between them, got {echo(text)}.")
    try:
        value = int(text) if whole or text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise refusal from None
    if isinstance(value, float) and not math.isfinite(value):
        raise refusal
    return value


def document_of(point: dict[str, Any], found: "Bound") -> dict[str, Any]:
    return {
        **point,
        **{name: getattr(found, name) for name in ("value", "side", "applies", "sentence", "source")},
        "assumptions": [each._asdict() for each in found.assumptions],
        "parts": {part.name: part.value for part in found.parts},
    }


def print_bounds(found: "list[tuple[dict[str, Any], Bound]]", varied: list[str]) -> None:
    if len(found) > 1:
        rows = [
            [*(shown(point[key]) for key in varied), f"{each.value:.6g}", "yes" if each.applies else "no"]
            for point, each in found
        ]
        table(rows, [*varied, found[0][1].side, "applies"])
        typer.echo(f"[{found[0][1].source}]")
        return
    ((_, only),) = found
    typer.echo(str(only))
    for assumption in only.assumptions:
        typer.echo(f"  {'holds' if assumption.holds else 'FAILS'}: {assumption.statement}")
    if only.parts:
        table([[part.name, f"{part.value:.6g}"] for part in only.parts], ["part", "value"])


def picture(name: str, found: "list[tuple[dict[str, Any], Bound]]", varied: list[str]) -> Any:
    """The bound over the first number that varies, a line for each value of the others; none if nothing varies."""
    if not varied:
        return None
    from ..figures import ink, one_panel

    (figure, axis), (along, *others) = one_panel(4.5, 3.0), varied
    lines: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for point, each in found:
        lines.setdefault(tuple(point[key] for key in others), []).append((point[along], each.value))
    for i, (values, places) in enumerate(lines.items()):
        label = ", ".join(f"{key} {value:g}" for key, value in zip(others, values, strict=True))
        axis.plot(*zip(*sorted(places), strict=True), marker="o", markersize=3, label=label or None, **ink(i))
    positive = [value for places in lines.values() for _, value in places]
    if min(positive) > 0 and max(positive) > 100 * min(positive):
        axis.set_yscale("log")
    axis.set(xlabel=along, ylabel=f"{found[0][1].side}", title=BOUNDS[name][1])
    if others:
        axis.legend()
    return figure
