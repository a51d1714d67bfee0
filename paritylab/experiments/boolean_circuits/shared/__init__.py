"""What several experiments of boolean-circuits share."""
