"""A task as its owner reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Mapping, TypeVar

Output = TypeVar("Output")

#: The states in which a task stays.
TERMINAL = frozenset(("succeeded", "failed", "canceled"))


@dataclass(frozen=True)
class Task(Generic[Output]):
    """A task. Times are texts in RFC 3339, UTC; an amount is a decimal text in USD."""

    id: str
    capability: str
    mode: str  #: "live" or "test"
    state: str  #: "queued", "running", "transferring", "succeeded", "failed" or "canceled"
    progress: float | None
    created_at: str
    updated_at: str
    finished_at: str | None
    output: Output  #: by the capability's output schema; None until it has succeeded
    error: Mapping[str, Any] | None
    usage: Mapping[str, Any] | None
    metadata: Mapping[str, str]
    request_id: str | None  #: of the answer that it came in, for support
    raw: Mapping[str, Any]  #: as the service sent it

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.state in TERMINAL

    @property
    def cost(self) -> str | None:
        """What it cost its caller, as an exact decimal text in USD; None while that isn't known."""
        return self.usage["cost"]["amount"] if self.usage else None


def of(body: Mapping[str, Any]) -> Task[Any]:
    return Task(
        id=body["id"],
        capability=body["capability"],
        mode=body["mode"],
        state=body["state"],
        progress=body.get("progress"),
        created_at=body["created_at"],
        updated_at=body["updated_at"],
        finished_at=body.get("finished_at"),
        output=body.get("output"),
        error=body.get("error"),
        usage=body.get("usage"),
        metadata=body.get("metadata") or {},
        request_id=body.get("request_id"),
        raw=body,
    )


@dataclass(frozen=True)
class Delta:
    """A piece of an answer as it comes: of its text, of the model's thoughts, or of a tool call."""

    text: str = ""
    reasoning: str = ""
    tool_call: Mapping[str, Any] | None = None  #: {"index", "id", "name", "arguments"}: a piece of the arguments' text
