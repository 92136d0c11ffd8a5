"""The client for programs without asyncio."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import os
import random
import secrets
import time
from base64 import b64encode
from datetime import datetime
from typing import Any, BinaryIO, Callable, Iterator, Literal, Mapping, TypeVar, Union
from urllib.parse import quote, urlencode, urlsplit

from . import _errors, _events, _task
from ._retry import Retries
from ._task import Delta, Task
from ._transport import Answer, Stop, Transport
from .types import SyncCapabilities

DEFAULT_BASE_URL = "http://127.0.0.1:8420"
_API = "/api/ai/v1"
_TASKS = _API + "/tasks"
_UPLOADS = _API + "/uploads"
_HELD = 60  # seconds that the service may hold the answer to a creation
_SILENCE = 45.0  # seconds without even a comment that end a stream
_INLINE = 1 << 20  # bytes of media that go inside of a request; more is uploaded
_PIECE = 8 << 20  # bytes of an upload's requests, which end at its multiples

#: What media can be made of: bytes, a path, or a file that is open for reading and can be sought.
Source = Union[bytes, str, "os.PathLike[str]", BinaryIO]

#: A time of a filter: one with a zone, or its text.
Time = Union[str, datetime]

T = TypeVar("T")


class Unitask(SyncCapabilities):
    """A client of one service with one key. It may be used by many threads.

    base_url and api_key are UNITASK_BASE_URL and UNITASK_API_KEY unless given. A request whose answer is lost, and one
    that the service says may be repeated, is sent again up to max_retries times under the same Idempotency-Key, so that
    it makes one task. timeout is how many seconds one answer may take beyond what the service was asked to hold it.
    """

    def __init__(self, base_url: str | None = None, api_key: str | None = None, *, timeout: float = 30.0, max_retries: int = 5):
        key = api_key or os.environ.get("UNITASK_API_KEY", "")
        if not key:
            raise ValueError("an API key is needed: api_key, or UNITASK_API_KEY in the environment")
        self._transport = Transport(base_url or os.environ.get("UNITASK_BASE_URL") or DEFAULT_BASE_URL, key)
        self._timeout = timeout
        self._max_retries = max_retries

    def __enter__(self) -> Unitask:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept."""
        self._transport.close()

    # Tasks

    def run(
        self,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        _stop: Stop | None = None,
    ) -> Task[Any]:
        """Creates a task and waits for its end.

        Raises TaskFailed, TaskCanceled, WaitTimeout once timeout seconds are over (None: waits for as long as it takes),
        APIError for a request that is refused, and ConnectionLost.
        """
        creation = _Creation(capability, input, parameters, metadata, idempotency_key)
        stop, retries, deadline = _stop or Stop(), Retries(self._max_retries), _Deadline(timeout)
        while True:
            try:
                task = self._create(creation, deadline.least(_HELD), stop)
                return self._ended(self._follow(task, deadline, stop), creation.key)
            except _errors.UnitaskError as e:
                self._pause(e, retries, deadline, stop)

    def submit(
        self,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        wait: float = 0,
        _stop: Stop | None = None,
    ) -> Task[Any]:
        """Creates a task and returns it as it is after wait seconds, at most 60, or at its end before."""
        creation = _Creation(capability, input, parameters, metadata, idempotency_key)
        return self._again(lambda stop: self._create(creation, wait, stop), _stop)

    def get(self, task_id: str, *, _stop: Stop | None = None) -> Task[Any]:
        """Reads a task."""
        return self._again(lambda stop: _task.of(self._json("GET", _path(task_id), stop=stop)[0]), _stop)

    def wait(self, task_id: str, *, timeout: float | None = None, _stop: Stop | None = None) -> Task[Any]:
        """Waits for the end of a task. Raises as run does."""
        stop, deadline = _stop or Stop(), _Deadline(timeout)
        return self._ended(self._follow(self.get(task_id, _stop=stop), deadline, stop), None)

    def cancel(self, task_id: str, *, _stop: Stop | None = None) -> Task[Any]:
        """Cancels a task, and returns it as it is now: its work may take a moment to stop, and may be paid for."""
        return self._again(lambda stop: _task.of(self._json("POST", _path(task_id) + "/cancel", stop=stop)[0]), _stop)

    def list(
        self,
        *,
        capability: str | None = None,
        state: str | None = None,
        metadata: Mapping[str, str] | None = None,
        key: str | None = None,
        code: str | None = None,
        created_after: Time | None = None,
        created_before: Time | None = None,
        order: Literal["newest", "oldest"] = "newest",
        _stop: Stop | None = None,
    ) -> Iterator[Task[Any]]:
        """The tasks of the account that the key may see, page by page as they are asked for.

        All that is given holds for each of them. key is the id of the key that created it, code that of its error;
        created_after is the first creation that counts, created_before the first one that is too late.
        """
        query = {
            "capability": capability,
            "state": state,
            "key": key,
            "code": code,
            "created_after": _moment(created_after),
            "created_before": _moment(created_before),
            "order": order,
        }
        return map(_task.of, self._pages(_TASKS, query, metadata or {}, _stop))

    def capabilities(self, *, _stop: Stop | None = None) -> list[Mapping[str, Any]]:
        """What the key may call, with schemas, examples and prices."""
        return self._again(lambda stop: self._json("GET", _API + "/capabilities", stop=stop)[0]["data"], _stop)

    def stream(
        self,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        _stop: Stop | None = None,
    ) -> Stream:
        """Creates a task and gives its answer as it comes: iterate over the Stream, then read its task.

        Pieces are best effort. If the stream breaks off once the task is known, it is waited for, and has all of the text.
        """
        return Stream(self, _Creation(capability, input, parameters, metadata, idempotency_key), _stop or Stop())

    # Files

    def media(self, source: Source, content_type: str | None = None, *, _stop: Stop | None = None) -> dict[str, str]:
        """A media value for an input: within the request up to 1 MiB, as an uploaded artifact beyond.

        content_type is guessed from the name of a path.
        """
        kind = content_type or _kind_of(source)
        with _Opened(source) as file:
            if file.size <= _INLINE:
                return {"data": b64encode(file.read(0, file.size)).decode(), "content_type": kind}
            return {"artifact": self._upload(file, kind, _stop or Stop())}

    def upload(self, source: Source, content_type: str | None = None, *, _stop: Stop | None = None) -> str:
        """Uploads a file and returns the artifact's id, to be used in inputs as {"artifact": id}.

        It goes on where it stopped if the connection is lost.
        """
        kind = content_type or _kind_of(source)
        with _Opened(source) as file:
            return self._upload(file, kind, _stop or Stop())

    def uploads(self, *, _stop: Stop | None = None) -> Iterator[Mapping[str, Any]]:
        """The uploads that take the account's quota, page by page as they are asked for; the one that expires first is the first."""
        return self._pages(_UPLOADS, {}, {}, _stop)

    def delete_upload(self, artifact: str, *, _stop: Stop | None = None) -> None:
        """Deletes an upload with its bytes, which gives its part of the quota back."""
        path = f"{_UPLOADS}/{quote(artifact, safe='')}"
        tries = 0

        def once(stop: Stop) -> None:
            nonlocal tries
            tries += 1
            try:
                self._json("DELETE", path, stop=stop)
            except _errors.APIError as e:
                if e.status != 404 or tries == 1:
                    raise  # else the try before deleted it, and its answer was lost

        self._again(once, _stop)

    def download(
        self, artifact: Mapping[str, Any], into: str | os.PathLike[str] | None = None, *, _stop: Stop | None = None
    ) -> bytes | None:
        """The bytes of an artifact of a task's output, or writes them into a file. They are those that its sha256 is of."""
        stop = _stop or Stop()
        if into is None:
            return b"".join(self._bytes_of(artifact, stop))
        part = f"{os.fspath(into)}.{secrets.token_hex(4)}.part"
        try:
            with open(part, "xb") as f:
                for piece in self._bytes_of(artifact, stop):
                    f.write(piece)
            os.replace(part, into)
        except BaseException:
            if os.path.exists(part):
                os.remove(part)
            raise
        return None

    # One request and its repetitions

    def _again(self, once: Callable[[Stop], T], stop: Stop | None) -> T:
        stop, retries, deadline = stop or Stop(), Retries(self._max_retries), _Deadline(None)
        while True:
            try:
                return once(stop)
            except _errors.UnitaskError as e:
                self._pause(e, retries, deadline, stop)

    def _pause(self, e: _errors.UnitaskError, retries: Retries, deadline: _Deadline, stop: Stop) -> None:
        """Waits before a repetition, or raises e."""
        pause = None if stop.stopped else retries.pause(e)
        if pause is None or pause > deadline.left():
            raise e
        stop.sleep(pause)

    def _json(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, *, held: float = 0, stop: Stop
    ) -> tuple[Any, Answer]:
        """One request whose answer is JSON."""
        answer = self._transport.open(method, path, body, headers, timeout=self._timeout + held, stop=stop)
        try:
            return _checked(answer, (headers or {}).get("Idempotency-Key")), answer
        finally:
            answer.close()

    def _create(self, creation: _Creation, wait: float, stop: Stop) -> Task[Any]:
        headers = creation.headers(wait)
        try:
            return _task.of(self._json("POST", _TASKS, creation.body, headers, held=wait, stop=stop)[0])
        except _errors.ConnectionLost as e:
            e.idempotency_key = creation.key
            raise

    def _follow(self, task: Task[Any], deadline: _Deadline, stop: Stop) -> Task[Any]:
        """Reads a task until it has ended. Two reads begin 2 to 5 seconds apart."""
        tag, retries, begun = "", Retries(self._max_retries), time.monotonic()
        while not task.done:
            apart = random.uniform(2.2, 4.5)
            if deadline.left() <= 0:
                raise _errors.WaitTimeout(task.id)
            stop.sleep(min(begun + apart - time.monotonic(), deadline.left()))
            begun = time.monotonic()
            headers = {"Prefer": "wait=2"}
            if tag:
                headers["If-None-Match"] = tag
            try:
                answer = self._transport.open("GET", _path(task.id), None, headers, timeout=self._timeout + 2, stop=stop)
                try:
                    if answer.status != 304:
                        task, tag = _task.of(_checked(answer, None)), answer.headers.get("ETag", "")
                    else:
                        answer.read()
                finally:
                    answer.close()
                retries = Retries(self._max_retries)
            except _errors.UnitaskError as e:
                self._pause(e, retries, deadline, stop)
        return task

    @staticmethod
    def _ended(task: Task[Any], key: str | None) -> Task[Any]:
        if task.state == "failed":
            raise _errors.of_task(task.raw, key)
        if task.state == "canceled":
            raise _errors.TaskCanceled(task.id)
        return task

    def _pages(
        self, path: str, query: Mapping[str, str | None], metadata: Mapping[str, str], stop: Stop | None
    ) -> Iterator[Mapping[str, Any]]:
        asked = {k: v for k, v in query.items() if v} | {f"metadata.{k}": v for k, v in metadata.items()}
        while True:
            address = f"{path}?{urlencode(asked)}"
            page = self._again(lambda stop: self._json("GET", address, stop=stop)[0], stop)
            yield from page["data"]
            if not page["next_cursor"]:
                return
            asked["cursor"] = page["next_cursor"]

    def _upload(self, file: _Opened, content_type: str, stop: Stop) -> str:
        body = json.dumps({"content_type": content_type, "bytes": file.size, "sha256": file.sha256()}).encode()
        headers = {"Content-Type": "application/json"}
        upload = self._again(lambda stop: self._json("POST", _UPLOADS, body, headers, stop=stop)[0]["upload"], stop)
        if upload["state"] == "complete":  # it was sent before
            return str(upload["artifact"])
        address, transport = _signed(upload["url"])
        try:
            retries, cut = Retries(self._max_retries), False
            while upload["state"] != "complete":
                before = upload["received"]
                try:
                    upload, cut = self._put(transport, address, file, before, cut, stop), False
                except _errors.UnitaskError as e:
                    cut = not isinstance(e, _errors.APIError) or _refused(e) != "Content-Digest"
                    if not _elsewhere(e):
                        self._pause(e, retries, _Deadline(None), stop)
                    upload = self._again(lambda stop: self._at(transport, "GET", address, stop=stop)["upload"], stop)
                    if _elsewhere(e) and upload["received"] == before:
                        raise
                if upload["received"] > before:
                    retries = Retries(self._max_retries)
        finally:
            transport.close()
        return str(upload["artifact"])

    def _put(self, transport: Transport, address: str, file: _Opened, begin: int, cut: bool, stop: Stop) -> Any:
        piece = file.read(begin, min(_PIECE - begin % _PIECE, file.size - begin))
        headers = {
            "Content-Range": f"bytes {begin}-{begin + len(piece) - 1}/{file.size}",
            "Content-Type": "application/octet-stream",
        }
        if not cut:  # without a hash, what arrives before a further cut is kept
            headers["Content-Digest"] = f"sha-256=:{b64encode(hashlib.sha256(piece).digest()).decode()}:"
        try:
            return self._at(transport, "PUT", address, piece, headers, stop=stop)["upload"]
        except _errors.APIError as e:
            e.retryable = e.retryable or _refused(e) == "Content-Digest"  # it was damaged on its way
            raise

    def _at(
        self, transport: Transport, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, *, stop: Stop
    ) -> Any:
        # After the last byte the service reads all of them again before it answers.
        answer = transport.open(method, path, body, headers, timeout=self._timeout + 300, stop=stop)
        try:
            return _checked(answer, None)
        finally:
            answer.close()

    def _bytes_of(self, artifact: Mapping[str, Any], stop: Stop) -> Iterator[bytes]:
        """The pieces of an artifact, going on where a connection was lost."""
        path, transport = _signed(artifact["url"])
        digest, got, retries = hashlib.sha256(), 0, Retries(self._max_retries)
        try:
            while got < artifact["bytes"]:
                try:
                    headers = {"Accept": "*/*"} | ({"Range": f"bytes={got}-"} if got else {})
                    answer = transport.open("GET", path, None, headers, timeout=self._timeout, stop=stop)
                    try:
                        if answer.status != (206 if got else 200):
                            _checked(answer, None)
                            raise _errors.UnitaskError(f"the artifact's answer has status {answer.status}")
                        while piece := answer.read(1 << 20):
                            digest.update(piece)
                            got += len(piece)
                            retries = Retries(self._max_retries)
                            yield piece
                        if got < artifact["bytes"]:
                            raise _errors.ConnectionLost("the artifact's bytes broke off")
                    finally:
                        answer.close()
                except _errors.UnitaskError as e:
                    self._pause(e, retries, _Deadline(None), stop)
        finally:
            transport.close()
        if got != artifact["bytes"] or digest.hexdigest() != artifact["sha256"]:
            raise _errors.UnitaskError(f"artifact {artifact['id']} arrived with other bytes than the task says")


