"""The inks: told apart in colour and in grey, and one for each architecture."""

import itertools

import matplotlib.colors
import matplotlib.pyplot as plt

import paritylab as pl
from paritylab.registry import NETWORKS
from paritylab.style import ARCHITECTURES, INKS, STYLES, ink


def luminance(color) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in matplotlib.colors.to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_architecture_has_a_colour_of_its_own_that_is_seen_on_white():
    assert ARCHITECTURES.keys() == NETWORKS.keys()
    colours = [colour for colour, *_ in ARCHITECTURES.values()]
    assert len(set(colours)) == len(colours)
    for colour in (*colours, *INKS):
        assert 1.05 / (luminance(colour) + 0.05) >= 3, colour  # WCAG's least contrast of graphics
    for left, right in itertools.combinations(colours, 2):
        away = [abs(a - b) for a, b in zip(*map(matplotlib.colors.to_rgb, (left, right)), strict=True)]
        assert max(away) > 0.08, (left, right)


def test_in_grey_they_differ_by_line_and_marker():
    looks = [(line, marker) for _, line, marker in ARCHITECTURES.values()]
    assert len(set(looks)) == len(looks)


def test_a_curve_repeats_no_other_before_the_thirty_seventh():
    looks = [(ink(i)["color"], str(ink(i)["linestyle"])) for i in range(37)]
    assert len(set(looks[:36])) == 36 == len(INKS) * len(STYLES) and looks[36] == looks[0]


def test_a_look_is_what_matplotlib_takes():
    with pl.style.use():
        assert plt.rcParams["legend.frameon"] is False
    for i, name in enumerate([*NETWORKS, "something else", 3]):
        plt.Line2D([0, 1], [0, 1], **pl.style.of(name, i))
    assert pl.style.of("polynet")["color"] != pl.style.of("something else")["color"]


def test_drawing_leaves_the_windows_of_others_alone():
    """A notebook's figures appear as before, and ours are on no list of open ones."""
    before = plt.get_fignums(), plt.get_backend()
    pl.analysis.spectrum(pl.Parity(3, (0, 1)))
    from paritylab.figures import one_panel

    one_panel(2, 2)
    assert (plt.get_fignums(), plt.get_backend()) == before
