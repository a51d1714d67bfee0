"""What the documentation names exists: blocks that can be told apart, links, files, names, commands, extras."""

import importlib
import re
import tomllib

import pytest
import typer
from pages import DIRECTIVE, KINDS, OUTPUT, PAGES, ROOT, anchors_of, blocks_of, links_of, prose_of, read, spans_of

import paritylab
from paritylab.cli import app
from paritylab.cli.listing import made_by
from paritylab.registry import EXPERIMENTS, NETWORKS, PAPERS

FOLDERS = ("benchmarks", "docs", "examples", "paritylab", "tests")
WRITTEN = [page for page in PAGES if "gallery" not in page]
"""Pages that people write."""


def options_of_commands() -> dict[str, set[str]]:
    commands = typer.main.get_command(app).commands
    return {
        name: {flag for option in command.params for flag in option.opts} | nested(command)
        for name, command in commands.items()
    }


def nested(command) -> set[str]:
    return {flag for inner in getattr(command, "commands", {}).values() for one in inner.params for flag in one.opts}


OPTIONS = options_of_commands()
TARGETS = set(re.findall(r"^([\w-]+):", read("Makefile"), re.MULTILINE))
EXTRAS = set(tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"])


def wrong_in(command: str) -> str | None:
    """What is wrong with a command of a sentence or a block that no test runs, as far as its words tell."""
    words = command.split()
    if words[0] == "make":
        unknown = {word for word in words[1:] if "=" not in word} - TARGETS  # `make test PYTHON=python3.13`
        return f"no target {unknown} in the Makefile" if unknown else None
    if words[:2] == ["pip", "install"]:
        asked = {extra for names in re.findall(r"\.\[([\w,]+)\]", command) for extra in names.split(",")}
        return f"no extra {asked - EXTRAS}" if asked - EXTRAS else None
    if words[0] == "paritylab" and len(words) > 1:
        if words[1] not in OPTIONS:
            return f"no command {words[1]}"
        unknown = {word for word in words if word.startswith("--")} - OPTIONS[words[1]]
        return f"no option {unknown}" if unknown else None
    return None


def missing_from(span: str) -> list[str]:
    """The files, experiments and names of the package that a span of code names and that do not exist."""
    missing = [word for word in span.split() if word.split("/")[0] in FOLDERS and "/" in word and not is_file(word)]
    missing += [
        word for word in span.split() if re.match(rf"({'|'.join(PAPERS)})/[^,]+$", word) and word not in EXPERIMENTS
    ]
    missing += [f"pl.{name}" for name in re.findall(r"\bpl\.(\w+)", span) if not hasattr(paritylab, name)]
    dotted = re.findall(r"\bparitylab((?:\.\w+)+)|^((?:analysis|bounds)\.\w+)", span)
    return missing + [path for path in (first or f".{second}" for first, second in dotted) if not is_name(path)]


def is_file(word: str) -> bool:
    """A word in capitals stands for any name, as in paritylab/experiments/PAPER/."""
    return any(ROOT.glob(re.sub(r"\b[A-Z]{3,}\b", "*", word)))


def is_name(path: str) -> bool:
    """Whether a path of names such as `.networks.gates.first_gates` leads somewhere in the package."""
    home, _, name = f"paritylab{path}".rpartition(".")
    try:
        return hasattr(importlib.import_module(home), name) or bool(importlib.import_module(f"{home}.{name}"))
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page):
    """What is not run is an output, and stands below what prints it."""
    assert not re.search("```|~~~", prose_of(read(page))), f"{page}: a fence begins its line"
    before = None
    for block in blocks_of(read(page)):
        place = f"{page}:{block.line}"
        assert block.language in KINDS or DIRECTIVE.fullmatch(block.language), (
            f"{place} is a block of {block.language!r}; mark it as one of {KINDS}"
        )
        assert block.language != OUTPUT or before in ("python", "sh"), f"{place} shows an output below no command"
        before = block.language


@pytest.mark.parametrize("page", PAGES)
def test_links_and_images_lead_somewhere(page):
    for link in links_of(read(page)):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        place = (ROOT / page).parent / path if path else ROOT / page
        assert place.exists(), f"{page} links to {link}"
        assert not anchor or anchor in anchors_of(place.read_text()), f"{page} links to {link}: no such heading"


@pytest.mark.parametrize("page", WRITTEN)
def test_what_a_sentence_names_exists(page):
    for span in spans_of(read(page)):
        assert not missing_from(span), f"{page} names `{span}`"
        assert not wrong_in(span), f"{page} says `{span}`: {wrong_in(span)}"


def test_the_table_of_networks_is_the_registry():
    rows = re.findall(r"^\| `([\w-]+)` \| (.*?) \| (.*?) \| `(.*?)` \|$", read("docs/networks.md"), re.MULTILINE)
    assert rows == [(name, row.what, row.settings, made_by(row)) for name, row in NETWORKS.items()]


PAGE = """# A page, with `code`

```sh
paritylab list   # [not](a link)
```

   ~~~~
   ~~~
   ~~~~

[one
link](a.md) and [![an image](b.png)](c.md#here)
"""


def test_the_reader_of_pages_sees_blocks_links_headings_and_code():
    assert blocks_of(PAGE) == [(3, "sh", "paritylab list   # [not](a link)\n"), (7, "", "   ~~~\n")]
    assert links_of(PAGE) == ["a.md", "b.png", "c.md#here"]
    assert anchors_of(PAGE) == {"a-page-with-code"} and spans_of(PAGE) == ["code"]
    assert [line for line in prose_of(PAGE).splitlines() if line] == [PAGE.splitlines()[i] for i in (0, 10, 11)]
    with pytest.raises(ValueError, match="begins in line 3 does not end"):
        blocks_of(PAGE[: PAGE.index("list")])


@pytest.mark.parametrize(
    ("span", "missing"),
    [
        ("tests/test_nothing.py", ["tests/test_nothing.py"]),
        ("python benchmarks/nothing.py gpu", ["benchmarks/nothing.py"]),
        ("paritylab/experiments/PAPER/", []),
        ("hidden-progress/fig99", ["hidden-progress/fig99"]),
        ("pl.plan(..., rate=1) and pl.plann()", ["pl.plann"]),
        ("paritylab.networks.gates.first_gate", [".networks.gates.first_gate"]),
        ("bounds.nothing", [".bounds.nothing"]),
        ("paritylab.bounds", []),
    ],
)
def test_the_reader_of_sentences_misses_what_does_not_exist(span, missing):
    assert missing_from(span) == missing


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("make tests", "no target {'tests'} in the Makefile"),
        ("make demo", None),
        ("pip install -e '.[data,digits]'", "no extra {'digits'}"),
        ("paritylab swep x.toml", "no command swep"),
        ("paritylab sweep ... --compakt", "no option {'--compakt'}"),
        ("paritylab analyze gap --n 3", None),
    ],
)
def test_the_reader_of_commands_finds_what_is_wrong(command, wrong):
    assert wrong_in(command) == wrong
