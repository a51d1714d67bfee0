"""Documents: JSON, which knows neither NaN nor infinity, and files that are written whole or not at all."""

import contextlib
import json
import math
import os
import stat
import uuid
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """The value as JSON knows it: NaN and infinity are null.

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


class DocumentCannotBeWritten(OSError):
    """A file could not be written. `str` is a sentence for people; `errno` and `strerror` say why."""

    def __str__(self) -> str:
        return (
            f"{self.filename} cannot be written ({self.strerror}); what was there before is unchanged. "
            "Make room, or choose another folder."
        )


def make_folder(folder: Path) -> None:
    """Makes a folder for documents, and those above it. Raises `DocumentCannotBeWritten`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DocumentCannotBeWritten(error.errno, error.strerror or str(error), str(folder)) from error


def write_whole(path: Path, content: Any, drafts: Path | None = None) -> None:
    """The file appears under its name when all of it is on disk, or not at all; one that was there stays till then.

    `content` is text or bytes. It is first written to a file in the folder `drafts`, on the same disk; if none is
    named, beside the file itself. Raises `DocumentCannotBeWritten`.
    """
    draft = (drafts or path.parent) / f".{uuid.uuid4().hex}"
    try:
        draft.touch(exist_ok=False)
        publish(draft, content.encode() if isinstance(content, str) else content, path)
    except OSError as error:
        raise DocumentCannotBeWritten(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def publish(draft: Path, content: Any, path: Path) -> None:
    """Writes to a draft, which must be there, and gives it its name when all of it is on disk."""
    with open(draft, "r+b") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    """The new name, too, outlives a failure of power, where the system can promise that of a folder."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


OTHER_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def other_kind(path: Path) -> str | None:
    """What a path is if it is no file but a pipe, a socket or a device, from which one might read for ever."""
    with contextlib.suppress(OSError):  # what is not there, whoever opens it will say
        return OTHER_KINDS.get(stat.S_IFMT(path.stat().st_mode))
    return None


def check_regular(path: Path) -> None:
    """Says so if nobody should read from a path; see `other_kind`."""
    if (kind := other_kind(path)) is not None:
        raise ValueError(f"{path} is {kind}, and not a file. Put a file in its place.")
