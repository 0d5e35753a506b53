"""The user's webhook: an address that is told when a run, an experiment or a queue has ended.

It stands in `notifications.json` in the user's folder of settings, which only the user can read; never in a project.
The path of such an address is a secret: no message names more of it than the host.
"""

import contextlib
import ipaddress
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import make_private_folder, read_object, write_json
from netwright.engine.core.folders import config_folder
from netwright.engine.core.text import format_figure
from netwright.engine.core.version import VERSION

TIMEOUT_S = 10.0
PAUSE_S = 2.0
LIMIT_BYTES = 2**16
LONGEST = 2000


def settings_file() -> Path:
    """Return the file of the setting. Raises `UserError` for a user without a home folder."""
    try:
        return config_folder() / "notifications.json"
    except RuntimeError as error:
        raise UserError(f"There is no folder for settings: {error}") from None


def read() -> str:
    """Return the address; empty where none is set. Raises `UserError` where the file cannot be read."""
    try:
        path = settings_file()
    except UserError:  # without a place for settings nothing is set
        return ""
    try:
        url = (read_object(path, LIMIT_BYTES) or {}).get("webhook", "" if not path.exists() else None)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if not isinstance(url, str):
        raise UserError(f"{path} is damaged, and nobody is told.", hint="Set the webhook again: `notify --webhook`.")
    return url


def store(url: str) -> None:
    """Set the address; an empty one switches it off. Raises `UserError`."""
    if url:
        check(url)
    path = settings_file()
    try:
        make_private_folder(path.parent)
        path.unlink(missing_ok=True)  # a file that others could read stays theirs to read
        if url:
            write_json(path, {"webhook": url})
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from None


def check(url: str) -> None:
    """Raise `UserError` for what is no address that may be told. Its text names nothing of the address."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if not host or len(url) > LONGEST or not url.isascii() or any(c <= " " for c in url):
        raise UserError("The webhook is no address.", hint="Expected one such as https://example.org/hooks/1234.")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_here(host)):
        raise UserError(
            f"The webhook on {host} is not encrypted, and names and metrics would be readable on the way.",
            hint="Expected an address that begins with https://",
        )


def _is_here(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def host_of(url: str) -> str:
    """Return the host of an address, the only part that may be shown."""
    with contextlib.suppress(ValueError):
        return urlsplit(url).hostname or "?"
    return "?"


def message(kind: str, name: str, state: str, reason: str, metrics: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return the message. `kind`: run, experiment, queue or test. `text` and `content` are the sentence that chat
    programs show."""
    numbers = {key: value for key, value in metrics.items() if isinstance(value, float | int)}
    scores = ", ".join(f"{key} {format_figure(value)}" for key, value in numbers.items())
    text = f"{name}: {state}" + (f" ({reason})" if reason else "") + (f"; {scores}" if scores else "")
    record = {"kind": kind, "name": name, "state": state, "reason": reason, "metrics": dict(metrics), **more}
    return {"program": f"Netwright {VERSION}", **record, "text": text[:LONGEST], "content": text[:LONGEST]}


def send(url: str, record: Mapping[str, Any], *, timeout_s: float = TIMEOUT_S, pause_s: float = PAUSE_S) -> str:
    """Post a message as JSON, again after `pause_s` where that fails. Return why it was not taken, without the address;
    empty if it was."""
    try:
        check(url)
    except UserError as error:
        return str(error)
    data = json.dumps(record, allow_nan=False).encode()
    why = _post(url, data, timeout_s)
    if why:
        time.sleep(pause_s)
        why = _post(url, data, timeout_s)
    return f"The webhook on {host_of(url)} was not told, in two attempts: {why}" if why else ""


def _post(url: str, data: bytes, timeout_s: float) -> str:
    """Return why a request failed; empty if it was taken. Redirections are not followed: they lead elsewhere."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class Staying(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    headers = {"Content-Type": "application/json", "User-Agent": f"netwright/{VERSION}"}
    try:
        with build_opener(Staying).open(Request(url, data, headers, method="POST"), timeout=timeout_s):
            return ""
    except HTTPError as error:
        with error:
            return f"it answered {error.code}."
    except OSError as error:  # its text may hold the address
        reason = getattr(error, "reason", error)
        return f"{getattr(reason, 'strerror', None) or type(reason).__name__}."
    except (HTTPException, ValueError) as error:
        return f"{type(error).__name__}."
