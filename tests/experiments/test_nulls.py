"""Claims can fail: each names its null, which does not satisfy it; explanations are tested."""

import math

import pytest

from paritylab.experiments.base import IDENTITY, SCALES, Claim, Measured, Null, Region, load, value_without
from paritylab.experiments.reproduce import row_of
from paritylab.experiments.verdicts import recorded, verdicts
from paritylab.registry import EXPERIMENTS, PAPERS

ROOM = 1e-3
"""An identity's region is at most so wide, beside the larger of 1 and its own values."""


def claims(name):
    """All claims of an experiment, with the scale at which they are made."""
    experiment = load(name)
    return [(scale, claim) for scale in SCALES for claim in experiment.claims(experiment.SETTINGS[scale])]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_claim_is_satisfied_by_its_null(name):
    for _, claim in claims(name):
        assert claim.null is not None, claim.name
        if not callable(claim.null.value) and claim.null is not IDENTITY:
            assert not claim.region.low <= claim.null.value <= claim.region.high, claim.name


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_identity_leaves_room_for_rounding_alone(name):
    for _, claim in claims(name):
        if claim.null is IDENTITY:
            low, high = claim.region
            low = 0.0 if low == -math.inf else low  # of an absolute difference
            assert high - low <= ROOM * max(1, abs(low), abs(high)), claim.name


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_failure_at_paper_scale_is_explained_by_a_claim_or_not_at_all(name):
    known = {row.claim: row.verdict for paper in PAPERS for row in verdicts(paper).values() if row.scale == "paper"}
    for scale, claim in claims(name):
        if scale == "paper" and recorded(name, claim, scale) in ("fails", "inconclusive"):
            tests = [each if each.count("/") > 1 and each in known else f"{name}/{each}" for each in claim.tested_by]
            assert tests or claim.explanation.startswith("Unexplained"), claim.name
            assert all(known.get(each) == "holds" for each in tests), (claim.name, tests)


def test_a_null_may_be_computed_from_the_runs():
    assert value_without(Null("chance", 0.5), None) == 0.5
    assert value_without(Null("the least", min), [2, 1]) == 1.0
    assert math.isnan(value_without(None, None)) and math.isnan(value_without(IDENTITY, None))


@pytest.mark.parametrize(("null", "verdict"), [(0.5, "holds"), (0.8, "inconclusive")])
def test_a_claim_that_its_null_satisfies_does_not_hold(null, verdict):
    claim = Claim("c", "s", None, Region(low=0.7), lambda data: Measured(0.9, (0.8, 1.0)), null=Null("chance", null))
    row = row_of("toys/squares", claim, claim.measure(None), null, "quick", 1.0)
    assert row["verdict"] == verdict and row["null"] == f"chance: {null}"
