"""Population gradients of neurons and networks, and the gaps in them."""
