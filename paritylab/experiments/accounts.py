"""The accounts of experiments in a folder of `reproduce`, read with care: they may be damaged, or somebody else's.

An account, `experiment.json`, says of one experiment at one scale what it is, what became of its claims, and which
figures and data lie beside it. Whatever is read lies in the folder itself.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args

from ..documents import check_regular
from ..registry import EXPERIMENTS
from .base import Verdict

ABOUT = "experiment.json"
LEDGER = "claims.json"
LARGEST, DEEPEST = 2**27, 20
"""Bytes of an account or a figure, and lists inside lists."""
PNG = b"\x89PNG\r\n\x1a\n"

Account = dict[str, Any]


class Damaged(NamedTuple):
    """A file that cannot be taken for what it should be."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.path} is damaged ({self.reason})"


def accounts_in(out: Path) -> tuple[list[Account], list[Damaged]]:
    """All accounts that a folder holds, in the order of the registry, and what is damaged."""
    paths = sorted(out.glob(f"*/*/*/{ABOUT}"))
    found, damaged = sift(paths, lambda path: _account(path, out))
    if (out / LEDGER).exists():
        damaged += sift([out / LEDGER], lambda path: loaded(path, out))[1]
    return sorted(found, key=lambda about: (about["scale"] != "quick", place_of(about))), damaged


def found_in(out: Path) -> list[Account]:
    """All accounts that a folder holds and that are whole, in the order of the registry."""
    return accounts_in(out)[0]


def place_of(about: Account) -> int:
    """The place of an experiment in the registry; those that it does not know come last."""
    return [*EXPERIMENTS, about["experiment"]].index(about["experiment"])


def sift(paths: Iterable[Path], read: Callable[[Path], Any]) -> tuple[list[Any], list[Damaged]]:
    """What can be read, and what cannot, with the reasons."""
    found, damaged = list[Any](), list[Damaged]()
    for path in paths:
        try:
            found.append(read(path))
        except ValueError as error:
            damaged.append(Damaged(path, str(error)))
    return found, damaged


def _account(path: Path, out: Path) -> Account:
    """An account that lies where it says; a `ValueError` says why it is none."""
    about = checked(loaded(path, out), path.parent)
    if path.parent != out / about["scale"] / about["experiment"]:
        raise ValueError(f"it is about {about['scale']}/{about['experiment']}")
    return about


def loaded(path: Path, out: Path) -> Any:
    """What a JSON document says that lies in a folder, and not in another one that it links to."""
    try:
        check_inside(path, out)
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError("it is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg} in line {error.lineno}") from None
    except RecursionError:
        raise ValueError("it has lists inside lists without end") from None
    return content


def check_inside(path: Path, folder: Path, most: int = LARGEST) -> None:
    """A file of a folder is a file in it, of a size that can be read."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{path.name} leads out of the folder")
    check_regular(path)
    if path.stat().st_size > most:
        raise ValueError(f"{path.name} has more than {most:,} bytes")


def checked(about: Any, folder: Path) -> Account:
    """The same account, if all that is used of it has the kind that it should have, and its figures are there."""
    if not isinstance(about, dict):
        raise ValueError("it is no account of an experiment")
    if _depth(about) > DEEPEST:
        raise ValueError("it has lists inside lists without end")
    about |= {"seen": about.get("seen", {})}  # before figures were put into words
    _check_fields(about, ACCOUNT)
    for claim in about["claims"]:
        if isinstance(claim, dict) and "expected" in claim:  # as it was called before there was a theory beside it
            claim |= {"paper": claim.pop("expected"), "theory": None}
        if isinstance(claim, dict):  # before claims had nulls
            claim |= {"null": claim.get("null", ""), "tested_by": claim.get("tested_by", "")}
        _check_fields(claim, CLAIM)
    for name in about["figures"]:
        path = folder / name
        if not path.is_file():
            raise ValueError(f"its figure {name} is missing")
        check_inside(path, folder)
        with open(path, "rb") as file:
            if file.read(len(PNG)) != PNG:
                raise ValueError(f"its figure {name} is no PNG")
    return about


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        parts = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level, depth = [part for each in parts for part in each], depth + 1
    return depth


def _check_fields(table: Any, fields: "Mapping[str, Callable[[Any], bool]]") -> None:
    for name, is_right in fields.items():
        if not isinstance(table, dict) or not is_right(table.get(name)):
            raise ValueError(f"its field {name!r} is not as it should be")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < 1e300 and math.isfinite(value)


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_plain(value: Any) -> bool:
    return _is_text(value) or _is_number_or_none(value)


def _is_name(value: Any) -> bool:
    """Of a file beside the account, and nowhere else."""
    return _is_text(value) and value.isprintable() and value not in ("", ".", "..") and not {*"/\\"} & {*value}


def _all(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value)) and all(map(_is_plain, value.values()))


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, (*value, *value.values())))


VERDICTS = get_args(Verdict)
CLAIM: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("claim", "statement", "region", "explanation", "scale", "null", "tested_by"), _is_text),
    "paper": _is_plain,
    "theory": _is_plain,
    "measured": _is_number_or_none,
    "interval": lambda value: _all(_is_number_or_none)(value) and len(value) == 2,
    "verdict": lambda value: value in VERDICTS,
    "recorded": lambda value: value in (None, *VERDICTS),
    "seconds": _is_number,
}
ACCOUNT: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("experiment", "title", "scale", "text", "command"), _is_text),
    "seconds": _is_number,
    "settings": _is_table,
    "seen": _is_texts,
    "claims": lambda value: isinstance(value, list),
    "figures": _all(_is_name),
    "data": _all(_is_name),
    "origins": _all(_is_table),
}
"""What is used of a claim and of an account, and how it should be."""
