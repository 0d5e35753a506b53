"""Redirects, and names that lead into this machine: servers on loopback, of which some count as elsewhere."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources import web
from netwright.engine.data.sources.web import open_url, reach_of

AWAY, NEAR, HERE = "127.0.0.2", "127.0.0.3", "127.0.0.1"
"""Addresses that count as public, of the own network, and of this machine."""
REACH: Mapping[str, web.Reach] = {AWAY: "public", NEAR: "private", HERE: "loopback", "169.254.169.254": "link-local"}


class Server(ThreadingHTTPServer):
    target = ""
    asked: list[str]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(302 if self.server.target else 200)
        self.send_header("Location", self.server.target)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(address: str) -> Iterator[Server]:
    with Server((address, 0), Handler) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Addresses of names; nothing else has one."""
    known = {"away.example": AWAY, "near.example": NEAR, "here.example": HERE, "meta.example": "169.254.169.254"}
    real = socket.getaddrinfo

    def getaddrinfo(host: str, *rest: Any, **more: Any) -> Any:
        return real(known.get(host, host), *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(web, "reach_of", lambda address: REACH[address] if address in REACH else reach_of(address))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return known


def read(url: str) -> bytes:
    with open_url(url, timeout_s=10.0) as response:
        data: bytes = response.read()
    return data


@pytest.mark.parametrize(
    ("first", "then", "is_followed"),
    [
        (AWAY, AWAY, True),
        (AWAY, HERE, False),
        (AWAY, NEAR, False),
        (NEAR, NEAR, True),
        (NEAR, HERE, False),
        (NEAR, AWAY, True),
        (HERE, HERE, True),
        (HERE, NEAR, False),
        (HERE, AWAY, True),
    ],
)
@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.usefixtures("names")
def test_no_redirect_leads_further_in(first: str, then: str, *, is_followed: bool, by_name: bool) -> None:
    """Also where a name, or another way to write an address, hides where it leads."""
    words = {AWAY: "away.example", NEAR: "near.example", HERE: "here.example"}
    with serving(first) as begin, serving(then) as end:
        begin.target = f"http://{words[then] if by_name else then}:{end.server_port}/inner"
        url = f"http://{first}:{begin.server_port}/outer"
        if is_followed:
            assert read(url) == b"ok"
        else:
            with pytest.raises(UserError, match=r"is not contacted: it is .*a server elsewhere redirects there"):
                read(url)
        assert end.asked == (["/inner"] if is_followed else [])


@pytest.mark.parametrize("host", ["2130706433", "[::ffff:127.0.0.1]", "[::1]", "localhost", "0.0.0.0", "127.1"])
@pytest.mark.usefixtures("names")
def test_this_machine_is_known_in_every_writing(host: str) -> None:
    with serving(AWAY) as begin, serving(HERE) as end:
        begin.target = f"http://{host}:{end.server_port}/inner"
        with pytest.raises(UserError, match="it is this machine"):
            read(f"http://{AWAY}:{begin.server_port}/")
        assert end.asked == []


@pytest.mark.parametrize("name", ["here.example", "meta.example"])
@pytest.mark.usefixtures("names")
def test_a_name_of_others_does_not_lead_into_this_machine(name: str) -> None:
    """As a project's owner can let it by an answer of his name server."""
    with serving(HERE) as server:
        with pytest.raises(UserError, match=r"example:.* is not contacted: it is .*has that address"):
            read(f"http://{name}:{server.server_port}/")
        assert server.asked == []
        assert read(f"http://localhost:{server.server_port}/") == b"ok"
        assert read(f"http://{HERE}:{server.server_port}/") == b"ok"


def test_the_address_that_was_looked_at_is_connected_to(names: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that answers otherwise the second time (DNS rebinding) changes nothing."""
    looked = web.reach_of
    with serving(AWAY) as server, serving(HERE) as inner:

        def rebinding(address: str) -> web.Reach:
            if address == AWAY:
                names["away.example"] = HERE
            return looked(address)

        monkeypatch.setattr(web, "reach_of", rebinding)
        assert read(f"http://away.example:{server.server_port}/") == b"ok"
        assert (server.asked, inner.asked) == (["/"], [])


@pytest.mark.parametrize("target", ["http://a.org/x", "file:///etc/passwd", "ftp://a.org/x", "//[::1", "gopher:x"])
def test_no_redirect_leaves_encryption_or_http(target: str) -> None:
    with pytest.raises(UserError, match="which is not followed: it leaves https"):
        web._redirected("https://a.org/x", target)


def test_redirects_come_to_an_end() -> None:
    with serving(HERE) as server:
        server.target = "/again"
        with pytest.raises(UserError, match="it was redirected 10 times"):
            read(f"http://{HERE}:{server.server_port}/")


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        ("8.8.8.8", "public"),
        ("10.1.2.3", "private"),
        ("100.64.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("::ffff:10.0.0.1", "private"),
        ("2002:7f00:1::", "loopback"),
        ("fd00::1", "private"),
        ("2606:4700::1", "public"),
    ],
)
def test_addresses_are_reached_from(address: str, reach: str) -> None:
    assert reach_of(address) == reach


def test_a_proxy_is_asked_for_names_and_not_for_this_machine(
    names: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(HERE) as proxy, serving(HERE) as server:
        monkeypatch.setenv("http_proxy", f"http://{HERE}:{proxy.server_port}")
        assert read("http://nowhere.example/x") == b"ok"
        assert read(f"http://{HERE}:{server.server_port}/y") == b"ok"
        assert (proxy.asked, server.asked) == (["http://nowhere.example/x"], ["/y"])
        proxy.target = f"http://{HERE}:{server.server_port}/z"
        with pytest.raises(UserError, match="a server elsewhere redirects there"):
            read("http://nowhere.example/x")
        assert server.asked == ["/y"]