def _moment(at: Time | None) -> str | None:
    if not isinstance(at, datetime):
        return at
    if at.tzinfo is None:
        raise ValueError("a time of a filter needs its zone, such as datetime.now(timezone.utc)")
    return at.isoformat(timespec="milliseconds")


class Stream:
    """An answer as it comes. Iterate over it once; its task is there when that ends, and is waited for if that is stopped."""

    def __init__(self, client: Unitask, creation: _Creation, stop: Stop):
        self._client, self._creation, self._stop = client, creation, stop
        self._task: Task[Any] | None = None
        self._pieces = self._read()

    def __iter__(self) -> Iterator[Delta]:
        return self._pieces

    @property
    def task(self) -> Task[Any]:
        """The task that has ended. Raises as run does."""
        for _ in self._pieces:
            pass
        assert self._task is not None
        return self._client._ended(self._task, self._creation.key)

    def _read(self) -> Iterator[Delta]:
        client, stop, retries = self._client, self._stop, Retries(self._client._max_retries)
        while self._task is None or not self._task.done:
            try:
                if self._task is not None:
                    self._task = client._follow(self._task, _Deadline(None), stop)
                    continue
                headers = self._creation.headers(None) | {"Accept": "text/event-stream"}
                answer = client._transport.open("POST", _TASKS, self._creation.body, headers, timeout=_SILENCE, stop=stop)
                try:
                    yield from self._listen(answer)
                finally:
                    answer.close()
            except _errors.UnitaskError as e:
                if self._task is None:
                    client._pause(e, retries, _Deadline(None), stop)

    def _listen(self, answer: Answer) -> Iterator[Delta]:
        if answer.status != 200 or not answer.headers.get("Content-Type", "").startswith("text/event-stream"):
            self._task = _task.of(_checked(answer, self._creation.key))
            return
        answer.patience(_SILENCE)
        for name, data in _events.read(answer.lines()):
            if name == "task":
                self._task = _task.of(json.loads(data))
            elif name == "delta":
                piece = json.loads(data)
                yield Delta(piece.get("text", ""), piece.get("reasoning", ""), piece.get("tool_call"))
        if self._task is None or not self._task.done:
            raise _errors.ConnectionLost("the stream ended before the task", self._creation.key)


