"""How long work is shown: a line that is written over, in notebooks and terminals."""

from __future__ import annotations

import sys
from typing import Any, Optional

from ._client import Progress


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _show(label: Optional[str], done: int, total: int) -> None:
    if label is None:
        text = ""
    elif total:
        text = f"{label}: {100 * done // total} %"
    else:
        text = f"{label}: {done:,}"
    sys.stderr.write(f"\r{text:<60}" if text else f"\r{'':<60}\r")
    sys.stderr.flush()


def progress_of(wanted: Any) -> Optional[Progress]:
    """The function that shows progress: a given one, the line, or none."""
    if callable(wanted):
        given: Progress = wanted
        return given
    if wanted is None:
        wanted = _is_watched()
    return _show if wanted else None
