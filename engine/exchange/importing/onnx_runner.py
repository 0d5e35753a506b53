"""Compute values of an ONNX file with ONNX Runtime, in a child process."""

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.core.child_process import read_from_fork

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

PATIENCE_S = 900.0
ARRAYS = b"a"
"""First byte of what the child process of ONNX Runtime answers, where it has results."""


class Runner:
    """Computes values of a file with ONNX Runtime, in a child process: an operator may crash it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def compute(self, inputs: Mapping[str, np.ndarray], names: Sequence[str]) -> list[np.ndarray]:
        """Return the values of these names. Raises `RunError` where ONNX Runtime cannot run the file, crashes, or takes
        longer than `PATIENCE_S` seconds."""
        from engine.core.errors import RunError

        if not hasattr(os, "fork"):
            return self._run(inputs, names)
        output = read_from_fork(lambda: self._answer(inputs, names), PATIENCE_S)
        if output is None:
            raise RunError(f"ONNX Runtime took longer than {PATIENCE_S:.0f} s for {self.path.name}.")
        if not output:
            raise RunError(f"ONNX Runtime crashed while it ran {self.path.name}.")
        if output[:1] != ARRAYS:
            raise RunError(output[1:].decode(errors="replace"))
        with np.load(io.BytesIO(output[1:]), allow_pickle=False) as held:
            return [held[f"a{number}"] for number in range(len(names))]

    def _answer(self, inputs: Mapping[str, np.ndarray], names: Sequence[str]) -> bytes:
        """Return the arrays, or the reason why there are none, for the parent."""
        from engine.core.errors import RunError

        try:
            found = self._run(inputs, names)
        except RunError as error:
            return b"!" + str(error).encode()
        data = io.BytesIO()
        plain = {f"a{at}": one if one.dtype != object else one.astype(str) for at, one in enumerate(found)}
        np.savez(data, **plain)  # type: ignore[arg-type]  # its stubs take `allow_pickle` for one of them
        return ARRAYS + data.getvalue()

    def _run(self, inputs: Mapping[str, np.ndarray], names: Sequence[str]) -> list[np.ndarray]:
        from engine.core.errors import RunError
        from engine.exchange.onnx_check import first_line
        from engine.lowering.modules.onnx_operator import as_matrix

        try:
            session = self._open(names)
            wanted = {one.name for one in session.get_inputs()}
            found = session.run(list(names), {k: v for k, v in inputs.items() if k in wanted})
        except Exception as error:  # ONNX Runtime has a class per status and no base of its own
            raise RunError(f"ONNX Runtime cannot run {self.path.name}: {first_line(error)}") from None
        return [as_matrix(one) for one in found]

    def _open(self, names: Sequence[str]) -> "InferenceSession":
        """Open the file; with further outputs where values inside are asked for."""
        import onnx

        from engine.exchange.onnx_check import open_session

        model = onnx.load(str(self.path), load_external_data=False)
        outputs = {one.name for one in model.graph.output}
        inner = [name for name in names if name not in outputs]
        if not inner:
            return open_session(self.path)
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner)
        onnx.load_external_data_for_model(model, str(self.path.parent))
        return open_session(model.SerializeToString())
