"""When a request is sent again, and after which pause."""

from __future__ import annotations

import random
import time

from . import _errors

_FIRST = 0.5  # seconds, doubled after each try
_LONGEST = 20.0
_LONGEST_ADVICE = 60.0  # a longer one ends the retries
_ALL = 180.0  # from the first failure to the last try
_REOPENINGS = 2  # of a task, below the five that the service grants a key


class Retries:
    """Counts the failures of one call."""

    def __init__(self, most: int):
        self._most = most  # retries of the request itself
        self._failed = 0
        self._reopened = 0
        self._since = 0.0

    def pause(self, e: Exception) -> float | None:
        """The seconds to wait before the same request is sent again under the same key; None if it is over."""
        advised = 0.0
        if isinstance(e, _errors.APIError):
            if not e.retryable or e.retry_after > _LONGEST_ADVICE:
                return None
            advised = e.retry_after
        elif not isinstance(e, _errors.ConnectionLost):
            return None
        if not self._failed:
            self._since = time.monotonic()
        self._failed += 1
        if isinstance(e, _errors.TaskFailed):
            self._reopened += 1
        pause = advised + random.uniform(0, min(_FIRST * 2 ** (self._failed - 1), _LONGEST))
        late = time.monotonic() - self._since + pause > _ALL
        if self._failed > self._most or self._reopened > _REOPENINGS or late:
            return None
        return pause
