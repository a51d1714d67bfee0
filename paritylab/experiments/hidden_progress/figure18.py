"""Figure 18 of hidden-progress: the activation functions, and the parities that pass through them.

The sum s of x over the support takes the k + 1 values k, k - 2, ..., -k, and the parity is +1, -1, +1, ... there. So
one neuron with an activation through these points is the parity, with bias 0 (Appendix D.1.2):

- k-zigzag: straight lines between the points, with k linear pieces on the whole line. The paper lists k + 2 intervals;
  k pieces are what is left if the two end segments go on straight.
- oscillating polynomial: the polynomial of degree k through them.
- infinite zigzag: a triangle wave through them and on for ever. Printed are the points (2i, +1), (2i + 1, -1), a wave
  of period 2; it has one value at k and at k - 2, where the parity has two. Period 4 is meant.
- sinusoid: sin(pi z / 2 + shift) through the same points.

ReLU and z**k are drawn with them. They need k units: explicit weights make them the parity.

All values are exact up to rounding in double precision: no chance enters.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.ticker import MaxNLocator

import paritylab as pl

from ...cube import cube
from ...figures import Axes, Figures, ink, label_edges, panels
from ...networks.activations import Activation
from ...networks.base import outputs
from ...sweep import Call
from ..base import IDENTITY, Claim, Region
from ..measures import largest

ROUNDING = 1e-6
"""Double precision, and the growth of its rounding in a polynomial of degree 15."""
EXACT = Region(-ROUNDING, ROUNDING)
NAMES = {
    "Zigzag": "k-zigzag",
    "OscillatingPolynomial": "oscillating polynomial",
    "TriangleWave": "infinite zigzag",
    "Sinusoid": "sinusoid",
}
NEURONS = tuple(NAMES)
MLPS = {"relu": "ReLU, width k", "Power": "$z^k$, width k"}
PERIOD = (
    "Its period is 2, so that it has one value at all of k, k - 2, ..., -k. With period 4 (or with the "
    "input halved, as the paper's factor of 2 suggests) it passes through them, which the other claims show."
)
CUBE = 8
"""Coordinates of the cube on which whole networks are compared with the parity; k is at most this there."""
FAR, STEP = 60, 0.125
SHOWN = (2, 3, 4)


@dataclass(frozen=True)
class Settings:
    degrees: tuple[int, ...]


SETTINGS = {"quick": Settings(tuple(range(1, 9))), "paper": Settings(tuple(range(1, 16)))}


def at(activation: str, k: int, z: Float[np.ndarray, " points"]) -> Float[np.ndarray, " points"]:
    """The values of an activation, in double precision."""
    with jax.enable_x64(True):
        return np.asarray(made(activation, k)(jnp.asarray(z, float)))


def made(activation: str, k: int) -> Activation:
    """An activation by its name in the package; ReLU has no degree."""
    found = getattr(pl.networks, activation)
    return found(k) if isinstance(found, type) else found


def parity_of_sum(k: int, s: np.ndarray) -> np.ndarray:
    """The parity of k signs as a function of their sum: +1 at k, -1 at k - 2, and so on."""
    return 1.0 - 2.0 * (((k - s) // 2) % 2)


def properties(activation: str, degrees: tuple[int, ...]) -> list[dict[str, int | float]]:
    """How far an activation is from what the appendix says of it, on a grid that all degrees share."""
    z = np.arange(-FAR, FAR + STEP, STEP)
    whole, near = np.rint(z) == z, np.abs(z) <= max(degrees) + 3
    moved = round(2 / STEP)
    rows: list[dict[str, int | float]] = []
    for k in degrees:
        values, parity = at(activation, k, z), parity_of_sum(k, z)
        points = whole & ((z - k) % 2 == 0)
        inside = points & (np.abs(z) <= k)
        slopes = np.diff(values) / STEP
        rows.append(
            {
                "k": k,
                "off_points": float(np.max(np.abs(values - parity)[inside])),
                "off_wave": float(np.max(np.abs(values - parity)[points])),
                "off_half_period": float(np.max(np.abs(values[moved:] + values[:-moved]))),
                "pieces": 1 + int(np.sum(np.abs(np.diff(slopes)) > ROUNDING)),
                "beyond_degree": float(np.max(np.abs(np.diff(values[whole & near], k + 1)))),
            }
        )
    return rows


def mistakes_on_cube(activation: str, degrees: tuple[int, ...]) -> list[dict[str, int]]:
    """At how many points a network with explicit weights, rounded to float32, differs from the parity of k bits."""
    x = cube(CUBE)
    rows = []
    for k in degrees:
        parity = pl.Parity(CUBE, support=range(k))
        recipe = pl.Neuron(made(activation, k)) if activation in NEURONS else pl.MLP(k, made(activation, k))
        agree = outputs(pl.networks.realize(recipe, parity), x) * jax.vmap(parity)(x) > 0
        rows.append({"k": k, "mistakes": int(jnp.sum(~agree))})
    return rows


def printed_wave(degrees: tuple[int, ...]) -> list[dict[str, int | float]]:
    """The triangle wave as printed, at the sums that a k-parity sees: how far it is from it with the better sign."""
    rows: list[dict[str, int | float]] = []
    for k in degrees:
        s = np.arange(-k, k + 1, 2)
        wave = np.interp(np.mod(s, 2), [0.0, 1.0, 2.0], [1.0, -1.0, 1.0])
        off = min(float(np.max(np.abs(sign * wave - parity_of_sum(k, s)))) for sign in (1, -1))
        rows.append({"k": k, "off_points": off})
    return rows


def plan(settings: Settings) -> Iterator[Call]:
    small = tuple(k for k in settings.degrees if k <= CUBE)
    for name in NEURONS:
        yield Call(properties, {"activation": name, "degrees": settings.degrees}, {"which": name}, seconds=1.0)
    for name in (*NEURONS, *MLPS):
        yield Call(mistakes_on_cube, {"activation": name, "degrees": small}, {"which": name}, seconds=1.0)
    yield Call(printed_wave, {"degrees": settings.degrees}, {"which": "printed"}, seconds=0.01)


def claims(settings: Settings) -> Iterator[Claim]:
    """The largest distance over all degrees."""
    for name, words in NAMES.items():
        text = f"{words}: passes through the k + 1 points of the parity; the distance"
        yield nothing(name, "points", "off_points", text)
    for name in ("TriangleWave", "Sinusoid"):
        text = f"{NAMES[name]}: goes on with +1 and -1 in turn at k + 2i for all i; the distance"
        yield nothing(name, "wave", "off_wave", text)
    pieces = lambda table: largest((table.pieces - table.k)[table.which == "Zigzag"].dropna().abs())
    text = "k-zigzag: k linear pieces; the number less k"
    yield Claim("Zigzag/pieces", text, None, Region(0, 0), pieces, theory=0.0, null=IDENTITY)
    differences = "oscillating polynomial: differences of order k + 1 are 0"
    yield nothing("OscillatingPolynomial", "degree", "beyond_degree", differences)
    period = "infinite zigzag: changes sign when moved by 2 (period 4)"
    yield nothing("TriangleWave", "period", "off_half_period", period)
    for name, words in {**{name: f"one neuron, {words}" for name, words in NAMES.items()}, **MLPS}.items():
        text = f"{words}: is the parity on the whole cube; the mistakes"
        yield nothing(name, "network", "mistakes", text, Region(0, 0))
    text = "the infinite zigzag as printed, through (2i, +1) and (2i + 1, -1), passes through the points of the parity"
    distance = lambda table: largest(table[table.which == "printed"].off_points)
    how: dict[str, Any] = {"null": IDENTITY, "explanation": PERIOD, "tested_by": ("TriangleWave/points",)}
    yield Claim("printed-wave/points", f"{text}; the distance", 0.0, EXACT, distance, **how)


def nothing(which: str, name: str, column: str, statement: str, region: Region = EXACT) -> Claim:
    """A number that must be 0 for an activation at every degree."""
    measure = lambda table: largest(table[table.which == which][column].dropna())
    return Claim(f"{which}/{name}", statement, None, region, measure, theory=0.0, null=IDENTITY)


def plot(settings: Settings, table: pd.DataFrame) -> Figures:
    """All families, some degrees of each; dots where they meet the parity."""
    figure, axes = panels(2, 3, width=2.9, height=2.1)
    titles = {"relu": "ReLU", "Power": "$z^k$", **NAMES}
    degrees = {"relu": (), "TriangleWave": (3, 4), "Sinusoid": (3, 4)}
    for axis, name in zip(axes.flat, titles, strict=True):
        draw(axis, name, degrees.get(name, SHOWN))
        axis.set_title(titles[name])
    label_edges(axes, "z", "activation $\\sigma(z)$")
    for i, k in enumerate(SHOWN):
        axes[0, 0].plot([], [], linewidth=1.2, label=f"k = {k}", **ink(i))
    axes[0, 0].legend(loc="upper left", title="in the other panels")
    figure.suptitle("Activations (dots: the parity of k signs as a function of their sum)")
    return {"figure18": figure}


def draw(axis: Axes, name: str, degrees: tuple[int, ...]) -> None:
    """One family; ReLU has no degree."""
    reach = 2.0 if name in ("relu", "Power") else 6.5
    z = np.linspace(-reach, reach, 1301)
    if not degrees:
        axis.plot(z, at(name, 1, z), linewidth=1.2, color="0.2")
    for k in degrees:
        style = ink(SHOWN.index(k))
        axis.plot(z, at(name, k, z), linewidth=1.2, **style)
        if name in NEURONS:
            s = np.arange(-k, k + 1, 2)
            axis.plot(s, parity_of_sum(k, s), "o", color=style["color"], markersize=3.5)
    axis.set_ylim((-1.6, 2.6) if reach > 2 else (-2.2, 4.2))
    axis.xaxis.set_major_locator(MaxNLocator(7, integer=True))
