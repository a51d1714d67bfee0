"""Quantization of skills: many parities in one task, the frequent ones first (Michaud et al., 2303.13506; Nam et al.,
2404.17563).

Control bits say which of several parities of k task bits is asked for; task i has a probability proportional to
i^-(alpha + 1). Points are written as bits, 0 and 1.

*Michaud, Liu, Girit, Tegmark*: ReLU, Adam of rate 0.001, cross-entropy, fresh batches of 20,000, 100 bits, k = 3, 500
tasks, alpha = 0.4. A task is learned once its loss is below 0.1 nats; the loss falls like S^(-alpha / (alpha + 1)) over
steps and like N^-alpha over parameters, since tasks are learned one by one, in the order of their frequency.

*Nam, Fonseca, Lee, Mingard, Louis*: 1,000 ReLU units, all weights and biases N(0, 0.001^2), 5 tasks with disjoint
supports of k = 3 of 32 bits, labels +-5, square loss, SGD of rate 0.05, fresh batches of 4,000, alpha = 0.6. In their
multilinear model the strength of a skill is a sigmoid of time with a rate proportional to its probability, so that
T_i / T_1 = i^(alpha + 1), and one parameter predicts all later skills. (Text and table differ: deviation .001 or .01.)

Where we differ: two logits are one here, with the logistic loss, the same function of their difference. Labels are +-1:
dividing all weights by 5^(1/2) and multiplying the rate by 5 gives the paper's run, but for the output bias. A skill of
Nam et al. is learned once its mean square error is below 1/4, that is at a strength of a half. The paper scale has 4
widths (30), records 16 of the 500 tasks, and leaves out the scaling in the number of examples. The quick scale has
few tasks of k = 2 with disjoint supports, larger rates, smaller batches and networks.

The laws over steps and parameters are of infinitely many tasks. With few of them the loss falls faster in the end; the
control adds what tasks beyond the last would lose, all of them unlearned, with their frequencies. Nothing in the model
is about Adam, whose steps are divided by the size of gradients; the control for it trains the same with SGD. Over width
the power is that of many tasks, too: where 0 to 8 of them fit, the loss of the others falls more slowly than N^-alpha.
(Read off the first run, with the two controls of it.)
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import zeta
from scipy.stats import rankdata

import paritylab as pl

from ...figures import INKS, Figures, panels
from ...networks import NormalInitialization, UniformInitialization
from ...statistics import quantile
from ...sweep import Results
from ..base import Claim, Measured, Null, Region
from ..drawing import dress, error_bars, shown
from ..measures import UNKNOWN, bootstrap, mean, median
from .shared.skills import Skills, TaskLosses


@dataclass(frozen=True)
class Part:
    """Networks of one kind on one set of tasks."""

    skills: Skills
    width: int
    loss: str
    optimizer: str
    rate: float
    batch: int
    steps: int
    every: int
    seeds: int
    deviation: float | None = None
    """Of normal initial weights; None for the default of deep-learning packages."""
    recorded: int = 16
    """At most so many tasks are recorded, in a geometric row."""

    @property
    def numbers(self) -> np.ndarray:
        """The recorded tasks, counted from 1."""
        return np.unique(np.geomspace(1, self.skills.tasks, self.recorded).round().astype(int))

    @property
    def learned(self) -> float:
        """The loss of a task below which it is learned."""
        return 0.1 if self.loss == "logistic" else 0.25

    @property
    def parameters(self) -> int:
        return self.width * (self.skills.tasks + self.skills.bits + 2) + 1


@dataclass(frozen=True)
class Settings:
    adam: Part
    """Michaud et al."""
    widths: tuple[int, ...]
    """Further widths of it, below its own."""
    sgd: Part
    """The same with SGD."""
    nam: Part
    """Nam et al."""

    @property
    def parts(self) -> dict[str, Part]:
        narrow = {f"width{width}": replace(self.adam, width=width) for width in self.widths}
        return {"adam": self.adam, "sgd": self.sgd, "nam": self.nam, **narrow}


FEW = Part(
    Skills(bits=20, tasks=8, k=2, alpha=0.4, disjoint=True), width=100, loss="logistic", optimizer="adam", rate=4e-3,
    batch=250, steps=3000, every=20, seeds=40,
)  # fmt: skip
MANY = Part(
    Skills(bits=100, tasks=500, k=3, alpha=0.4, disjoint=False), width=500, loss="logistic", optimizer="adam",
    rate=1e-3, batch=5_000, steps=40_000, every=100, seeds=2,
)  # fmt: skip
SETTINGS = {
    "quick": Settings(
        FEW, (3, 6, 12, 24), replace(FEW, optimizer="sgd", rate=1.0, steps=6000, every=40, seeds=10),
        Part(
            Skills(bits=16, tasks=5, k=2, alpha=0.6, disjoint=True), width=100, loss="square", optimizer="sgd",
            rate=0.2, batch=250, steps=3500, every=25, seeds=10, deviation=0.05,
        ),
    ),
    "paper": Settings(
        MANY, (10, 37, 138), replace(MANY, optimizer="sgd", rate=0.5),
        Part(
            Skills(bits=32, tasks=5, k=3, alpha=0.6, disjoint=True), width=1000, loss="square", optimizer="sgd",
            rate=0.25, batch=4000, steps=30_000, every=50, seeds=10, deviation=0.001 / 5**0.5,
        ),
    ),
}  # fmt: skip


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for name, part in settings.parts.items():
        law = UniformInitialization() if part.deviation is None else NormalInitialization(part.deviation)
        record = TaskLosses(tuple(int(number) - 1 for number in part.numbers), 256)
        yield pl.plan(
            part.skills, pl.MLP(part.width, initialization=law), rate=part.rate, batch=part.batch, loss=part.loss,
            optimizer=part.optimizer, steps=part.steps, every=part.every, validation=0, seeds=part.seeds,
            records=pl.training.Recording([record], part.every), labels={"part": name},
        )  # fmt: skip


@dataclass(frozen=True)
class Curves:
    """The losses of one part, task by task."""

    part: Part
    steps: np.ndarray
    losses: np.ndarray
    """Seeds, steps, recorded tasks."""

    @property
    def times(self) -> np.ndarray:
        """The first recorded step at which each seed has learned each task; infinite if there is none."""
        low = self.losses <= self.part.learned
        return np.where(low.any(axis=1), self.steps[low.argmax(axis=1)], np.inf)

    @property
    def medians(self) -> np.ndarray:
        return np.array([quantile(column, 0.5) for column in self.times.T])

    @property
    def exponent(self) -> float:
        """Minus that of the frequencies."""
        return self.part.skills.alpha + 1

    @property
    def start(self) -> float:
        """The loss of a task of which nothing is known."""
        return float(np.log(2)) if self.part.loss == "logistic" else 1.0

    def whole(self, losses: np.ndarray, *, endless: bool = False) -> np.ndarray:
        """The mean over all tasks in their frequencies, of a loss (the last axis) known for the recorded ones.

        Tasks between two recorded ones are interpolated. With `endless` there are tasks beyond the last, all unlearned.
        """
        tasks = np.arange(1, self.part.skills.tasks + 1)
        weights = tasks**-self.exponent
        shares = np.array([np.interp(tasks, self.part.numbers, row) for row in np.eye(len(self.part.numbers))])
        total = losses @ (shares @ weights)
        beyond = float(zeta(self.exponent, len(tasks) + 1)) if endless else 0.0
        found: np.ndarray = (total + beyond * self.start) / (weights.sum() + beyond)
        return found


Data = dict[str, Curves]


def read(settings: Settings, results: Results) -> Data:
    found = {}
    for name, part in settings.parts.items():
        curves = results.part("part", name).curves().sort_values(["seed", "step"])
        losses = np.stack([*curves.task_losses]).reshape(part.seeds, -1, len(part.numbers))
        found[name] = Curves(part, np.unique(curves.step), losses)
    return found


def claims(settings: Settings) -> Iterator[Claim]:
    alpha, beta = settings.adam.skills.alpha, settings.nam.skills.alpha
    later = alpha / (alpha + 1)
    slopes = {
        "nam": (beta, "Nam et al.: T_i / T_1 = i^(alpha + 1)"),
        "adam": (alpha, "Michaud et al., Adam: tasks are learned at times i^(alpha + 1)"),
        "sgd": (alpha, "control: the same tasks and network with SGD in place of Adam"),
    }
    for name, (of, words) in slopes.items():
        yield Claim(
            f"{name}/slope", f"{words}, alpha = {of:g}; exponent of the median times", of + 1,
            Region(of + 0.75, of + 1.25), partial(slope_of_times, name), of + 1,
            explanation="Adam divides by the size of gradients, so that rare tasks are sped up." * (name == "adam"),
            null=Null("all at once", 0.0), tested_by=("sgd/slope",) if name == "adam" else (),
        )  # fmt: skip
    yield Claim(
        "nam/predicted", "Nam et al.: one parameter, the time of the first skill, predicts the others; the largest "
        "factor between a median time and its prediction", 1.0, Region(high=1.5), worst_factor,
        null=Null("all at once", settings.nam.skills.tasks ** (beta + 1)),
    )  # fmt: skip
    yield Claim(
        "adam/order", "tasks are learned in the order of their frequency; rank correlation of times, mean over seeds",
        1.0, Region(low=0.9), order, null=Null("any order", 0.0),
    )  # fmt: skip
    yield Claim(
        "nam/sudden", "skills emerge: the time in which a task's loss falls from 80% to 20%, over the time at which it "
        "reaches 20%; median over tasks and seeds", None, Region(high=0.5), partial(width_of_drop, "nam"),
        null=Null("from the first step on", 1.0),
    )  # fmt: skip
    yield Claim(
        "adam/quanta", "the loss is that of the tasks not yet learned, each nothing or all: the share of its variance "
        "over the logarithm of steps that their frequencies explain; median over seeds", None, Region(low=0.9), quanta,
        null=Null("a constant", 0.0),
    )  # fmt: skip
    yield Claim(
        "adam/loss", "the loss falls like S^(-alpha / (alpha + 1)) from the first to the last learned task; exponent",
        later, Region(later - 0.1, later + 0.1), partial(slope_of_loss, "adam", False), later,
        explanation="There are few tasks, and after the last there is nothing left.", null=Null("no fall", 0.0),
        tested_by=("sgd/loss-endless",),
    )  # fmt: skip
    for name in ("adam", "sgd"):
        yield Claim(
            f"{name}/loss-endless", f"{name}: the same with tasks without end, those beyond the last unlearned; "
            "exponent", later, Region(later - 0.1, later + 0.1), partial(slope_of_loss, name, True), later,
            explanation="Adam learns rare tasks too soon (adam/slope)." * (name == "adam"),
            null=Null("no fall", 0.0), tested_by=("sgd/loss-endless",) if name == "adam" else (),
        )  # fmt: skip
    least, most = min(settings.widths), settings.adam.width
    yield Claim(
        "width/learned", f"width bounds how many tasks are learned: at the end, with {most} units over with {least}, "
        "means over seeds", None, Region(low=2), partial(more_learned, settings), null=Null("as many", 1.0),
    )  # fmt: skip
    yield Claim(
        "width/loss", "the loss at the end falls like N^-alpha over the number of parameters; exponent, tasks beyond "
        "the last unlearned", alpha, Region(alpha - 0.15, alpha + 0.15), partial(loss_over_width, settings), alpha,
        explanation="The power is that of many tasks; here few fit, and into the widest network all of them.",
        null=Null("no fall", 0.0), tested_by=("width/tasks", "width/model"),
    )  # fmt: skip
    yield Claim(
        "width/tasks", "control: the number of tasks that are learned is proportional to the number of parameters; "
        "exponent of its mean over networks too narrow for all", 1.0, Region(0.75, 1.25),
        partial(tasks_over_width, settings), 1.0, null=Null("as many", 0.0),
    )  # fmt: skip
    yield Claim(
        "width/model", "control: the loss at the end is that of as many tasks, the most frequent ones, learned wholly; "
        "its exponent over that of theirs", 1.0, Region(0.8, 1.25), partial(loss_of_counted, settings), 1.0,
        null=Null("no fall", 0.0),
    )  # fmt: skip


def power(x: np.ndarray, y: np.ndarray) -> float:
    """The slope of logarithms where y is finite; NaN of fewer than two places."""
    known = np.isfinite(y) & (y > 0)
    if known.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(x[known]), np.log(y[known]), 1)[0])


def known(found: Measured) -> Measured:
    """A statistic without a value says nothing."""
    return found if np.all(np.isfinite([found.value, *found.interval])) else UNKNOWN


def slope_of_times(name: str, data: Data) -> Measured:
    curves = data[name]
    statistic = lambda rows: power(curves.part.numbers, np.array([quantile(column, 0.5) for column in rows.T]))
    return known(bootstrap(curves.times, statistic))


def worst_factor(data: Data) -> Measured:
    curves = data["nam"]

    def worst(times: np.ndarray) -> float:
        medians = np.array([quantile(column, 0.5) for column in times.T])
        predicted = medians[0] * curves.part.numbers**curves.exponent
        return float(np.exp(np.max(np.abs(np.log(medians / predicted))))) if np.isfinite(medians[0]) else np.inf

    return known(bootstrap(curves.times, worst))


def order(data: Data) -> Measured:
    """Tasks not learned come last, together."""
    curves = data["adam"]
    found = []
    for row in curves.times:
        ranks = rankdata(row)
        found.append(0.0 if np.ptp(ranks) == 0 else float(np.corrcoef(ranks, np.arange(len(row)))[0, 1]))
    return mean(found)


def width_of_drop(name: str, data: Data) -> Measured:
    curves = data[name]

    def reached(share: float) -> np.ndarray:
        low = curves.losses <= share * curves.start
        return np.where(low.any(axis=1), curves.steps[low.argmax(axis=1)], np.nan)

    low = reached(0.2)
    by_seed = (low - reached(0.8)) / low
    return median(np.where(np.isnan(by_seed), 1.0, by_seed).mean(axis=1))


def quanta(data: Data) -> Measured:
    """Recorded steps are thinned to a geometric row, so that all stages count alike."""
    curves = data["adam"]
    places = np.unique(np.searchsorted(curves.steps, np.geomspace(curves.steps[1], curves.steps[-1], 40)))
    found = curves.whole(curves.losses[:, places])
    whole = curves.whole(np.where(curves.losses[:, places] > curves.start / 2, curves.start, 0.0))
    left = np.sum((found - whole) ** 2, axis=1) / np.sum((found - found.mean(axis=1, keepdims=True)) ** 2, axis=1)
    return median(1 - left)


def slope_of_loss(name: str, endless: bool, data: Data) -> Measured:
    curves = data[name]
    medians = curves.medians
    if np.isfinite(medians).sum() < 2:
        return UNKNOWN
    ends = medians[np.isfinite(medians)]
    places = np.unique(np.searchsorted(curves.steps, np.geomspace(ends.min(), ends.max(), 40)))
    losses = curves.whole(curves.losses[:, places], endless=endless)
    return known(bootstrap(losses, lambda rows: -power(curves.steps[places], rows.mean(axis=0))))


def by_width(settings: Settings, data: Data) -> list[Curves]:
    return [*(data[f"width{width}"] for width in settings.widths), data["adam"]]


def counted(curves: Curves) -> np.ndarray:
    """The number of tasks that each seed has learned at the end."""
    tasks = np.arange(1, curves.part.skills.tasks + 1)
    low = (curves.losses[:, -1] <= curves.part.learned).astype(float)
    return np.array([np.interp(tasks, curves.part.numbers, row).sum() for row in low])


def more_learned(settings: Settings, data: Data) -> Measured:
    every = by_width(settings, data)
    both = np.stack([counted(every[0]), counted(every[-1])], axis=1)
    # One task is the least that is counted, so that a ratio exists.
    return bootstrap(both, lambda rows: float(rows[:, 1].mean() / max(1.0, rows[:, 0].mean())))


def loss_over_width(settings: Settings, data: Data) -> Measured:
    every = by_width(settings, data)
    losses = np.stack([each.whole(each.losses[:, -1], endless=True) for each in every], axis=1)
    numbers = np.array([each.part.parameters for each in every])
    return known(bootstrap(losses, lambda rows: -power(numbers, rows.mean(axis=0))))


def tasks_over_width(settings: Settings, data: Data) -> Measured:
    every = by_width(settings, data)
    learned = np.stack([counted(each) for each in every], axis=1)
    numbers, most = np.array([each.part.parameters for each in every]), settings.adam.skills.tasks
    narrow = learned.mean(axis=0) < most - 0.5
    return known(bootstrap(learned[:, narrow], lambda rows: power(numbers[narrow], rows.mean(axis=0))))


def loss_of_counted(settings: Settings, data: Data) -> Measured:
    every, exponent = by_width(settings, data), settings.adam.skills.alpha + 1
    losses = np.stack([each.whole(each.losses[:, -1], endless=True) for each in every], axis=1)
    learned = np.stack([counted(each) for each in every], axis=1)
    numbers = np.array([each.part.parameters for each in every])
    left = zeta(exponent, np.arange(settings.adam.skills.tasks + 1) + 1)
    model = np.interp(learned, np.arange(len(left)), left)
    both = np.stack([losses, model], axis=2)
    ratio = lambda rows: power(numbers, rows[:, :, 0].mean(axis=0)) / power(numbers, rows[:, :, 1].mean(axis=0))
    return known(bootstrap(both, ratio))


def plot(settings: Settings, data: Data) -> Figures:
    """Times over tasks, losses over steps, and what is learned over width."""
    figure, axes = panels(1, 3, width=3.1, height=2.8)
    first, second, third = axes[0]
    words = {"nam": "Nam et al., SGD", "adam": "Michaud et al., Adam", "sgd": "the same, SGD"}
    for i, (name, label) in enumerate(words.items()):
        curves = data[name]
        numbers, ratio = curves.part.numbers, curves.medians / curves.medians[0]
        found = slope_of_times(name, data).value
        first.plot(numbers, ratio, "os^"[i], color=INKS[i], markersize=4, label=f"{label}: {found:.2f}")
        first.plot(numbers, numbers**curves.exponent, color=INKS[i], linestyle=("-", "--", ":")[i], linewidth=0.9)
    ticks = sorted({*settings.adam.numbers.tolist(), *settings.nam.numbers.tolist()})
    dress(first, xlabel="task i", ylabel="median time $T_i / T_1$", xscale="log", yscale="log", legend="upper left",
          ticks=[tick for tick in ticks if tick in (1, 2, 3, 5, 8, 20, 50, 100, 200, 500)], 
          title=r"times; lines: $i^{\alpha + 1}$")  # fmt: skip
    for i, name in enumerate(("adam", "sgd")):
        curves = data[name]
        for endless, style in ((False, ("-", "-.")[i]), (True, ("--", (0, (1, 1.2)))[i])):
            losses = curves.whole(curves.losses, endless=endless).mean(axis=0)[1:]
            label = ("Adam", "SGD")[i] + (", endless" if endless else "")
            second.plot(curves.steps[1:], losses, color=INKS[i + 1], linestyle=style, label=label)
    steps, later = data["adam"].steps[1:], settings.adam.skills.alpha / (settings.adam.skills.alpha + 1)
    begun = data["adam"].medians[0]
    if np.isfinite(begun):
        line = steps[steps >= begun]
        second.plot(line, 0.75 * (line / line[0]) ** -later, color="0.5", linewidth=0.9, label=f"slope {-later:.2f}")
    dress(second, xlabel="step", ylabel="mean loss (nats)", xscale="log", yscale="log", ylim=(2e-3, 1),
          legend="lower left", size=6, title="loss over steps")  # fmt: skip
    every = by_width(settings, data)
    numbers = np.array([each.part.parameters for each in every])
    values, bars = error_bars([mean(each.whole(each.losses[:, -1], endless=True)) for each in every])
    third.errorbar(numbers, values, bars, color=INKS[0], marker="o", label="loss, endless tasks")
    third.plot(numbers, values[0] * (numbers / numbers[0]) ** -settings.adam.skills.alpha, color="0.5", linestyle=":",
               label=f"slope {-settings.adam.skills.alpha:g}")  # fmt: skip
    for number, value, each in zip(numbers, values, every, strict=True):
        third.annotate(f"{counted(each).mean():.1f}", (number, value), (0, 7), textcoords="offset points", fontsize=7)
    dress(third, xlabel="parameters", ylabel="loss at the end (nats)", xscale="log", yscale="log", legend="lower left",
          title="over width; numbers: tasks learned")  # fmt: skip
    third.set_yticks(levels := [0.05, 0.1, 0.2, 0.3, 0.5], [f"{level:g}" for level in levels])
    third.minorticks_off()
    third.set_ylim(0.7 * values.min(), 1.25 * values.max())
    return shown("quantization", figure, "Many parities in one task: learned one by one, the frequent ones first")
