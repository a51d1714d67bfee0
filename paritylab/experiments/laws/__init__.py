"""Laws of hidden progress that the lab found in its own data (docs/laws.md)."""
