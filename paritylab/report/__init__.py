"""The claim ledger and the figures as one HTML file, and the gallery."""
