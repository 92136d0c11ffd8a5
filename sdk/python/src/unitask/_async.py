"""The client for programs with asyncio.

Each call runs in a thread of the client's own; one that is canceled closes its connection, which ends the thread. The
standard library has no HTTP for asyncio, and one written here would be one more to trust.
"""

from __future__ import annotations

import asyncio
import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, AsyncIterator, Callable, Iterator, Literal, Mapping, TypeVar

from ._client import Source, Time, Unitask
from ._task import Delta, Task
from ._transport import Stop
from .types import AsyncCapabilities

T = TypeVar("T")
_END = object()


class AsyncUnitask(AsyncCapabilities):
    """As Unitask, for asyncio. At most max_calls calls are under way at once; others wait for their turn."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        max_retries: int = 5,
        max_calls: int = 100,
    ):
        self._client = Unitask(base_url, api_key, timeout=timeout, max_retries=max_retries)
        self._threads = ThreadPoolExecutor(max_calls, "unitask")

    async def __aenter__(self) -> AsyncUnitask:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept. Calls under way go on to their end."""
        self._threads.shutdown(wait=False)
        self._client.close()

    async def run(
        self,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Task[Any]:
        """As Unitask.run. To be canceled stops the waiting, not the task."""
        return await self._call(
            self._client.run, capability, input, parameters, metadata=metadata, idempotency_key=idempotency_key, timeout=timeout
        )

    async def submit(
        self,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        wait: float = 0,
    ) -> Task[Any]:
        """As Unitask.submit."""
        return await self._call(
            self._client.submit, capability, input, parameters, metadata=metadata, idempotency_key=idempotency_key, wait=wait
        )

    async def get(self, task_id: str) -> Task[Any]:
        """As Unitask.get."""
        return await self._call(self._client.get, task_id)

    async def wait(self, task_id: str, *, timeout: float | None = None) -> Task[Any]:
        """As Unitask.wait."""
        return await self._call(self._client.wait, task_id, timeout=timeout)

    async def cancel(self, task_id: str) -> Task[Any]:
        """As Unitask.cancel."""
        return await self._call(self._client.cancel, task_id)

    async def capabilities(self) -> list[Mapping[str, Any]]:
        """As Unitask.capabilities."""
        return await self._call(self._client.capabilities)

    async def media(self, source: Source, content_type: str | None = None) -> dict[str, str]:
        """As Unitask.media."""
        return await self._call(self._client.media, source, content_type)

    async def upload(self, source: Source, content_type: str | None = None) -> str:
        """As Unitask.upload."""
        return await self._call(self._client.upload, source, content_type)

    async def download(self, artifact: Mapping[str, Any], into: str | os.PathLike[str] | None = None) -> bytes | None:
        """As Unitask.download."""
        return await self._call(self._client.download, artifact, into)

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
    ) -> AsyncIterator[Task[Any]]:
        """As Unitask.list."""
        stop = Stop()
        tasks = self._client.list(
            capability=capability,
            state=state,
            metadata=metadata,
            key=key,
            code=code,
            created_after=created_after,
            created_before=created_before,
            order=order,
            _stop=stop,
        )
        return self._each(tasks, stop)

    def uploads(self) -> AsyncIterator[Mapping[str, Any]]:
        """As Unitask.uploads."""
        stop = Stop()
        return self._each(self._client.uploads(_stop=stop), stop)

    async def delete_upload(self, artifact: str) -> None:
        """As Unitask.delete_upload."""
        await self._call(self._client.delete_upload, artifact)

    def stream(
        self,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncStream:
        """As Unitask.stream: iterate over it by async for, then await its task()."""
        return AsyncStream(self, capability, input, parameters, metadata, idempotency_key)

    async def _call(self, method: Callable[..., T], *args: Any, **options: Any) -> T:
        stop = Stop()
        return await self._within(functools.partial(method, *args, _stop=stop, **options), stop)

    async def _within(self, work: Callable[[], T], stop: Stop) -> T:
        """Does work in a thread; if this is canceled, the work's connection is closed."""
        try:
            return await asyncio.wrap_future(self._threads.submit(work))
        except asyncio.CancelledError:
            stop.stop()
            raise

    async def _each(self, items: Iterator[T], stop: Stop) -> AsyncIterator[T]:
        while (item := await self._within(lambda: next(items, _END), stop)) is not _END:
            yield item  # type: ignore[misc]


class AsyncStream:
    """An answer as it comes. Iterate over it once, then await its task()."""

    def __init__(
        self,
        client: AsyncUnitask,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None,
        metadata: Mapping[str, str] | None,
        idempotency_key: str | None,
    ):
        self._client, self._stop = client, Stop()
        self._stream = client._client.stream(
            capability, input, parameters, metadata=metadata, idempotency_key=idempotency_key, _stop=self._stop
        )
        self._pieces = client._each(iter(self._stream), self._stop)

    def __aiter__(self) -> AsyncIterator[Delta]:
        return self._pieces

    async def task(self) -> Task[Any]:
        """The task that has ended. Raises as Unitask.run does."""
        return await self._client._within(lambda: self._stream.task, self._stop)
