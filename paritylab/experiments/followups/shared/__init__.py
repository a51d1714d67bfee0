"""What several of them share."""
