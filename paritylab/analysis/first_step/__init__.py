"""What one large step from the start leaves in a network."""
