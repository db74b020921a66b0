"""Exact noise on numpy arrays, without copies.

``int64`` and ``float64`` arrays that are contiguous are read and written in place by the C library;
other whole numbers are converted first. ``out=`` takes an array to write to, also the input itself.
There is no seed: every draw is secure. The GIL is released while noise is drawn.

An array of reals that holds NaN or an infinity is refused. Clamp the values first: an error that
depends on data is an answer that nobody paid for.
"""

from __future__ import annotations

import ctypes
from typing import Any, Optional

import numpy as np

from ._cards import with_card
from ._library import bits, call, library
from ._numbers import at_least, at_most, whole

__all__ = [
    "laplace",
    "discrete_laplace",
    "gaussian",
    "discrete_gaussian",
    "randomized_response",
    "randomized_response_estimate",
    "Share",
]

_INT64 = ctypes.POINTER(ctypes.c_int64)
_DOUBLE = ctypes.POINTER(ctypes.c_double)
_BYTE = ctypes.POINTER(ctypes.c_uint8)

for _name in ("laplace", "gaussian", "discrete_laplace", "discrete_gaussian"):
    getattr(library, f"brume_{_name}_add").argtypes = [
        ctypes.c_void_p, ctypes.c_double, _INT64, _INT64, ctypes.c_size_t, ctypes.c_void_p,
    ]
for _name in ("laplace", "gaussian"):
    getattr(library, f"brume_release_{_name}").argtypes = [
        ctypes.c_void_p, ctypes.c_double, ctypes.c_int, _DOUBLE, _DOUBLE, ctypes.c_size_t,
        ctypes.c_void_p,
    ]
library.brume_release_exponent.argtypes = [
    ctypes.c_double, ctypes.POINTER(ctypes.c_int), ctypes.c_void_p,
]
library.brume_randomized_response.argtypes = [
    ctypes.c_void_p, ctypes.c_double, ctypes.c_uint, _BYTE, _BYTE, ctypes.c_size_t, ctypes.c_void_p,
]


def _for_c(array: Any, kind: Any) -> np.ndarray:
    """The array as C takes it: itself where it is contiguous and aligned already, else a copy."""
    made: np.ndarray = np.require(array, kind, ["C_CONTIGUOUS", "ALIGNED"])
    return made


