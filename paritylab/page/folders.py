"""What lies in the folders that are served: stores and reports, by names that lead nowhere else."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..demands import echo
from ..experiments.accounts import LEDGER

DEEPEST, MOST = 3, 500
"""Folders inside folders, and how many are looked into at each of them."""


class Folders:
    """Stores and reports below some folders, found anew at each call: a sweep may have begun meanwhile."""

    def __init__(self, roots: Iterable[Path]):
        self.roots = [root.resolve() for root in roots]

    def stores(self) -> dict[str, Path]:
        """The stores, by their paths as seen from the folder that is served."""
        return self._holding("store.json")

    def reports(self) -> dict[str, Path]:
        """The folders that `paritylab reproduce` wrote."""
        return self._holding(LEDGER)

    def store(self, name: object) -> Path:
        """A store by its name; no other name leads anywhere."""
        return _found("store", name, self.stores())

    def report(self, name: object) -> Path:
        """A report by its name; no other name leads anywhere."""
        return _found("report", name, self.reports())

    def _holding(self, file: str) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for root in self.roots:
            for folder in _below(root, DEEPEST):
                if (folder / file).is_file():
                    inside = folder.relative_to(root)
                    name = root.name if inside == Path() else inside.as_posix()
                    found[name if name not in found else str(folder)] = folder
        return found


def _found(kind: str, name: object, known: dict[str, Path]) -> Path:
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"There is no {kind} {echo(name)} in the folders that are served.")
    return known[name]


def _below(folder: Path, deepest: int) -> Iterator[Path]:
    """A folder and those in it; links are not followed, nor hidden folders looked into."""
    yield folder
    if deepest == 0 or (folder / "store.json").is_file():
        return
    try:
        inside = sorted(each for each in folder.iterdir() if each.name[:1] != "." and not each.is_symlink())
    except OSError:  # not ours to read
        return
    for each in [each for each in inside if each.is_dir()][:MOST]:
        yield from _below(each, deepest - 1)
