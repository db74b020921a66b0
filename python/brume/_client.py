"""Sessions of libbrume-sql: include/brume/session.h in Python.

A call from the main thread runs in a thread of its own, so that Ctrl-C is seen: it cancels the call,
waits for its end, and is raised then. Calls of other threads run where they are.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import ctypes
import os
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._library import ErrorRecord, call, find_duckdb, open_sql_library
from ._numbers import decode, encode
from .errors import ArgumentError

Progress = Callable[[Optional[str], int, int], None]

_sql = open_sql_library()
_pointer = ctypes.c_void_p
_text = ctypes.c_char_p
_answer = ctypes.POINTER(ctypes.c_void_p)
_TELL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64)

_sql.brume_session_open.argtypes = [_text, _text, ctypes.POINTER(_pointer), _pointer]
_sql.brume_session_close.argtypes = [_pointer]
_sql.brume_session_close.restype = None
_sql.brume_session_cancel.argtypes = [_pointer]
_sql.brume_session_cancel.restype = None
_sql.brume_session_explain.argtypes = [_pointer, _text, _text, _answer, _pointer]
_sql.brume_session_query.argtypes = [_pointer, _text, _text, _pointer, _answer, _pointer]
_sql.brume_session_call.argtypes = [_pointer, _text, _text, _answer, _pointer]
_sql.brume_session_stream_open.argtypes = [_pointer, _text, _text, _pointer]
_sql.brume_session_stream_ask.argtypes = [
    _pointer, _text, _answer, ctypes.POINTER(ctypes.c_bool), _pointer,
]
_sql.brume_session_stream_close.argtypes = [_pointer, _pointer]
_sql.brume_session_on_progress.argtypes = [_pointer, _TELL, _pointer]
_sql.brume_session_on_progress.restype = None
_sql.brume_free.argtypes = [_pointer]
_sql.brume_free.restype = None


_sql.brume_session_load_duckdb.argtypes = [_text, _pointer]
_duckdb_lock = threading.Lock()
_duckdb_is_loaded = False


def _load_duckdb() -> None:
    """Once for the process, when a ledger is first opened: noise and accounts do not need it."""
    global _duckdb_is_loaded
    with _duckdb_lock:
        path = None if _duckdb_is_loaded else find_duckdb()
        if path is not None:
            call(_sql.brume_session_load_duckdb, os.fsencode(path))
        _duckdb_is_loaded = True


class ArrowStream(ctypes.Structure):
    """struct ArrowArrayStream: rows that are released with this object unless they were taken."""

    _fields_ = [
        ("get_schema", _pointer),
        ("get_next", _pointer),
        ("get_last_error", _pointer),
        ("release", ctypes.CFUNCTYPE(None, _pointer)),
        ("private_data", _pointer),
    ]

    def __del__(self) -> None:
        if self.release:
            self.release(ctypes.addressof(self))


def _sql_text(text: Any) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"SQL is a text, not {type(text).__name__}")
    if "\0" in text:
        raise ArgumentError("the text has a NUL character")
    return text.encode()


def _take_text(answer: ctypes.c_void_p) -> bytes:
    try:
        return ctypes.string_at(answer.value or 0)
    finally:
        _sql.brume_free(answer)


def _take(answer: ctypes.c_void_p) -> Dict[str, Any]:
    read: Dict[str, Any] = decode(_take_text(answer))
    return read


class Session:
    """One session: used by one thread at a time."""

    def __init__(self, ledger: Optional[str], options: Dict[str, Any],
                 progress: Optional[Progress] = None, *, with_engine: bool = True) -> None:
        self._handle: Optional[ctypes.c_void_p] = None
        self._callers: List[int] = []  # threads that use the handle, which is freed when there are none
        self._changes = threading.Condition(threading.RLock())
        self._worker: Optional[concurrent.futures.ThreadPoolExecutor] = None
        if with_engine:
            _load_duckdb()
        handle = ctypes.c_void_p()
        path = None if ledger is None else os.fsencode(ledger)
        if path is not None and b"\0" in path:
            raise ArgumentError("the ledger's name has a NUL character")
        call(_sql.brume_session_open, path, encode(options), ctypes.byref(handle))
        self._handle = handle
        self._process = os.getpid()
        _open_sessions.add(self)
        self.place = os.fsdecode(ledger if ledger is not None else os.environ.get("BRUME_LEDGER") or "brume.db")
        self._tell: Any = None
        if progress is not None:
            self.on_progress(progress)

    def _open(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise ArgumentError("the connection is closed", "open another with brume.connect")
        if os.getpid() != self._process:
            raise ArgumentError("the connection was opened before a fork",
                                "open another with brume.connect in this process")
        return self._handle

    def _call(self, function: Any, *arguments: Any) -> None:
        """Call with the handle, which another thread that closes does not free meanwhile."""
        with self._changes:
            handle, caller = self._open(), threading.get_ident()
            self._callers.append(caller)
        try:
            call(function, handle, *arguments)
        finally:
            with self._changes:
                self._callers.remove(caller)
                if self._handle is None:  # somebody waits to free it
                    self._changes.notify_all()

    def _run(self, function: Any, *arguments: Any) -> None:
        """Call, so that Ctrl-C in the main thread cancels."""
        self._open()
        if threading.current_thread() is not threading.main_thread():
            self._call(function, *arguments)
            return
        if self._worker is None:
            self._worker = concurrent.futures.ThreadPoolExecutor(1, "brume")
        try:
            future = self._worker.submit(self._call, function, *arguments)
        except RuntimeError:  # the interpreter is ending, and starts nothing any more
            self._call(function, *arguments)
            return
        try:
            future.result()
        except KeyboardInterrupt:
            self.cancel()
            concurrent.futures.wait([future])
            raise

    def on_progress(self, tell: Progress) -> None:
        """Call ``tell(label, done, total)`` while long work goes on; label None: it is over."""
        def forward(_: Any, label: Optional[bytes], done: int, total: int) -> None:
            tell(label.decode() if label else None, done, total)

        made = _TELL(forward)
        _sql.brume_session_on_progress(self._open(), made, None)
        self._tell = made  # kept as long as C may call it

    def call(self, command: str, options: Dict[str, Any]) -> Dict[str, Any]:
        """A command by its name, its options as JSON, its answer as JSON."""
        answer = ctypes.c_void_p()
        self._run(_sql.brume_session_call, command.encode(), encode(options),
                  ctypes.byref(answer))
        return _take(answer)

    def call_here(self, command: str, options: Dict[str, Any]) -> bytes:
        """The same in this thread, its answer as it is: for short calls, that Ctrl-C need not end. Only for a
        session that no other thread has, and so could close meanwhile."""
        answer = ctypes.c_void_p()
        call(_sql.brume_session_call, self._open(), command.encode(), encode(options), ctypes.byref(answer))
        return _take_text(answer)

    def explain(self, sql: str, options: Dict[str, Any]) -> Dict[str, Any]:
        """The plan of a query."""
        answer = ctypes.c_void_p()
        self._run(_sql.brume_session_explain, _sql_text(sql), encode(options),
                  ctypes.byref(answer))
        return _take(answer)

    def query(self, sql: str, options: Dict[str, Any]) -> Tuple[Dict[str, Any], ArrowStream]:
        """The answer of a query, and its rows as an Arrow stream."""
        answer, rows = ctypes.c_void_p(), ArrowStream()
        self._run(_sql.brume_session_query, _sql_text(sql), encode(options),
                  ctypes.byref(rows), ctypes.byref(answer))
        return _take(answer), rows

    def stream_open(self, kind: str, options: Dict[str, Any]) -> None:
        """Open a stream; until it is closed the session takes no other call."""
        self._run(_sql.brume_session_stream_open, f"stream {kind}".encode(),
                  encode(options))

    def stream_ask(self, question: Any) -> Tuple[Dict[str, Any], bool]:
        """Put a question; the answer, and whether it was the last."""
        answer, halted = ctypes.c_void_p(), ctypes.c_bool()
        self._run(_sql.brume_session_stream_ask, _sql_text(str(question)),
                  ctypes.byref(answer), ctypes.byref(halted))
        return _take(answer), halted.value

    def stream_close(self) -> None:
        """End the stream, and record how far it came. Closing the session has done so already."""
        if self._handle is not None and os.getpid() == self._process:
            self._run(_sql.brume_session_stream_close)

    def cancel(self) -> None:
        """From any thread: end the call that runs."""
        with self._changes:
            if self._handle is not None:
                _sql.brume_session_cancel(self._handle)

    def close(self) -> None:
        """Close; it may be called again. A call that runs in another thread is cancelled first."""
        if os.getpid() != self._process:  # threads that are not in this process may hold the lock
            self._handle = None
            return
        with self._changes:
            if threading.get_ident() in self._callers:
                raise ArgumentError("a function that is told of progress cannot close the connection",
                                    "call cancel there, and close after the call")
            handle, self._handle = self._handle, None
            worker, self._worker = self._worker, None
            if handle is not None and self._callers:
                _sql.brume_session_cancel(handle)
            while self._callers:
                self._changes.wait()
        if worker is not None:
            worker.shutdown(wait=False)  # it is idle, and may be the thread that collects this object
        if handle is not None:
            _sql.brume_session_close(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()


_open_sessions: "weakref.WeakSet[Session]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """What is still open when the program ends, and is not in use: Python does not delete everything then."""
    for session in list(_open_sessions):
        if not session._callers:
            session.close()


_local = threading.local()


def _ask_without_ledger(command: str, options: Dict[str, Any]) -> bytes:
    session = getattr(_local, "session", None)
    if session is None or session._process != os.getpid():
        session = _local.session = Session(None, {}, with_engine=False)
    answer: bytes = session.call_here(command, options)
    return answer


def call_without_ledger(command: str, options: Dict[str, Any]) -> Dict[str, Any]:
    """A command that needs no ledger, in this thread's own session."""
    answer: Dict[str, Any] = decode(_ask_without_ledger(command, options))
    return answer


def text_without_ledger(command: str, options: Dict[str, Any]) -> str:
    """The same, as the command line shows it to a person."""
    return _ask_without_ledger(command, dict(options, format="text")).decode()


__all__ = ["ArrowStream", "ErrorRecord", "Progress", "Session", "call_without_ledger", "text_without_ledger"]
