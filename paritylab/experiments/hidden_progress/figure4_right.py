"""Figure 4, right, of hidden-progress: the same training on samples of four sizes; two of them grok.

Curves of train and test error on the (50, 3)-parity problem, with everything but the sample size m fixed. With a large
sample both errors fall together. With less data the network first fits its sample and the test error falls much later:
grokking, in the two panels of the centre. With too little it never learns. Section 5 adds that a sample much smaller
than n^k is enough. The settings that the paper does not print are ours (`finite_samples`); at quick scale n = 30.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from ...figures import Figures, panels
from ..base import Claim, Measured, Null, Region
from .shared import finite_samples as samples
from .shared.claims import about
from .shared.curves import NEVER
from .shared.finite_samples import BATCH, K, Samples, Settings, plan as plan, read as read
from .shared.measures import median_within

DECAY = 0.01
WEAKER = "hidden-progress/fig15/middle/weaker-decay"
PASSES = 10
"""A delay of more passes over the sample than this is held to be a long time."""
SETTINGS = {
    "quick": Settings(30, (1000, 600, 500, 200), (DECAY,), seeds=16, steps=20_000, record_every=100),
    "paper": Settings(50, (10_000, 2000, 1500, 300), (DECAY,), seeds=40, steps=100_000, record_every=200, lanes=128),
}


def claims(settings: Settings) -> Iterator[Claim]:
    large, *centre, small = settings.samples
    later = "the time to zero test error over that to zero train error, median over"
    claim = of_sample(large)
    yield claim("learns", "learns; the fraction of seeds", Region(low=0.5), samples.learned, null=NEVER)
    text = f"errors fall together; {later} seeds"
    yield claim("together", text, Region(high=2), samples.quotient, null=samples.MEMORIZED)
    for m in centre:
        claim = of_sample(m)
        text = f"learns, although m is only {m / settings.n**K:.3f} of n^k; the fraction of seeds"
        yield claim("learns", text, Region(low=0.5), samples.learned, null=NEVER)
        grokked = lambda runs: samples.quotient(samples.learned_of(runs))
        how: dict[str, Any] = {"null": samples.TOGETHER, "explanation": samples.STRONG, "tested_by": (WEAKER,)}
        yield claim("groks", f"groks; {later} the seeds that learn", Region(low=2), grokked, **how)
        text = "the steps from zero train error to zero test error, median over the seeds that learn; long is more than"
        text = f"{text} {PASSES} passes over the sample"
        how["null"] = Null("both errors fall together", 0)
        yield claim("delay", text, Region(low=PASSES * m / BATCH), delay, **how)
    claim = of_sample(small)
    yield claim("fits", "fits its sample; the fraction of seeds", Region(low=0.5), samples.fitted, null=NEVER)
    text = "never learns; the fraction of seeds that do"
    yield claim("fails", text, Region(high=0.25), samples.learned, null=samples.ENOUGH)


def of_sample(m: int) -> Callable[..., Claim]:
    """Makes claims on the runs on samples of one size."""
    return about(f"m{m}", f"sample of {m:,}", lambda data: data.runs[data.runs.m == m])


def delay(runs: pd.DataFrame) -> Measured:
    return median_within(samples.learned_of(runs).test_time - samples.learned_of(runs).train_time)


def plot(settings: Settings, data: Samples) -> Figures:
    """One panel for each sample size, from large to small as in the paper."""
    figure, axes = panels(1, len(settings.samples), width=2.4, height=2.4)
    for axis, m in zip(axes[0], settings.samples, strict=True):
        here = data.runs[data.runs.m == m]
        samples.draw(axis, data.curves[data.curves.m == m], here)
        done = samples.learned_of(here)
        delay = f"\ndelay {np.median(done.test_time - done.train_time):,.0f} steps" if len(done) else "\nnever learns"
        axis.set(title=f"m = {m:,}{delay}", xlabel="step", xlim=(settings.record_every, settings.steps))
    axes[0, 0].set_ylabel("error")
    samples.draw_legend(axes[0, -1])
    figure.suptitle(f"({settings.n}, {K})-parity from a finite sample of m examples: less data, later insight")
    return {"figure4-right": figure}