def _integers(values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind == "b" or (array.dtype.kind in "iu" and array.dtype != np.uint64):
        return _for_c(array, np.int64)
    raise TypeError(
        f"whole numbers are needed, not {array.dtype}: convert with .astype('int64') where that is exact"
    )


def _target(source: np.ndarray, out: Optional[np.ndarray]) -> np.ndarray:
    if out is None:
        return np.empty_like(source)
    if not isinstance(out, np.ndarray) or out.dtype != source.dtype or out.shape != source.shape:
        raise TypeError(f"'out' must be a {source.dtype} array of shape {source.shape}")
    if not out.flags.carray:
        raise ValueError("'out' must be contiguous, aligned and writeable")
    if out.ctypes.data != source.ctypes.data and np.may_share_memory(out, source):
        raise ValueError("'out' overlaps the values: give the same array, or another one")
    return out


def _scalar(result: np.ndarray, values: Any) -> Any:
    return result[()] if np.ndim(values) == 0 else result


def _add_integers(name: str, values: Any, spread: float, out: Optional[np.ndarray]) -> Any:
    source = _integers(values)
    target = _target(source, out)
    call(getattr(library, f"brume_{name}_add"), bits(), at_least(spread),
         source.ctypes.data_as(_INT64), target.ctypes.data_as(_INT64), source.size)
    return _scalar(target, values)


def _add_reals(name: str, values: Any, spread: float, exponent: Optional[int],
               out: Optional[np.ndarray]) -> Any:
    source = _for_c(values, np.float64)
    target = _target(source, out)
    if exponent is None:
        found = ctypes.c_int()
        call(library.brume_release_exponent, at_least(spread), ctypes.byref(found))
        exponent = found.value
    call(getattr(library, f"brume_release_{name}"), bits(), at_least(spread), whole(exponent, "exponent", -1074, 900),
         source.ctypes.data_as(_DOUBLE), target.ctypes.data_as(_DOUBLE), source.size)
    return _scalar(target, values)


def _is_real(values: Any) -> bool:
    return bool(np.asarray(values).dtype.kind == "f")


@with_card("laplace")
def laplace(values: Any, scale: float, *, exponent: Optional[int] = None,
            out: Optional[np.ndarray] = None) -> Any:
    """Values plus continuous Laplace noise, rounded once: pure epsilon = L1 sensitivity / scale.

    Whole numbers give whole numbers. Reals are rounded to multiples of ``2**exponent``, which is
    chosen from the scale alone unless it is given.
    """
    if _is_real(values):
        return _add_reals("laplace", values, scale, exponent, out)
    return _add_integers("laplace", values, scale, out)


@with_card("gaussian")
def gaussian(values: Any, sigma: float, *, exponent: Optional[int] = None,
             out: Optional[np.ndarray] = None) -> Any:
    """Values plus continuous Gaussian noise, rounded once: rho = (L2 sensitivity / sigma)**2 / 2."""
    if _is_real(values):
        return _add_reals("gaussian", values, sigma, exponent, out)
    return _add_integers("gaussian", values, sigma, out)


@with_card("discrete_laplace")
def discrete_laplace(values: Any, scale: float, *, out: Optional[np.ndarray] = None) -> Any:
    """Whole numbers plus discrete Laplace noise: pure epsilon = L1 sensitivity / scale."""
    return _add_integers("discrete_laplace", values, scale, out)


@with_card("discrete_gaussian")
def discrete_gaussian(values: Any, sigma: float, *, out: Optional[np.ndarray] = None) -> Any:
    """Whole numbers plus discrete Gaussian noise: rho = (L2 sensitivity / sigma)**2 / 2."""
    return _add_integers("discrete_gaussian", values, sigma, out)


@with_card("randomized_response")
def randomized_response(truth: Any, epsilon: float, k: int = 2, *,
                        out: Optional[np.ndarray] = None) -> Any:
    """Each person's answer in 0 .. k-1, kept with probability e^epsilon/(e^epsilon + k - 1).

    ``truth`` is an array of ``uint8`` or of booleans; the result is of ``uint8``.
    """
    array = np.asarray(truth)
    if array.dtype.kind not in "biu":
        raise TypeError(f"answers are whole numbers from 0 to k-1, not {array.dtype}")
    if array.size and (array.min() < 0 or array.max() > 255):
        raise ValueError("answers are whole numbers from 0 to k-1, and k is at most 256")
    source = _for_c(array, np.uint8)
    target = _target(source, out)
    call(library.brume_randomized_response, bits(), at_most(epsilon), whole(k, "k", 2, 256),
         source.ctypes.data_as(_BYTE), target.ctypes.data_as(_BYTE), source.size)
    return _scalar(target, truth)


class Share(ctypes.Structure):
    """An estimated share: ``estimate``, ``lower``, ``upper``, ``standard_deviation``."""

    _fields_ = [
        ("estimate", ctypes.c_double),
        ("lower", ctypes.c_double),
        ("upper", ctypes.c_double),
        ("standard_deviation", ctypes.c_double),
    ]

    def __repr__(self) -> str:
        return f"Share({self.estimate:.6g}, between {self.lower:.6g} and {self.upper:.6g})"


library.brume_randomized_response_estimate.argtypes = [
    ctypes.c_double, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_double,
    ctypes.c_uint64, ctypes.POINTER(Share), ctypes.c_void_p,
]


def randomized_response_estimate(answered: int, n: int, epsilon: float, k: int = 2, *,
                                 beta: float = 0.05, shares: int = 1) -> Share:
    """The share of people whose truth is one given answer, when ``answered`` of ``n`` gave it."""
    share = Share()
    most = 2**63 - 1
    call(library.brume_randomized_response_estimate, float(epsilon), whole(k, "k", 2, most),
         whole(answered, "answered", 0, most), whole(n, "n", 1, most), float(beta),
         whole(shares, "shares", 1, most), ctypes.byref(share))
    return share
