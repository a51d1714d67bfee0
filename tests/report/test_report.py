"""The report: all that it must say, whole in one file, and usable in a browser."""

import json
import os
from html.parser import HTMLParser
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from browsing import check, narrowed, opened
from typer.testing import CliRunner

from paritylab.cli import app
from paritylab.documents import document
from paritylab.figures import seen
from paritylab.report.page import write_report
from paritylab.report.sentences import result

CLAIMS = [
    ("toys/squares/grow", -2.0, 9.0, 9.2, [8.9, 9.5], "holds", "holds", ""),
    ("toys/squares/shrink", None, 98.0, 100.0, [99.0, 101.0], "fails", "fails", "They <grow> & do not shrink."),
    ("toys/squares/stay", "-5 or so", None, 12.5, [None, 13.0], "inconclusive", "holds", ""),
    ("toys/squares/vanish", -10.0, None, None, [2.0, None], "inconclusive", None, ""),
]


@pytest.fixture
def out(tmp_path) -> Path:
    """A folder as `reproduce` leaves it, with claims of all kinds and names that must be escaped."""
    for scale in ("quick", "paper"):
        folder = tmp_path / scale / "toys" / "squares"
        folder.mkdir(parents=True)
        figure, axes = plt.subplots()
        axes.plot([0, 1, 4, 9])
        for kind in ("png", "pdf"):
            figure.savefig(folder / f"squares.{kind}")
        plt.close(figure)
        (folder / "runs.csv").write_text("x\n1\n")
        names = ("claim", "paper", "theory", "measured", "interval", "verdict", "recorded", "explanation")
        more = {"statement": "Squares <b>grow</b>.", "region": "9 to 10", "scale": scale, "seconds": 3.4}
        about = {
            "experiment": "toys/squares",
            "title": 'squares & "others"',
            "scale": scale,
            "seconds": 3.4,
            "text": "First.\n\nSecond < third.",
            "settings": {"count": "4"},
            "command": f"paritylab reproduce toys/squares --scale {scale}",
            "claims": [{**dict(zip(names, claim, strict=True)), **more} for claim in CLAIMS],
            "figures": ["squares.png"],
            "data": ["runs.csv"],
            "origins": [{"version": "0.1", "commit": None, "device": "cpu"}],
        }
        (folder / "experiment.json").write_text(document(about))
    return tmp_path


HOSTILE = {
    "a figure outside": ({"figures": ["../../../../secret.png"]}, "its field 'figures' is not as it should be"),
    "a figure by its path": ({"figures": ["/etc/passwd"]}, "its field 'figures' is not as it should be"),
    "no name": ({"figures": [""]}, "its field 'figures' is not as it should be"),
    "a figure that is none": ({"figures": ["runs.csv"]}, "its figure runs.csv is no PNG"),
    "no figure": ({"figures": ["none.png"]}, "its figure none.png is missing"),
    "data elsewhere": ({"data": ["//example.org/x"]}, "its field 'data' is not as it should be"),
    "another experiment": ({"experiment": "toys/others"}, "it is about quick/toys/others"),
    "another folder": ({"experiment": "../../.."}, "it is about quick/../../.."),
    "a number as title": ({"title": 3}, "its field 'title' is not as it should be"),
    "half a letter": ({"title": "\ud800"}, "its field 'title' is not as it should be"),
    "seconds in words": ({"seconds": "long"}, "its field 'seconds' is not as it should be"),
    "endless seconds": ({"seconds": 10**400}, "its field 'seconds' is not as it should be"),
    "claims in words": ({"claims": "none"}, "its field 'claims' is not as it should be"),
    "a claim in words": ({"claims": ["none"]}, "its field 'claim' is not as it should be"),
    "an empty claim": ({"claims": [{}]}, "its field 'claim' is not as it should be"),
    "origins": ({"origins": [3]}, "its field 'origins' is not as it should be"),
    "settings": ({"settings": {"a": {}}}, "its field 'settings' is not as it should be"),
}
OF_CLAIMS = {
    "verdict": "<script>",
    "recorded": "<script>",
    "interval": [1, 2, 3],
    "measured": "many",
    "paper": {},
    "theory": [],
    "region": None,
    "seconds": None,
}


