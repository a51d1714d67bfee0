"""Progressive distillation (arXiv 2410.05464): a teacher on its way teaches a parity sooner than when it is done.

A wide network learns a sparse parity and keeps checkpoints; a narrow student learns from its probabilities alone
(forward Kullback-Leibler at temperature 1), never from labels. The paper's sentences (its repository's summary):
"progressive distillation helps a smaller student learn faster than one-shot distillation and cross entropy training";
"1 checkpoint from the phase transition suffices to accelerate the student"; "a spike in the correlations to low-degree
monomials of in-support variables, which occurs during a phase transition period of the accuracy"; the student learns
"as fast as a larger teacher".

The script: (n, k) = (100, 6), teacher of 50,000 units, SGD of batch 1 and rate .005, 8,000,000 steps (20,000,000 by
the text), a checkpoint every 100,000; student of 1,000 units (script) or 100 (Figure 1) at rates .005 and .01.
Teacher and student are compared at equal steps. Ways to teach the student, each with the same seed:

- *labels*: cross-entropy, no teacher;
- *final*: the last checkpoint alone (one-shot);
- *progressive*: the checkpoint of the student's own step, then the last;
- *transition*: one checkpoint from the teacher's transition, then the last (two-shot);
- *before*: the same with a checkpoint from long before the transition, our control.

Readings. The two logits enter the loss by their difference alone, so that one output stands for both: its weights
move half as fast as the difference of two would. The transition is taken at the checkpoint whose error is nearest to
1/4, and *before* at a quarter of its step. Of the two-shot schedule no lengths are known: the first checkpoint is
taught for as many steps as the teacher had taken to it, in *transition* and *before* alike. A student has learned when
it makes no mistake on 2,048 points. Correlations are those of p(+1) - p(-1) with monomials, from fresh points.
Paper scale here: batch 32 at rate .1 in place of batch 1 at rate .005, since millions of single examples one after the
other take an hour on any machine, and teachers of 1,000 units. (One was tried, which learned in 468,000 steps; one of
5,000 units had not begun to in 520,000.)
Quick: (16, 6), teachers of 1,000 and students of 30 units, batch 16. A null that is computed is what the same ratio is
for another way.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pandas as pd

import paritylab as pl

from ...distributions import AbstractDistribution, Curriculum, Phase
from ...figures import INKS, Figures, panels
from ...networks.base import outputs
from ...sweep import Call, Results
from ...training import FreshError, Parameters, Recording, Runs, Taught, logistic, soft_logistic
from ..base import Claim, Measured, Null, Region
from ..drawing import dress
from ..measures import UNKNOWN, bootstrap, fraction, median

CHANCE = 0.45
"""Above this error the teacher knows nothing yet."""
KNOWN = 0.05
"""Below it, it knows the parity."""
EARLY = 4
"""*before* is at this part of the transition's step."""
NAMES = {
    "labels": "labels alone",
    "final": "last checkpoint alone",
    "progressive": "progressive",
    "transition": "one from the transition",
    "before": "one from before it",
}


@dataclass(frozen=True)
class Settings:
    n: int
    k: int
    teacher: int
    student: int
    batch: int
    rate: float
    teacher_steps: int
    longest: int
    """The most steps of a student."""
    checkpoints: int
    """How many of the teacher's way are kept, evenly spaced; all are taught in *progressive*, `together` at a time."""
    phases: int
    """Of *progressive*, the last checkpoint's included."""
    seeds: int
    points: int


SETTINGS = {
    "quick": Settings(16, 6, 1_000, 30, 16, 0.05, 9_000, 39_000, 60, 6, 16, 8192),
    "paper": Settings(100, 6, 1_000, 100, 32, 0.1, 800_000, 1_200_000, 80, 16, 6, 2**16),
}


def plan(settings: Settings) -> Iterator[Call]:
    for seed in range(settings.seeds):
        yield Call(distilled, {**asdict(replace(settings, seeds=1)), "seed": seed}, seconds=10.0)


