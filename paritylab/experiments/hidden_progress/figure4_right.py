"""Figure 4, right, of hidden-progress: the same training on samples of four sizes; two of them grok.

Curves of train and test error on the (50, 3)-parity problem, with everything but the sample size m fixed. With a large
sample both errors fall together. With less data the network first fits its sample and the test error falls much later:
grokking, in the two panels of the centre. With too little it never learns. Section 5 adds that a sample much smaller
than n^k is enough. The settings that the paper does not print are ours (`finite_samples`); at quick scale n = 30.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from matplotlib.figure import Figure

from ...figures import panels
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region, Scale, Verdict
from . import finite_samples
from .finite_samples import BATCH, K, Settings, fraction, learned_of, median

DECAY = 0.01
PASSES = 10
"""A delay of more passes over the sample than this is held to be a long time."""
SETTINGS = {
    "quick": Settings(30, (1000, 600, 500, 200), (DECAY,), seeds=16, steps=20_000, record_every=100),
    "paper": Settings(50, (10_000, 2000, 1500, 300), (DECAY,), seeds=100, steps=200_000, record_every=200, lanes=128),
}

RECORDED: Mapping[str, Verdict] = {}
"""Verdicts at quick scale other than that the claim holds."""


def plan(settings: Settings) -> Iterator[Plan]:
    return finite_samples.plan(settings)


def claims(settings: Settings) -> list[Claim]:
    large, *centre, small = settings.samples
    made = [
        ("m{m}/learns", large, "learns; the fraction of seeds", Region(low=0.5)),
        ("m{m}/together", large, "errors fall together; the time to zero test error over that to zero train error, "
         "median over seeds", Region(high=2)),
    ]  # fmt: skip
    for m in centre:
        few = f"learns, although m is only {m / settings.n**K:.3f} of n^k; the fraction of seeds"
        made += [
            ("m{m}/learns", m, few, Region(low=0.5)),
            ("m{m}/groks", m, "groks; the time to zero test error over that to zero train error, median over the "
             "seeds that learn", Region(low=2)),
            ("m{m}/delay", m, f"the steps from zero train error to zero test error, median over the seeds that learn; "
             f"long is more than {PASSES} passes over the sample", Region(low=PASSES * m / BATCH)),
        ]  # fmt: skip
    made += [
        ("m{m}/fits", small, "fits its sample; the fraction of seeds", Region(low=0.5)),
        ("m{m}/fails", small, "never learns; the fraction of seeds that do", Region(high=0.25)),
    ]
    return [claim(name.format(m=m), f"sample of {m:,}: {text}", region) for name, m, text, region in made]


def claim(name: str, statement: str, region: Region) -> Claim:
    recorded: Mapping[Scale, Verdict] = {"quick": RECORDED.get(name, "holds")}
    return Claim(name, statement, None, region, recorded)


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """Wilson's interval of each fraction; order statistics for each median."""
    runs = finite_samples.fits(results)
    large, *centre, small = settings.samples
    here = {m: runs[runs.m == m] for m in settings.samples}
    learned = {m: np.isfinite(here[m].test_time.to_numpy()) for m in settings.samples}
    measured = {
        f"m{large}/learns": fraction(learned[large]),
        f"m{large}/together": median((here[large].test_time / here[large].train_time).to_numpy()),
    }
    for m in centre:
        done = learned_of(here[m])
        measured |= {
            f"m{m}/learns": fraction(learned[m]),
            f"m{m}/groks": median((done.test_time / done.train_time).to_numpy()),
            f"m{m}/delay": median((done.test_time - done.train_time).to_numpy()),
        }
    fitted = np.isfinite(here[small].train_time.to_numpy())
    return {**measured, f"m{small}/fits": fraction(fitted), f"m{small}/fails": fraction(learned[small])}


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """One panel for each sample size, from large to small as in the paper."""
    figure, axes = panels(1, len(settings.samples), width=2.4, height=2.4)
    curves, runs = results.curves(), finite_samples.fits(results)
    for axis, m in zip(axes[0], settings.samples, strict=True):
        here = runs[runs.m == m]
        finite_samples.draw(axis, curves[curves.m == m], here)
        done = learned_of(here)
        delay = f"\ndelay {np.median(done.test_time - done.train_time):,.0f} steps" if len(done) else "\nnever learns"
        axis.set_title(f"m = {m:,}{delay}")
        axis.set_xlabel("step")
        axis.set_xlim(settings.record_every, settings.steps)
    axes[0, 0].set_ylabel("error")
    finite_samples.draw_legend(axes[0, -1])
    figure.suptitle(
        f"({settings.n}, {K})-parity from a finite sample of m examples: less data, later insight", fontsize=11
    )
    return {"figure4-right": figure}
