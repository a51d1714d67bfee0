"""What the tests of the documentation share: its pages, their blocks, what is run smaller than printed, and how."""

import functools
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*(.*?)\s*")
OUTPUT = "text"
"""The language of a block that shows what the block before it prints."""
KINDS = ("python", "sh", "toml", OUTPUT)
DIRECTIVE = re.compile(r"\{[\w:-]+\}.*")
"""What the site alone makes something of: contents, and the cells of notebooks, which its build runs."""


class Block(NamedTuple):
    """A fenced block; `line` is that of its fence."""

    line: int
    language: str
    text: str


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of some Markdown, in order."""
    found, opened, lines = [], None, []
    for number, line in enumerate(page.splitlines(), start=1):
        fence = FENCE.fullmatch(line)
        if opened is None:
            if fence:
                opened, lines = Block(number, fence[2], fence[1]), []
        elif fence and fence[1].startswith(opened.text) and not fence[2]:
            found.append(opened._replace(text="".join(f"{line}\n" for line in lines)))
            opened = None
        else:
            lines.append(line)
    if opened is not None:
        raise ValueError(f"The block that begins in line {opened.line} does not end. Close its fence.")
    return found


@functools.cache
def read(page: str) -> str:
    return (ROOT / page).read_text()


def pages_with(language: str) -> list[str]:
    return [page for page in PAGES if any(block.language == language for block in blocks_of(read(page)))]


def prose_of(page: str) -> str:
    """A page without its fenced blocks."""
    lines = page.splitlines()
    for block in blocks_of(page):
        first, last = block.line - 1, block.line + block.text.count("\n")
        lines[first : last + 1] = [""] * (last + 1 - first)
    return "\n".join(lines)


def anchors_of(page: str) -> set[str]:
    """The names under which GitHub offers the headings of a page as targets of links."""
    headings = re.findall(r"^#{1,6} +(.*?) *$", prose_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links_of(page: str) -> list[str]:
    """Where the links and images of a page point to; a link's text may go over two lines, and hold an image."""
    return re.findall(r"\]\(([^()\s]+)\)", prose_of(page))


def spans_of(page: str) -> list[str]:
    """The code inside the sentences of a page, on one line each."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose_of(page))]


class Change(NamedTuple):
    """A line of a page's blocks, or of an example, and what takes its place when it is run."""

    page: str
    printed: str
    run: str