def distilled(seed: int, seeds: int, **sizes: Any) -> list[dict[str, Any]]:
    """A teacher, its students, and what the teacher's checkpoints know: a row for each student and checkpoint."""
    settings = Settings(seeds=seeds, **sizes)
    task = pl.Uniform(pl.Parity(settings.n, range(settings.k)))
    taught, every = taught_by_labels(settings, task, seed)
    curves = taught.curves().sort_values("step")
    errors, steps = curves.fresh_error.to_numpy(), curves.step.to_numpy()
    known = correlations(settings, [taught.checkpoint(0, step) for step in steps])
    rows = [
        {"part": "teacher", "step": int(step), "error": float(error), **{name: known[name][i] for name in known}}
        for i, (step, error) in enumerate(zip(steps, errors, strict=True))
    ]
    low = steps[errors < CHANCE]
    if not len(low) or errors[-1] > KNOWN:
        return [{**row, "teacher_seed": seed} for row in rows]
    transition = int(steps[np.argmin(np.abs(errors - 0.25))])
    before = int(max(steps[1], transition // EARLY // every * every))
    lessons = {step: Taught(task, taught.checkpoint(0, step)) for step in steps}
    final = Phase(lessons[steps[-1]])
    each = settings.teacher_steps // settings.phases // every * every
    progressive = [Phase(lessons[each * (i + 1)], steps=each) for i in range(settings.phases - 1)]
    ways: dict[str, AbstractDistribution] = {
        "labels": task,
        "final": lessons[steps[-1]],
        "progressive": Curriculum([*progressive, final]),
        "transition": Curriculum([Phase(lessons[transition], steps=transition), final]),
        "before": Curriculum([Phase(lessons[before], steps=transition), final]),
    }
    learned = steps[np.argmax(errors <= 1e-3)] if np.any(errors <= 1e-3) else math.inf
    for way, lesson in ways.items():
        student = pl.train(
            lesson, pl.MLP(settings.student), loss=logistic if way == "labels" else soft_logistic, rate=settings.rate,
            batch=settings.batch, seeds=[seed + 1000], steps=settings.longest, every=every // 2, validation=2048,
            lanes=1, watch=False,
        )  # fmt: skip
        time = float(student.converged_at[0])
        rows.append({"part": "student", "way": way, "time": time, "teacher_time": float(learned), "at": transition})
    return [{**row, "teacher_seed": seed} for row in rows]


def taught_by_labels(settings: Settings, task: AbstractDistribution, seed: int) -> tuple[Runs, int]:
    """The teacher with its checkpoints, and how many steps lie between them."""
    every = settings.teacher_steps // settings.checkpoints
    runs = pl.train(
        task, pl.MLP(settings.teacher), loss=logistic, rate=settings.rate, batch=settings.batch, seeds=[seed],
        steps=settings.teacher_steps, every=every, validation=0, lanes=1, watch=False,
        records=Recording((Parameters(), FreshError(settings.points)), every),
    )  # fmt: skip
    return runs, every


def correlations(settings: Settings, networks: list[Any]) -> dict[str, list[float]]:
    """The mean |E[(p(+1) - p(-1)) chi_S]| over coordinates and over pairs, inside and outside of the support."""
    x, _ = pl.Uniform(pl.Parity(settings.n, ())).sample(pl.root_key(7), settings.points)
    columns = {
        "inside 1": x[:, : settings.k],
        "outside 1": x[:, settings.k :],
        "inside 2": _pairs(x[:, : settings.k]),
        "outside 2": _pairs(x[:, settings.k :]),
    }
    monomials = jnp.concatenate([*columns.values()], axis=1)
    look = eqx.filter_jit(lambda network: jnp.abs(jnp.tanh(outputs(network, x) / 2) @ monomials) / len(x))
    found = np.stack([np.asarray(look(network)) for network in networks])
    ends = np.cumsum([column.shape[1] for column in columns.values()])[:-1]
    parts = np.split(found, ends, axis=1)
    return {name: part.mean(axis=1).tolist() for name, part in zip(columns, parts, strict=True)}


def _pairs(x: Any) -> Any:
    return jnp.stack([x[:, i] * x[:, j] for i, j in itertools.combinations(range(x.shape[1]), 2)], axis=1)


@dataclass(frozen=True)
class Data:
    """What the claims are measured on."""

    times: pd.DataFrame
    """A row for each teacher, a column for each way, and the teacher's own time."""
    teachers: pd.DataFrame
    """A row for each checkpoint."""
    peaks: pd.DataFrame
    """A row for each teacher and degree: where the correlations are largest, and what they are elsewhere."""


def read(settings: Settings, results: Results) -> Data:
    table = results.table()
    students = table[table.part == "student"]
    times = students.pivot_table(index="teacher_seed", columns="way", values="time", aggfunc="first")
    times["teacher"] = students.groupby("teacher_seed").teacher_time.first()
    teachers = table[table.part == "teacher"].sort_values(["teacher_seed", "step"])
    found = [peak(curve, degree) for _, curve in teachers.groupby("teacher_seed") for degree in (1, 2)]
    return Data(times.astype(float), teachers, pd.DataFrame(found))


def peak(curve: pd.DataFrame, degree: int) -> dict[str, Any]:
    """Where a teacher's correlations with the support's monomials of a degree are largest."""
    errors, inside, outside = (
        curve[name].to_numpy(float) for name in ("error", f"inside {degree}", f"outside {degree}")
    )
    highest = int(np.argmax(inside))
    left, right = int(np.argmax(errors < CHANCE)), int(np.argmax(errors < KNOWN))
    late = inside[highest] / max(float(inside[-1]), 1e-9)
    within = max(left - 1, 0) <= highest <= right + 1
    away = inside[highest] / max(float(outside[highest]), 1e-9)
    return {"degree": degree, "within": within, "late": late, "away": away}


def ratio(way: str, other: str, data: Data) -> Measured:
    """The median time of one way over that of another, with a bootstrap interval over teachers."""
    both = data.times[[way, other]].to_numpy(float)
    found = bootstrap(both, _over) if len(both) else UNKNOWN
    return UNKNOWN if np.isnan([found.value, *found.interval]).any() else found


def _over(both: np.ndarray) -> float:
    """The quotient of two medians, the first, the second or both of which may never come."""
    one, other = np.median(both, axis=0)
    return math.nan if math.isinf(one) and math.isinf(other) else float(one / other)


SLOW = (
    "The checkpoints from before the transition teach nothing, for as long as the teacher took to pass them, and those "
    "of the transition are each taught for one phase only; one of them, held for longer, is sooner."
)
TESTED = ("transition/labels", "transition/final", "before/final")
SOONER = Region(high=0.8)
"""A fifth of the time at the least is saved."""


def claims(settings: Settings) -> Iterator[Claim]:
    head = (
        f"({settings.n}, {settings.k})-parity, teacher of {settings.teacher:,}, student of {settings.student:,} units"
    )
    of = "median time to no mistakes, over teachers, as a share of that of"
    for way, other in itertools.product(("progressive", "transition"), ("labels", "final")):
        statement = f"{head}: {NAMES[way]} is sooner than {NAMES[other]}; {of} the latter"
        null = Null("a teacher that does not matter", 1.0)
        why, tested = (SLOW, TESTED) if way == "progressive" else ("", ())
        measure = partial(ratio, way, other)
        yield Claim(f"{way}/{other}", statement, None, SOONER, measure, None, why, null, tested)
    statement = (
        f"{head}: the final teacher is no better than labels ('a better teacher does not always yield a better "
        f"student'); {of} labels alone"
    )
    null = Null("progressive", lambda data: ratio("progressive", "labels", data).value)
    yield Claim("final/labels", statement, None, Region(low=0.85), partial(ratio, "final", "labels"), null=null)
    statement = (
        f"{head}: a checkpoint from before the transition does not help; {of} the last checkpoint alone (control)"
    )
    null = Null("a checkpoint from the transition", lambda data: ratio("transition", "final", data).value)
    yield Claim("before/final", statement, None, Region(low=0.9), partial(ratio, "before", "final"), null=null)
    statement = f"{head}: progressive distillation makes the student as fast as the teacher; {of} the teacher's own"
    null = Null("labels alone", lambda data: ratio("labels", "teacher", data).value)
    measure = partial(ratio, "progressive", "teacher")
    yield Claim("progressive/teacher", statement, 1.0, Region(high=1.25), measure, None, SLOW, null, TESTED)
    yield from of_correlations(head)


def of_correlations(head: str) -> Iterator[Claim]:
    for degree, of in ((1, "single coordinates"), (2, "pairs of coordinates")):
        part = partial(_peaks, degree)
        explanation = (
            "With an even k a network that is nearly even grows even monomials first, pairs before all; those of "
            "single coordinates stay in the noise of its start and of 8,192 points."
        )
        tested: tuple[str, ...] = (
            () if degree == 2 else tuple(f"spike/2/{each}" for each in ("where", "falls", "support"))
        )
        statement = (
            f"{head}: the teacher's correlations with {of} of the support are largest in the transition (error from "
            f"{CHANCE} to {KNOWN}, a checkpoint more on each side); the fraction of teachers"
        )
        null = Null("a checkpoint at random", spread_of)
        measure = lambda data, part=part: fraction(part(data).within)
        yield Claim(f"spike/{degree}/where", statement, 1.0, Region(low=0.6), measure, None, explanation, null, tested)
        statement = f"{head}: correlations with {of} fall again; the largest over the last, median over teachers"
        null = Null("correlations that stay", 1.0)
        measure = lambda data, part=part: median(part(data).late)
        yield Claim(f"spike/{degree}/falls", statement, None, Region(low=2.0), measure, None, explanation, null, tested)
        statement = f"{head}: there, those with {of} of the support over those outside of it, median over teachers"
        null = Null("coordinates that are alike", 1.0)
        measure = lambda data, part=part: median(part(data).away)
        yield Claim(
            f"spike/{degree}/support", statement, None, Region(low=3.0), measure, None, explanation, null, tested
        )


def _peaks(degree: int, data: Data) -> pd.DataFrame:
    return data.peaks[data.peaks.degree == degree]


def spread_of(data: Data) -> float:
    """The share of the teachers' checkpoints that lie in the transition."""
    inside = (data.teachers.error < CHANCE) & (data.teachers.error > KNOWN)
    per_teacher = data.teachers.groupby("teacher_seed").size().iloc[0]
    return float((inside.groupby(data.teachers.teacher_seed).sum() + 3).median() / per_teacher)


CURVES = (
    ("inside 1", "coordinates, support", "-."),
    ("inside 2", "pairs, support", "-"),
    ("outside 1", "coordinates, others", ":"),
    ("outside 2", "pairs, others", (0, (1, 3))),
)


def plot(settings: Settings, data: Data) -> Figures:
    """A teacher's error and correlations; the students' times beside it."""
    figure, axes = panels(1, 2, width=3.6, height=2.8)
    curve = data.teachers[data.teachers.teacher_seed == data.times.index[0]]
    left, right = axes[0]
    left.plot(curve.step, curve.error, color="0.4", linestyle="--", label="error")
    for i, (name, words, style) in enumerate(CURVES):
        left.plot(curve.step, curve[name], color=INKS[i], linestyle=style, label=words)
    dress(
        left, xlabel="step of the teacher", ylabel="error; mean correlation", title="One teacher", legend="upper right"
    )
    left.set_yscale("symlog", linthresh=0.05)
    ways = [*NAMES]
    for i, way in enumerate(ways):
        times = data.times[way].to_numpy(float)
        finite = np.where(np.isfinite(times), times, settings.longest)
        right.plot(np.full(len(times), i), finite, "o", color=INKS[i % len(INKS)], markersize=3, alpha=0.6)
        right.plot([i - 0.3, i + 0.3], [np.median(finite)] * 2, color="black")
    own = np.median(data.times.teacher)
    right.axhline(own, color="0.4", linestyle="--", linewidth=0.8)
    right.text(len(ways) - 0.45, own, "teacher", fontsize=7, color="0.3", ha="right", va="bottom")
    right.set_xticks(range(len(ways)), [NAMES[way] for way in ways], rotation=25, ha="right", fontsize=7)
    dress(right, ylabel="steps to no mistakes", title="Students, one per teacher", ylim=(0, None))
    return {"distillation": figure}