class _Creation:
    """A request that creates a task, the same each time that it is sent."""

    def __init__(
        self,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None,
        metadata: Mapping[str, str] | None,
        idempotency_key: str | None,
    ):
        request: dict[str, Any] = {"capability": capability, "input": input}
        if parameters:
            request["parameters"] = parameters
        if metadata:
            request["metadata"] = metadata
        self.body = json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
        self.key = idempotency_key or secrets.token_hex(16)

    def headers(self, wait: float | None) -> dict[str, str]:
        sent = {"Content-Type": "application/json", "Idempotency-Key": self.key}
        if wait is not None:
            sent["Prefer"] = f"wait={int(max(0, min(wait, 60)))}"
        return sent


class _Deadline:
    """When a caller's patience is over."""

    def __init__(self, seconds: float | None):
        self._at = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        return float("inf") if self._at is None else self._at - time.monotonic()

    def least(self, seconds: float) -> float:
        return min(seconds, max(self.left(), 0))


class _Opened:
    """A file that is read piece by piece, from any place."""

    def __init__(self, source: Source):
        self._ours = isinstance(source, (str, os.PathLike))
        self._source = source
        self._file: Any = None
        self.size = 0

    def __enter__(self) -> _Opened:
        if isinstance(self._source, bytes):
            self.size = len(self._source)
            return self
        self._file = open(self._source, "rb") if self._ours else self._source  # type: ignore[arg-type]
        self.size = self._file.seek(0, os.SEEK_END)
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours and self._file is not None:
            self._file.close()

    def read(self, begin: int, size: int) -> bytes:
        if isinstance(self._source, bytes):
            return self._source[begin : begin + size]
        self._file.seek(begin)
        data: bytes = self._file.read(size)
        if len(data) != size:
            raise _errors.UnitaskError("the file became shorter while it was read")
        return data

    def sha256(self) -> str:
        digest = hashlib.sha256()
        for begin in range(0, self.size, 1 << 20):
            digest.update(self.read(begin, min(1 << 20, self.size - begin)))
        return digest.hexdigest()