def change(out: Path, **fields) -> Path:
    path = out / "quick" / "toys" / "squares" / "experiment.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
    return path


def check_left_out(out: Path, path: Path, reason: str) -> None:
    """One experiment is named, with the reason; the report is about the other."""
    said = CliRunner().invoke(app, ["report", str(out), "--json"])
    assert said.exit_code == 1, said.exception
    assert said.stderr == (
        f"paritylab: {path} is damaged ({reason}) and left out. Make it again with 'paritylab reproduce'.\n"
    )
    assert json.loads(said.stdout) == {"report": str(out / "report.html"), "left_out": [str(path)]}
    text = (out / "report.html").read_text()
    assert "4 claims of the papers" in text and text.count("data:image/png") == 1 and "c2VjcmV0" not in text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_account_that_is_not_as_it_should_be_is_named_and_left_out(out, hostile):
    (out.parent / "secret.png").write_text("secret")
    fields, reason = HOSTILE[hostile]
    check_left_out(out, change(out, **fields), reason)


@pytest.mark.parametrize("field", OF_CLAIMS)
def test_a_claim_that_is_not_as_it_should_be(out, field):
    claims = json.loads((out / "quick" / "toys" / "squares" / "experiment.json").read_text())["claims"]
    claims[1][field] = OF_CLAIMS[field]
    check_left_out(out, change(out, claims=claims), f"its field {field!r} is not as it should be")


def test_nothing_outside_of_the_folder_is_read(out, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    figure = out / "quick" / "toys" / "squares" / "squares.png"
    figure.rename(elsewhere / "squares.png")
    figure.symlink_to(elsewhere / "squares.png")
    account = figure.with_name("experiment.json")
    check_left_out(out, account, "squares.png leads out of the folder")
    account.rename(elsewhere / "experiment.json")
    account.symlink_to(elsewhere / "experiment.json")
    check_left_out(out, account, "experiment.json leads out of the folder")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"experiment": "toys/squ', "it is no JSON: Unterminated string starting at in line 1"),
        (b"", "it is no JSON: Expecting value in line 1"),
        (b"\xff{}", "it is no text in UTF-8"),
        (b"[]", "it is no account of an experiment"),
        (b"[" * 100_000, "it has lists inside lists without end"),
        (b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}", "it has lists inside lists without end"),
    ],
    ids=["truncated", "empty", "bytes", "a list", "deep", "less deep"],
)
def test_a_damaged_account_is_named_and_left_out(out, content, reason):
    path = out / "quick" / "toys" / "squares" / "experiment.json"
    path.write_bytes(content)
    check_left_out(out, path, reason)


def test_a_report_of_nothing_but_damage_is_not_written(out):
    for path in out.glob("*/*/*/experiment.json"):
        path.write_text("{")
    (out / "claims.json").write_text("[")
    said = CliRunner().invoke(app, ["report", str(out)])
    assert (said.exit_code, said.stdout) == (1, "") and not (out / "report.html").exists()
    assert [line.split(" is damaged")[0] for line in said.stderr.splitlines()] == [
        f"paritylab: {out / name}"
        for name in ("paper/toys/squares/experiment.json", "quick/toys/squares/experiment.json", "claims.json")
    ]


def test_a_full_disk_leaves_the_earlier_report(out, monkeypatch):
    before = write_report(out).read_bytes()
    change(out, title="another")
    monkeypatch.setattr(os, "replace", raise_full)
    said = CliRunner().invoke(app, ["report", str(out)])
    assert (said.exit_code, said.stdout) == (1, "")
    assert "cannot be written (No space left on device); what was there before is unchanged" in said.stderr
    assert said.stderr.count("\n") == 1 and (out / "report.html").read_bytes() == before


def raise_full(*_):
    raise OSError(28, "No space left on device")


class Tags(HTMLParser):
    """All tags with their attributes, and whether they are closed in order."""

    VOID = frozenset({"meta", "img", "br", "wbr", "link", "input"})

    def __init__(self, text: str):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_report_is_whole_and_well_formed(out):
    text = write_report(out).read_text()
    tags = Tags(text)
    assert not tags.open
    sources = [each["src"] for tag, each in tags.found if "src" in each]
    assert len(sources) == 2 and all(source.startswith("data:image/png;base64,") for source in sources)
    assert not [each for tag, each in tags.found if tag == "link"] and "http" not in text


