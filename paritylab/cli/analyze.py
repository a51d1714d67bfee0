"""`paritylab analyze`: exact objects behind training, for a target, a distribution or a network that is named."""

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..progress import duration
from ..registry import ACTIVATIONS, CIRCUIT_DISTRIBUTIONS, GATE_DISTRIBUTIONS, TARGETS, find
from .app import app, exit_2_on_bad_input
from .options import AsJson, OutFolder, numbers, option, refuse_unused, whole_numbers
from .printing import deliver, shown, table

if TYPE_CHECKING:
    import numpy as np

    from ..targets import AbstractTarget

analyze = typer.Typer(
    help="Exact objects behind training: Fourier coefficients, gradients, correlations, margins, kernels.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(analyze, name="analyze")


LARGEST_MARGIN, LONG_MARGIN = 1000, 500
"""The most coordinates of a margin, and those from which it is said how long one takes."""


def kept_in_32_bits(seed: int) -> int:
    with exit_2_on_bad_input():
        if not 0 <= seed < 2**32:
            raise ValueError(f"--seed is a whole number from 0 to {2**32 - 1}, got {seed}.")
    return seed


N = Annotated[int, option("Number of coordinates.")]
K = Annotated[int, option("Size of the parity.")]
Seed = Annotated[int, option("Seed of what is drawn at random.", callback=kept_in_32_bits)]
Formula = Annotated[str | None, option("A tree circuit: 'OR(AND(x0,x1),NAND(x2,x3))'.")]


@analyze.command()
def fourier(
    target: Annotated[str, option(f"One of {', '.join(TARGETS)}.")] = "majority",
    n: N = 11,
    k: K = 3,
    formula: Formula = None,
    mean: Annotated[float, option("Mean of every coordinate: 0 is the uniform distribution.")] = 0.0,
    rho: Annotated[str, option("Correlations at which noise stability is wanted.")] = "0.5,0.9",
    seed: Seed = 0,
    out: OutFolder = None,
    as_json: AsJson = False,
) -> None:
    """Weight by level, influences, noise stability and degree of a target."""
    with exit_2_on_bad_input():
        from ..analysis import spectrum, symmetric_spectrum
        from ..figures import plot_bars
        from ..targets import Symmetric

        made = chosen_target(target, n, k, formula, seed)
        symmetric = isinstance(made, Symmetric)
        found = symmetric_spectrum(made, mean) if isinstance(made, Symmetric) else spectrum(made, mean)
        content = {
            "target": formula or target,
            "n": made.n,
            "mean": mean,
            "weight": found.weight.tolist(),
            "total_influence": found.total_influence,
            "noise_stability": {str(each): found.noise_stability(each) for each in numbers(rho, "--rho")},
            "route": "symmetric, O(n^2)" if symmetric else "transform of 2^n values",
        }
        title = f"{content['target']}, n = {made.n}"
        code = deliver("fourier", content, as_json, out, lambda: plot_bars(found.weight, "weight", title))
    if as_json:
        raise typer.Exit(code)
    rows = [[str(level), f"{weight:.6g}"] for level, weight in enumerate(found.weight) if weight > 1e-12]
    first_of_table(40, "levels", rows, ["level", "weight"])
    typer.echo(f"total influence {found.total_influence:.6g}; route: {content['route']}")
    for each, value in content["noise_stability"].items():
        typer.echo(f"noise stability at {each}: {value:.6g}")
    raise typer.Exit(code)


@analyze.command()
def gap(
    n: N = 101,
    k: K = 3,
    weights: Annotated[str, option("ones, signs, uniform or gaussian.")] = "uniform",
    activation: Annotated[str, option(f"One of {', '.join(ACTIVATIONS)}.")] = "relu",
    bias: Annotated[float, option("Bias of the neuron.")] = 0.0,
    seed: Seed = 0,
    out: OutFolder = None,
    as_json: AsJson = False,
) -> None:
    """The exact population gradient of one neuron on a k-parity, and its Fourier gap."""
    with exit_2_on_bad_input():
        import numpy as np

        from ..analysis import gap_of_gradient, majority_gap, neuron_gradient, zero_by_symmetry
        from ..figures import plot_gradient
        from ..targets.base import check_dimension
        from ..training.named import activation_named

        if weights == "ones":
            refuse_unused("on weights that are all 1", "seed")
        check_dimension(n)
        if not 1 <= k < n:
            raise ValueError(f"A gap needs 1 <= k < n, got k={k} on n={n} coordinates. Lower k or raise n.")
        if not math.isfinite(bias):
            raise ValueError(f"--bias is a finite number, got {bias}.")
        slope = activation_named(activation, k)
        drawn = drawn_weights(weights, n, seed)
        found = neuron_gradient(drawn, slope, range(k), bias=bias)
        relevant, irrelevant, own = (zero_by_symmetry(drawn, slope, size, bias=bias) for size in (k - 1, k + 1, k))
        # What is exactly 0 is written so: its rounding would look like a gap.
        gradient = np.where([*[relevant] * k, *[irrelevant] * (n - k)], 0.0, found.gradient.weight)
        size = gap_of_gradient(gradient, range(k))
        zero = {
            "bias_gradient": own,
            "least_relevant": relevant,
            "most_irrelevant": irrelevant,
            "gamma": relevant,
            "weak_gap": relevant,
        }
        content = {
            "n": n,
            "k": k,
            "weights": weights,
            "activation": activation,
            "route": found.route,
            "error": found.error,
            "gradient": gradient.tolist(),
            "bias_gradient": 0.0 if own else float(found.gradient.bias),
            "least_relevant": size.least_relevant,
            "most_irrelevant": size.most_irrelevant,
            "gamma": size.gamma,
            "weak_gap": size.weak,
            "majority_gap": majority_gap(n, k).gamma if n % 2 and k % 2 == 0 else None,
            "zero_by_symmetry": [name for name, so in zero.items() if so],
        }
        title = f"{activation}, {weights} weights"
        code = deliver("gap", content, as_json, out, lambda: plot_gradient(gradient, k, title))
    if not as_json:
        for key in ("route", "error", "least_relevant", "most_irrelevant", "gamma", "weak_gap", "majority_gap"):
            typer.echo(f"{key.replace('_', ' ')}: {'0 (zero by symmetry)' if zero.get(key) else shown(content[key])}")
    raise typer.Exit(code)


@analyze.command()
def correlation(
    formula: Formula = None,
    pairs: Annotated[int | None, option("A product of this many random AND/OR gates.")] = None,
    distribution: Annotated[
        str, option(f"Of circuits: {', '.join(CIRCUIT_DISTRIBUTIONS)}; of products: {', '.join(GATE_DISTRIBUTIONS)}.")
    ] = "uniform",
    mean: Annotated[float, option("Mean of every coordinate, for circuits under the uniform distribution.")] = 0.0,
    share: Annotated[float, option("Share of the easy half, for products of gates.")] = 0.5,
    colour: Annotated[
        str, option("What colours the picture of a circuit: correlation, influence or recovered.")
    ] = "correlation",
    failure: Annotated[float, option("Probability with which the theorem's numbers may fail.")] = 0.1,
    seed: Seed = 0,
    out: OutFolder = None,
    as_json: AsJson = False,
) -> None:
    """Local correlation: how much each gate of a circuit tells about the label, and what layerwise training needs."""
    with exit_2_on_bad_input():
        from ..circuits import audit

        if not 0 < failure < 1:
            raise ValueError(f"--failure is a probability between 0 and 1, got {failure}.")
        check_distribution_is_used(formula, distribution)
        if out is None:
            refuse_unused("without --out, as there is no picture", "colour")
        target, inputs = gates_and_distribution(formula, pairs, distribution, mean, share, seed)
        found = audit(target, inputs)
        promised = promise(target, found, failure)
        picture = find("colour", colour, {name: name for name in ("correlation", "influence", "recovered")})
        content: dict[str, Any] = {
            **{name: getattr(found, name) for name in ("verdict", "slack", "least_probability")},
            **{name: getattr(found, name) for name in ("property_1", "property_2")},
            "label_mean": float(found.tables.label_mean),
            "samples": found.samples,
            "theorem": promised,
            "route": found.tables.route,
            "gates": [
                {"gate": name, "correlation": float(c), "influence": float(influence)}
                for name, c, influence in zip(found.tables.names, found.correlation, found.influence, strict=True)
            ],
        }
        code = deliver("correlation", content, as_json, out, lambda: picture_of_gates(target, found, picture))
    if not as_json:
        rows = [[each["gate"], f"{each['correlation']:.6g}", f"{each['influence']:.6g}"] for each in content["gates"]]
        first_of_table(40, "gates", rows, ["gate", "correlation with the label", "influence"])
        typer.echo(found.verdict)
        if promised is not None:
            typer.echo(
                f"Theorem 4 asks for {promised['samples']:.4g} examples, gates of {promised['width']:.0f} units, "
                f"a rate of {promised['rate']:.3g} and {promised['steps']:.4g} steps a level."
            )
    raise typer.Exit(code)


def check_distribution_is_used(formula: str | None, distribution: str) -> None:
    """Circuits and products of gates have distributions of their own, with settings of their own."""
    if formula is None:
        refuse_unused("on products of gates", "mean", "colour", "failure")
        if distribution == "uniform":
            refuse_unused("under the uniform distribution, which has no easy half", "share")
        return
    refuse_unused("on a circuit, which is given whole", "seed")
    refuse_unused("on a circuit", "share")
    if distribution == "generative":
        refuse_unused("under the generative distribution", "mean")


def promise(target: Any, found: Any, failure: float) -> dict[str, float] | None:
    """What Theorem 4 of boolean-circuits asks for, where its assumptions hold for a circuit."""
    from ..bounds import layerwise_circuit
    from ..targets import TreeCircuit

    if not (isinstance(target, TreeCircuit) and found.property_1 and found.property_2):
        return None
    below_half = 0.5 - 1e-9  # the theorem is stated for Delta, epsilon < 1/2; a smaller one will do
    delta, epsilon = (min(each, below_half) for each in (found.slack, found.least_probability))
    bound = layerwise_circuit(target.n, correlation=delta, pattern=epsilon, failure=failure)
    return {part.name: part.value for part in bound.parts}


def picture_of_gates(target: Any, found: Any, colour: str) -> Any:
    """The circuit coloured as asked for; bars for products of gates, which are no trees."""
    import numpy as np

    from ..figures import plot_bars, plot_circuit
    from ..targets import TreeCircuit

    if not isinstance(target, TreeCircuit):
        return plot_bars(abs(found.correlation), "|c|", "gates, from the root")
    if colour == "recovered":
        return plot_circuit(target, recovered_gates(target, found).astype(float), "recovered by layerwise training")
    if colour == "influence":
        return plot_circuit(target, found.influence, "influence on the label")
    return plot_circuit(target, np.clip(abs(found.correlation), 0, 1), "|correlation with the label|")


def recovered_gates(target: Any, found: Any) -> "np.ndarray":
    """Which gates the population form of Algorithm 1 recovers, up to their signs."""
    from ..circuits import TreePatterns, follow, learn_circuits
    from ..circuits.gate_training import Towards

    patterns = TreePatterns(target, found.tables.probability, found.tables.signal)
    regularizer = abs(found.tables.label_mean) + max(found.slack, 0.04) / 4
    towards: Towards = -1 if found.tables.label_mean >= 0 else 1
    (learned,) = learn_circuits([patterns], width=64, regularizer=regularizer, towards=towards)
    return follow(patterns, learned.circuit)[1]


@analyze.command()
def margin(
    n: Annotated[str, option("Numbers of coordinates, with commas between them.")] = "5,10,20,40",
    target: Annotated[str, option("full-parity, majority or random-symmetric.")] = "full-parity",
    seed: Seed = 0,
    out: OutFolder = None,
    as_json: AsJson = False,
) -> None:
    """The exact maximal margin of a symmetric function at the symmetric initialization."""
    with exit_2_on_bad_input():
        import numpy as np

        from ..analysis import explicit_separator, maximal_margin, symmetric_embedding
        from ..figures import plot_margins
        from ..targets import Symmetric

        rows = []
        sizes = whole_numbers(n, "--n")
        if max(sizes) > LARGEST_MARGIN:
            raise ValueError(
                f"--n goes to {LARGEST_MARGIN}, which takes about a minute, and the time grows as n^3, got "
                f"{max(sizes)}. The margin of the full parity has a closed form, `analysis.parity_margin`."
            )
        for size in sizes:
            if size > LONG_MARGIN:
                typer.echo(f"n = {size}: up to {duration(60 * (size / LARGEST_MARGIN) ** 3)}", err=True)
            made = chosen_target(target, size, 1, None, seed)
            if not isinstance(made, Symmetric):
                raise ValueError(
                    f"Margins are those of symmetric functions, got {target!r}. Use full-parity or majority."
                )
            values = np.asarray(made.values)
            exact = maximal_margin(symmetric_embedding(size), values)
            explicit = 0.5 / float(np.linalg.norm(explicit_separator(values)))
            rows.append({"n": size, "margin": exact.margin, "gap": exact.gap, "explicit": explicit})
        content = {"target": target, "rows": rows}
        code = deliver("margin", content, as_json, out, lambda: plot_margins(rows, target))
    if not as_json:
        cells = [[f"{row[key]:.6g}" for key in ("n", "margin", "gap", "explicit")] for row in rows]
        table(cells, ["n", "maximal margin", "certificate's gap", "margin of the explicit separator"])
    raise typer.Exit(code)


@analyze.command()
def kernel(
    n: N = 30,
    bias: Annotated[float, option("Variance of the biases; 0 is a network without.")] = 1.0,
    kind: Annotated[str, option("ntk (all layers trained) or features (the last alone).")] = "ntk",
    radius: Annotated[float, option("Norm of the predictor, for features of length one.")] = 10.0,
    out: OutFolder = None,
    as_json: AsJson = False,
) -> None:
    """Eigenvalues of the infinite ReLU network's kernel by Fourier level, and the best hinge loss on parities."""
    with exit_2_on_bad_input():
        from ..analysis import best_hinge, relu_conjugate_kernel, relu_ntk
        from ..bounds.linear import kernel as bound
        from ..figures import plot_bars

        made = find("kernel", kind, {"ntk": relu_ntk, "features": relu_conjugate_kernel})(n, bias).normalized()
        values = made.eigenvalues()
        rows = [
            {
                "level": level,
                "eigenvalue": float(value),
                "best_hinge": best_hinge(float(value), radius),
                "bound": bound(n, level, norm=radius).value if level else None,
            }
            for level, value in enumerate(values)
        ]
        content = {"kernel": kind, "n": n, "bias": bias, "radius": radius, "rows": rows}
        code = deliver(
            "kernel", content, as_json, out, lambda: plot_bars(values, "eigenvalue", f"ReLU {kind}, n = {n}", log=True)
        )
    if not as_json:
        cells = [[str(r["level"]), f"{r['eigenvalue']:.6g}", f"{r['best_hinge']:.6g}", shown(r["bound"])] for r in rows]
        names = ["level", "eigenvalue", f"best hinge, norm {radius:g}", "bound for any kernel"]
        first_of_table(25, "levels", cells, names)
    raise typer.Exit(code)


def first_of_table(most: int, what: str, rows: list[list[str]], names: list[str]) -> None:
    """A table with so many rows at the most, and a word on those that are left out."""
    table(rows[:most], names)
    if len(rows) > most:
        typer.echo(f"... {len(rows) - most} further {what} (--json has all)")


def chosen_target(target: str, n: int, k: int, formula: str | None, seed: int) -> "AbstractTarget":
    """A target by name or a circuit, for one of which all further options matter; a support is the first k."""
    from ..names import make_target
    from ..targets import circuit_from_formula

    if formula is not None:
        refuse_unused("beside --formula", "target", "n", "k", "seed")
        return circuit_from_formula(formula)
    row = find("target", target, TARGETS)
    if row.by_support or not row.has("key"):
        refuse_unused(f"on the target {target!r}, which is not random", "seed")
    if not row.has("k"):
        refuse_unused(f"on the target {target!r}", "k")
    return make_target(target, n, k, first(n, k) if row.by_support else None, seed)


def first(n: int, k: int) -> range:
    """The first k of n coordinates."""
    from ..targets.base import check_dimension
    from ..targets.parity import check_size

    check_dimension(n)
    check_size(n, k)
    return range(k)


def drawn_weights(name: str, n: int, seed: int) -> "np.ndarray":
    """Weights as the papers draw them."""
    import numpy as np

    chance = np.random.default_rng(seed)
    known = {
        "ones": lambda: np.ones(n),
        "signs": lambda: chance.choice([-1.0, 1.0], n),
        "uniform": lambda: chance.uniform(-1, 1, n) / np.sqrt(n),
        "gaussian": lambda: chance.standard_normal(n) / np.sqrt(n),
    }
    return find("kind of weights", name, known)()  # type: ignore[no-any-return]


def gates_and_distribution(
    formula: str | None, pairs: int | None, distribution: str, mean: float, share: float, seed: int
) -> tuple[Any, Any]:
    """A target made of gates and a distribution of its inputs."""
    from ..cube import root_key
    from ..distributions import separation
    from ..targets import circuit_from_formula, random_gate_product

    if (pairs is None) == (formula is None):
        raise ValueError("Name a circuit with --formula, or a number of gates with --pairs, and not both.")
    if formula is not None:
        circuit = circuit_from_formula(formula)
        row = find("distribution of circuits", distribution, CIRCUIT_DISTRIBUTIONS)
        return circuit, row.load()(circuit, *([mean] if row.has("mean") else []))
    assert pairs is not None
    product = random_gate_product(pairs, key=root_key(seed))
    half = find("distribution of products", distribution, GATE_DISTRIBUTIONS).load()(product)
    return product, half if distribution == "uniform" else separation(half, share)
