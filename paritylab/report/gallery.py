"""The gallery: what experiments found at paper scale, small enough to be kept with the documentation.

Each exhibit is a folder with its figures, `experiment.json` (settings, claims, where the runs come from) and
`runs.parquet`, the table behind the figures, from which the claims can be judged again.
"""

import html
import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..distributions.images import rgb_image
from ..documents import document, make_folder, write_whole
from ..experiments.accounts import ABOUT, check_inside, checked, found_in, loaded, place_of, sift
from ..experiments.base import judge, load, read, value_without
from ..experiments.reproduce import words_of
from ..experiments.status import COLUMNS as STATUS, Status, columns, status
from ..experiments.verdicts import recorded
from ..registry import PAPERS
from ..sweep.shards import parquet
from ..sweep.sweep import Results
from .page import SUMMARY, cells_of, number

LARGEST, LARGEST_READ = 3_000_000, 2**31
"""Bytes of one exhibit's table, and of the table that it is made from, with all that was recorded."""
LEFT_OUT = ("run", "worker")
"""Columns that no claim needs; names of runs do not compress."""
OF_EACH_RUN = ("steps", "error", "job")


def write_gallery(out: Path, gallery: Path) -> Path:
    """Add the paper-scale experiments of a folder of `reproduce`, write the page, and return its path."""
    for about in found_in(out):
        if about["scale"] == "paper":
            _keep(about, out / "paper" / about["experiment"], gallery / about["experiment"].replace("/", "-"))
    for about in exhibits(gallery):
        _judge_again(about, gallery)
    page = gallery / "index.md"
    write_whole(page, _page(exhibits(gallery)))
    return page


def exhibits(gallery: Path) -> list[dict[str, Any]]:
    """All of a gallery, in the order of the registry."""
    read = lambda path: checked(loaded(path, gallery), path.parent)
    found, damaged = sift(sorted(gallery.glob(f"*/{ABOUT}")), read)
    if damaged:
        raise ValueError(f"{damaged[0]}. Take it from the gallery, or make it again.")
    return sorted(found, key=place_of)


def results_of(about: dict[str, Any], gallery: Path) -> Results:
    """The runs of an exhibit, as `reproduce` had them; they are named by their places."""
    table = pq.read_table(gallery / about["experiment"].replace("/", "-") / "runs.parquet")
    return Results(table.append_column("run", pa.array([str(place) for place in range(len(table))])), 0)


def _keep(about: dict[str, Any], source: Path, place: Path) -> None:
    table = _table(source / "runs.parquet")
    table = table.drop_columns([name for name in LEFT_OUT if name in table.column_names])
    table = table.replace_schema_metadata(None)  # a store's own; where the runs come from is in `experiment.json`
    whole, content = True, _parquet(table)
    if len(content) > LARGEST and any(pa.types.is_nested(field.type) for field in table.schema):
        table = table.select([field.name for field in table.schema if not pa.types.is_nested(field.type)])
        whole, content = False, _parquet(table)
    if len(content) > LARGEST:  # for a million runs keep outcomes and seeds, or outcomes only
        table = table.drop_columns([name for name in OF_EACH_RUN if name in table.column_names])
        content = _parquet(table)
    if len(content) > LARGEST and "seed" in table.column_names:
        content = _parquet(table.drop_columns("seed"))
    if len(content) > LARGEST:
        raise ValueError(f"The table of {about['experiment']} has {len(content)} bytes, more than {LARGEST}.")
    pictures = {name: _few_colours(source / name) for name in about["figures"]}
    make_folder(place)
    for name, picture in pictures.items():
        write_whole(place / name, picture)
    write_whole(place / "runs.parquet", content)
    write_whole(place / ABOUT, document({**about, "data": ["runs.parquet"], "curves_kept": whole}))


def _table(path: Path) -> pa.Table:
    try:
        check_inside(path, path.parent, LARGEST_READ)
        return pq.read_table(path)
    except (ValueError, OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{path} is damaged ({reason:.200}). Make it again with 'paritylab reproduce'.") from None


def _parquet(table: pa.Table) -> bytes:
    return parquet(table, level=19).to_pybytes()


def _few_colours(path: Path) -> bytes:
    """Quantize a figure: a third of the bytes, without a visible difference."""
    buffer = io.BytesIO()
    rgb_image(path).quantize(64).save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _judge_again(about: dict[str, Any], gallery: Path) -> None:
    """Recompute intervals, verdicts and explanations with the current experiment."""
    experiment = load(about["experiment"])
    settings = experiment.SETTINGS["paper"]
    known = {f"{about['experiment']}/{claim.name}": claim for claim in experiment.claims(settings)}
    data = read(experiment, settings, results_of(about, gallery)) if about["curves_kept"] else None
    for row in about["claims"]:
        if (claim := known.get(row["claim"])) is None:
            continue
        row |= {
            "paper": claim.paper,
            "theory": claim.theory,
            "explanation": claim.explanation,
            "tested_by": " ".join(claim.tested_by),
        }
        row["recorded"] = recorded(about["experiment"], claim, "paper")
        if data is not None:
            interval, null = claim.measure(data).interval, value_without(claim.null, data)
            row |= {"interval": list(interval), "verdict": judge(claim.region, interval, null)}
            row["null"] = words_of(claim, null)
    write_whole(gallery / about["experiment"].replace("/", "-") / ABOUT, document(about))


def _exhibit(about: dict[str, Any]) -> str:
    name = about["experiment"]
    folder = name.replace("/", "-")
    pictures = "\n\n".join(f"![{about['title']}]({folder}/{figure})" for figure in about["figures"])
    lines = (cells_of(claim, "statement", number) for claim in about["claims"])
    rows = "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |" for cells in lines)
    why = "".join(
        f"\n- *{claim['claim'].removeprefix(name + '/')}* {claim['verdict']}: {claim['explanation']}"
        for claim in about["claims"]
        if claim["verdict"] != "holds" and claim["explanation"]
    )
    origins = "; ".join(f"{each.get('device')}, commit {str(each.get('commit'))[:10]}" for each in about["origins"])
    return (
        f"## {name}: {about['title']}\n\n{pictures}\n\n"
        f"| {' | '.join(SUMMARY)} |\n|{'---|' * len(SUMMARY)}\n{rows}\n{why}\n\n"
        f"{origins}; {about['seconds']:.0f} s of work. `{about['command']}`\n"
    )


