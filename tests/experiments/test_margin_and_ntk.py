"""The experiments that are calculations: every claim is judged as recorded, from their own rows."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from paritylab.experiments.base import judge, load
from paritylab.experiments.reproduce import judged
from paritylab.sweep import Sweep


@pytest.mark.parametrize("name", ["symmetry/margin", "learning-parities/ntk"])
def test_all_claims_are_judged_as_recorded(name, tmp_path):
    experiment = load(name)
    settings = experiment.SETTINGS["quick"]
    with ThreadPoolExecutor(1) as executor:
        results = Sweep(experiment.plan(settings)).run(tmp_path, executor=executor)
    assert not results.missing
    for claim, measured in judged(experiment, settings, results):
        assert judge(claim.region, measured.interval) == claim.recorded_at("quick"), claim.name
