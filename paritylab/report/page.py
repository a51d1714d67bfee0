"""The report as one self-contained HTML file: for each experiment a figure, a sentence, and the table folded below."""

import base64
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from .. import __version__
from ..documents import write_whole
from ..experiments.accounts import found_in
from ..registry import PAPERS
from .sentences import VERDICTS, alternative, counted, is_news, number as plain_number, result, summary, verdicts_of

HERE = Path(__file__).parent
REPORT = "report.html"


def write_report(out: Path) -> Path:
    """Write the report of all complete experiments in a folder, and return its path."""
    page = out / REPORT
    write_whole(page, html(found_in(out), out))
    return page


def html(experiments: list[dict[str, Any]], out: Path) -> str:
    """The report as HTML."""
    claims = [claim for about in experiments for claim in about["claims"]]
    scripts = "\n".join((HERE / name).read_text() for name in ("sort.js", "filter.js"))
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>paritylab report</title><style>{(HERE / 'style.css').read_text()}</style></head><body><main>",
        "<header><h1>What gradient descent learns on the Boolean cube</h1>",
        f'<p class="lead">{summary(claims)}</p>',
        filters(experiments),
        "</header>",
        *(card(about, out) for about in experiments),
        f'<details class="all"><summary>All {len(claims)} claims in one table</summary>',
        claims_table(claims, COLUMNS, "ledger"),
        "</details>",
        f"<footer>paritylab {escape(__version__)}</footer>",
        f"</main><script>{scripts}</script></body></html>",
    ]
    return "\n".join(parts) + "\n"


def filters(experiments: list[dict[str, Any]]) -> str:
    """What narrows the page to a paper or a verdict; a script shows it, without which it could do nothing."""
    papers = dict.fromkeys(paper_of(about) for about in experiments)
    verdicts = verdicts_of([claim for about in experiments for claim in about["claims"]])
    options = lambda names: "".join(f'<option value="{escape(name)}">{escape(shown)}</option>' for name, shown in names)
    return (
        '<form id="filters" hidden><label>Paper <select name="paper">'
        f'<option value="">all</option>{options((paper, paper) for paper in papers)}</select></label> '
        '<label>Claims that <select name="verdict"><option value="">have any verdict</option>'
        f"{options((verdict, counted_word(verdict)) for verdict in verdicts)}</select></label> "
        '<output role="status"></output></form>'
    )


def counted_word(verdict: str) -> str:
    """A verdict as the verb of several claims."""
    return counted([{"verdict": verdict}] * 2).removeprefix("2 ")


def paper_of(about: dict[str, Any]) -> str:
    """The short name of an experiment's paper."""
    return str(about["experiment"]).split("/")[0]


def card(about: dict[str, Any], out: Path) -> str:
    """An experiment: what came of it beside its first figure, then further figures, and all else folded."""
    name, scale = about["experiment"], about["scale"]
    paper, claims = paper_of(about), about["claims"]
    figures = [picture(figure, Path(scale) / name, out, alternative(about, figure)) for figure in about["figures"]]
    title = escape(about["title"][:1].upper() + about["title"][1:])
    return f"""<section class="card" id="{escape(scale)}/{escape(name)}" data-paper="{escape(paper)}" \
data-verdicts="{" ".join(verdicts_of(claims))}">
<div class="first"><div class="words"><h2>{title}</h2>
<p class="result">{escape(result(about))}</p>
{bar(claims)}
<p class="paper">{escape(name)}, {escape(scale)} scale. {escape(PAPERS.get(paper, paper))}.</p></div>
{"".join(figures[:1])}</div>
{"".join(figures[1:])}
<details><summary>{len(claims)} claims, and how it was made</summary>
{claims_table(claims, COLUMNS[:-2])}
{background(about, Path(scale) / name)}
</details>
</section>"""


def bar(claims: list[dict[str, Any]]) -> str:
    """The verdicts as a bar: a part for each, as wide as it is frequent, with its number."""
    found = verdicts_of(claims)
    parts = "".join(
        f'<span class="part {verdict}" style="flex-grow:{count}">{VERDICTS[verdict][0]} {count}</span>'
        for verdict, count in found.items()
    )
    return f'<div class="bar" role="img" aria-label="{counted(claims)}">{parts}</div>' if found else ""


