"""Streams of server-sent events, as HTML's standard describes them."""

from __future__ import annotations

from typing import Iterable, Iterator


def read(lines: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """The events of a stream, each a name and its data. The last one counts only once its empty line has come."""
    name, data = "", []
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if not line:
            if data:
                yield name or "message", "\n".join(data)
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
