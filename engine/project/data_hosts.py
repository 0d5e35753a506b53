"""The hosts that data is fetched from: only those that the user has allowed, each for one project or run.

A project, or the folder of a run, may come from a stranger, and the address in it is the stranger's choice. So whoever
reads data behind a URL calls `refuse_contact`, and a command first calls `look_up` with the project or run that it is
about. What was allowed is part of the user's configuration; nothing in a project can change it. An entry for a folder
holds for all that is in it, such as the runs of an experiment.
"""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from netwright.engine.core.errors import HOST_NOT_ALLOWED, UserError, listed
from netwright.engine.core.files import make_private_folder, read_object, write_json
from netwright.engine.core.folders import config_folder
from netwright.engine.core.locks import LockHeldError, take_lock
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources.shards import expand
from netwright.engine.project.sources.source_type import remote_options
from netwright.engine.project.sources.urls import host_of, is_remote

Hosts = Mapping[str, int]
"""Hosts as `host_of` writes them, with the number of files that may be fetched from each."""
VARIABLE = "NETWRIGHT_ALLOWED_HOSTS"
"""Environment variable with the hosts that this process and its child processes may contact, separated by spaces; a
host may be followed by `=` and the number of files."""
MOST_FILES = 1000
"""Number of files that may be fetched from a host unless a larger one was allowed."""
ANY_NUMBER = 10**9 - 1
MOST_ENTRIES = 2000
LIMIT_BYTES = 2**22
PATIENCE_S = 5.0

_said: dict[str, int] = {}
"""What the user has allowed in this process, to be stored for the project that needs it."""
_subject: Path | None = None
"""The project or run that was looked up last."""


def hosts_of(options: DataOptions) -> dict[str, int]:
    """Return the hosts that the data of a project is at, with the number of files that is known without asking them."""
    hosts: dict[str, int] = {}
    for name in remote_options(options):
        url = getattr(options, name)
        if host := host_of(url):
            hosts[host] = hosts.get(host, 0) + _num_named(options, url)
    return hosts


def missing_hosts(options: DataOptions, may: Hosts) -> dict[str, int]:
    """Return the hosts of the data that are not among those that may be contacted, or not for so many files."""
    return {host: files for host, files in hosts_of(options).items() if may.get(host, 0) < files}


def _num_named(options: DataOptions, url: str) -> int:
    source = options.source_type
    if source is None or not source.has_patterns:
        return 1
    try:
        return len(expand(url))
    except UserError:  # said when it is read
        return 1


# ---- this process ----


def granted() -> dict[str, int]:
    """Return the hosts that this process may contact."""
    return read_hosts(os.environ.get(VARIABLE, ""))


def granted_for(options: DataOptions) -> dict[str, int]:
    """Return the hosts of the data that this process may contact."""
    needed = hosts_of(options)
    return {host: files for host, files in granted().items() if host in needed}


def read_hosts(text: str) -> dict[str, int]:
    """Return the hosts in a text: hosts or URLs, separated by spaces or commas, such as `example.org s3://data=5000`.
    Those that cannot be read are left out."""
    hosts = {}
    for word in re.split(r"[\s,]+", text):
        place, _, number = word.rpartition("=") if re.search(r"=[0-9]{1,9}$", word) else (word, "", "")
        if host := host_of(place if "://" in place else f"https://{place}"):
            hosts[host] = int(number or MOST_FILES)
    return hosts


def grant(hosts: Hosts) -> None:
    """Let this process, and child processes that it starts later, contact hosts."""
    if hosts:
        os.environ[VARIABLE] = written(merged(granted(), hosts))


def grant_all(options: DataOptions) -> None:
    """Grant the hosts of the data of a run that this process is a worker of: whoever has started it has allowed them,
    perhaps on another machine."""
    grant(dict.fromkeys(hosts_of(options), ANY_NUMBER))


@contextlib.contextmanager
def granting(hosts: Hosts) -> Iterator[None]:
    """Grant hosts within the context, in which no project was looked up yet; what is granted in it ends with it."""
    global _subject
    before, subject = os.environ.get(VARIABLE), _subject
    _subject = None
    grant(hosts)
    try:
        yield
    finally:
        _subject = subject
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


def written(hosts: Hosts) -> str:
    """Return hosts as the text that `read_hosts` reads."""
    return " ".join(host if files == MOST_FILES else f"{host}={files}" for host, files in hosts.items())


