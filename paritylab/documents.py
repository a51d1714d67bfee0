"""JSON documents, which know neither NaN nor infinity: both are null."""

import json
import math
from typing import Any


def plain(value: Any) -> Any:
    """The value as JSON knows it.

    >>> plain({"a": (1, float("nan"))})
    {'a': [1, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(value.item()) if hasattr(value, "item") else value


def document(value: Any) -> str:
    """The text of a document, with a line's end."""
    return json.dumps(plain(value), indent=1, allow_nan=False) + "\n"
