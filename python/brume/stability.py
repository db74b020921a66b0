"""Mechanisms that look at how stable the data is: private keys, tests of a distance, smooth sensitivity.

Counts are ``int64`` arrays that are read and written in place; statistics are whole numbers of steps of
a public grid. Distances and sensitivities are yours to compute: each docstring says what must hold for
them, and the guarantee rests on it.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Optional

import numpy as np

from ._cards import with_card
from ._library import bits, call, library
from ._numbers import at_least, at_most, whole
from .noise import _BYTE, _INT64, _integers, _target
from .selection import adjacency_of

__all__ = ["Histogram", "stable_histogram", "select_keys", "stable_release", "propose_test_release",
           "SensitivityRelease", "private_sensitivity", "SmoothPlan", "smooth_laplace", "smooth_cauchy",
           "smooth_student", "smooth_lln"]

_MOST = 2**63 - 1
_NEVER = 2**64 - 1  # a distance: there is no such data
_pointer = ctypes.c_void_p
_double = ctypes.c_double
_int64 = ctypes.c_int64
_uint64 = ctypes.c_uint64


# --- keys that are private ------------------------------------------------------------------------

class _Rule(ctypes.Structure):
    _fields_ = [("noise", ctypes.c_int), ("epsilon", _double), ("delta", _double), ("keys_per_unit", _uint64),
                ("amount_per_key", _uint64), ("adjacency", ctypes.c_int)]


class _Plan(ctypes.Structure):
    _fields_ = [("rule", _Rule), ("scale", _double), ("threshold", _int64), ("delta_upper", _double)]


_HISTOGRAM_NOISES = {"discrete_laplace": 1, "laplace": 2, "gaussian": 3}
library.brume_histogram_plan_make.argtypes = [ctypes.POINTER(_Rule), ctypes.POINTER(_Plan), _pointer]
library.brume_histogram_release.argtypes = [
    ctypes.POINTER(_Plan), _pointer, _INT64, _INT64, _BYTE, ctypes.c_size_t, _pointer]
library.brume_key_selection_open.argtypes = [
    _double, _double, _uint64, ctypes.c_int, ctypes.POINTER(_pointer), _pointer]
library.brume_key_selection_close.argtypes = [_pointer]
library.brume_key_selection_close.restype = None
library.brume_key_selection_draw.argtypes = [_pointer, _pointer, _INT64, _BYTE, ctypes.c_size_t, _pointer]


class Histogram(NamedTuple):
    """Noisy ``counts``, 0 where ``shown`` is False; ``threshold`` and the noise's ``scale`` are public."""

    counts: Any
    shown: Any
    threshold: int
    scale: float


@with_card("stable_histogram")
def stable_histogram(counts: Any, epsilon: float, delta: float, *, keys_per_unit: int = 1, amount_per_key: int = 1,
                     noise: str = "discrete_laplace", adjacency: str = "add-remove",
                     out: Optional[np.ndarray] = None) -> Histogram:
    """Noisy counts of keys that are themselves private: those are shown whose noisy count reaches a threshold.

    One unit counts for at most ``keys_per_unit`` keys, at most ``amount_per_key`` in each. A count of 0
    is a key that does not occur, and is never shown. Show keys in an order that does not depend on the
    data's: sorted. ``noise`` is discrete_laplace, laplace or gaussian.
    """
    if noise not in _HISTOGRAM_NOISES:
        raise ValueError(f"'noise' is one of {', '.join(_HISTOGRAM_NOISES)}, not {noise!r}")
    rule = _Rule(_HISTOGRAM_NOISES[noise], at_most(epsilon), at_most(delta),
                 whole(keys_per_unit, "keys_per_unit", 1, 2**20), whole(amount_per_key, "amount_per_key", 1, 2**30),
                 adjacency_of(adjacency))
    plan = _Plan()
    call(library.brume_histogram_plan_make, ctypes.byref(rule), ctypes.byref(plan))
    source = _integers(counts)
    target, keep = _target(source, out), np.empty(source.shape, dtype=np.uint8)
    call(library.brume_histogram_release, ctypes.byref(plan), bits(), source.ctypes.data_as(_INT64),
         target.ctypes.data_as(_INT64), keep.ctypes.data_as(_BYTE), source.size)
    return Histogram(target, keep.view(np.bool_), plan.threshold, plan.scale)


