"""What `make test` leaves to `make acceptance` for the time it takes."""

SLOW_EXHIBITS = (
    *("hidden-progress/fig2-left", "hidden-progress/fig10", "hidden-progress/robust-space", "depth-separation/samples"),
    *("depth-separation/certified-error", "laws/sgd-time", "hidden-progress/fig1-right"),
)
"""Of the gallery: judged again from millions of runs, or with intervals that take seconds each."""

SLOW_EXPERIMENTS = (
    *("followups/chain-of-thought", "followups/sign-descent", "followups/leap", "followups/quantization"),
    *("followups/curriculum", "followups/unseen", "followups/high-degree", "symmetry/theorem1", "symmetry/theory"),
    *("hidden-progress/statements", "hidden-progress/fig7-readings", "depth-separation/stage-two"),
)
"""Made tiny they still compile for longer than the rest."""
