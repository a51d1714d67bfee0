"""Learning Boolean Circuits with Neural Networks (arXiv 1910.11923)."""