def background(about: dict[str, Any], folder: Path) -> str:
    """What an experiment is and with which settings; its data, where it ran, and the command that makes it again."""
    links = " · ".join(f'<a href="{escape(str(folder / each))}">{escape(each)}</a>' for each in about["data"])
    settings = "".join(
        f"<tr><th>{escape(key)}</th><td>{escape(text)}</td></tr>" for key, text in about["settings"].items()
    )
    origins = "; ".join(
        ", ".join(f"{key} {value}" for key, value in origin.items() if value is not None) for origin in about["origins"]
    )
    return f"""<div class="text">{paragraphs(about["text"])}</div>
<table class="settings">{settings}</table>
<p>Make it again: <code>{escape(about["command"])}</code></p>
<p>Data: {links}</p>
<p class="origin">{about["seconds"]:.0f} s of work. {escape(origins)}</p>"""


COLUMNS = ("claim", "verdict", "statement", "paper", "theory", "ours", "95% interval", "accepted", "scale", "time")


def claims_table(claims: list[dict[str, Any]], columns: Sequence[str], name: str = "") -> str:
    """Claims with some of their columns, as a table that sorts; with a name also links to their experiments."""
    heads = "".join(f'<th aria-sort="none"><button type="button">{each}</button></th>' for each in columns)
    rows = "\n".join(row(claim, columns, links=bool(name)) for claim in claims)
    mark = f' id="{name}"' if name else ""
    return f'<table{mark} class="claims sortable"><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table>'


def row(claim: dict[str, Any], columns: Sequence[str], links: bool) -> str:
    """A claim as a row; `data-value` is what it sorts by, and `data-name` its head where columns stand one below
    the other."""
    verdict, (low, high) = claim["verdict"], claim["interval"]
    changed = f" (recorded: {escape(claim['recorded'])})" if is_news(claim) else ""
    why = f'<div class="why">{escape(claim["explanation"])}</div>' if claim["explanation"] else ""
    paper, experiment, *rest = claim["claim"].split("/")
    anchor = f"{escape(claim['scale'])}/{escape(paper)}/{escape(experiment)}"
    cells = {
        "claim": (
            claim["claim"],
            f'<a href="#{anchor}">{divided(claim["claim"])}</a>'
            if links
            else divided("/".join(rest) or claim["claim"]),
        ),
        "verdict": (verdict, f'<span class="verdict {verdict}">{VERDICTS[verdict]}</span>{changed}'),
        "statement": (claim["statement"], escape(claim["statement"]) + why),
        "paper": (claim["paper"], number(claim["paper"])),
        "theory": (claim["theory"], number(claim["theory"])),
        "ours": (claim["measured"], number(claim["measured"])),
        "95% interval": (low, f"{number(low)} to {number(high)}"),
        "accepted": (claim["region"], escape(claim["region"])),
        "scale": (claim["scale"], escape(claim["scale"])),
        "time": (claim["seconds"], f"{claim['seconds']:.0f} s"),
    }
    key = lambda value: "" if value is None else escape(str(value), quote=True)
    shown = "".join(
        f'<td data-name="{name}" data-value="{key(cells[name][0])}">{cells[name][1]}</td>' for name in columns
    )
    return f'<tr data-paper="{escape(paper)}" data-verdict="{verdict}">{shown}</tr>'


def divided(name: str) -> str:
    """A claim's name, which may go on in the next line after a slash."""
    return escape(name).replace("/", "/<wbr>")


def number(value: Any) -> str:
    """A number or a text formatted for a cell."""
    return escape(plain_number(value))


SUMMARY = ("claim", "paper", "theory", "ours", "95% interval", "accepted", "verdict")


def cells_of(claim: dict[str, Any], name: str, shown: Callable[[Any], str]) -> list[str]:
    """A claim as a row of `SUMMARY`, with its name or its statement in front and numbers as they are to be shown."""
    numbers = [shown(claim[key]) for key in ("paper", "theory", "measured")]
    interval = " to ".join(map(shown, claim["interval"]))
    return [claim[name], *numbers, interval, claim["region"], claim["verdict"]]


def picture(name: str, folder: Path, out: Path, seen: str) -> str:
    """A figure, inside the page; larger as PDF beside it."""
    content = (out / folder / name).read_bytes()
    width, height = (int.from_bytes(content[place : place + 4]) for place in (16, 20))  # of every PNG
    pdf = escape(str((folder / name).with_suffix(".pdf")))
    return (
        f'<figure><img alt="{escape(seen, quote=True)}" width="{width}" height="{height}" '
        f'src="data:image/png;base64,{base64.b64encode(content).decode()}">'
        f'<figcaption><a href="{pdf}">PDF</a></figcaption></figure>'
    )


def paragraphs(text: str) -> str:
    """Text with its paragraphs as HTML."""
    return "".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in text.split("\n\n"))
