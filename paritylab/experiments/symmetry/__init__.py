"""On Symmetry and Initialization for Neural Networks (a submission to ICLR 2020)."""
