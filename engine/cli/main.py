"""Command line program `netwright-engine`: Netwright without a window, for terminals and CI.

Exit codes: 0 done; 1 defect of Netwright; 2 invalid user input; 3 failed run; 4 a `--require` condition does not hold,
or compared projects differ; 5 requested environment not available; 130 stopped on request.
"""

import argparse
import contextlib
import errno
import gc
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

from netwright.engine.cli.commands import HIDDEN, PROGRAM, commands, overview, parser, refuse_unknown_command
from netwright.engine.core.errors import (
    EXIT_DEFECT,
    EXIT_DONE,
    EXIT_INPUT,
    EXIT_STOPPED,
    HOST_NOT_ALLOWED,
    RunError,
    UserError,
)
from netwright.engine.core.version import VERSION

REPORT_TO = "Please report it, with the lines above, as an issue of the project."


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. A user error prints a message, never a traceback."""
    with _forgiving_output() as lost:
        code = _run(argv)
        sys.stdout.flush()
        if lost and code == EXIT_DONE:
            _complain(f"netwright-engine: the output could not be written: {lost[0].strerror}.")
            return EXIT_INPUT
        return code


def program() -> None:
    """Entry point of the process: run the command and exit.

    It exits by `os._exit`: the regular end of the interpreter frees objects one by one, which takes a tenth of the time
    of a light command, and with torch as long as a small run.
    """
    gc.disable()  # while modules are imported, little can be freed; a command turns it on again
    _open_closed_streams()
    try:
        code = main()
    except SystemExit as end:  # from the argument parser, which has printed the reason
        code = end.code if isinstance(end.code, int) else EXIT_DONE
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _run(argv: Sequence[str] | None) -> int:
    tokens = sys.argv[1:] if argv is None else list(argv)
    if not tokens or tokens in (["-h"], ["--help"]):
        sys.stdout.write(f"{overview()}\n")
        return EXIT_DONE
    arguments = argparse.Namespace()
    try:
        if not tokens[0].startswith("-"):
            refuse_unknown_command(tokens[0])
        _, unknown = parser(tokens[0]).parse_known_args(tokens, arguments)
        if unknown:
            raise _not_understood(arguments, unknown)
        return _ran(arguments)
    except UserError as error:
        return _refuse(error, tokens, arguments)
    except KeyboardInterrupt:
        return _stopped(tokens, arguments)
    except Exception as error:  # any other exception is a defect of Netwright
        if isinstance(error.__cause__, KeyboardInterrupt):  # Ctrl-C while Python 3.11 creates a class with fields
            return _stopped(tokens, arguments)
        if (reason := _outer_reason(error)) is not None:
            return _refuse(reason, tokens, arguments)
        import traceback

        _complain(*traceback.format_exc().rstrip("\n").split("\n"))
        message = f"this is a defect of Netwright {VERSION}."
        _complain(f"{PROGRAM}: {message} {REPORT_TO}")
        _report(tokens, arguments, "defect", f"{type(error).__name__}: {error}; {message}", REPORT_TO)
        return EXIT_DEFECT


def _ran(arguments: argparse.Namespace) -> int:
    """Run a command and return its exit code. Where it needs data from a host that is not allowed, the user is asked
    on a terminal, and it is run again."""
    if not gc.isenabled():  # by `program`
        gc.freeze()
        gc.enable()
    for word in getattr(arguments, "allowed_hosts", ()):
        _allow(word)
    while True:
        try:
            code: int = arguments.run(arguments)
            return code
        except UserError as error:
            if error.code != HOST_NOT_ALLOWED or not error.data.get("hosts") or not _agrees(error):
                raise
            from netwright.engine.project.data_hosts import say

            say(error.data["hosts"])


def _allow(word: str) -> None:
    """Allow the host of `--allow-host`. Raises `UserError` for what is none."""
    from netwright.engine.project.data_hosts import read_hosts, say

    if not (hosts := read_hosts(word)):
        hint = "Expected one such as example.org, s3://bucket, or example.org=5000 for so many files."
        raise UserError(f"--allow-host {word}: this is no host.", code="usage", hint=hint)
    say(hosts)


def _agrees(error: UserError) -> bool:
    """Return whether the user, asked on the terminal, lets the data be fetched."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    message = str(error).removesuffix(error.hint).strip()
    _complain(f"{PROGRAM}: {message}")
    sys.stderr.write("Fetch it, now and whenever this project or run is used? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _complain(*lines: str) -> None:
    """Print lines on standard error."""
    from netwright.engine.cli.printing import say

    say(*lines, to=sys.stderr)


def _refuse(error: UserError, tokens: Sequence[str], arguments: argparse.Namespace) -> int:
    """Print the message of an error and return its exit code."""
    first, *rest = error.lines
    _complain(f"{PROGRAM}: {first}", *rest)
    _report(tokens, arguments, error.code, str(error), error.hint, error.data)
    return error.exit_code


def _stopped(tokens: Sequence[str], arguments: argparse.Namespace) -> int:
    _complain(f"{PROGRAM}: stopped.")
    _report(tokens, arguments, "stopped", "stopped on request", "")
    return EXIT_STOPPED


def _report(
    tokens: Sequence[str],
    arguments: argparse.Namespace,
    code: str,
    message: str,
    hint: str,
    data: Mapping[str, Any] | None = None,
) -> None:
    """Write an error as JSON and as JUnit where the command line asks for them, whatever else in it is wrong."""
    asked = tokens[: tokens.index("--")] if "--" in tokens else tokens
    if "--json" in asked and not getattr(arguments, "has_printed_json", False):
        command = tokens[0] if tokens[0] in {**commands(with_installed=True), **HIDDEN} else None
        from netwright.engine.cli.answers import failure, print_json

        print_json(argparse.Namespace(command=command), failure(code, message, hint, data))
    named = [value for token, value in pairwise(asked) if token == "--junit"]
    named += [token.partition("=")[2] for token in asked if token.startswith("--junit=")]
    if named and tokens[0] in ("train", "resume") and not getattr(arguments, "has_written_junit", False):
        from netwright.engine.cli.require import write_junit

        with contextlib.suppress(UserError):  # the error may be about that file
            write_junit(Path(named[-1]), {"state": code, "reason": message, "seconds": 0.0}, ())


def _outer_reason(error: Exception) -> UserError | None:
    """Return what of the system, or of the place where the command was started, is behind an error; else None."""
    if isinstance(error, FileNotFoundError):
        try:
            os.getcwd()
        except FileNotFoundError:
            return UserError(
                "The current folder was deleted.", hint="Change to another one (cd) and run the command again."
            )
    if isinstance(error, MemoryError):
        return RunError("There is not enough memory.", hint="Close other programs, or raise the limit (`ulimit -v`).")
    return None


def _not_understood(arguments: argparse.Namespace, unknown: list[str]) -> UserError:
    """Return the error for unknown arguments, with the `--set` form if one is an option of a project."""
    from netwright.engine.project.option_names import assignment, option_named
    from netwright.engine.project.project import SECTIONS

    command = f"{arguments.command} {getattr(arguments, 'way', None) or ''}".strip()
    name, _, value = unknown[0].partition("=")
    option = option_named(name, SECTIONS, arguments.command) if name.startswith("--") else ""
    if option and hasattr(arguments, "settings"):
        value = value or next((word for word in unknown[1:2] if not word.startswith("--")), "")
        hint = f"Say --set {assignment(option, name, value, SECTIONS)}."
        return UserError(f"{command}: there is no {name}.", code="usage", hint=hint)
    hint = f"`netwright-engine {command} --help` says what it takes."
    return UserError(f"{command}: not understood: {' '.join(unknown)}.", code="usage", hint=hint)


def _open_closed_streams() -> None:
    """Open the null device in the place of standard streams that the caller closed (`>&-`), which a run can do without.

    A file that is opened later would get the number of a closed one, and what is printed would be written into it.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        null = os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
        if null == descriptor:
            os.set_inheritable(descriptor, True)
        setattr(sys, name, os.fdopen(null, "w" if descriptor else "r", buffering=1, encoding="utf-8", closefd=False))


class _Forgiving(io.FileIO):
    """Output stream that drops data that cannot be written, so that a run and its exit code do not depend on it.

    A closed pipe (`| head`) is not an error; other errors are appended to `lost`.
    """

    def __init__(self, descriptor: int, lost: list[OSError]) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._lost = lost

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except OSError as error:
            closed = errno.EINVAL if sys.platform == "win32" else errno.EPIPE  # platform_files is for later
            if error.errno != closed:
                self._lost.append(error)
        return memoryview(data).nbytes


@contextlib.contextmanager
def _forgiving_output() -> Iterator[list[OSError]]:
    """Replace standard output and error by streams that ignore write errors and escape characters not in their
    encoding.

    Yields the list of errors of standard output. Streams replaced by a test or another program are left unchanged.
    """
    before = sys.stdout, sys.stderr
    lost: list[OSError] = []
    if before != (sys.__stdout__, sys.__stderr__):
        yield lost
        return
    sys.stdout, sys.stderr = _wrapped(sys.stdout, lost), _wrapped(sys.stderr, [])
    try:
        yield lost
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


def _wrapped(stream: TextIO, lost: list[OSError]) -> TextIO:
    stream.flush()
    is_on_terminal = stream.isatty()
    if sys.platform == "win32" and is_on_terminal:  # a console takes characters, and no bytes
        return stream
    raw = io.BufferedWriter(_Forgiving(stream.fileno(), lost))
    encoding = "utf-8" if sys.platform == "win32" else stream.encoding
    return io.TextIOWrapper(raw, encoding, "backslashreplace", line_buffering=stream.fileno() == 2 or is_on_terminal)