SMALLER = (
    Change(
        "README.md",
        "runs = pl.train(task, network, rate=[0.1, 1.0], batch=32, seeds=100, steps=20_000)",
        "runs = pl.train(task, network, rate=[0.1, 1.0], batch=32, seeds=4, steps=300, lanes=4)",
    ),
    Change(
        "README.md",
        "paritylab train --n 50 --support 3,14,15 --rate 0.1,1 --seeds 100 --steps 20000",
        "paritylab train --n 50 --support 3,14,15 --rate 0.1,1 --seeds 4 --steps 300",
    ),
    Change(
        "README.md",
        "paritylab sweep examples/parities.toml --store out/it",
        "paritylab sweep examples/smaller/parities.toml --store out/it",
    ),
    Change(
        "README.md",
        "paritylab reproduce hidden-progress --scale quick",
        "paritylab reproduce hidden-progress/fig0 --scale quick",
    ),
    Change("README.md", "paritylab serve", "paritylab serve --help"),
    Change("docs/tour.md", "seeds=100,", "seeds=4, lanes=4,"),
    Change("docs/tour.md", "steps=10_000,", "steps=300,"),
    Change(
        "docs/tour.md",
        'runs = pl.train(task, lambda n, *, key: eqx.nn.MLP(n, "scalar", 64, 2, key=key), seeds=50)',
        'runs = pl.train(task, lambda n, *, key: eqx.nn.MLP(n, "scalar", 64, 2, key=key), seeds=2, steps=300, lanes=2)',
    ),
    Change(
        "docs/sweeps.md",
        'yield pl.plan(task, pl.MLP(100), rate=[0.1, 1.0], seeds=25, steps=5_000, labels={"k": k})',
        'yield pl.plan(task, pl.MLP(100), rate=[0.1, 1.0], seeds=2, steps=300, lanes=4, labels={"k": k})',
    ),
    Change(
        "docs/sweeps.md",
        "paritylab sweep examples/parities.toml --store out/parities --dry-run",
        "paritylab sweep examples/smaller/parities.toml --store out/parities --dry-run",
    ),
    Change(
        "docs/sweeps.md",
        "paritylab sweep examples/parities.toml --store out/parities",
        "paritylab sweep examples/smaller/parities.toml --store out/parities",
    ),
    Change("docs/sweeps.md", "dask scheduler &", "dask scheduler --host 127.0.0.1 --port PORT --no-dashboard &"),
    Change(
        "docs/sweeps.md",
        "dask worker tcp://HOST:8786 --nthreads 1",
        "dask worker tcp://127.0.0.1:PORT --nthreads 1 --no-dashboard &",
    ),
    Change(
        "docs/sweeps.md",
        "paritylab sweep examples/parities.toml --store out/parities --executor dask://HOST:8786",
        "paritylab sweep examples/smaller/parities.toml --store out/dask --executor dask://127.0.0.1:PORT",
    ),
    Change(
        "docs/experiments.md",
        "paritylab reproduce hidden-progress --scale quick",
        "paritylab reproduce hidden-progress/fig0 --scale quick",
    ),
    Change(
        "docs/experiments.md",
        "paritylab reproduce hidden-progress/fig7 --scale paper",
        "paritylab reproduce hidden-progress/fig0 --scale paper",
    ),
    Change(
        "docs/experiments.md",
        'SETTINGS = {"quick": Settings(seeds=12), "paper": Settings(seeds=100)}',
        'SETTINGS = {"quick": Settings(seeds=8), "paper": Settings(seeds=12)}',
    ),
    Change("docs/looking.md", "rate=[0.1, 1.0],", "rate=[1.0],"),
    Change("docs/looking.md", "batch=[16, 64],", "batch=[16, 64], lanes=4, validation=1024,"),
    Change("docs/looking.md", "seeds=10,", "seeds=2,"),
    Change("docs/looking.md", "steps=5_000,", "steps=500,"),
    Change("examples/parities.toml", "steps = 20_000", "steps = 200"),
    Change("examples/parities.toml", "seeds = 25", "seeds = 2"),
    Change("examples/parities.toml", "k = [2, 3, 4]", "k = [2, 4]"),
    Change(
        "examples/parities.toml",
        "batch = {from = 32, to = 128, times = 2}",
        "batch = {from = 32, to = 32, times = 2}",
    ),
    Change("examples/slurm.py", "steps=steps,", "steps=steps, lanes=4,"),
    Change("examples/slurm.py", "for k in (2, 3, 4)", "for k in (2, 3)"),
    Change(
        "examples/slurm.py",
        "results = on_slurm(convergence_times(seeds=500, steps=100_000), sys.argv[1], jobs=20)",
        "results = on_slurm(convergence_times(seeds=3, steps=200), sys.argv[1], jobs=2)",
    ),
)
"""All that is not run as it is printed. Few seeds and steps take the place of many, the experiment that
docs/experiments.md adds that of larger ones, this machine (PORT is free there) that of a cluster, and its help that of
a server, which runs until it is ended."""


def code_of(line: str) -> str:
    """A line without its comment and the space around it."""
    return re.sub(r"(^|\s)#.*", "", line).strip()


def smaller(page: str, text: str) -> str:
    """Some lines of a page in the size in which they are run."""
    changes = {change.printed: change.run for change in SMALLER if change.page == page}
    lines = []
    for line in text.splitlines():
        code = code_of(line)
        lines.append(line.replace(code, changes[code]) if code in changes else line)
    return "\n".join(lines) + "\n"


def lines_of(page: str) -> list[str]:
    """The lines of code of a page's blocks, or of a file that is none."""
    text = "".join(block.text for block in blocks_of(read(page))) if page in PAGES else read(page)
    return [code_of(line) for line in text.splitlines()]


LONGEST = 240
"""Seconds after which a command is held to hang."""
NOT_OF_USERS = ("JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE")


def as_reader(cache: Path, package: Path = ROOT) -> dict[str, str]:
    """The environment of a reader with one core who installed `package`; compiled programs are kept in `cache`."""
    environment = {name: value for name, value in os.environ.items() if name not in NOT_OF_USERS}
    return environment | {
        "XDG_CACHE_HOME": str(cache),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(package),
        "PARITYLAB_CORES": "1",  # the others are for other tests
    }


def run(command: list[str] | str, folder: Path, environment: dict[str, str]) -> str:
    """What a command prints, which goes well and without a warning; a string is for the shell."""
    ended = subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert ended.returncode == 0, f"{command} ended with {ended.returncode}:\n{ended.stderr}"
    assert "Warning" not in ended.stderr, f"{command} warns:\n{ended.stderr}"
    return ended.stdout


def outputs_below(page: str, language: str) -> list[str]:
    """The outputs that a page shows below its blocks of a language."""
    blocks = blocks_of(read(page))
    pairs = itertools.pairwise(blocks)
    return [after.text for before, after in pairs if before.language == language and after.language == OUTPUT]


def shows(outputs: list[str], printed: str) -> bool:
    """Whether the outputs were printed, in order, however the page breaks their lines."""
    words = lambda text: " ".join(text.split())
    place = 0
    for output in map(words, outputs):
        found = words(printed).find(output, place)
        if found < 0:
            return False
        place = found + len(output)
    return True
