"""A session of ONNX Runtime in a child process: a file of another program may crash it, take all memory, or never
end."""

import json
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.fields import printable
from netwright.engine.core.foreign_file import HARM, allowed_work_s
from netwright.engine.core.platform import limit_memory
from netwright.engine.core.text import format_duration
from netwright.engine.data.sources.source import Array, allowed_memory
from netwright.engine.exchange.importing.onnx_functions import refuse_functions_of
from netwright.engine.exchange.onnx_runner import Helper
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.training.out_of_memory import is_out_of_memory

MOST_THREADS = 4
MOST_CHARACTERS = 300
TIMES_SLOWER = 10.0
"""A sample may take so many times as long as the first one."""


@dataclass(frozen=True)
class SessionPort:
    """An input or output of an ONNX file: name, type such as `tensor(float)`, and sizes, None where any will do."""

    name: str
    type: str
    sizes: tuple[int | None, ...]


class OnnxSession:
    """An ONNX file that a child process has open, and what it says of itself: inputs, outputs and metadata.

    The child may take three quarters of the free memory, and as long as the size of the file accounts for until it has
    computed one sample.
    """

    def __init__(self, path: Path) -> None:
        """Open the file. Raises `UserError`."""
        self._path = path
        self._left_s = self._allowed_s = allowed_work_s(path)
        self._sample_s = 0.0
        self._failure = ""
        self._here: _Work | None = None
        helper = Helper(_Work(path).answer)
        self._arrays = helper.arrays
        self.close = weakref.finalize(self, helper.close)
        """Ends the child process; it ends with this object, too."""
        try:
            (text,) = self._asked("loaded", self._left_s, None)
        except BaseException:
            self.close()
            raise
        ends = json.loads(str(text))
        self.inputs, self.outputs = (
            tuple(SessionPort(port["name"], port["type"], tuple(port["sizes"])) for port in ends[name])
            for name in ("inputs", "outputs")
        )
        self.metadata: Mapping[str, str] = ends["metadata"]

    def move_here(self) -> None:
        """Compute in this process from now on, which saves the way to the child: without its limits, for a file that
        has been opened there before and is asked again and again. Raises `UserError`."""
        work = _Work(self._path)
        try:
            work.open()
        except RunError as error:
            raise UserError(f"{self._path} cannot be loaded by ONNX Runtime: {str(error).rstrip('.')}.") from None
        self._here = work
        self.close()

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Return the outputs for inputs by name, samples first. Raises `UserError`."""
        if self._here is not None:
            try:
                return list(self._here.answer(dict(feeds)))
            except (RunError, MemoryError) as error:
                reason = str(error).rstrip(".") or "there is not enough memory for it"
                raise UserError(f"{self._path} cannot be computed by ONNX Runtime: {reason}.") from None
        count = max(len(array) for array in feeds.values())
        if not self._sample_s and count > 1 and all(port.sizes[:1] == (None,) for port in self.inputs):
            self.run({name: array[:1] for name, array in feeds.items()})  # it shows how long a sample takes
        patience_s = self._left_s
        if self._sample_s:
            patience_s = self._allowed_s + TIMES_SLOWER * self._sample_s * count
        started = time.monotonic()
        outputs = self._asked("computed", patience_s, dict(feeds))
        self._sample_s = self._sample_s or max((time.monotonic() - started) / count, 1e-6)
        return outputs

    def _asked(self, action: str, patience_s: float, feeds: dict[str, Array] | None) -> list[Array]:
        """Return the arrays of the child's answer. Raises `UserError`."""
        if self._failure:
            raise UserError(self._failure)
        started = time.monotonic()
        try:
            arrays = self._arrays(patience_s, feeds)
        except RunError as error:
            raise UserError(f"{self._path} cannot be {action} by ONNX Runtime: {str(error).rstrip('.')}.") from None
        self._left_s = max(1.0, self._left_s - (time.monotonic() - started))
        if arrays is None:
            reason = f"ONNX Runtime crashed while it was {action}"
            if time.monotonic() - started >= patience_s:
                reason = f"it was not {action} within {format_duration(patience_s)}, the limit for a file of its size"
            self._failure = f"{self._path} cannot be {action}: {reason}. {HARM}"
            raise UserError(self._failure)
        return arrays


class _Work:
    """The work of the child process: it opens the file at the first question."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._session: Any = None

    def open(self) -> None:
        """Open the file for a process that does other things beside it. Raises `RunError`."""
        with _worded():
            self._session = open_session(self._path, spins=False)

    def answer(self, feeds: dict[str, Array] | None) -> Sequence[np.ndarray]:
        """Return the outputs; without `feeds` what the file says of itself, as JSON. Raises `RunError`."""
        if self._session is None:
            with _worded():
                limit_memory(allowed_memory())
                refuse_functions_of(self._path)
                self._session = open_session(self._path, MOST_THREADS)
        if feeds is None:
            return [np.array(json.dumps(self._ends()))]
        with _worded():
            outputs: Sequence[Any] = self._session.run(None, feeds)
        if not all(isinstance(output, np.ndarray) for output in outputs):
            raise RunError("one of its outputs is no tensor")
        return outputs

    def _ends(self) -> dict[str, Any]:
        ports = {"inputs": self._session.get_inputs(), "outputs": self._session.get_outputs()}
        return {
            **{name: [asdict(_port(port)) for port in several] for name, several in ports.items()},
            "metadata": dict(self._session.get_modelmeta().custom_metadata_map),
        }


@contextmanager
def _worded() -> Iterator[None]:
    """Raise what fails as a `RunError`, or as a `MemoryError`."""
    try:
        yield
    except UserError as error:
        raise RunError(str(error)) from None
    except Exception as error:  # ONNX Runtime has a dozen classes of errors without a common one
        if is_out_of_memory(error):
            raise MemoryError from error
        raise RunError(printable(str(error).strip().partition("\n")[0][:MOST_CHARACTERS])) from None


def _port(argument: Any) -> SessionPort:
    """Return the port of an argument of ONNX Runtime."""
    sizes = tuple(size if isinstance(size, int) and size > 0 else None for size in argument.shape)
    return SessionPort(str(argument.name), str(argument.type), sizes)
