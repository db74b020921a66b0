"""Sessions of a server: the calls of :class:`brume._client.Session` over HTTP.

Each call is one connection, and is never sent twice: a question that was sent may have been paid for
although its answer was lost. Asking again is free once the answer was recorded.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import os
import secrets
import ssl
import urllib.parse
from typing import Any, Dict, NoReturn, Optional, Tuple

from ._numbers import decode, encode
from .errors import (ArgumentError, BrumeError, DiskError, SourceError, UnknownNameError, UnsupportedError,
                     error_of_code)

__all__ = ["RemoteSession", "is_url"]

_MOST = 1 << 30  # bytes of an answer
_LOST = "what was asked may be spent: ask it again, an answer that was recorded is free"


def is_url(ledger: Any) -> bool:
    """Is it the address of a server, and not the name of a file?"""
    return isinstance(ledger, str) and ledger.startswith(("http://", "https://"))


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _trust(ca: Optional[str]) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as fault:  # an ssl.SSLError too
        raise ArgumentError(f"no certificates can be read from ca='{ca}': {fault}",
                            "give a file of certificates in PEM") from None


class RemoteSession:
    """One user of one server."""

    def __init__(self, url: str, token: Optional[str] = None, ca: Optional[str] = None,
                 timeout: Optional[float] = None) -> None:
        parts = urllib.parse.urlsplit(url)
        try:
            self._host, self._port = parts.hostname, parts.port
        except ValueError:
            self._host = None
        if not self._host or parts.query or parts.fragment or parts.username is not None:
            raise ArgumentError(f"'{url}' is not the address of a server", "write https://HOST:PORT")
        if token is not None and not isinstance(token, str):
            raise TypeError(f"a token is a text, not {type(token).__name__}")
        if timeout is not None and not 0 < timeout < 1e9:
            raise ArgumentError("'timeout' must be above 0 seconds")
        self._token = token if token is not None else os.environ.get("BRUME_TOKEN", "")
        if not self._token or not self._token.isascii() or any(c.isspace() for c in self._token):
            raise ArgumentError("a server needs a token",
                                "give token=, or set $BRUME_TOKEN, to what 'brume user add' has printed")
        self._path, self._timeout = parts.path.rstrip("/"), timeout
        self._trust: Optional[ssl.SSLContext] = None
        if parts.scheme == "https":
            self._trust = _trust(ca)
            self._trust.minimum_version = ssl.TLSVersion.TLSv1_2
        elif not _is_here(self._host):
            raise ArgumentError(f"http:// would send the token to '{self._host}' for all to read",
                                "use https://")
        self._is_open = True
        self._stream: Optional[str] = None
        self.place = f"{parts.scheme}://{parts.netloc}{self._path}"
        self._running: Optional[str] = None  # the ticket of the call that runs

    # --- one request -------------------------------------------------------------------------------

    def _connection(self, timeout: Optional[float]) -> http.client.HTTPConnection:
        assert self._host is not None
        if self._trust is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._trust)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def _unreachable(self, fault: Exception) -> NoReturn:
        if isinstance(fault, ssl.SSLCertVerificationError):
            raise SourceError(f"the certificate of {self._host} is refused: {fault.verify_message}",
                              "name who signed it with ca=FILE, if you trust them") from None
        if isinstance(fault, ssl.SSLError):
            raise SourceError(f"the server at {self._host} does not speak TLS as it should: {fault.reason}",
                              "is it served at http://, and is the port right?") from None
        raise SourceError(f"cannot reach the server at {self._host}: {fault}",
                          "is it running, and is the address right?") from None

    def _send(self, path: str, options: Dict[str, Any], ticket: str, timeout: Optional[float]) -> Tuple[int, bytes]:
        body, connection = encode(options), self._connection(timeout)
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as fault:
            self._unreachable(fault)
        try:
            connection.request("POST", self._path + path, body, {
                "Authorization": f"Bearer {self._token}", "Content-Type": "application/json",
                "Accept": "application/json", "Connection": "close", "Brume-Ticket": ticket})
            response = connection.getresponse()
            return response.status, response.read(_MOST)
        except (OSError, http.client.HTTPException) as fault:
            raise SourceError(f"the connection to the server was lost: {fault}", _LOST) from None
        finally:
            connection.close()

    def _post(self, path: str, options: Dict[str, Any]) -> Dict[str, Any]:
        if not self._is_open:
            raise ArgumentError("the connection is closed", "open another with brume.connect")
        ticket = self._running = secrets.token_hex(16)
        try:
            code, text = self._send(path, options, ticket, self._timeout)
        except KeyboardInterrupt:
            self._end(ticket)
            raise
        finally:
            self._running = None
        try:
            answer = decode(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise SourceError(f"the server answers with HTTP {code} and no JSON",
                              "is it a brume server?")
        if code == 200:
            return answer
        raise self._told(code, answer)

    def _end(self, ticket: str) -> None:
        """Ask the server to end the call of a ticket; where it cannot be reached there is nothing to do."""
        with contextlib.suppress(BrumeError):
            self._send("/v1/cancel", {"ticket": ticket}, "", 10)

    @staticmethod
    def _told(code: int, answer: Dict[str, Any]) -> BrumeError:
        fault = answer.get("error")
        if not isinstance(fault, dict):
            return SourceError(f"the server answers with HTTP {code} and no reason")
        return error_of_code(str(fault.get("code")), str(fault.get("message")),
                             str(fault.get("hint") or ""))

    # --- as a local session --------------------------------------------------------------------------

    def call(self, command: str, options: Dict[str, Any]) -> Dict[str, Any]:
        """A command by its name, its options as JSON, its answer as JSON."""
        for name in ("ledger", "plot", "file", "against", "output"):
            if name in options:
                raise UnsupportedError(f"'{name}' is not to be had from a server", "leave it out")
        policy = options.get("policy")
        if command == "register" and isinstance(policy, str):
            try:
                with open(policy, encoding="utf-8") as file:  # of this machine, as for a local ledger
                    text = file.read()
            except (OSError, UnicodeDecodeError) as fault:
                raise DiskError(f"cannot read the policy '{policy}': {fault}") from None
            return self._post("/v1/datasets", dict(options, policy=text))
        return self._post("/v1/call/" + urllib.parse.quote(command.replace(" ", "/")), options)

    def explain(self, sql: str, options: Dict[str, Any]) -> Dict[str, Any]:
        """The plan of a query."""
        return self._ask("explain", sql, options)

    def query(self, sql: str, options: Dict[str, Any]) -> Tuple[Dict[str, Any], None]:
        """The answer of a query; there are no rows beside it."""
        return self._ask("query", sql, options), None

    def _ask(self, command: str, sql: str, options: Dict[str, Any]) -> Dict[str, Any]:
        if not isinstance(sql, str):
            raise TypeError(f"SQL is a text, not {type(sql).__name__}")
        if "\0" in sql:
            raise ArgumentError("the text has a NUL character")
        return self.call(command, dict(options, sql=sql))

    def stream_open(self, kind: str, options: Dict[str, Any]) -> None:
        """Open a stream there; it ends when it is left alone for as long as the server's deadline."""
        self._stream = self._post("/v1/streams", dict(options, command=f"stream {kind}"))["stream"]

    def stream_ask(self, question: Any) -> Tuple[Dict[str, Any], bool]:
        """Put a question; the answer, and whether it was the last."""
        if self._stream is None:
            raise ArgumentError("no stream is open")
        got = self._post(f"/v1/streams/{self._stream}", {"question": str(question)})
        if got["halted"]:
            self._stream = None
        return decode(got["answer"].encode()), got["halted"]

    def stream_close(self) -> None:
        """End the stream, and record how far it came."""
        stream, self._stream = self._stream, None
        if stream is not None and self._is_open:
            try:
                self._post("/v1/call/stream/close", {"stream": stream})
            except UnknownNameError:
                pass  # the server has ended it

    def cancel(self) -> None:
        """From any thread: the server ends the call that runs. What was charged stays charged."""
        ticket = self._running
        if ticket is not None:
            self._end(ticket)

    def close(self) -> None:
        """Close; it may be called again."""
        self._is_open = False
        self._token = ""
