"""Numbers on their way to the C library: exact, or rounded in the direction that protects.

A price goes to a ledger as a text, so that a ``Decimal`` is charged as it was written. What the C
library takes as a double is rounded towards less privacy loss: the scale of noise up, an epsilon down.

Python reads and writes floats wrongly where a program has changed the processor's rounding mode
(``float("0.1")`` is then below 0.1): here it is set to nearest meanwhile.
"""

from __future__ import annotations

import ctypes
import decimal
import fractions
import functools
import json
import math
import numbers
import operator
import os
from typing import Any, Callable, Dict, TypeVar, cast

from .errors import ArgumentError

__all__ = ["at_least", "at_most", "decode", "encode", "typed", "whole"]

_NEAREST = 0  # FE_TONEAREST
Function = TypeVar("Function", bound=Callable[..., Any])


def _mode_functions() -> Any:
    try:
        return ctypes.CDLL("libm.so.6")
    except OSError:
        return ctypes.CDLL(None)


_modes = _mode_functions()


def _rounding_to_nearest(function: Function) -> Function:
    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        mode = _modes.fegetround()
        if mode == _NEAREST:
            return function(*arguments)
        _modes.fesetround(_NEAREST)
        try:
            return function(*arguments)
        finally:
            _modes.fesetround(mode)

    return cast(Function, run)


_EXACT = decimal.Context(prec=400, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[decimal.Inexact])


def _decimal_text(number: Any) -> str:
    """A Decimal or a Fraction, digit by digit as it is; refused where there are infinitely many."""
    if isinstance(number, decimal.Decimal):
        if not number.is_finite():
            raise ArgumentError("a number of the options is not finite")
        return str(number)
    try:
        return str(_EXACT.divide(decimal.Decimal(number.numerator), decimal.Decimal(number.denominator)))
    except decimal.Inexact:
        raise ArgumentError(f"{number} is not a finite decimal", "give a Decimal, rounded as you want it") from None


def _option(value: Any) -> Any:
    """What JSON does not know, as JSON."""
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        return _decimal_text(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if type(value).__name__ in ("bool", "bool_") and hasattr(value, "item"):  # numpy's
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    raise TypeError(f"an option is a text, a number, a list or a dict, not {type(value).__name__}")


@_rounding_to_nearest
def encode(options: Dict[str, Any]) -> bytes:
    """The options of a call as JSON."""
    try:
        return json.dumps(options, allow_nan=False, default=_option).encode()
    except ArgumentError:
        raise
    except ValueError:
        raise ArgumentError("a number of the options is not finite") from None


@_rounding_to_nearest
def decode(text: bytes) -> Any:
    """JSON that the library has written."""
    return json.loads(text)


@_rounding_to_nearest
def typed(number: Any) -> str:
    """A number as it would be typed: a Decimal as it is, a float as the shortest text that reads back."""
    if isinstance(number, (decimal.Decimal, fractions.Fraction)):
        return _decimal_text(number)
    return repr(float(number))


@_rounding_to_nearest
def _rounded(number: Any, towards: float) -> float:
    if isinstance(number, (str, bytes)):
        raise TypeError(f"a number is needed, not {type(number).__name__}")
    nearest = float(number)
    if isinstance(number, float) or not math.isfinite(nearest):
        return nearest
    if isinstance(number, numbers.Integral):
        number = int(number)
    if not hasattr(number, "as_integer_ratio"):  # an array without dimensions
        return nearest
    wanted, found = fractions.Fraction(*number.as_integer_ratio()), fractions.Fraction(nearest)
    if found == wanted or (found > wanted) == (towards > 0):
        return nearest
    return math.nextafter(nearest, towards)


def at_least(number: Any) -> float:
    """The least double that is not below the number: for the spread of noise, and for sensitivities."""
    return _rounded(number, math.inf)


def at_most(number: Any) -> float:
    """The greatest double that is not above the number: for an epsilon."""
    return _rounded(number, -math.inf)


def whole(number: Any, name: str, low: float = -math.inf, high: float = math.inf) -> int:
    """A whole number of a range. Nothing is rounded, cut off or taken modulo 2**64 on its way to C: a
    sensitivity of 1.9 that became 1 would be a wrong claim."""
    try:
        value = operator.index(number)
    except TypeError:
        raise TypeError(f"'{name}' is a whole number, not {type(number).__name__}") from None
    if not low <= value <= high:
        raise ArgumentError(f"'{name}' must be from {low} to {high}")
    return value
