"""`netwright-engine`: Netwright without a screen, for terminals and CI.

Exit codes: 0 done; 1 a defect of ours; 2 the user's input is wrong; 3 the run failed; 4 a `--require` did not
hold, or compared projects differ; 5 the environment asked for is not available here; 130 stopped on request.
"""

import argparse
import contextlib
import importlib
import io
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from engine.cli.common import EXIT_CODES, HelpFormatter, add_examples
from engine.core.errors import EXIT_DEFECT, EXIT_DONE, EXIT_INPUT, EXIT_STOPPED, UserError
from engine.core.version import VERSION

_MODULES = {
    "options": ("options",),
    "check": ("check",),
    "compare": ("compare",),
    "draw": ("draw",),
    "train": ("train", "resume"),
    "queue": ("queue",),
    "control": ("stop", "pause", "checkpoint", "validate", "set", "watch"),
    "follow": ("follow",),
    "runs": ("runs", "note", "tag", "delete", "curves"),
    "export": ("export",),
    "trials": ("advise", "largest-batch", "measure"),
    "devices": ("devices",),
    "serve": ("serve",),
}
"""The modules of this package and the commands that each adds."""
COMMANDS = {command: module for module, commands in _MODULES.items() for command in commands}
REPORT_TO = "Please report it, with the lines above, as an issue of the project."


def parser(command: str = "") -> argparse.ArgumentParser:
    """The parser with every command, or with this one, so that it does not wait for the modules of others."""
    top = argparse.ArgumentParser(
        prog="netwright-engine",
        description="Check, train and export neural networks without a screen.",
        epilog=EXIT_CODES,
        formatter_class=HelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"netwright-engine {VERSION}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    wanted = [command] if command in COMMANDS else [*COMMANDS]
    for module in dict.fromkeys(COMMANDS[name] for name in wanted):
        importlib.import_module(f"engine.cli.{module}").register(commands)
    for name, made in commands.choices.items():
        add_examples(made, name)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. A user's mistake is one message, never a traceback."""
    with _forgiving_output() as lost:
        code = _run(argv)
        if sys.stdout is not None:  # a caller may have closed it
            sys.stdout.flush()
        if lost and code == EXIT_DONE:
            print(f"netwright-engine: the output could not be written: {lost[0].strerror}.", file=sys.stderr)
            return EXIT_INPUT
        return code


def program() -> None:
    """The command as a process of its own, which ends here.

    Where torch was loaded it ends at once: taking it down module by module takes as long as a small run.
    """
    try:
        code = main()
    except SystemExit as end:  # of the parser, which has said why
        code = end.code if isinstance(end.code, int) else EXIT_DONE
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    if "torch" in sys.modules:
        os._exit(code)
    sys.exit(code)


def _run(argv: Sequence[str] | None) -> int:
    given = sys.argv[1:] if argv is None else list(argv)
    try:
        arguments, unknown = parser(given[0] if given else "").parse_known_args(given)
        if unknown:
            raise UserError(_not_understood(arguments, unknown))
        code: int = arguments.run(arguments)
        return code
    except UserError as error:
        from engine.core.fields import printable

        words = "\n".join(map(printable, str(error).split("\n")))  # names of files may hold what terminals obey
        print(f"netwright-engine: {words}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("netwright-engine: stopped.", file=sys.stderr)
        return EXIT_STOPPED
    except Exception as error:  # whatever is left is a defect of ours: say so, with the whole trace
        if isinstance(error.__cause__, KeyboardInterrupt):  # Ctrl-C while Python 3.11 makes a class of fields
            print("netwright-engine: stopped.", file=sys.stderr)
            return EXIT_STOPPED
        traceback.print_exc()
        print(f"netwright-engine: this is a defect of Netwright {VERSION}. {REPORT_TO}", file=sys.stderr)
        return EXIT_DEFECT


def _not_understood(arguments: argparse.Namespace, unknown: list[str]) -> str:
    """What to say to words that the command does not take, and how an option of a project is given."""
    from engine.project.project import SECTIONS

    command = f"{arguments.command} {getattr(arguments, 'way', '')}".strip()
    name, _, value = unknown[0].lstrip("-").partition("=")
    name = name.replace("-", "_")
    section = next((key for key, record in SECTIONS.items() if name in record.fields), None)
    if unknown[0].startswith("--") and section and hasattr(arguments, "settings"):
        value = value or (unknown[1] if unknown[1:] else "VALUE")
        return f"{command}: there is no {unknown[0]}. Say --set {section}.{name}={value}."
    return f"{command}: not understood: {' '.join(unknown)}. `netwright-engine {command} --help` says what it takes."


class _Forgiving(io.FileIO):
    """A stream that drops what it cannot write, so that neither a run nor its exit code depends on it.

    A reader may go at any time (`| head`), which is no failure; any other is put into `lost`.
    """

    def __init__(self, descriptor: int, lost: list[OSError]) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._lost = lost

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            pass
        except OSError as error:
            self._lost.append(error)
        return memoryview(data).nbytes


@contextlib.contextmanager
def _forgiving_output() -> Iterator[list[OSError]]:
    """Standard output and error that forgive what cannot be written, or has no place in their encoding.

    Left alone where a test or another program has put something of its own in their place.
    """
    before = sys.stdout, sys.stderr
    lost: list[OSError] = []
    if before != (sys.__stdout__, sys.__stderr__) or None in before:
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
    raw = io.BufferedWriter(_Forgiving(stream.fileno(), lost))
    return io.TextIOWrapper(
        raw, stream.encoding, "backslashreplace", line_buffering=stream.fileno() == 2 or stream.isatty()
    )


if __name__ == "__main__":
    sys.exit(main())
