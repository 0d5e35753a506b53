"""Compute with ONNX Runtime in a child process, which an operator may crash: values of a file, or a function's."""

import io
import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import RunError
from netwright.engine.core.fork import PipedChild, read_from_child
from netwright.engine.core.platform import CAN_FORK
from netwright.engine.core.text import first_line

PATIENCE_S = 900.0
MANY_NODES = 1000
"""Operators from which on ONNX Runtime takes longer to rearrange them than to compute small inputs."""
SMALL_BYTES = 2**18
ARRAYS = b"a"
"""First byte of what the child process of ONNX Runtime answers, where it has results."""


def arrays_from_child(work: Callable[[], Sequence[np.ndarray]], doing: str, patience_s: float) -> list[np.ndarray]:
    """Return the arrays that `work` returns in a forked child; where there is no fork, in this process.

    Raises `RunError` where `work` does, where the child dies, or after `patience_s` seconds; the message says that ONNX
    Runtime crashed "while" `doing`.
    """
    if not CAN_FORK:
        return list(work())

    output = read_from_child(lambda: _answer(work), patience_s)
    if output is None:
        raise RunError(f"ONNX Runtime took longer than {patience_s:.0f} s while {doing}.")
    if not output:
        raise RunError(f"ONNX Runtime crashed while {doing}.")
    return _arrays(output)


def _answer(work: Callable[[], Sequence[np.ndarray]]) -> bytes:
    """Return the arrays that `work` returns as bytes, or why there are none."""
    data = io.BytesIO(ARRAYS)
    data.seek(len(ARRAYS))
    try:
        for array in work():
            np.save(data, array if array.dtype != object else array.astype(str), allow_pickle=False)
        return data.getvalue()
    except RunError as error:
        return b"!" + str(error).encode()
    except MemoryError:
        return b"!there is not enough memory for it"


def _arrays(output: bytes) -> list[np.ndarray]:
    """Return the arrays of an answer. Raises `RunError` with the reason where there are none."""
    if output[:1] != ARRAYS:
        raise RunError(output[1:].decode(errors="replace"))
    data, arrays = io.BytesIO(output), []
    data.seek(len(ARRAYS))
    while data.tell() < len(output):
        arrays.append(np.load(data, allow_pickle=False))
    return arrays


def _answer_to(work: Callable[..., Sequence[np.ndarray]], question: bytes) -> bytes:
    return _answer(lambda: work(*pickle.loads(question)))


class Helper:
    """A child process that does several pieces of work one after another, each from arguments of its own.

    `work`, which can be pickled, is called with what `arrays` gets. A child that dies or takes too long is gone; the
    next call starts another.
    """

    def __init__(self, work: Callable[..., Sequence[np.ndarray]]) -> None:
        self.work = work
        self.process: PipedChild | None = None

    def arrays(self, patience_s: float, *arguments: object) -> list[np.ndarray] | None:
        """Return the arrays that `work` returns; None where the child died or took too long. Raises `RunError` where
        `work` does."""
        if self.process is None:
            self.process = PipedChild(partial(_answer_to, self.work))
        output = self.process.ask(pickle.dumps(arguments, pickle.HIGHEST_PROTOCOL), patience_s)
        if not output:
            self.close()
            return None
        return _arrays(output)

    def close(self) -> None:
        """End the child process."""
        if self.process is not None:
            self.process.close()
            self.process = None


class Runner:
    """Computes values of a file of `nodes` operators with ONNX Runtime, in a child process."""

    def __init__(self, path: Path, nodes: int = 0) -> None:
        self.path, self.nodes = path, nodes

    def compute(self, inputs: Mapping[str, np.ndarray], names: Sequence[str]) -> list[np.ndarray]:
        """Return the values of these names. Raises `RunError` where ONNX Runtime cannot run the file, crashes, or takes
        longer than `PATIENCE_S` seconds."""
        return arrays_from_child(lambda: self._run(inputs, names), f"it ran {self.path.name}", PATIENCE_S)

    def _run(self, inputs: Mapping[str, np.ndarray], names: Sequence[str]) -> list[np.ndarray]:
        from netwright.engine.lowering.modules.onnx_operator import as_matrix
        from netwright.engine.training.out_of_memory import is_out_of_memory

        is_large = sum(array.nbytes for array in inputs.values()) > SMALL_BYTES
        try:
            session = self._open(names, optimizes=is_large or self.nodes < MANY_NODES)
            input_names = {value.name for value in session.get_inputs()}
            results = session.run(list(names), {k: v for k, v in inputs.items() if k in input_names})
        except Exception as error:  # ONNX Runtime has a class per status and no base of its own
            if is_out_of_memory(error):
                raise MemoryError from error
            raise RunError(f"ONNX Runtime cannot run {self.path.name}: {first_line(error)}") from None
        return [as_matrix(value) for value in results]

    def _open(self, names: Sequence[str], *, optimizes: bool) -> Any:
        """Open the file; with further outputs where values inside are asked for."""
        import onnx

        from netwright.engine.lowering.modules.onnx_runtime import open_session

        model = onnx.load(str(self.path), load_external_data=False)
        outputs = {one.name for one in model.graph.output}
        inner = [name for name in names if name not in outputs]
        if not inner:
            return open_session(self.path, optimizes=optimizes)
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner)
        folder = str(self.path.resolve().parent)
        return open_session(model.SerializeToString(), optimizes=optimizes, folder=folder)