def _page(abouts: list[dict[str, Any]]) -> str:
    papers = "\n".join(f"- {short}: {title}" for short, title in PAPERS.items())
    return (
        "# Gallery\n\nExperiments at the papers' own size. Each has its table beside it "
        "(`runs.parquet`), from which a test judges its claims again. "
        f"Here are {len(abouts)} experiments with {_tally(abouts)}.\n\n"
        f"{papers}\n\n{_what_was_run(status())}\n## Contents\n\n{_contents(abouts)}\n\n"
        + "\n".join(map(_exhibit, abouts))
    )


def _what_was_run(found: list[Status]) -> str:
    """Each experiment with its size and what came of it, and what each paper took."""
    lines = "\n".join(f"| {' | '.join(map(_cell, columns(each).values()))} |" for each in found)
    return (
        "## What was run at which scale\n\n"
        "As `paritylab list --status` prints it: the larger scale of the two at which each experiment was run, what "
        "came of its claims there (hold, fail, open), and what that scale cuts against the paper. Seconds of work are "
        "those of all workers together, several of which share a GPU.\n\n"
        f"| {' | '.join(STATUS)} |\n|{'---|' * len(STATUS)}\n{lines}\n\n"
        "What all experiments at paper scale took together, by paper. Figures 7 and 8 of hidden-progress are the same "
        "runs, counted twice. Its authors report 1,500 CPU hours and 200 GPU hours.\n\n"
        f"| paper | at paper scale | steps | {' | '.join(f'hours of work, {kind}' for kind in KINDS_OF_DEVICE)} |\n"
        f"|{'---|' * (3 + len(KINDS_OF_DEVICE))}\n" + "".join(_sums(paper, found) for paper in PAPERS)
    )


KINDS_OF_DEVICE = ("one H200", "cores")


def _sums(paper: str, found: list[Status]) -> str:
    """A row of the second table: experiments that were run at paper scale, of how many, and their hours."""
    own = [each for each in found if each.experiment.startswith(f"{paper}/")]
    ran = [each.ran for each in own if each.ran is not None and each.ran.scale == "paper"]
    hours = [sum(each.seconds for each in ran if ("H200" in each.device) == gpu) / 3600 for gpu in (True, False)]
    steps = sum(each.steps for each in ran)
    return f"| {paper} | {len(ran)} of {len(own)} | {steps:,} | {hours[0]:.1f} | {hours[1]:.1f} |\n"


def _tally(abouts: list[dict[str, Any]]) -> str:
    """How many claims there are, and what came of them."""
    verdicts = [claim["verdict"] for about in abouts for claim in about["claims"]]
    count = lambda word: f"{verdicts.count(word):,}"
    return (
        f"{len(verdicts):,} claims: {count('holds')} hold, {count('fails')} fail, {count('inconclusive')} are undecided"
    )


def _contents(abouts: list[dict[str, Any]]) -> str:
    """A line for each experiment: its first figure, small, and what came of its claims."""
    lines = []
    for about in abouts:
        name, folder = about["experiment"], about["experiment"].replace("/", "-")
        verdicts = [claim["verdict"] for claim in about["claims"]]
        figure = html.escape(f"{folder}/{about['figures'][0]}") if about["figures"] else ""
        small = f'<img src="{figure}" alt="" width="160">' if figure else ""
        link = f"[{name}: {_cell(about['title'])}](#{_anchor(name, about['title'])})"
        counts = (str(verdicts.count(word)) for word in ("holds", "fails", "inconclusive"))
        lines.append(f"| {small} | {link} | {' | '.join(counts)} |")
    return "| | experiment | hold | fail | open |\n|---|---|---|---|---|\n" + "\n".join(lines)


def _anchor(name: str, title: str) -> str:
    """The name under which GitHub, and the site, offer the heading of an exhibit."""
    return re.sub(r"[^\w\- ]", "", f"{name}: {title}".lower()).replace(" ", "-")


def _cell(value: Any) -> str:
    return f"{value:,.0f}" if isinstance(value, int | float) else (value or "").replace("|", "\\|")
