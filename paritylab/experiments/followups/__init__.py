"""Results that came after: what other papers found on parities and their like, each asked again at many seeds."""
