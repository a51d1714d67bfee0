"""[DRAFT] Depth Separation (Netser and Malach, 2021), finished."""
