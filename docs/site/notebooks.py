"""Notebooks in the text format of MyST: prose, and blocks of `{code-cell}`."""

import json
import re
import sys
from pathlib import Path

CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```\s*?$", re.MULTILINE | re.DOTALL)
FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def is_notebook(text: str) -> bool:
    return bool(CELL.search(text))


def code_cells(text: str) -> list[str]:
    """The code of each cell, without the lines of options that begin it."""
    return [re.sub(r"\A(?::[^\n]*\n)+\n?", "", found[1]) for found in CELL.finditer(text)]


def as_ipynb(text: str) -> str:
    """The same as a Jupyter notebook without outputs, to be opened in Jupyter or Colab."""
    body, cells, end = FRONT.sub("", text), [], 0
    for found in CELL.finditer(body):
        cells += [_prose(body[end : found.start()]), _code(code_cells(found[0])[0])]
        end = found.end()
    cells.append(_prose(body[end:]))
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    kept = [{**cell, "id": f"cell-{i}"} for i, cell in enumerate(cell for cell in cells if cell["source"])]
    return json.dumps({"cells": kept, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _prose(text: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": text.strip().splitlines(keepends=True)}


def _code(text: str) -> dict:
    source = text.rstrip().splitlines(keepends=True)
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(as_ipynb(Path(sys.argv[1]).read_text()))
