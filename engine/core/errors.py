"""Errors that are not defects of Netwright, with messages for the user.

The message of a `UserError` names the object, the limit, the received value and a remedy. It is shown unchanged in the
window and on the command line, where the class sets the exit code. Any other uncaught exception is a defect.
"""

import errno
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, Self

EXIT_DONE = 0
EXIT_DEFECT = 1
EXIT_INPUT = 2
EXIT_RUN_FAILED = 3
EXIT_REQUIREMENT = 4
EXIT_UNAVAILABLE = 5
EXIT_STOPPED = 130


_UNREACHABLE = (
    *(errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.ESTALE, errno.ENOTCONN),
    *(errno.ECONNREFUSED, errno.ECONNRESET, errno.ETIMEDOUT),
)
_OS_ERROR = re.compile(r"\(os error (\d{1,3})\)")
"""How libraries written in Rust, such as safetensors, name an error of the system."""


HOST_NOT_ALLOWED = "host_not_allowed"
"""Code of the error for data on a host that the user has not allowed; its `data` has the `hosts`."""


class UserError(Exception):
    """Invalid user input: a file, an option or the data. `hint` is the way out, with which the message ends. `lines`
    are those of the message, one for each of several things that are wrong: a line break in a name begins none."""

    exit_code: ClassVar[int] = EXIT_INPUT
    default_code: ClassVar[str] = "invalid_input"

    def __init__(self, message: object = "", *, code: str = "", hint: str = "") -> None:
        self.hint = hint.strip()
        self.lines: tuple[str, ...] = (f"{message} {self.hint}".rstrip(),)
        self.data: Mapping[str, Any] = {}
        """Facts for programs besides the message, as JSON, such as the rows of a table."""
        super().__init__(f"{message} {self.hint}" if self.hint else message)
        self._code = code

    @property
    def code(self) -> str:
        """Word for a program that tells errors apart: the one given, that of the system error behind it, else that of
        the class. `not_found`, `no_permission`, `no_space`, `unreachable` (network) and `not_accessible` are about
        paths."""
        cause = self.__cause__ or self.__context__
        while not self._code and cause is not None:
            if isinstance(cause, OSError):
                return code_of(cause)
            if match := _OS_ERROR.search(str(cause)):
                return code_of(OSError(int(match[1]), ""))
            cause = cause.__cause__ or cause.__context__
        return self._code or self.default_code

    @classmethod
    def of_lines(cls, lines: Iterable[str], *, code: str = "") -> Self:
        """Return the error about several things that are wrong, one per line."""
        lines = tuple(lines)
        error = cls("\n".join(lines), code=code)
        error.lines = lines
        return error

    def reworded(self, *lines: str) -> "UserError":
        """Return an error with another message, such as one that names a file, and the same code and hint."""
        other = type(self).__new__(type(self))
        UserError.__init__(other, "\n".join(lines), code=self.code)
        other.lines = lines
        other.hint = self.hint
        other.data = self.data
        return other

    def write(self) -> dict[str, Any]:
        """Return the error as a JSON object, for the process that waits for this one."""
        texts = {"error": str(self), "lines": self.lines, "hint": self.hint}
        more = {"data": self.data} if self.data else {}
        return {**texts, "code": self.code, "exit_code": self.exit_code, **more}


def read_error(record: Mapping[str, Any]) -> UserError:
    """Return the error that another process wrote, of the class that matches its exit code."""
    classes = {cls.exit_code: cls for cls in (UserError, UnavailableError, RunError)}
    error = classes.get(record.get("exit_code", EXIT_INPUT), UserError)(
        record["error"], code=str(record.get("code", ""))
    )
    error.hint, error.lines = str(record.get("hint", "")), tuple(record.get("lines", error.lines))
    error.data = record.get("data", {})
    return error


def code_of(error: OSError) -> str:
    """Return the word for an error of the system: `not_found`, `no_permission`, `no_space`, `unreachable` (network),
    else `not_accessible`."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return "not_found"
    if isinstance(error, PermissionError):
        return "no_permission"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "no_space"
    return "unreachable" if error.errno in _UNREACHABLE else "not_accessible"


class UnavailableError(UserError):
    """Requested resource not available on this machine: an environment or a device."""

    exit_code: ClassVar[int] = EXIT_UNAVAILABLE
    default_code: ClassVar[str] = "unavailable"


class RunError(UserError):
    """Failure of a run that is not known to be caused by its input."""

    exit_code: ClassVar[int] = EXIT_RUN_FAILED
    default_code: ClassVar[str] = "run_failed"


class FieldError(UserError):
    """Invalid value of a field. `path` is the key that `--set` takes, such as `training.max_epochs`."""

    default_code: ClassVar[str] = "invalid_option"

    def __init__(self, path: str, message: str, *, hint: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message, hint=hint)
        self.path = path
        self.message = f"{message} {self.hint}" if self.hint else message

    def at(self, path: str) -> "FieldError":
        """Return the error with another path: that of the record around the field."""
        other = FieldError(path, self.message)
        other.hint = self.hint
        return other


class FieldErrors(UserError):
    """Invalid values of several fields, collected so that a form or a file shows all of them."""

    default_code: ClassVar[str] = "invalid_option"

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))
        self.lines = tuple(str(error) for error in self.errors)
        self.hint = hints(self.errors)


class ShapeError(UserError):
    """Input that does not fit a layer. `field` or `port` is the name of the cause, or None."""

    def __init__(self, message: str, *, field: str | None = None, port: str | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.port = port


class UnknownSizesError(ShapeError):
    """Unknown output sizes of a layer of user code that was not measured. Reported as a warning only."""


class UntrustedCodeError(UnknownSizesError):
    """Output sizes that stay unknown because the code of the layer may not run: its folder is not trusted."""


def hints(errors: Iterable[UserError]) -> str:
    """Return the ways out of several errors, each once."""
    return " ".join(dict.fromkeys(error.hint for error in errors if error.hint))


def listed(names: Sequence[str]) -> str:
    """Return names as one text: `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def plural(count: int, word: str) -> str:
    """Format a count with its noun, such as `1 sample` or `1,257 samples`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` for the closest known word, or an empty text."""
    closest = closest_word(word, names)
    return f" Did you mean '{closest}'?" if closest else ""


def closest_word(word: str, words: Iterable[str]) -> str:
    """Return the closest of the first 1000 known words of similar length, or an empty text."""
    if not 0 < len(word) <= 64:
        return ""  # too long for a typing error, and slow to compare
    candidates = (name for name in words if 0.4 < len(name) / len(word) < 2.4)  # other lengths cannot match
    import difflib  # light commands that succeed do without

    matches = difflib.get_close_matches(word, islice(candidates, 1000), n=1, cutoff=0.6)
    return matches[0] if matches else ""
