"""Open URLs of http and https. No redirect leads out of encryption, into this machine or into its network.

The address that a name has is looked at before it is connected to, and that very address is connected to, so that a
name whose address changes in between (DNS rebinding) gains nothing.
"""

import contextlib
import http.client
import ipaddress
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal
from urllib.parse import urljoin

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.project.sources.urls import (
    USUAL_PORTS,
    address_of,
    host_of,
    split_url,
    url_fault,
    without_secrets,
)

Reach = Literal["public", "private", "link-local", "loopback"]
TIMEOUT_S = 60.0
MOST_REDIRECTS = 10
REDIRECTS = frozenset({301, 302, 303, 307, 308})
WORDS: Mapping[Reach, str] = {
    "private": "an address of your own network",
    "link-local": "an address of this link",
    "loopback": "this machine",
}


def reach_of(address: str) -> Reach:
    """Return from where an IP address is reached. Raises `ValueError` for another text."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    inside = getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None)
    ip = inside or ip
    if ip.is_loopback or ip.is_unspecified:
        return "loopback"
    if ip.is_link_local:
        return "link-local"
    return "public" if ip.is_global else "private"


def is_this_machine(host: str) -> bool:
    """Return whether a host, without its port, names this machine in words: `localhost`, or its own name."""
    return host == "localhost" or host.endswith(".localhost") or host == socket.gethostname().lower()


def named_reach(host: str) -> Reach | None:
    """Return the reach of a host that says it itself, as an IP address or `localhost`; None for other names. A port may
    follow."""
    name = _without_port(host)
    with contextlib.suppress(ValueError):
        return reach_of(name.strip("[]"))
    return "loopback" if is_this_machine(name) else None


def _without_port(host: str) -> str:
    return host if host.endswith("]") else host.rpartition(":")[0] or host


class _Way:
    """One request on its way: connects to addresses that it may have, and notes the reach of the one it has.

    `before` is the reach of the first address of a redirect, None for what was not redirected.
    """

    def __init__(self, url: str, before: Reach | None) -> None:
        self._url, self._before = url, before
        self._host = host_of(url)
        self._name = _without_port(self._host).strip("[]")
        self.reach: Reach | None = named_reach(self._host)

    def refuse(self, reach: Reach) -> None:
        """Raise `UserError` where an address of this reach may not be connected to."""
        if self._before is not None:
            is_allowed = reach in ("public", self._before)
        else:  # the user named the host; a name of others must not lead to what only this machine can reach
            is_allowed = reach in ("public", "private") or named_reach(self._host) is not None
        if not is_allowed:
            name = printable(without_secrets(self._url))
            reason = "redirects there" if self._before is not None else "has that address"
            raise UserError(
                f"{name} is not contacted: it is {WORDS[reach]}, and a server elsewhere {reason}.",
                hint="Name the address itself if you mean it.",
                code="redirected",
            )

    def connect(self, place: tuple[str, int], timeout: Any, source: Any = None) -> socket.socket:
        """Connect to a host, as `socket.create_connection` does. Raises `OSError`, `UserError`."""
        name, port = place
        if name.strip("[]") != self._name:  # a proxy, which finds the address itself
            return socket.create_connection(place, timeout, source)
        lost: OSError = OSError("there is no address")
        for *_, address in socket.getaddrinfo(name, port, type=socket.SOCK_STREAM):
            reach = reach_of(str(address[0]))
            self.refuse(reach)
            try:
                connection = socket.create_connection((str(address[0]), port), timeout, source)
            except OSError as error:
                lost = error
                continue
            self.reach = reach
            return connection
        raise lost


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


class _Handler(urllib.request.HTTPHandler):
    """Opens both protocols, over connections that a `_Way` makes."""

    def __init__(self, way: _Way) -> None:
        super().__init__()
        self._way = way

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connection(http.client.HTTPConnection), req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connection(http.client.HTTPSConnection), req, context=_tls())

    https_request = urllib.request.HTTPHandler.do_request_

    def _connection(self, kind: type[http.client.HTTPConnection]) -> Any:
        def make(host: str, **values: Any) -> http.client.HTTPConnection:
            connection = kind(host, **values)
            connection._create_connection = self._way.connect  # type: ignore[attr-defined]  # where it connects
            return connection

        return make


def open_url(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
    refuse: Callable[[str], None] = lambda url: None,
) -> Any:
    """Return the response of a server, after redirects. `refuse` raises `UserError` for a URL that no redirect may lead
    to.

    Raises `urllib.error.HTTPError` for a refusal, `OSError` or `http.client.HTTPException` where the connection fails,
    and `UserError` for a URL or a redirect that is not followed.
    """
    before: Reach | None = None
    for _ in range(MOST_REDIRECTS + 1):
        if fault := url_fault(url, tuple(USUAL_PORTS)):
            raise UserError(f"{printable(without_secrets(url))}: {fault}")
        url = address_of(url)
        way = _Way(url, before)
        if way.reach is not None:
            way.refuse(way.reach)
        request = urllib.request.Request(url, headers=dict(headers or {}), method=method)
        try:
            return _opener(way).open(request, timeout=timeout_s)
        except urllib.error.HTTPError as error:
            target = error.headers.get("Location")
            if error.code not in REDIRECTS or not target:
                raise
            error.close()
        before = before or way.reach or "public"
        url = _redirected(url, target)
        refuse(url)
    raise UserError(f"{printable(without_secrets(url))} is not read: it was redirected {MOST_REDIRECTS} times.")


def _redirected(url: str, target: str) -> str:
    """Return the URL that a redirect leads to. Raises `UserError` where it leaves http, or encryption."""
    try:
        following = urljoin(url, target)
    except ValueError:
        following = target
    protocol, was = split_url(following).protocol, split_url(url).protocol
    if protocol not in USUAL_PORTS or (was == "https" and protocol != "https"):
        name = printable(without_secrets(following))
        raise UserError(
            f"{host_of(url)} redirects to {name}, which is not followed: it leaves {was}.", code="redirected"
        )
    return following


def _opener(way: _Way) -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()
    handlers: list[urllib.request.BaseHandler] = [
        _Handler(way),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ]
    if way.reach != "loopback":
        handlers.append(urllib.request.ProxyHandler())
    for handler in handlers:
        opener.add_handler(handler)
    return opener
