"""The server of an endpoint: its socket, its signals and its end."""

import contextlib
import signal
import socket
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from netwright.engine.cli.printing import say
from netwright.engine.core.errors import UserError
from netwright.engine.core.platform import STOP_SIGNALS
from netwright.engine.endpoint.endpoint_app import application
from netwright.engine.endpoint.guard import Limits
from netwright.engine.endpoint.served_model import ServedModel
from netwright.engine.hardware.threads import calm_threads

if TYPE_CHECKING:
    from netwright.engine.endpoint.endpoint_command import EndpointRequest

MIB = 2**20
BACKLOG = 1024
MORE_S = 5.0
"""Seconds beside the limit of a request, after which requests in flight are given up at the end."""


def serve(request: "EndpointRequest") -> None:
    """Serve a model until a signal says to stop, and what was asked is answered. Raises `UserError` where it cannot be
    opened, or its address is taken."""
    calm_threads()
    token = request.token()
    listening = _socket(request.host, request.port)
    with contextlib.closing(listening):
        model = ServedModel(request.choice, request.max_batch, request.max_wait / 1000)
        limits = Limits(request.max_body * MIB, request.queue, request.timeout)
        config = uvicorn.Config(
            application(model, token, limits),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            interface="asgi3",
            loop="asyncio",
            http="h11",
            timeout_graceful_shutdown=int(request.timeout + MORE_S),
        )
        _introduce(model, request, listening.getsockname(), token)
        try:
            _Server(config).run(sockets=[listening])
        finally:
            model.close()


class _Server(uvicorn.Server):
    """A server that a signal ends after its answers, without the signal's own end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first signal; the second ends at once."""
        before = {number: signal.signal(number, self.handle_exit) for number in STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal."""
        self.force_exit = self.should_exit
        self.should_exit = True


def _socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises `UserError`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)  # asyncio sends small parts at once where it knows the protocol
        try:
            if sys.platform != "win32":  # there it lets two listen at once
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(BACKLOG)
        except OSError:
            made.close()
            raise
    except OSError as error:
        reason = error.strerror or error
        raise UserError(
            f"Nothing can listen at {host}, port {port}: {reason}.", hint="Choose others: --port, --host."
        ) from None
    return made


def _introduce(model: ServedModel, request: "EndpointRequest", address: tuple[str, int], token: str) -> None:
    """Print where it listens, and the token if it is new."""
    host, port = address[:2]
    shown = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    if not ip_address(host).is_loopback:
        words = "what is sent there is not encrypted. Let a proxy with TLS stand before it."
        say(f"netwright-engine: others reach {shown}, and {words}", to=sys.stderr)
    if model.assumed:
        say(f"netwright-engine: assumed: {' '.join(model.assumed)}", to=sys.stderr)
    say(f"{model.name} answers at {shown}/predict", flush=True)
    if request.token_file is None:
        say(f"token: {token}", f"page:  {shown}/#token={token}", flush=True)
    else:
        say(f"page:  {shown}/", flush=True)
    say("Ctrl-C ends it.", flush=True)
