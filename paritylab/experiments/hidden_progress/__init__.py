"""Hidden Progress in Deep Learning: SGD Learns Parities Near the Computational Limit (Barak et al., 2022)."""