def test_the_report_says_all(out):
    text = write_report(out).read_text()
    assert "8 claims of the papers: 2 hold, 2 fail, 4 are inconclusive at this scale." in text
    assert "2 differ from the recorded verdict." in text and text.count("(recorded: holds)") == 4
    assert "They &lt;grow&gt; &amp; do not shrink." in text and "<b>grow</b>" not in text
    assert text.count('<section class="card"') == len(list(out.glob("*/toys/*"))) and "✓ 1</span>" in text
    assert "Of 4 claims 1 holds, 1 fails, 2 are inconclusive; one that is inconclusive: Squares" in text
    assert text.count("12.5 (– to 13), the paper -5 or so") == 4  # beside its figure, and for who does not see it
    assert "8.9 to 9.5" in text and "paritylab reproduce toys/squares --scale paper" in text
    assert "<p>First.</p><p>Second &lt; third.</p>" in text


SEEN = "One panel: values from -0.45 to 9.45, over values from -0.15 to 3.15; squares, <cubes>."


def test_alternative_texts_say_what_is_seen(out):
    figure, axes = plt.subplots()
    axes.plot([0, 1, 4, 9], label="squares")
    axes.plot([0, 1, 8, 9], label="$<cubes>$")
    assert seen(figure) == SEEN
    axes.set(xlabel="$n$", ylabel="area", yscale="log", ylim=(1, 10), title="Growth")
    assert seen(figure).startswith("One panel, Growth: area from 1 to 10, logarithmic, over n from -0.15 to 3.15")
    plt.close(figure)
    change(out, seen={"squares.png": SEEN})
    alternatives = [each["alt"] for tag, each in Tags(write_report(out).read_text()).found if tag == "img"]
    assert alternatives[0] == f'squares & "others". {SEEN}'
    assert alternatives[1].startswith('squares & "others". Of 4 claims 1 holds')  # of an account without words


def test_the_terminal_ends_with_results_the_path_and_how_to_open_it(out):
    said = CliRunner().invoke(app, ["report", str(out)])
    *_, first, second, nothing, path = said.stdout.splitlines()
    assert first == second and first.startswith("toys/squares: Of 4 claims 1 holds, 1 fails, 2 are inconclusive; one ")
    assert (nothing, path) == ("", str(out / "report.html"))
    assert said.stderr.startswith("paritylab: open the report in a browser: ") and said.stderr.endswith(f"{path}\n")


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["holds"], "Its claim holds: 0: 1, accepted >= 0."),
        (["holds", "holds"], "Both claims hold: 0: 1, accepted >= 0."),
        (["fails"] * 3, "All 3 claims fail: 0: 1, accepted >= 0."),
        (["fails", "holds", "holds"], "Of 3 claims 2 hold, 1 fails; one that holds: 1: 1, accepted >= 0."),
        ([], "Nothing is claimed of it."),
    ],
)
def test_the_sentence_of_an_experiment(verdicts, words):
    same = {"measured": 1.0, "interval": [1, 1], "paper": None, "region": ">= 0", "null": ""}
    claims = [{**same, "verdict": verdict, "statement": str(place)} for place, verdict in enumerate(verdicts)]
    assert result({"claims": claims}) == words
    if len(claims) == 2:  # arithmetic comes after what asserts an effect
        claims[0]["null"] = "none: two routes to one number"
        assert result({"claims": claims}) == words.replace("0: 1,", "1: 1,")


def test_a_reader_can_use_it_from_disk(out):
    check(write_report(out), figures=2, claims=8)


def test_a_reader_narrows_it_to_a_paper_or_a_verdict(out):
    claims = json.loads(change(out).read_text())["claims"]
    change(out, claims=[claim for claim in claims if claim["verdict"] == "holds"])
    with opened(write_report(out).as_uri()) as (page, _):
        assert narrowed(page) == (2, 5)
        assert narrowed(page, verdict="fails") == (1, 1)
        assert page.locator("#filters output").inner_text() == "1 of 2 experiments"
        assert narrowed(page, verdict="holds") == (2, 2)
        assert narrowed(page, paper="toys", verdict="") == (2, 5)
