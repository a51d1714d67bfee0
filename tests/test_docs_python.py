"""The Python of every page runs as its readers paste it, and prints what the page says."""

import sys

import pytest
from pages import SMALLER, as_reader, blocks_of, lines_of, outputs_below, pages_with, read, run, shows, smaller

OF_THE_PACKAGE = ("docs/experiments.md",)
"""Whose Python is a module of the package; tests/test_docs_commands.py runs it there."""
SCRIPTS = [page for page in pages_with("python") if page not in OF_THE_PACKAGE]


@pytest.mark.parametrize("page", SCRIPTS)
def test_the_python_of_a_page_is_a_script_that_runs(page, tmp_path, compiled):
    script = "\n".join(block.text for block in blocks_of(read(page)) if block.language == "python")
    (tmp_path / "script.py").write_text(smaller(page, script))
    printed = run([sys.executable, "script.py"], tmp_path, as_reader(compiled))
    assert shows(outputs_below(page, "python"), printed), printed


@pytest.mark.parametrize("change", SMALLER, ids=lambda change: f"{change.page}: {change.printed}")
def test_what_is_run_smaller_is_a_line_of_its_page(change):
    assert lines_of(change.page).count(change.printed) == 1
    assert code_of_run(change) != change.printed


def code_of_run(change) -> str:
    return smaller(change.page, change.printed).strip()


@pytest.mark.parametrize(
    ("outputs", "printed", "are"),
    [
        (["1 2\n", "3\n"], "0\n1\n2\n3\n", True),
        (["3\n", "1 2\n"], "0\n1\n2\n3\n", False),
        (["0.8431\n"], "0.8432\n", False),
        ([], "anything", True),
    ],
)
def test_outputs_are_looked_for_in_order(outputs, printed, are):
    assert shows(outputs, printed) == are
