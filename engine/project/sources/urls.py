"""URLs as places of data: protocols read over the network, hosts, and their form in messages."""

import ipaddress
import platform
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import printable

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
DRIVE = re.compile(r"/[A-Za-z]:/")
"""Start of the path of a URL that names a drive of Windows."""
PROTOCOLS = ("http", "https", "s3", "gs", "abfs", "hdfs", "sftp", "memory", "file")
"""Protocols of files and folders; all but http, https and file are read by fsspec."""
WITHIN = frozenset({"memory", "file"})
"""Protocols that contact no host."""
WITH_USER = frozenset({"abfs", "sftp", "hdfs"})
"""Protocols whose URL may name a user, or as with abfs a container, but no password."""
USUAL_PORTS = {"http": 80, "https": 443}
LONGEST_NAME, LONGEST_LABEL, HIGHEST_PORT = 253, 63, 65535
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")
_PLACE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]*)(?::([0-9]{0,5}))?")
"""A name, or an address of IPv6 in brackets, and a port."""
_KEPT = "%/:=&?~+!$,;'@()*[]"
"""Characters of the path and query of a URL that are sent as they are."""


class Parts(NamedTuple):
    """Parts of a URL. `place`: the host with user and port, as it stands there; `rest`: path, query and fragment."""

    protocol: str
    place: str
    rest: str


def split_url(url: str) -> Parts:
    """Return the parts of a URL; the protocol is empty for other texts. Unlike `urllib.parse`, it takes any text."""
    if not (scheme := SCHEME.match(url)):
        return Parts("", "", url)
    place = re.split(r"[/?#]", url[scheme.end() :], maxsplit=1)[0]
    return Parts(scheme[1].lower(), place, url[scheme.end() + len(place) :])


def path_of(url: str) -> str:
    """Return the path in a URL, with its escapes resolved."""
    return unquote(re.split(r"[?#]", split_url(url).rest, maxsplit=1)[0])


def without_secrets(place: str) -> str:
    """Return a path or URL for messages: a URL without user, password, query and fragment, where tokens stand."""
    if not (scheme := SCHEME.match(place)):
        return place
    parts = split_url(place)
    path = re.split(r"[?#]", parts.rest, maxsplit=1)[0]
    return f"{scheme[0]}{parts.place.rpartition('@')[2]}{path}"


def _file_fault(url: str, path: str) -> str:
    """Return why a `file://` URL is no path of this machine, in words."""
    if split_url(url).place.lower() not in ("", "localhost", platform.node().lower()):
        return "it names another machine"
    return "it has no path" if not path else "it holds a null character" if "\0" in path else ""


def is_remote(place: str) -> bool:
    """Return whether a place is a URL that is read over the network."""
    return split_url(place).protocol not in ("", "file")


def without_file_scheme(place: str) -> str:
    """Return a `file://` URL, as file managers and browsers copy it, as the path that it is. Other places are returned
    unchanged, as is a URL that is no path of this machine."""
    path = path_of(place)
    if split_url(place).protocol != "file" or _file_fault(place, path):
        return place
    return path[1:] if DRIVE.match(path) else path


def host_of(url: str) -> str:
    """Return the host of a URL, by which it is allowed and shown: in ASCII, with its port unless that is the usual one,
    and with the protocol where that is not http, such as `s3://bucket`. Empty for a URL that contacts none, or none
    that can be read."""
    protocol, place, _ = split_url(url)
    host = "" if protocol in WITHIN else _ascii_host(place, USUAL_PORTS.get(protocol))
    return host if protocol in USUAL_PORTS or not host else f"{protocol}://{host}"


def address_of(url: str) -> str:
    """Return a sound http URL as it is requested: the host as in `host_of`, and what else is not ASCII escaped."""
    protocol, _, rest = split_url(url)
    return f"{protocol}://{host_of(url)}{quote(rest.partition('#')[0], safe=_KEPT)}"


def _ascii_host(place: str, usual_port: int | None) -> str:
    """Return host and port of a place in a URL in ASCII; empty where they cannot be read."""
    match = _PLACE.fullmatch(place.rpartition("@")[2])
    if match is None or (number := int(match[2] or 0)) > HIGHEST_PORT:
        return ""
    name, port = match[1], f":{number}" if number and number != usual_port else ""
    if name.startswith("["):
        try:
            return f"[{ipaddress.IPv6Address(name[1:-1])}]{port}"
        except ValueError:
            return ""
    try:
        plain = (name if name.isascii() else name.encode("idna").decode("ascii")).lower()
    except UnicodeError:
        return ""
    labels = plain.removesuffix(".").split(".")
    is_sound = _NAME.fullmatch(plain) and len(plain) <= LONGEST_NAME and max(map(len, labels)) <= LONGEST_LABEL
    return f"{plain.removesuffix('.')}{port}" if is_sound else ""


def url_fault(url: str, protocols: tuple[str, ...] = PROTOCOLS, content: str = "files") -> str:
    """Return the error of a URL as a sentence; empty for a valid one, and for a text that is no URL. Secrets in it are
    not repeated. `content` names what is read there."""
    protocol, place, _ = split_url(url)
    if not protocol:
        return ""
    if protocol not in protocols:
        return f"{content} are not read by {protocol}://. Use one of: {', '.join(protocols)}."
    if any(ord(c) < ord(" ") or ord(c) == 0x7F for c in url):
        return f"{printable(without_secrets(url))} holds a control character, which no URL has."
    if protocol not in WITHIN and not host_of(url):
        where = place.rpartition("@")[2]
        fault = f"its host '{printable(where)}' cannot be read" if where else "it has no host"
        return f"this is no URL: {fault}. Expected one such as https://example.org/train.csv."
    if protocol == "file" and (reason := _file_fault(url, path_of(url))):
        return f"this is no file of this machine: {reason}. Expected one such as file:///data/train.csv."
    user = place.rpartition("@")[0]
    if user and (":" in user or protocol not in WITH_USER):
        return (
            f"{printable(without_secrets(url))} is given with a user or password, which a project must not hold. Set "
            "it in the environment or in the configuration of fsspec."
        )
    return ""


def url_problems(name: str, place: str, protocols: tuple[str, ...], content: str) -> Iterator[FieldError]:
    """Yield the error of a URL in the option `name`. `content` names what is read there."""
    if fault := url_fault(place, protocols, content):
        yield FieldError(name, fault)
