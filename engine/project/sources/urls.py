"""URLs as places of data: which are read over the network, and what messages show of them."""

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from engine.core.errors import FieldError

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
DRIVE = re.compile(r"/[A-Za-z]:/")
"""Start of the path of a URL that names a drive of Windows."""
PROTOCOLS = ("http", "https", "s3", "gs", "abfs", "hdfs", "sftp", "memory", "file")
"""Protocols of files and folders; all but http, https and file are read by fsspec."""
WITH_USER = frozenset({"abfs", "sftp", "hdfs"})
"""Protocols whose URL may name a user, or as with abfs a container, but no password."""


def without_secrets(place: str) -> str:
    """Return a path or URL for messages: a URL without user, password, query and fragment, where tokens stand."""
    if not (scheme := SCHEME.match(place)):
        return place
    rest = re.split(r"[?#]", place[scheme.end() :], maxsplit=1)[0]
    host, slash, path = rest.partition("/")
    return f"{scheme[0]}{host.rpartition('@')[2]}{slash}{path}"


def is_remote(place: str) -> bool:
    """Return whether a place is a URL that is read over the network."""
    scheme = SCHEME.match(place)
    return scheme is not None and scheme[1].lower() != "file"


def without_file_scheme(place: str) -> str:
    """Return a `file://` URL, as file managers and browsers copy it, as the path that it is; other places unchanged."""
    scheme = SCHEME.match(place)
    if scheme is None or scheme[1].lower() != "file":
        return place
    path = unquote(urlsplit(place).path)
    return path[1:] if DRIVE.match(path) else path


def url_problems(name: str, place: str, protocols: tuple[str, ...], what: str) -> Iterator[FieldError]:
    """Yield what is wrong with a URL of the option `name`; secrets in it are not repeated. `what` is read there."""
    if not (scheme := SCHEME.match(place)):
        return
    protocol = scheme[1].lower()
    if protocol not in protocols:
        yield FieldError(name, f"{what} are not read by {scheme[1]}://. Use one of: {', '.join(protocols)}.")
    try:
        host = urlsplit(place).netloc
    except ValueError:
        yield FieldError(name, "this is no URL: its host cannot be read.")
        return
    user = host.rpartition("@")[0]
    if user and (":" in user or protocol not in WITH_USER):
        message = (
            f"{without_secrets(place)} is given with a user or password, which a project must not hold. Set it in the "
            "environment or in the configuration of fsspec."
        )
        yield FieldError(name, message)
