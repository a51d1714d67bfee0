"""The gallery: what experiments found at paper scale, small enough to be kept with the documentation.

Each exhibit is a folder with its figures, `experiment.json` (settings, claims, where the runs come from) and
`runs.parquet`, the table behind the figures, from which the claims can be judged again.
"""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from ..documents import document
from ..experiments.base import load
from ..experiments.reproduce import ABOUT, found_in
from ..registry import EXPERIMENTS, PAPERS
from ..sweep.sweep import Results
from .page import number

LARGEST = 2_000_000
"""Bytes of one exhibit's table."""
LEFT_OUT = ("run", "worker")
"""Columns that no claim needs; names of runs do not compress."""
OF_EACH_RUN = ("seed", "steps", "error", "job")


def write_gallery(out: Path, gallery: Path) -> Path:
    """Takes in what a folder of `reproduce` holds at paper scale, and writes the page of all exhibits; its path."""
    for about in found_in(out):
        if about["scale"] == "paper":
            _keep(about, out / "paper" / about["experiment"], gallery / about["experiment"].replace("/", "-"))
    for about in exhibits(gallery):
        _explain(about, gallery)
    page = gallery / "index.md"
    page.write_text(_page([_exhibit(about) for about in exhibits(gallery)]))
    return page


def exhibits(gallery: Path) -> list[dict[str, Any]]:
    """All of a gallery, in the order of the registry."""
    known = {name: place for place, name in enumerate(EXPERIMENTS)}
    found = [json.loads(path.read_text()) for path in gallery.glob(f"*/{ABOUT}")]
    return sorted(found, key=lambda about: known.get(about["experiment"], len(known)))


def results_of(about: dict[str, Any], gallery: Path) -> Results:
    """The runs of an exhibit, as `reproduce` had them; they are named by their places."""
    table = pq.read_table(gallery / about["experiment"].replace("/", "-") / "runs.parquet")
    return Results(table.append_column("run", pa.array([str(place) for place in range(len(table))])), 0)


def _keep(about: dict[str, Any], source: Path, place: Path) -> None:
    table = pq.read_table(source / "runs.parquet")
    table = table.drop_columns([name for name in LEFT_OUT if name in table.column_names])
    table = table.replace_schema_metadata(None)  # a store's own; where the runs come from is in `experiment.json`
    whole, content = True, _bytes(table)
    if len(content) > LARGEST and any(pa.types.is_nested(field.type) for field in table.schema):
        table = table.select([field.name for field in table.schema if not pa.types.is_nested(field.type)])
        whole, content = False, _bytes(table)
    if len(content) > LARGEST:  # of a million runs only what tells how they ended
        content = _bytes(table.drop_columns([name for name in OF_EACH_RUN if name in table.column_names]))
    if len(content) > LARGEST:
        raise ValueError(f"The table of {about['experiment']} has {len(content)} bytes, more than {LARGEST}.")
    place.mkdir(parents=True, exist_ok=True)
    (place / "runs.parquet").write_bytes(content)
    for name in about["figures"]:
        # A figure has few colours: a third of the bytes, and no difference that can be seen.
        picture = Image.open(source / name).convert("RGB").quantize(64)
        picture.save(place / name, optimize=True)
    (place / ABOUT).write_text(document({**about, "data": ["runs.parquet"], "curves_kept": whole}))


def _explain(about: dict[str, Any], gallery: Path) -> None:
    """Explanations as the experiment has them now: they may have become better since its runs."""
    experiment = load(about["experiment"])
    known = {claim.name: claim for claim in experiment.claims(experiment.SETTINGS["paper"])}
    for row in about["claims"]:
        row["explanation"] = known[row["claim"].removeprefix(f"{about['experiment']}/")].explanation
    (gallery / about["experiment"].replace("/", "-") / ABOUT).write_text(document(about))


def _bytes(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", compression_level=19)
    return buffer.getvalue()


def _exhibit(about: dict[str, Any]) -> str:
    name = about["experiment"]
    folder = name.replace("/", "-")
    pictures = "\n\n".join(f"![{about['title']}]({folder}/{figure})" for figure in about["figures"])
    rows = "\n".join(_row(claim) for claim in about["claims"])
    why = "".join(
        f"\n- *{claim['claim'].removeprefix(name + '/')}* {claim['verdict']}: {claim['explanation']}"
        for claim in about["claims"]
        if claim["verdict"] != "holds" and claim["explanation"]
    )
    origins = "; ".join(f"{each['device']}, commit {str(each['commit'])[:10]}" for each in about["origins"])
    return (
        f"## {name}: {about['title']}\n\n{pictures}\n\n"
        f"| claim | paper | ours | 95% interval | accepted | verdict |\n|---|---|---|---|---|---|\n{rows}\n{why}\n\n"
        f"{origins}; {about['seconds']:.0f} s of work. `{about['command']}`\n"
    )


def _row(claim: dict[str, Any]) -> str:
    low, high = claim["interval"]
    cells = (
        claim["statement"],
        number(claim["expected"]),
        number(claim["measured"]),
        f"{number(low)} to {number(high)}",
        claim["region"],
        claim["verdict"],
    )
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _page(shown_exhibits: list[str]) -> str:
    papers = "\n".join(f"- {short}: {title}" for short, title in PAPERS.items())
    return (
        "# Gallery\n\nExperiments at the papers' own size. Each has its table beside it "
        "(`runs.parquet`), from which a test judges its claims again. "
        "Seconds of work are those of all workers together, several of which share a GPU.\n\n"
        f"{papers}\n\n" + "\n".join(shown_exhibits)
    )
