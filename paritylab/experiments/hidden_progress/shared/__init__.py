"""What experiments of hidden-progress share."""
