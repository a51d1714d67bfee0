"""Networks after one large gradient step from initialization."""
