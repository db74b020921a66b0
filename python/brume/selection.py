"""Choosing one of several candidates privately, and streams of questions about a threshold."""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, List, NoReturn, Optional, Tuple

import numpy as np

from ._cards import with_card
from ._library import bits, call, library
from ._numbers import at_least, at_most, whole
from .errors import ArgumentError

__all__ = ["exponential", "permute_and_flip", "noisy_max", "above_threshold", "SparseVector"]

_ADJACENCY = {"add-remove": 1, "replace": 2}


def adjacency_of(word: str) -> int:
    try:
        return _ADJACENCY[word]
    except KeyError:
        raise ValueError(f"adjacency is 'add-remove' or 'replace', not {word!r}") from None


class _Selection(ctypes.Structure):
    _fields_ = [
        ("adjacency", ctypes.c_int),
        ("epsilon", ctypes.c_double),
        ("sensitivity", ctypes.c_double),
        ("monotone", ctypes.c_bool),
    ]


_DOUBLE = ctypes.POINTER(ctypes.c_double)
_tail: List[Any] = [ctypes.POINTER(_Selection), _DOUBLE, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t),
         ctypes.c_void_p]
library.brume_exponential_choose.argtypes = [ctypes.c_void_p, *_tail]
library.brume_permute_and_flip_choose.argtypes = [ctypes.c_void_p, *_tail]
library.brume_noisy_max_choose.argtypes = [ctypes.c_void_p, ctypes.c_int, *_tail]


def _choose(function: Any, first: Tuple[Any, ...], scores: Any, epsilon: float, sensitivity: float,
            monotone: bool, adjacency: str) -> int:
    array = np.ascontiguousarray(scores, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError("scores are a list of at least one number")
    options = _Selection(adjacency_of(adjacency), at_most(epsilon), at_least(sensitivity), bool(monotone))
    index = ctypes.c_size_t()
    call(function, bits(), *first, ctypes.byref(options), array.ctypes.data_as(_DOUBLE), array.size,
         ctypes.byref(index))
    return index.value


@with_card("exponential")
def exponential(scores: Any, epsilon: float, *, sensitivity: float = 1.0, monotone: bool = False,
                adjacency: str = "add-remove") -> int:
    """The index of a candidate, by the exponential mechanism. Pure epsilon."""
    return _choose(library.brume_exponential_choose, (), scores, epsilon, sensitivity, monotone,
                   adjacency)


@with_card("permute_and_flip")
def permute_and_flip(scores: Any, epsilon: float, *, sensitivity: float = 1.0,
                     monotone: bool = False, adjacency: str = "add-remove") -> int:
    """The same by permute-and-flip, which is never less accurate."""
    return _choose(library.brume_permute_and_flip_choose, (), scores, epsilon, sensitivity, monotone,
                   adjacency)


@with_card("noisy_max")
def noisy_max(scores: Any, epsilon: float, *, sensitivity: float = 1.0, monotone: bool = False,
              adjacency: str = "add-remove") -> int:
    """The same by report noisy max with Laplace noise."""
    return _choose(library.brume_noisy_max_choose, (3,), scores, epsilon, sensitivity, monotone,
                   adjacency)


_MOST = 2**61  # what a stream clamps values to


class _SparseOptions(ctypes.Structure):
    _fields_ = [
        ("adjacency", ctypes.c_int),
        ("sensitivity", ctypes.c_uint64),
        ("threshold", ctypes.c_int64),
        ("epsilon", ctypes.c_double),
        ("hits", ctypes.c_uint64),
        ("epsilon_answers", ctypes.c_double),
        ("monotone", ctypes.c_bool),
        ("even_split", ctypes.c_bool),
    ]


library.brume_sparse_vector_open.argtypes = [
    ctypes.POINTER(_SparseOptions), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
]
library.brume_sparse_vector_close.argtypes = [ctypes.c_void_p]
library.brume_sparse_vector_close.restype = None
library.brume_sparse_vector_ask.argtypes = [
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_bool),
    ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p,
]
library.brume_sparse_vector_left.argtypes = [ctypes.c_void_p]
library.brume_sparse_vector_left.restype = ctypes.c_uint64


@with_card("sparse_vector")
class SparseVector:
    """A stream of questions: which are above the threshold? It halts after ``hits`` of them.

    Pure ``epsilon + epsilon_answers`` for the whole stream, however many questions are asked.
    ``ask(value)`` gives True or False, or, with ``epsilon_answers``, a noisy number instead of True.
    After the last hit it raises :class:`brume.HaltedError`. Values, threshold and sensitivity are whole
    numbers: scale reals to a grid first. Threads may share a stream; a forked process may not, for the
    noise of the threshold is paid for once.
    """

    def __init__(self, threshold: int, epsilon: float, *, hits: int = 1, sensitivity: int = 1,
                 epsilon_answers: float = 0.0, monotone: bool = False, even_split: bool = False,
                 adjacency: str = "add-remove") -> None:
        self._handle: Optional[ctypes.c_void_p] = None
        options = _SparseOptions(
            adjacency_of(adjacency), whole(sensitivity, "sensitivity", 1, 2**40),
            whole(threshold, "threshold", -_MOST, _MOST), at_most(epsilon), whole(hits, "hits", 1, 2**31),
            at_most(epsilon_answers), bool(monotone), bool(even_split))
        opened = ctypes.c_void_p()
        call(library.brume_sparse_vector_open, ctypes.byref(options), bits(), ctypes.byref(opened))
        self._handle = opened
        self._process = os.getpid()
        self._one_at_a_time = threading.Lock()
        self._has_answers = epsilon_answers > 0

    def ask(self, value: int) -> Any:
        """Ask whether ``value``, the true answer of a question, is above the threshold."""
        asked = max(-_MOST, min(_MOST, whole(value, "value")))  # as C clamps it
        above, answer = ctypes.c_bool(), ctypes.c_int64()
        if os.getpid() != self._process:
            raise ArgumentError("the stream was opened before a fork", "open and pay for another one here")
        with self._one_at_a_time:
            if self._handle is None:
                raise ValueError("the stream is closed")
            call(library.brume_sparse_vector_ask, self._handle, bits(), asked, ctypes.byref(above),
                 ctypes.byref(answer))
        return answer.value if above.value and self._has_answers else above.value

    @property
    def hits_left(self) -> int:
        """How many hits are left; 0 once it has halted."""
        with self._one_at_a_time:
            return 0 if self._handle is None else int(library.brume_sparse_vector_left(self._handle))

    def close(self) -> None:
        """Forget the noise. A closed stream cannot be asked."""
        if os.getpid() != self._process:  # a thread that is not in this process may hold the lock
            self._handle = None
            return
        with self._one_at_a_time:
            handle, self._handle = self._handle, None
        if handle is not None:
            library.brume_sparse_vector_close(handle)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a stream cannot be copied: its noise is paid for once")

    def __enter__(self) -> "SparseVector":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()


@with_card("above_threshold")
def above_threshold(threshold: int, epsilon: float, *, sensitivity: int = 1, monotone: bool = False,
                    adjacency: str = "add-remove") -> SparseVector:
    """A stream that halts at the first value above the threshold: a :class:`SparseVector` of one hit, with
    half of epsilon for the threshold."""
    return SparseVector(threshold, epsilon, sensitivity=sensitivity, monotone=monotone, even_split=True,
                        adjacency=adjacency)
