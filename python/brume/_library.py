"""The C libraries, opened once. Everything that is called is declared here or beside its use.

Which files are opened: ``$BRUME_LIBRARY_DIR`` if it is set, else the folder that the wheel carries,
else the system's libraries. A library of another version is refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import threading
from pathlib import Path
from typing import Any, List, Optional

from ._version import __version__
from .errors import InternalError, error_of_status


class ErrorRecord(ctypes.Structure):
    """struct brume_error of include/brume/status.h."""

    _fields_ = [
        ("status", ctypes.c_int),
        ("message", ctypes.c_char * 480),
        ("hint", ctypes.c_char * 256),
    ]


def _folders() -> List[Path]:
    given = os.environ.get("BRUME_LIBRARY_DIR")
    if given:
        return [Path(given)]
    here = Path(__file__).resolve().parent
    return [here / "_lib", here.parent / ".brume.mesonpy.libs", here.parent / "brume.libs"]


def _open(name: str) -> ctypes.CDLL:
    for folder in _folders():
        for path in sorted(folder.glob(f"{name}.so*")):
            return ctypes.CDLL(str(path))
    if os.environ.get("BRUME_LIBRARY_DIR"):
        raise ImportError(f"no {name}.so in $BRUME_LIBRARY_DIR ({_folders()[0]})")
    try:
        return ctypes.CDLL(f"{name}.so.{__version__.split('.')[0]}")
    except OSError:
        raise ImportError(
            f"{name} is not there: install the wheel, or set BRUME_LIBRARY_DIR to a folder that has it"
        ) from None


def _check_version(opened: ctypes.CDLL, function: str) -> None:
    version = getattr(opened, function)
    version.restype = ctypes.c_char_p
    found = version().decode()
    if found != __version__:
        raise ImportError(
            f"the library is version {found} and the Python package {__version__}: "
            "install both from one source"
        )


library = _open("libbrume")
_check_version(library, "brume_version")


def find_duckdb() -> Optional[str]:
    """The file of the package 'duckdb', which reads files; None where $BRUME_DUCKDB names another."""
    if not os.environ.get("BRUME_DUCKDB"):
        for module in ("_duckdb", "duckdb.duckdb"):
            with contextlib.suppress(ImportError):
                found = importlib.util.find_spec(module)
                if found is not None and found.origin:
                    return found.origin
    return None


def open_sql_library() -> ctypes.CDLL:
    """libbrume-sql: sessions, ledger and SQL."""
    opened = _open("libbrume-sql")
    _check_version(opened, "brume_session_version")
    return opened


def check(status: int, record: ErrorRecord) -> None:
    """Raise what a failing call wrote."""
    if status:
        message = record.message.decode("utf-8", "replace")
        if not message:
            raise InternalError("a call failed without saying why")
        raise error_of_status(status, message, record.hint.decode("utf-8", "replace"))


def call(function: Any, *arguments: Any) -> None:
    """Call a C function whose last parameter is the error record; the GIL is released meanwhile."""
    record = ErrorRecord()
    check(function(*arguments, ctypes.byref(record)), record)


class _BitSource:
    """A handle of the C library, closed with the thread that opened it."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        call(library.brume_bits_open, ctypes.byref(self.handle))

    def __del__(self) -> None:
        if self.handle:
            library.brume_bits_close(self.handle)


library.brume_bits_close.argtypes = [ctypes.c_void_p]
library.brume_bits_close.restype = None
_local = threading.local()


def bits() -> ctypes.c_void_p:
    """This thread's source of random bits. The C library draws a fresh key after a fork."""
    source = getattr(_local, "source", None)
    if source is None:
        source = _local.source = _BitSource()
    handle: ctypes.c_void_p = source.handle
    return handle
