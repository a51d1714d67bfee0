"""Claims about one thing."""

from collections.abc import Callable
from typing import Any

from ...base import Claim, Measured, Region


def about(prefix: str, words: str, part: Callable[[Any], Any] = lambda data: data) -> Callable[..., Claim]:
    """Makes claims whose names and statements begin alike, and which measure one part of the data."""

    def claim(name: str, text: str, region: Region, measure: Callable[[Any], Measured], **others: Any) -> Claim:
        fields = {"paper": None, "measure": lambda data: measure(part(data)), **others}
        return Claim(f"{prefix}/{name}", f"{words}: {text}", region=region, **fields)

    return claim
