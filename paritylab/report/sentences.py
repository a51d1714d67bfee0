"""What became of an experiment, in one sentence: for a page, for the terminal, and for readers who see no figure."""

from collections import Counter
from typing import Any

VERDICTS = {"holds": "✓ holds", "fails": "✗ fails", "inconclusive": "? inconclusive"}
PLURAL = {"holds": "hold", "fails": "fail", "inconclusive": "are inconclusive"}
SINGLE = {"holds": "holds", "fails": "fails", "inconclusive": "is inconclusive"}


def verdicts_of(claims: list[dict[str, Any]]) -> dict[str, int]:
    """How many claims have each verdict that occurs, in the order of `VERDICTS`."""
    found = Counter(claim["verdict"] for claim in claims)
    return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}


def verb(verdict: str, count: int) -> str:
    """What so many claims do.

    >>> verb("fails", 1), verb("fails", 2)
    ('fails', 'fail')
    """
    return (SINGLE if count == 1 else PLURAL)[verdict]


def counted(claims: list[dict[str, Any]]) -> str:
    """The verdicts of some claims in words: "3 hold, 1 fails"."""
    return ", ".join(f"{count} {verb(verdict, count)}" for verdict, count in verdicts_of(claims).items())


def is_news(claim: dict[str, Any]) -> bool:
    """Whether the verdict differs from the recorded one."""
    return claim["recorded"] not in (None, claim["verdict"])


def summary(claims: list[dict[str, Any]]) -> str:
    """The whole ledger in one sentence."""
    news = sum(is_news(claim) for claim in claims)
    changed = (
        f" {news} differ from the recorded verdict." if news else " All verdicts are as recorded." if claims else ""
    )
    scale = " at this scale" if "inconclusive" in verdicts_of(claims) else ""
    return f"{len(claims)} claims of the papers: {counted(claims) or 'none'}{scale}.{changed}"


def result(about: dict[str, Any]) -> str:
    """What became of an experiment: how many claims hold, and what speaks for the verdict that most of them have."""
    claims = about["claims"]
    if not claims:
        return "Nothing is claimed of it."
    found = verdicts_of(claims)
    if len(claims) == 1:
        words = f"Its claim {SINGLE[claims[0]['verdict']]}"
    elif len(found) == 1:
        words = f"{'Both' if len(claims) == 2 else f'All {len(claims)}'} claims {PLURAL[claims[0]['verdict']]}"
    else:
        words = f"Of {len(claims)} claims {counted(claims)}; one that {SINGLE[telling(claims)['verdict']]}"
    return f"{words}: {measured(telling(claims))}."


def telling(claims: list[dict[str, Any]]) -> dict[str, Any]:
    """The first claim with the most frequent verdict; one that asserts an effect rather than checks arithmetic."""
    found = verdicts_of(claims)
    most = max(found, key=lambda verdict: found[verdict])
    mine = [claim for claim in claims if claim["verdict"] == most]
    return next((claim for claim in mine if not claim["null"].startswith("none:")), mine[0])


def measured(claim: dict[str, Any]) -> str:
    """A claim's statement with what was measured, and what the paper says or the region allows."""
    low, high = claim["interval"]
    spread = f" ({number(low)} to {number(high)})" if low != high else ""
    against = f"the paper {number(claim['paper'])}" if claim["paper"] is not None else f"accepted {claim['region']}"
    return f"{claim['statement'].rstrip('.')}: {number(claim['measured'])}{spread}, {against}"


def number(value: Any) -> str:
    """A number as it is shown; a dash stands for what JSON cannot hold, such as an infinite time.

    >>> number(1234.5), number(0.12345), number(None)
    ('1,234', '0.123', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def alternative(about: dict[str, Any], figure: str) -> str:
    """What a figure of an account shows, for those who do not see it."""
    seen = about["seen"].get(figure, "")
    return f"{about['title']}. {seen}" if seen else f"{about['title']}. {result(about)}"
