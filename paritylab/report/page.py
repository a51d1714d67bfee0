"""The report as one self-contained HTML file."""

import base64
from collections import Counter
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from .. import __version__
from ..documents import write_whole
from ..experiments.accounts import found_in
from ..registry import PAPERS

HERE = Path(__file__).parent
REPORT = "report.html"
VERDICTS = {"holds": "✓ holds", "fails": "✗ fails", "inconclusive": "? inconclusive"}


def write_report(out: Path) -> Path:
    """Write the report of all complete experiments in a folder, and return its path."""
    page = out / REPORT
    write_whole(page, html(found_in(out), out))
    return page


def html(experiments: list[dict[str, Any]], out: Path) -> str:
    """The report as HTML."""
    claims = [claim for about in experiments for claim in about["claims"]]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>paritylab report</title><style>{(HERE / 'style.css').read_text()}</style></head><body><main>",
        "<h1>What gradient descent learns on the Boolean cube</h1>",
        f'<p class="lead">{counts(claims)}</p>',
        f"<ul>{''.join(map(line_of, experiments))}</ul>",
        ledger(claims),
        *(section(about, out) for about in experiments),
        f"<footer>paritylab {escape(__version__)}</footer>",
        f"</main><script>{(HERE / 'sort.js').read_text()}</script></body></html>",
    ]
    return "\n".join(parts) + "\n"


def counts(claims: list[dict[str, Any]]) -> str:
    """The whole ledger in one sentence."""
    found = Counter(claim["verdict"] for claim in claims)
    news = sum(is_news(claim) for claim in claims)
    verdicts = ", ".join(f"{found[verdict]} {word}" for verdict, word in words(found).items())
    changed = (
        f" {news} differ from the recorded verdict." if news else " All verdicts are as recorded." if claims else ""
    )
    scale = " at this scale" if found["inconclusive"] else ""
    return f"{len(claims)} claims of the papers: {verdicts or 'none'}{scale}.{changed}"


def is_news(claim: dict[str, Any]) -> bool:
    """Whether the verdict differs from the recorded one."""
    return claim["recorded"] not in (None, claim["verdict"])


def words(found: Counter[str]) -> dict[str, str]:
    """The verb of each verdict that occurs."""
    plural = {"holds": "hold", "fails": "fail", "inconclusive": "are inconclusive"}
    single = {"holds": "holds", "fails": "fails", "inconclusive": "is inconclusive"}
    return {verdict: (single if found[verdict] == 1 else plural)[verdict] for verdict in VERDICTS if found[verdict]}


def line_of(about: dict[str, Any]) -> str:
    """One line of the list of experiments, with the verdicts of its claims."""
    found = Counter(claim["verdict"] for claim in about["claims"])
    verdicts = ", ".join(
        f'<span class="verdict {verdict}">{VERDICTS[verdict][0]} {found[verdict]} {word}</span>'
        for verdict, word in words(found).items()
    )
    place = escape(f"{about['scale']}/{about['experiment']}")
    return f'<li><a href="#{place}">{escape(about["experiment"])}</a>, {escape(about["title"])}: {verdicts}</li>'


COLUMNS = ("claim", "verdict", "statement", "paper", "theory", "ours", "95% interval", "accepted", "scale", "time")


def ledger(claims: list[dict[str, Any]]) -> str:
    """The table of all claims."""
    heads = "".join(f'<th aria-sort="none"><button type="button">{name}</button></th>' for name in COLUMNS)
    rows = "\n".join(row(claim) for claim in claims)
    return (
        f'<div class="wide"><table id="ledger" class="sortable"><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def row(claim: dict[str, Any]) -> str:
    """A row of the ledger; `data-value` is what it sorts by."""
    verdict, (low, high) = claim["verdict"], claim["interval"]
    changed = f" (recorded: {escape(claim['recorded'])})" if is_news(claim) else ""
    why = f'<div class="why">{escape(claim["explanation"])}</div>' if claim["explanation"] else ""
    anchor = escape("/".join(claim["claim"].split("/")[:2]))
    cells = [
        (claim["claim"], f'<a href="#{escape(claim["scale"])}/{anchor}">{escape(claim["claim"])}</a>'),
        (verdict, f'<span class="verdict {verdict}">{VERDICTS[verdict]}</span>{changed}'),
        (claim["statement"], escape(claim["statement"]) + why),
        *((claim[name], number(claim[name])) for name in ("paper", "theory", "measured")),
        (low, f"{number(low)} to {number(high)}"),
        (claim["region"], escape(claim["region"])),
        (claim["scale"], escape(claim["scale"])),
        (claim["seconds"], f"{claim['seconds']:.0f} s"),
    ]
    key = lambda value: "" if value is None else escape(str(value), quote=True)
    return "<tr>" + "".join(f'<td data-value="{key(value)}">{text}</td>' for value, text in cells) + "</tr>"


def number(value: Any) -> str:
    """A number formatted for a cell; a dash stands for what JSON cannot hold, such as an infinite time."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return escape(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


SUMMARY = ("claim", "paper", "theory", "ours", "95% interval", "accepted", "verdict")


def cells_of(claim: dict[str, Any], name: str, shown: Callable[[Any], str]) -> list[str]:
    """A claim as a row of `SUMMARY`, with its name or its statement in front and numbers as they are to be shown."""
    numbers = [shown(claim[key]) for key in ("paper", "theory", "measured")]
    interval = " to ".join(map(shown, claim["interval"]))
    return [claim[name], *numbers, interval, claim["region"], claim["verdict"]]


def section(about: dict[str, Any], out: Path) -> str:
    """An experiment: its figures, settings, and the command that reproduces it."""
    name, scale = about["experiment"], about["scale"]
    folder = Path(scale) / name
    paper = PAPERS.get(name.split("/")[0], name.split("/")[0])
    figures = "\n".join(picture(figure, folder, out, about["title"]) for figure in about["figures"])
    links = " · ".join(f'<a href="{escape(str(folder / each))}">{escape(each)}</a>' for each in about["data"])
    settings = "".join(
        f"<tr><th>{escape(key)}</th><td>{escape(text)}</td></tr>" for key, text in about["settings"].items()
    )
    origins = "; ".join(
        ", ".join(f"{key} {value}" for key, value in origin.items() if value is not None) for origin in about["origins"]
    )
    return f"""<section id="{escape(scale)}/{escape(name)}">
<h2>{escape(name)} <small>{escape(scale)} scale</small></h2>
<p class="paper">{escape(paper)}: {escape(about["title"])}</p>
{figures}
<div class="text">{paragraphs(about["text"])}</div>
<table class="settings">{settings}</table>
<p>Make it again: <code>{escape(about["command"])}</code></p>
<p>Data: {links}</p>
<p class="origin">{about["seconds"]:.0f} s of work. {escape(origins)}</p>
</section>"""


def picture(name: str, folder: Path, out: Path, title: str) -> str:
    """A figure, inside the page; larger as PDF beside it."""
    image = base64.b64encode((out / folder / name).read_bytes()).decode()
    pdf = escape(str((folder / name).with_suffix(".pdf")))
    return (
        f'<figure><img alt="{escape(title, quote=True)}" src="data:image/png;base64,{image}">'
        f'<figcaption><a href="{pdf}">PDF</a></figcaption></figure>'
    )


def paragraphs(text: str) -> str:
    """Text with its paragraphs as HTML."""
    return "".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in text.split("\n\n"))
