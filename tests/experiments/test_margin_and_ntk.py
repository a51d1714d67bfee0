"""The experiments that are calculations: every claim is judged as recorded, from their own rows."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from judging import verdicts

from paritylab.experiments.base import load
from paritylab.experiments.verdicts import recorded
from paritylab.sweep import Sweep


@pytest.mark.parametrize("name", ["symmetry/margin", "learning-parities/ntk"])
def test_all_claims_are_judged_as_recorded(name, tmp_path):
    experiment = load(name)
    settings = experiment.SETTINGS["quick"]
    with ThreadPoolExecutor(1) as executor:
        results = Sweep(experiment.plan(settings)).run(tmp_path, executor=executor)
    assert not results.missing
    assert verdicts(experiment, settings, results) == {
        claim.name: recorded(name, claim, "quick") for claim in experiment.claims(settings)
    }
