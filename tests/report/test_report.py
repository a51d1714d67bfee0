"""The report: all that it must say, whole in one file, and usable in a browser."""

from html.parser import HTMLParser
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from browsing import check

from paritylab.documents import document
from paritylab.report.page import write_report

CLAIMS = [
    ("toys/squares/grow", -2.0, 9.2, [8.9, 9.5], "holds", "holds", ""),
    ("toys/squares/shrink", None, 100.0, [99.0, 101.0], "fails", "fails", "They <grow> & do not shrink."),
    ("toys/squares/stay", "-5 or so", 12.5, [None, 13.0], "inconclusive", "holds", ""),
    ("toys/squares/vanish", -10.0, None, [2.0, None], "inconclusive", None, ""),
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
        names = ("claim", "expected", "measured", "interval", "verdict", "recorded", "explanation")
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


class Tags(HTMLParser):
    """All tags with their attributes, and whether they are closed in order."""

    VOID = frozenset({"meta", "img", "br", "link", "input"})

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
    assert "2 differ from the recorded verdict." in text and text.count("(recorded: holds)") == 2
    assert "They &lt;grow&gt; &amp; do not shrink." in text and "<b>grow</b>" not in text
    assert text.count("</a>, ") == len(list(out.glob("*/toys/*"))) and "✓ 1 holds" in text
    assert "8.9 to 9.5" in text and "paritylab reproduce toys/squares --scale paper" in text
    assert "<p>First.</p><p>Second &lt; third.</p>" in text


def test_a_reader_can_use_it_from_disk(out):
    check(write_report(out), figures=2, claims=8)