def select_keys(units: Any, epsilon: float, delta: float, *, keys_per_unit: int = 1,
                adjacency: str = "add-remove") -> Any:
    """Which keys to show, without counts, from how many units have each: an array of booleans.

    The largest probabilities that are (epsilon, delta)-DP for at most ``keys_per_unit`` keys a unit. A key
    with 0 units is never shown.
    """
    source = _integers(units)
    keep = np.empty(source.shape, dtype=np.uint8)
    selection = ctypes.c_void_p()
    call(library.brume_key_selection_open, at_most(epsilon), at_most(delta),
         whole(keys_per_unit, "keys_per_unit", 1, _MOST), adjacency_of(adjacency), ctypes.byref(selection))
    try:
        call(library.brume_key_selection_draw, selection, bits(), source.ctypes.data_as(_INT64),
             keep.ctypes.data_as(_BYTE), source.size)
    finally:
        library.brume_key_selection_close(selection)
    return keep.view(np.bool_)


# --- tests of a distance --------------------------------------------------------------------------

_DISTANCE = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _uint64, ctypes.POINTER(_uint64), _pointer)
_VALUE = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, ctypes.POINTER(_int64), _pointer)


class _Tested(ctypes.Structure):
    _fields_ = [("context", _pointer), ("distance", _DISTANCE), ("value", _VALUE)]


class _Proposal(ctypes.Structure):
    _fields_ = [("epsilon_test", _double), ("epsilon_release", _double), ("delta", _double), ("bound", _uint64)]


class _SensitivityPlan(ctypes.Structure):
    _fields_ = [("epsilon_sensitivity", _double), ("epsilon_release", _double), ("delta", _double), ("most", _uint64)]


library.brume_stable_release.argtypes = [
    _double, _double, _pointer, _uint64, ctypes.POINTER(ctypes.c_bool), _pointer]
library.brume_propose_test_release.argtypes = [
    ctypes.POINTER(_Proposal), ctypes.POINTER(_Tested), _pointer, ctypes.POINTER(ctypes.c_bool),
    ctypes.POINTER(_int64), _pointer]
library.brume_release_by_sensitivity.argtypes = [
    ctypes.POINTER(_SensitivityPlan), _pointer, _uint64, _int64, ctypes.POINTER(_uint64),
    ctypes.POINTER(_int64), _pointer]


def _steps(value: int) -> int:
    """A value of the data: clamped, for an error that depends on data would be an answer."""
    return max(-_MOST, min(_MOST, whole(value, "value")))


def _distance(distance: Optional[int]) -> int:
    return _NEVER if distance is None else whole(distance, "distance", 0, _NEVER)


@with_card("stable_release")
def stable_release(distance: Optional[int], epsilon: float, delta: float) -> bool:
    """May the answer be shown as it is? (epsilon, delta)-DP if it is shown only where this is True.

    ``distance`` is the least number of changes of the data that gives another answer, less one (None:
    there is none), or a surrogate that changes by at most 1 between neighbours and is 0 where a neighbour
    answers otherwise.
    """
    released = ctypes.c_bool()
    call(library.brume_stable_release, at_most(epsilon), at_most(delta), bits(), _distance(distance),
         ctypes.byref(released))
    return released.value


@with_card("propose_test_release")
def propose_test_release(value: int, distance: Optional[int], bound: int, *, epsilon_test: float,
                         epsilon_release: float, delta: float) -> Optional[int]:
    """The value with noise for a proposed ``bound`` on its local sensitivity; None where the test fails.

    ``distance`` is that to data whose local sensitivity is above the bound (None: there is none); it is 0
    there and changes by at most 1 between neighbours. The bound is chosen without the data.
    (epsilon_test + epsilon_release, delta)-DP.
    """
    steps, far = _steps(value), _distance(distance)

    def tell_distance(_: Any, __: int, out: Any, ___: Any) -> int:
        out[0] = far
        return 0

    def tell_value(_: Any, out: Any, __: Any) -> int:
        out[0] = steps
        return 0

    proposal = _Proposal(at_most(epsilon_test), at_most(epsilon_release), at_most(delta),
                         whole(bound, "bound", 0, _MOST))
    tested = _Tested(None, _DISTANCE(tell_distance), _VALUE(tell_value))
    released, found = ctypes.c_bool(), ctypes.c_int64()
    call(library.brume_propose_test_release, ctypes.byref(proposal), ctypes.byref(tested), bits(),
         ctypes.byref(released), ctypes.byref(found))
    return found.value if released.value else None


class SensitivityRelease(NamedTuple):
    """A noisy ``value``, and the private ``bound`` on the sensitivity that its noise was scaled to."""

    value: int
    bound: int


