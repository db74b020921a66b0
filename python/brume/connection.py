"""A connection to a ledger in this process, or to a server."""

from __future__ import annotations

from typing import Any, Dict, Generator, List, NoReturn, Optional, Union

from ._client import Session
from ._remote import RemoteSession, is_url
from .errors import ArgumentError
from .progress import progress_of
from .result import Result, Synthetic

__all__ = ["connect", "Connection"]


def _clean(options: Dict[str, Any]) -> Dict[str, Any]:
    """Options that are given: None means not given."""
    return {name: value for name, value in options.items() if value is not None}


class Connection:
    """A ledger with its datasets. Use it in one thread at a time; open one for each thread."""

    def __init__(self, ledger: Optional[str] = None, *, token: Optional[str] = None,
                 ca: Optional[str] = None, timeout: Optional[float] = None, progress: Any = None,
                 must_exist: bool = False) -> None:
        self._session: Union[Session, RemoteSession]
        if is_url(ledger):
            assert ledger is not None
            self._session = RemoteSession(ledger, token, ca, timeout)
            if must_exist:
                self._session.call("datasets", {})
            return
        if token is not None or ca is not None or timeout is not None:
            raise ArgumentError("'token', 'ca' and 'timeout' are for a server", "connect to https://HOST:PORT")
        options = {"must_exist": True} if must_exist else {}
        self._session = Session(ledger, options, progress_of(progress))

    # --- asking ---------------------------------------------------------------------------------

    def query(self, sql: str, *, epsilon: Optional[float] = None, delta: Optional[float] = None,
              rho: Optional[float] = None, within: Optional[float] = None, **options: Any) -> Result:
        """Ask in SQL. The price is on the ledger before the answer exists, and stays spent."""
        return Result(*self._session.query(sql, _clean(dict(
            options, epsilon=epsilon, delta=delta, rho=rho, within=within))))

    def explain(self, sql: str, *, epsilon: Optional[float] = None, delta: Optional[float] = None,
                rho: Optional[float] = None, within: Optional[float] = None,
                **options: Any) -> Dict[str, Any]:
        """The plan, the price and the error bars to expect. Spends nothing, reads no row."""
        return self._session.explain(sql, _clean(dict(
            options, epsilon=epsilon, delta=delta, rho=rho, within=within)))

    def limits(self, sql: str, *, epsilon: float, **options: Any) -> Dict[str, Any]:
        """Buy the choice of limits alone, for later queries."""
        return self.call("limits", sql=sql, epsilon=epsilon, **options)

    # --- owners ---------------------------------------------------------------------------------

    def register(self, name: str, source: Optional[str] = None, **options: Any) -> Dict[str, Any]:
        """Register a dataset: the options of ``brume register``, with ``_`` for ``-``."""
        return self.call("register", name=name, source=source, **options)

    def amend(self, name: str, **options: Any) -> Dict[str, Any]:
        """Correct a dataset's policy; what was spent stays spent."""
        return self.call("amend", name=name, **options)

    def datasets(self) -> List[Dict[str, Any]]:
        """The registered datasets."""
        found: List[Dict[str, Any]] = self.call("datasets")["datasets"]
        return found

    def show(self, name: str) -> Dict[str, Any]:
        """A dataset's policy."""
        return self.call("show", name=name)

    def budget(self, name: Optional[str] = None) -> Any:
        """What a dataset's budget has spent and left; without a name, of all datasets."""
        answer = self.call("budget", name=name)
        return answer if name is not None else answer["budgets"]

    def history(self, name: Optional[str] = None, *, limit: Optional[int] = None,
                before: Optional[int] = None) -> List[Dict[str, Any]]:
        """What was asked, in order: all of it, or the newest ``limit`` events, from before the event
        with the number ``before``."""
        events: List[Dict[str, Any]] = []
        while limit is None or len(events) < limit:
            page = self.call("history", name=name, before=before,
                             limit=1000 if limit is None else limit - len(events))
            events = page["events"] + events
            before = page["before"]
            if before is None:
                break
        return events

    # --- other releases ---------------------------------------------------------------------------

    def release(self, statistic: str, source: str, *, epsilon: Optional[float] = None,
                **options: Any) -> Dict[str, Any]:
        """A statistic that is not SQL: median, mode, regression, ..."""
        return self.call("release", statistic=statistic, source=source, epsilon=epsilon, **options)

    def synth(self, source: str, *, epsilon: Optional[float] = None, output: str = "-", **options: Any) -> Synthetic:
        """Synthetic rows, as a data frame by ``.df()``; with ``output`` they are written to a file.

        ::

            made = con.synth("visits", columns="ward,age", workload="marginals:2", method="tree", epsilon=1, delta=1e-7, rows=3000)
            made.df()
        """
        return Synthetic(self.call("synth", source=source, epsilon=epsilon, output=output, **options))

    def tables(self, source: str, *, epsilon: Optional[float] = None, delta: Optional[float] = None,
               rho: Optional[float] = None, **options: Any) -> Result:
        """Many tables of counts at once, which add up: ``workload="marginals:2"``."""
        return Result(self.call("tables", source=source, epsilon=epsilon, delta=delta, rho=rho, output="-", **options))

    def audit(self, expression: Optional[str] = None, **options: Any) -> Dict[str, Any]:
        """Attack a mechanism, or a query with ``query=SQL``, and compare with what it claims."""
        return self.call("audit", expr=expression, **options)

    def stream(self, kind: str, **options: Any) -> Generator[Optional[Dict[str, Any]], Any, None]:
        """A generator: send a question, get its answer. It ends when the stream has halted.

        ::

            questions = con.stream("above-threshold", dataset="survey", threshold=100, epsilon=1)
            next(questions)
            questions.send("age > 60")   # {"index": 1, "above": False, ...}
        """
        self._session.stream_open(kind, _clean(options))
        try:
            halted, answer = False, None
            while not halted:
                question = yield answer
                answer, halted = self._session.stream_ask(question)
            yield answer
        finally:
            self._session.stream_close()

    # --- the door --------------------------------------------------------------------------------

    def call(self, command: str, **options: Any) -> Dict[str, Any]:
        """Any command of brume by its name; options as on the command line, with ``_`` for ``-``."""
        return self._session.call(command, _clean(options))

    def cancel(self) -> None:
        """End what another thread is waiting for. What was charged stays charged."""
        self._session.cancel()

    def close(self) -> None:
        """Close the session. It may be called again."""
        self._session.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a connection cannot be copied or pickled: a copy would share its session. "
                        "Open another with brume.connect")

    def __repr__(self) -> str:
        return f"<brume connection to {self._session.place}>"

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def connect(ledger: Optional[str] = None, *, token: Optional[str] = None, ca: Optional[str] = None,
            timeout: Optional[float] = None, progress: Any = None,
            must_exist: bool = False) -> Connection:
    """Open a ledger, or connect to a server.

    A path (``$BRUME_LEDGER`` or ``brume.db`` unless named) is the owner's way, in process.
    ``https://HOST:PORT`` is a server (``brume serve``): the same methods for whoever has a ``token``
    (``$BRUME_TOKEN`` unless given), as far as the user's role allows. Its certificate is verified;
    ``ca`` is a file of certificates to trust in place of the system's, ``timeout`` how many seconds to
    wait for an answer.

    ``progress`` is True, False, or a function ``(label, done, total)``; by default long work is shown
    in notebooks and terminals. With ``must_exist`` a ledger that is not there, or a token that is not
    valid, is refused at once.
    """
    return Connection(ledger, token=token, ca=ca, timeout=timeout, progress=progress,
                      must_exist=must_exist)
