"""Client of unitask, the self-hosted AI gateway: one key and one durable task for text, images, video and sound.

    from unitask import Unitask

    client = Unitask()  # UNITASK_BASE_URL and UNITASK_API_KEY
    print(client.text_chat({"prompt": "Say hello"}).output["text"])
"""

from . import types, webhooks
from ._async import AsyncStream, AsyncUnitask
from ._client import Source, Stream, Unitask
from ._errors import (
    APIError,
    ConnectionLost,
    InvalidSignature,
    TaskCanceled,
    TaskFailed,
    UnitaskError,
    WaitTimeout,
)
from ._task import Delta, Task
from ._version import VERSION as __version__

__all__ = [
    "APIError",
    "AsyncStream",
    "AsyncUnitask",
    "ConnectionLost",
    "Delta",
    "InvalidSignature",
    "Source",
    "Stream",
    "Task",
    "TaskCanceled",
    "TaskFailed",
    "Unitask",
    "UnitaskError",
    "WaitTimeout",
    "types",
    "webhooks",
    "__version__",
]
