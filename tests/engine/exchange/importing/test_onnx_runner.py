"""ONNX Runtime in a child process: what fails there is said in words, and nothing of it is printed."""

from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import RunError
from engine.exchange.importing.onnx_runner import arrays_from_child
from engine.lowering.modules.onnx_runtime import open_session


def test_memory_that_does_not_suffice_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> list[np.ndarray]:
        raise MemoryError

    with pytest.raises(RunError, match="there is not enough memory for it"):
        arrays_from_child(work, "it tried", 60.0)
    assert capfd.readouterr() == ("", "")


def test_a_refused_file_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(Exception, match=r"a\.onnx"):
        open_session(path)
    with pytest.raises(Exception, match=r"protobuf|parse|model"):
        open_session(b"no model")
    assert capfd.readouterr() == ("", "")
