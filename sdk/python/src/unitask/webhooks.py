"""Webhooks: the service's messages about tasks that have ended, signed as Standard Webhooks 1.0 describes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any, Iterable, Mapping

from ._errors import InvalidSignature

#: How many seconds a message's time may be off.
TOLERANCE = 300


def verify(secrets: str | Iterable[str], headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> Any:
    """Returns the message in a request's body: {"type", "timestamp", "data"}.

    secrets is that of the endpoint, whsec_…, or several while it is being rotated; headers are the request's, body the
    bytes that came. The header webhook-id is the same for each delivery of one message: remember those that were handled.
    Raises InvalidSignature.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    id, at, signatures = (sent.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    if not id or not at.isascii() or not at.isdigit():
        raise InvalidSignature("the headers of a webhook are missing")
    if abs((time.time() if now is None else now) - int(at)) > TOLERANCE:
        raise InvalidSignature("the message isn't of now")
    signed = f"{id}.{at}.".encode() + body
    good = False
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        want = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        for given in signatures.split(" "):
            good |= hmac.compare_digest(given.encode(), want.encode())
    if not good:
        raise InvalidSignature("no signature is of one of the secrets")
    return json.loads(body)
