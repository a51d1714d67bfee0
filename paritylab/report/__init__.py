"""SHOWN on paper: the claim ledger and the figures as one HTML file."""
