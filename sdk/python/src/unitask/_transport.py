"""HTTP/1.1 over the standard library: a few connections that are kept, and calls that can be stopped."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from typing import Any, Iterator, Mapping
from urllib.parse import urlsplit

from . import _errors
from ._version import VERSION

# What an answer's JSON may have: it is read whole.
MAX_ANSWER = 256 << 20
_IDLE = 8  # connections kept


class Stop:
    """Ends calls from another thread: their sockets are closed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sock: socket.socket | None = None
        self._event = threading.Event()

    @property
    def stopped(self) -> bool:
        return self._event.is_set()

    def sleep(self, seconds: float) -> None:
        """Waits; raises as soon as it is stopped."""
        if self._event.wait(max(seconds, 0)):
            raise _errors.ConnectionLost("stopped")

    def watch(self, sock: socket.socket | None) -> None:
        """Says which socket is in use, None for none."""
        with self._lock:
            self._sock = sock
            if sock is not None and self.stopped:
                _shut(sock)

    def stop(self) -> None:
        with self._lock:
            self._event.set()
            if self._sock is not None:
                _shut(self._sock)


def _shut(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


class Answer:
    """An answer whose body isn't read yet."""

    def __init__(self, transport: Transport, connection: http.client.HTTPConnection, response: http.client.HTTPResponse, stop: Stop):
        self.status = response.status
        self.headers = response.headers
        self._transport, self._connection, self._response, self._stop = transport, connection, response, stop

    def read(self, size: int = -1) -> bytes:
        """The next bytes, b"" at the end."""
        try:
            return self._response.read(size) if size >= 0 else self._response.read(MAX_ANSWER + 1)
        except (OSError, http.client.HTTPException) as e:
            raise _errors.ConnectionLost(f"the answer broke off: {_said(e)}") from e

    def lines(self) -> Iterator[bytes]:
        """The lines of the body as they come."""
        while True:
            try:
                line = self._response.readline(MAX_ANSWER)
            except (OSError, http.client.HTTPException) as e:
                raise _errors.ConnectionLost(f"the stream broke off: {_said(e)}") from e
            if not line:
                return
            yield line

    def patience(self, seconds: float) -> None:
        """How long each read may take from now on."""
        if self._connection.sock is not None:
            self._connection.sock.settimeout(seconds)

    def close(self) -> None:
        """Gives the connection back if its answer was read to the end; closes it else."""
        self._stop.watch(None)
        if self._response.isclosed() and not self._response.will_close and not self._stop.stopped:
            self._transport.keep(self._connection)
        else:
            self._connection.close()

    def json(self) -> Any:
        """The whole body as JSON; None if it is none."""
        raw = self.read()
        if len(raw) > MAX_ANSWER:
            raise _errors.ConnectionLost("the answer is too long")
        try:
            return json.loads(raw)
        except ValueError:
            return None


class Transport:
    """Requests to one server. It may be used by many threads."""

    def __init__(self, base_url: str, api_key: str):
        url = urlsplit(base_url.rstrip("/"))
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError(f"base_url must be an http or https address, not {base_url!r}")
        self.base_url = base_url.rstrip("/")
        self._origin = (url.scheme, url.hostname, url.port or (443 if url.scheme == "https" else 80))
        self._path = url.path
        self._key = api_key
        self._tls = ssl.create_default_context() if url.scheme == "https" else None
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    def open(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float,
        stop: Stop,
    ) -> Answer:
        """Sends one request and returns its answer once the headers are there."""
        sent = {"User-Agent": f"unitask-python/{VERSION}", "Accept": "application/json", **(headers or {})}
        if self._key:
            sent["Authorization"] = "Bearer " + self._key
        path = self._path + path
        while True:
            connection, kept = self._connection(timeout)
            try:
                response = _exchange(connection, method, path, body, sent, timeout, stop)
                break
            except (OSError, http.client.HTTPException) as e:
                stop.watch(None)
                connection.close()
                # The server may have closed a connection that was kept: that is no failure. To send a request again is
                # safe, because each has its key or changes nothing the second time.
                if kept and not isinstance(e, TimeoutError) and not stop.stopped:
                    continue
                raise _errors.ConnectionLost(f"no answer from {self.base_url}: {_said(e)}") from e
        return Answer(self, connection, response, stop)

    def _connection(self, timeout: float) -> tuple[http.client.HTTPConnection, bool]:
        """A connection, and whether it was kept from an earlier answer."""
        with self._lock:
            if self._idle:
                return self._idle.pop(), True
        scheme, host, port = self._origin
        if scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._tls), False
        return http.client.HTTPConnection(host, port, timeout=timeout), False

    def keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _exchange(
    connection: http.client.HTTPConnection, method: str, path: str, body: Any, headers: Mapping[str, str], timeout: float, stop: Stop
) -> http.client.HTTPResponse:
    if connection.sock is None:
        connection.connect()
    sock = connection.sock
    assert sock is not None
    sock.settimeout(timeout)
    stop.watch(sock)
    if stop.stopped:
        raise OSError("stopped")
    connection.request(method, path, body, dict(headers))
    return connection.getresponse()


def _said(e: Exception) -> str:
    return str(e) or type(e).__name__
