"""What several experiments of symmetry share."""
