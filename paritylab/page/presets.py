"""Runs of the papers to begin with: what differs from the settings of `paritylab train`."""

from typing import Any, NamedTuple


class Preset(NamedTuple):
    """A setting of a paper, and what to look at while it trains."""

    title: str
    look: str
    settings: dict[str, Any]


PRESETS = {
    "plateau": Preset(
        "A plateau, then a drop",
        "The error stays at one half for more than a thousand steps while the relevant weights already grow "
        "(hidden-progress, Figure 1: 3 of 50 bits, a ReLU network of width 100, hinge loss).",
        {"n": 50, "support": "3,14,15", "width": "100", "rate": "0.1", "batch": "32", "seeds": "24", "steps": "8000"},
    ),
    "rates": Preset(
        "Three rates, a hundred networks each",
        "The same hundred starts and examples at each rate: which one has most runs through first?",
        {"n": 30, "support": "2,7,19", "width": "100", "rate": "1,0.1,0.03", "seeds": "100", "steps": "10000"},
    ),
    "neuron": Preset(
        "One sinusoid neuron",
        "Half-way to the drop, the relevant weights are ahead of all others (hidden-progress, Figure 3: a neuron "
        "without a second layer).",
        {"n": 50, "support": "0,1,2", "network": "sinusoid-neuron", "rate": "0.03", "seeds": "32", "steps": "2000"},
    ),
    "grokking": Preset(
        "A finite sample",
        "Trained on 600 points again and again: the sample is learned first (dashed), and the rest much later "
        "(hidden-progress, Figure 4, right: grokking).",
        {
            "n": 30,
            "support": "2,7,19",
            "width": "100",
            "sample": "600",
            "decay": "0.001",
            "rate": "0.1",
            "seeds": "24",
            "steps": "20000",
        },
    ),
    "noise": Preset(
        "Noisy labels",
        "A fifth of the labels is flipped in training, and the drop still comes (hidden-progress, Figure 16).",
        {"n": 30, "support": "2,7,19", "width": "100", "noise": "0.2", "rate": "0.1", "seeds": "24", "steps": "6000"},
    ),
    "polynet": Preset(
        "A product of three neurons",
        "A PolyNet: each factor finds one relevant coordinate (hidden-progress, setting (xv)).",
        {"n": 30, "support": "2,7,19", "network": "polynet", "rate": "0.03", "seeds": "50", "steps": "2000"},
    ),
}
