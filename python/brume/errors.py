"""Errors of brume: one exception class for each kind, all of them a :class:`BrumeError`.

Each has ``code`` (a word such as ``"budget"``), ``hint`` (what to do, perhaps empty), ``exit_code``
(what the command line would exit with) and ``sqlstate``.
"""

from __future__ import annotations

from typing import Dict, Type

__all__ = ["BrumeError", "ArgumentError", "QuerySyntaxError", "UnknownNameError", "RangeError",
           "BudgetError", "PolicyError", "HaltedError", "UnsupportedError", "RandomError",
           "OutOfMemoryError", "DiskError", "CancelledError", "SourceError", "EngineError",
           "DamagedError", "InternalError"]


class BrumeError(Exception):
    """Whatever brume refuses or fails to do. See the subclasses."""

    code = "internal"
    exit_code = 70
    sqlstate = "XX000"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message if not hint else f"{message} ({hint})")
        self.message = message
        self.hint = hint


class ArgumentError(BrumeError, ValueError):
    """An argument is missing or out of range."""


class QuerySyntaxError(BrumeError, ValueError):
    """The SQL or the expression cannot be parsed."""


class UnknownNameError(BrumeError, LookupError):
    """There is no dataset, column, mechanism or option of that name."""


class RangeError(BrumeError, OverflowError):
    """The result does not fit."""


class BudgetError(BrumeError):
    """The privacy budget does not carry the price. Nothing was spent."""


class PolicyError(BrumeError):
    """The owner's policy refuses it. Nothing was spent."""


class HaltedError(BrumeError):
    """The mechanism has halted: its price is used up."""


class UnsupportedError(BrumeError, NotImplementedError):
    """brume does not do this, and says why. Nothing was spent."""


class RandomError(BrumeError, OSError):
    """The kernel's source of randomness failed."""


class OutOfMemoryError(BrumeError, MemoryError):
    """Out of memory."""


class DiskError(BrumeError, OSError):
    """A file cannot be read or written."""


class CancelledError(BrumeError):
    """The call was interrupted. What was charged before stays charged."""


class SourceError(BrumeError):
    """The data source cannot be read."""


class EngineError(BrumeError):
    """The database engine failed."""


class DamagedError(BrumeError):
    """The ledger is damaged: 'brume ledger verify' says where."""


class InternalError(BrumeError):
    """A fault of brume: please report it."""


# The words, exit codes and SQLSTATEs of include/brume/status.def; a test compares them.
_STATUS = {
    1: (ArgumentError, "argument", 2, "22023"),
    2: (QuerySyntaxError, "syntax", 2, "42601"),
    3: (UnknownNameError, "unknown", 2, "42704"),
    4: (RangeError, "overflow", 2, "22003"),
    5: (BudgetError, "budget", 3, "BR001"),
    6: (PolicyError, "policy", 3, "BR002"),
    7: (HaltedError, "halted", 3, "BR003"),
    8: (UnsupportedError, "unsupported", 4, "0A000"),
    9: (RandomError, "random", 5, "BR004"),
    10: (OutOfMemoryError, "memory", 5, "53200"),
    11: (DiskError, "disk", 5, "58030"),
    12: (CancelledError, "cancelled", 5, "57014"),
    13: (SourceError, "source", 6, "BR005"),
    14: (EngineError, "engine", 6, "BR006"),
    15: (DamagedError, "damaged", 6, "BR007"),
    16: (InternalError, "internal", 70, "XX000"),
}

_BY_CODE: Dict[str, Type[BrumeError]] = {}
for _class, _word, _exit, _state in _STATUS.values():
    _class.code, _class.exit_code, _class.sqlstate = _word, _exit, _state
    _BY_CODE[_word] = _class


def error_of_status(status: int, message: str, hint: str) -> BrumeError:
    """The exception of a status of the C library."""
    return _STATUS.get(status, _STATUS[16])[0](message, hint)


def error_of_code(code: str, message: str, hint: str = "") -> BrumeError:
    """The exception of an error object in JSON: {"code","message","hint"}."""
    return _BY_CODE.get(code, InternalError)(message, hint)
