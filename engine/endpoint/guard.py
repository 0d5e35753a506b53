"""The guard of an endpoint, which every request goes through: token, and limits of body, queue and time. A refusal says
what the limit is, in words."""

import asyncio
import contextlib
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from netwright.engine.cli.answers import failure
from netwright.engine.core.text import format_bytes
from netwright.engine.endpoint.traffic import Traffic

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
OPEN = ("/", "/health")
"""What is answered without the token: the empty page, and whether the endpoint works."""
HELD_BODIES = 8
"""Bodies of the largest size that are in memory at once."""
MOST_THROWN_AWAY = 8
"""Times the largest size that is read of a body which is refused."""


@dataclass(frozen=True)
class Limits:
    """Limits of an endpoint: bytes of a body, requests at once, seconds per request."""

    body_bytes: int
    queue: int
    time_s: float


class RefusedRequest(Exception):
    """A request that is not answered: status, word for programs, and sentence for people."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers or {}


def error_body(code: str, message: str) -> bytes:
    """Return the body of an error, which has the shape that `--json` gives it."""
    return json.dumps(failure(code, message)).encode()


class Guard:
    """An application of ASGI around that of the endpoint."""

    def __init__(self, app: App, token: str, limits: Limits, traffic: Traffic) -> None:
        self._app, self._limits, self._traffic = app, limits, traffic
        self._expected = b"bearer " + token.encode()
        self._held_bytes = 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])  # the server turns it away
        started, status = time.perf_counter(), 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._answer(scope, receive, noting)
        except RefusedRequest as refusal:
            if not status:
                await _refuse(noting, refusal)
        finally:
            self._traffic.count(scope["path"], status, time.perf_counter() - started)

    async def _answer(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        if scope["path"] not in OPEN:
            sent = headers.get(b"authorization", b"")
            if not hmac.compare_digest(sent[:7].lower() + sent[7:].strip(), self._expected):
                message = "The token is missing or wrong. Send the header 'Authorization: Bearer TOKEN'."
                raise RefusedRequest(401, "no_permission", message, {"www-authenticate": "Bearer"})
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        if self._traffic.in_flight >= self._limits.queue:
            raise self._busy(f"{self._limits.queue:,} requests are being answered, the limit (--queue).")
        self._traffic.in_flight += 1
        try:
            await self._in_time(scope, headers, receive, send)
        finally:
            self._traffic.in_flight -= 1

    async def _in_time(
        self, scope: MutableMapping[str, Any], headers: Mapping[bytes, bytes], receive: Receive, send: Send
    ) -> None:
        """Read the body and answer within the time limit. A client that closes its request gives up its turn."""
        held: list[int] = []
        is_gone = False
        watch: asyncio.Task[Message] | None = None
        try:
            async with asyncio.timeout(self._limits.time_s) as deadline:
                body = await self._body(headers, receive, held)

                def give_up(task: asyncio.Task[Message]) -> None:
                    nonlocal is_gone
                    if not task.cancelled():
                        is_gone = True
                        with contextlib.suppress(RuntimeError):  # it has been answered
                            deadline.reschedule(0)

                watch = asyncio.ensure_future(receive())
                watch.add_done_callback(give_up)
                bodies = iter([{"type": "http.request", "body": body, "more_body": False}])

                async def again() -> Message:
                    return next(bodies, {"type": "http.disconnect"})

                await self._app(scope, again, send)
        except TimeoutError:
            if is_gone:
                return
            took = f"It took longer than {self._limits.time_s:g} s, the limit (--timeout)."
            if watch is None:
                message = f"The body did not come in time. {took}"
                raise RefusedRequest(408, "timeout", message, {"connection": "close"}) from None
            raise RefusedRequest(504, "timeout", f"{took} Ask about fewer samples at once, or later.") from None
        finally:
            self._held_bytes -= sum(held)
            if watch is not None:
                watch.cancel()

    async def _body(self, headers: Mapping[bytes, bytes], receive: Receive, held: list[int]) -> bytes:
        """Return the whole body; the bytes that are in memory are noted in `held`. Raises `RefusedRequest`."""
        limit = self._limits.body_bytes
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > limit:
            raise await self._too_large(int(length), receive)
        chunks, size, has_more = [], 0, True
        while has_more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RefusedRequest(400, "invalid_input", "The body ended early.")
            chunk = message.get("body", b"")
            size, has_more = size + len(chunk), message.get("more_body", False)
            if size > limit:
                raise await self._too_large(size, receive if has_more else None)
            if self._held_bytes + len(chunk) > HELD_BODIES * limit:
                raise self._busy(f"The bodies of other requests take {format_bytes(HELD_BODIES * limit)}, the limit.")
            held.append(len(chunk))
            self._held_bytes += len(chunk)
            chunks.append(chunk)
        return b"".join(chunks)

    async def _too_large(self, size: int, receive: Receive | None) -> RefusedRequest:
        """Return the refusal, once the rest was read and thrown away: a client that still sends reads no answer."""
        limit, rest = self._limits.body_bytes, 0
        while receive is not None and rest < MOST_THROWN_AWAY * limit:
            message = await receive()
            rest += len(message.get("body", b""))
            receive = receive if message.get("more_body", False) else None
        words = f"The body is larger than {format_bytes(limit)}, the limit (--max-body): {format_bytes(size)} or more."
        return RefusedRequest(413, "too_large", f"{words} Send fewer or smaller samples.", {"connection": "close"})

    def _busy(self, reason: str) -> RefusedRequest:
        return RefusedRequest(429, "busy", f"{reason} Ask again in a second.", {"retry-after": "1"})


async def _refuse(send: Send, refusal: RefusedRequest) -> None:
    body = error_body(refusal.code, str(refusal))
    headers = {"content-type": "application/json", "content-length": str(len(body)), **refusal.headers}
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
