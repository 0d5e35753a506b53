"""What goes wrong through no defect of ours, in words for the person in front of the program.

A `UserError` names the thing, the limit, what was received and the way out. It is shown as it stands, in the window
and on the command line, where it also decides the exit code. Anything else that escapes is a defect of ours.
"""

import difflib
from collections.abc import Iterable
from itertools import islice
from typing import ClassVar

EXIT_DONE = 0
EXIT_DEFECT = 1
EXIT_INPUT = 2
EXIT_RUN_FAILED = 3
EXIT_REQUIREMENT = 4
EXIT_UNAVAILABLE = 5
EXIT_STOPPED = 130


class UserError(Exception):
    """The user's input is wrong: a file, an option, the data."""

    exit_code: ClassVar[int] = EXIT_INPUT


class UnavailableError(UserError):
    """What was asked for is not to be had on this machine: an environment, a device."""

    exit_code: ClassVar[int] = EXIT_UNAVAILABLE


class RunError(UserError):
    """A run could not do its work, and its input is not (known to be) the reason."""

    exit_code: ClassVar[int] = EXIT_RUN_FAILED


class FieldError(UserError):
    """One value of one field is refused. `path` is the key that `--set` takes, such as `training.max_epochs`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


class FieldErrors(UserError):
    """Several values are refused at once, so that a form or a file shows all of them."""

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


class ShapeError(UserError):
    """A layer cannot take what reaches it. `field` or `port` names what is at fault, where one is."""

    def __init__(self, message: str, *, field: str | None = None, port: str | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.port = port


class UnknownSizesError(ShapeError):
    """What leaves a layer is not known yet, because it is code of the user's that was not measured. Only a warning."""


def plural(count: int, word: str) -> str:
    """`1 sample`, `1,257 samples`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` for the nearest of the known words (the first thousand of like length), or nothing."""
    if not 0 < len(word) <= 64:
        return ""  # nobody mistypes that much, and comparing would take its time
    alike = (name for name in known if 0.4 < len(name) / len(word) < 2.4)  # no other can be near enough
    near = difflib.get_close_matches(word, islice(alike, 1000), n=1, cutoff=0.6)
    return f" Did you mean '{near[0]}'?" if near else ""
