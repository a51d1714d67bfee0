"""Learning Parities with Neural Networks (Daniely and Malach, 2020)."""