@with_card("private_sensitivity")
def private_sensitivity(value: int, local: int, most: int, *, epsilon_sensitivity: float, epsilon_release: float,
                        delta: float) -> SensitivityRelease:
    """The value with noise scaled to a privately released local sensitivity.

    ``local`` is the local sensitivity, which must itself change by at most 1 between neighbours; ``most``
    is the global one. (epsilon_sensitivity + epsilon_release, delta)-DP for both numbers together.
    """
    plan = _SensitivityPlan(at_most(epsilon_sensitivity), at_most(epsilon_release), at_most(delta),
                            whole(most, "most", 0, _MOST))
    bound, found = ctypes.c_uint64(), ctypes.c_int64()
    call(library.brume_release_by_sensitivity, ctypes.byref(plan), bits(), whole(local, "local", 0, _MOST),
         _steps(value), ctypes.byref(bound), ctypes.byref(found))
    return SensitivityRelease(found.value, bound.value)


# --- smooth sensitivity ---------------------------------------------------------------------------

class _SmoothPlan(ctypes.Structure):
    _fields_ = [("law", ctypes.c_int), ("s", _double), ("t", _double), ("shape", _double), ("epsilon", _double),
                ("delta", _double), ("rho", _double)]


_plan = ctypes.POINTER(_SmoothPlan)
library.brume_smooth_plan_laplace.argtypes = [_double, _double, _double, _plan, _pointer]
library.brume_smooth_plan_cauchy.argtypes = [_double, _double, _plan, _pointer]
library.brume_smooth_plan_student.argtypes = [_double, _uint64, _double, _plan, _pointer]
library.brume_smooth_plan_log_normal.argtypes = [_double, _double, _plan, _pointer]
library.brume_smooth_release.argtypes = [_plan, _pointer, _int64, _double, _double, ctypes.POINTER(_int64), _pointer]


class SmoothPlan:
    """Noise for a smooth bound on the local sensitivity: ``value + (smooth/s) Z``, rounded.

    ``t`` says how smooth the bound must be: at least the local sensitivity, and at most e**t times the
    bound of a neighbour. ``epsilon``, ``delta`` and ``rho`` are what a release costs.
    """

    def __init__(self, plan: _SmoothPlan) -> None:
        self._plan = plan
        self.s: float = plan.s
        self.t: float = plan.t
        self.epsilon: float = plan.epsilon
        self.delta: float = plan.delta
        self.rho: float = plan.rho

    def release(self, value: int, smooth: float, most: float) -> int:
        """The value with noise, in steps of a public grid. ``smooth`` is the secret bound in steps, ``most``
        a public bound on it, which alone decides whether the noise can be drawn."""
        found = ctypes.c_int64()
        call(library.brume_smooth_release, ctypes.byref(self._plan), bits(), _steps(value), at_least(smooth),
             at_least(most), ctypes.byref(found))
        return found.value

    def __repr__(self) -> str:
        costs = ", ".join(f"{name}={getattr(self, name):g}" for name in ("epsilon", "delta", "rho")
                          if getattr(self, name))
        return f"<smooth noise, s={self.s:g}, t={self.t:g}; {costs}>"


def _made(function: Any, *numbers: Any) -> SmoothPlan:
    plan = _SmoothPlan()
    call(function, *numbers, ctypes.byref(plan))
    return SmoothPlan(plan)


@with_card("smooth_laplace")
def smooth_laplace(epsilon: float, delta: float, *, t: float = 0.0) -> SmoothPlan:
    """A plan with Laplace noise: (epsilon, delta)-DP. A ``t`` of 0 is the standard one."""
    return _made(library.brume_smooth_plan_laplace, at_most(epsilon), at_most(delta), float(t))


@with_card("smooth_cauchy")
def smooth_cauchy(epsilon: float, *, t: float = 0.0) -> SmoothPlan:
    """A plan with Cauchy noise: pure epsilon, no mean. A ``t`` of 0 is the standard one."""
    return _made(library.brume_smooth_plan_cauchy, at_most(epsilon), float(t))


@with_card("smooth_student")
def smooth_student(epsilon: float, degrees: int = 3, *, t: float = 0.0) -> SmoothPlan:
    """A plan with Student's noise: pure epsilon, moments below ``degrees``. A ``t`` of 0 is the standard one."""
    return _made(library.brume_smooth_plan_student, at_most(epsilon), whole(degrees, "degrees", 1, 1000), float(t))


@with_card("smooth_lln")
def smooth_lln(rho: float, *, t: float = 0.0) -> SmoothPlan:
    """A plan with Laplace times log-normal noise: rho, all moments. A ``t`` of 0 is the standard one."""
    return _made(library.brume_smooth_plan_log_normal, at_most(rho), float(t))