def say(hosts: Hosts) -> None:
    """Grant hosts because the user has just allowed them; they are stored for the project that needs them."""
    _said.update(merged(_said, hosts))
    grant(hosts)


def say_typed(text: str) -> None:
    """Allow the host of a URL that the user has typed; other texts have none."""
    if is_remote(text) and (host := host_of(text)):
        say({host: MOST_FILES})


def look_up(path: Path) -> None:
    """Grant the hosts that the user has allowed for the project or run of this process."""
    global _subject
    _subject = _real(path)
    grant(allowed(path))


def refuse_contact(url: str, files: int = 1) -> None:
    """Raise `UserError` where this process may not contact the host of a URL, or fetch so many files from it."""
    if (host := host_of(url)) and granted().get(host, 0) < files:
        raise not_allowed({host: files})


def admit(options: DataOptions) -> None:
    """Raise `UserError` where a host of the data is not allowed. Stores the user's new answers about them."""
    if missing := missing_hosts(options, granted()):
        raise not_allowed(missing)
    if _subject is not None and _said:
        needed = hosts_of(options)
        with contextlib.suppress(UserError):  # a home that cannot be written; it was allowed for this time
            allow(_subject, {host: files for host, files in _said.items() if host in needed})


def not_allowed(hosts: Hosts) -> UserError:
    """Return the error for hosts that were not allowed. Its `data` has them, and the `path` that is to be allowed
    them."""
    places = listed([f"{host} ({files:,} files)" if files > MOST_FILES else host for host, files in hosts.items()])
    needed = {host: max(MOST_FILES, files) for host, files in hosts.items()}
    options = " ".join(f"--allow-host {word}" for word in written(needed).split())
    error = UserError(
        f"The data is at {places}, and nothing is fetched from there before you allow it.",
        hint=f'Add {options}, or set {VARIABLE}="{written(needed)}".',
        code=HOST_NOT_ALLOWED,
    )
    error.data = {"hosts": dict(hosts), **({"path": str(_subject)} if _subject is not None else {})}
    return error


# ---- the user's configuration ----


def allowed(path: Path) -> dict[str, int]:
    """Return the hosts that the user has allowed for a project or run, or for a folder around it."""
    real, hosts = _real(path), dict[str, int]()
    entries = _entries()
    for place in (real, *real.parents):
        hosts = merged(hosts, entries.get(str(place), {}))
    return hosts


def allow(path: Path, hosts: Hosts) -> None:
    """Allow hosts for a project, a run or a folder from now on. Raises `UserError` if that cannot be stored."""
    if not hosts:
        return
    key, limits = str(_real(path)), {host: max(MOST_FILES, files) for host, files in hosts.items()}
    try:
        file = _file()
        make_private_folder(file.parent)
        lock = take_lock(file.with_name(f"{file.name}.lock"), patience_s=PATIENCE_S)
        try:
            entries = _entries()
            before = entries.pop(key, {})
            entries[key] = merged(before, limits)
            write_json(file, {"allowed": dict(list(entries.items())[-MOST_ENTRIES:])})
        finally:
            os.close(lock)
    except (OSError, RuntimeError, LockHeldError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"The list of allowed hosts cannot be written: {reason}.") from None


def keep_for(path: Path, options: DataOptions) -> None:
    """Allow the hosts of data that is read now for what is made of it, such as a run, so that nobody asks again."""
    with contextlib.suppress(UserError):
        allow(path, granted_for(options))


def _file() -> Path:
    return config_folder() / "hosts.json"


def _entries() -> dict[str, dict[str, int]]:
    """Return the entries by path; none if the list is missing or damaged."""
    with contextlib.suppress(OSError, RuntimeError):
        entries = (read_object(_file(), LIMIT_BYTES) or {}).get("allowed")
        if isinstance(entries, dict):
            return {
                path: {host: files for host, files in hosts.items() if isinstance(files, int)}
                for path, hosts in entries.items()
                if isinstance(hosts, dict)
            }
    return {}


def merged(first: Hosts, second: Hosts) -> dict[str, int]:
    """Return the hosts of both, with the larger number of files."""
    return {host: max(first.get(host, 0), second.get(host, 0)) for host in (*first, *second)}


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
