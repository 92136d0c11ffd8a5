"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import Any, Mapping


class UnitaskError(Exception):
    """The base of all errors of this package."""


class ConnectionLost(UnitaskError):
    """No whole answer came: the connection was refused, cut or too slow.

    The service may have got the request all the same. A creation that is repeated under its idempotency_key finds out.
    """

    def __init__(self, message: str, idempotency_key: str | None = None):
        super().__init__(message)
        self.idempotency_key = idempotency_key  #: of a creation, to send it again


class APIError(UnitaskError):
    """The service's answer to a request that it refused or that failed, or the failure of a task."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        retryable: bool = False,
        details: list[Mapping[str, str]] | None = None,
        retry_after: float = 0.0,
        task_id: str | None = None,
        request_id: str | None = None,
        idempotency_key: str | None = None,
    ):
        super().__init__(f"{message} ({code})")
        self.code = code  #: such as "INVALID_REQUEST": what programs decide by
        self.message = message
        self.status = status  #: of the HTTP answer, 0 for the failure of a task that was read
        self.retryable = retryable  #: whether the same request may succeed later, under the same key
        self.details = details or []  #: a row for each wrong field: {"field", "message"}
        self.retry_after = retry_after  #: seconds, 0 without an advice
        self.task_id = task_id  #: of the task that failed
        self.request_id = request_id  #: for support
        self.idempotency_key = idempotency_key  #: of a creation, to send it again


class TaskFailed(APIError):
    """A task ended without a result."""


class TaskCanceled(UnitaskError):
    """A task was canceled while somebody waited for its result."""

    def __init__(self, task_id: str):
        super().__init__(f"task {task_id} was canceled")
        self.task_id = task_id


class WaitTimeout(UnitaskError):
    """The time that the caller gave was over before the task ended. The task goes on: wait(task_id) follows it further."""

    def __init__(self, task_id: str):
        super().__init__(f"task {task_id} hasn't ended yet; it goes on")
        self.task_id = task_id


class InvalidSignature(UnitaskError):
    """A webhook's request wasn't signed by the service, or not lately."""


def of_answer(body: Any, status: int, request_id: str | None, idempotency_key: str | None) -> APIError:
    """The error in an answer's JSON; one of our own where another server answered."""
    e = body.get("error") if isinstance(body, dict) else None
    if not isinstance(e, dict) or not isinstance(e.get("code"), str):
        return APIError(
            _codes.get(status, "INVALID_REQUEST"),
            f"the answer (HTTP {status}) doesn't come from this service; is the base URL right?",
            status=status,
            retryable=status in (429, 500, 502, 503, 504),
            request_id=request_id,
            idempotency_key=idempotency_key,
        )
    task_id = body.get("task_id")
    kind = TaskFailed if task_id else APIError
    return kind(status=status, task_id=task_id, request_id=request_id, idempotency_key=idempotency_key, **_members(e))


def of_task(task: Mapping[str, Any], idempotency_key: str | None) -> TaskFailed:
    """The failure of a task that was read."""
    return TaskFailed(
        task_id=task["id"], request_id=task.get("request_id"), idempotency_key=idempotency_key, **_members(task["error"])
    )


def _members(e: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "code": e["code"],
        "message": e.get("message", ""),
        "retryable": bool(e.get("retryable")),
        "details": e.get("details"),
        "retry_after": float(e.get("retry_after_seconds") or 0),
    }


# The best guess for an answer without a code.
_codes = {
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RATE_LIMIT_EXCEEDED",
    500: "PROVIDER_UNAVAILABLE",
    502: "PROVIDER_UNAVAILABLE",
    503: "CAPACITY_EXHAUSTED",
    504: "PROVIDER_UNAVAILABLE",
}