def _checked(answer: Answer, idempotency_key: str | None) -> Any:
    """The JSON of a good answer; raises what a bad one says."""
    body, request_id = answer.json(), answer.headers.get("X-Request-Id")
    if not 200 <= answer.status < 300 or not isinstance(body, dict):
        raise _errors.of_answer(body, answer.status, request_id, idempotency_key)
    return body


def _elsewhere(e: _errors.UnitaskError) -> bool:
    """Whether the service has other bytes of an upload than those before the ones that were sent."""
    return isinstance(e, _errors.APIError) and _refused(e) == "Content-Range"


def _refused(e: _errors.APIError) -> str:
    """What is wrong with bytes that the service didn't take, "" for any other error."""
    return str(e.details[0]["field"]) if e.status == 409 and e.details else ""


def _path(task_id: str) -> str:
    return f"{_TASKS}/{quote(task_id, safe='')}"


def _signed(url: str) -> tuple[str, Transport]:
    """A signed address, which needs no key, as a path and where to ask for it."""
    parts = urlsplit(url)
    return parts.path + ("?" + parts.query if parts.query else ""), Transport(f"{parts.scheme}://{parts.netloc}", "")


def _kind_of(source: Source) -> str:
    if isinstance(source, (str, os.PathLike)):
        kind = mimetypes.guess_type(os.fspath(source))[0]
        if kind:
            return kind
    raise ValueError("the content type isn't known from the source; give content_type")
