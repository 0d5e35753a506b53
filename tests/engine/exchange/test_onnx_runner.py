"""ONNX Runtime in a child process: what fails there is said in words, and nothing of it is printed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.core.errors import RunError
from netwright.engine.core.platform import limit_memory
from netwright.engine.exchange.onnx_runner import arrays_from_child
from netwright.engine.lowering.modules.onnx_runtime import open_session


def test_arrays_come_back_as_they_are() -> None:
    given = [
        np.zeros((0, 3)),
        np.array(2.5),
        np.array(["a", "bc"], object),
        np.arange(6, dtype=np.int8).reshape(2, 3).T,
    ]
    found = arrays_from_child(lambda: given, "it tried", 60.0)
    assert [(one.shape, one.tolist()) for one in found] == [(one.shape, one.tolist()) for one in given]
    assert found[3].dtype == np.int8


def too_large() -> list[np.ndarray]:
    """Return an array that takes no memory until it is written."""
    limit_memory(2**26)
    return [np.broadcast_to(np.float32(1), 2**28)]


def without_memory() -> list[np.ndarray]:
    raise MemoryError


@pytest.mark.parametrize("work", [without_memory, too_large])
def test_memory_that_does_not_suffice_is_said(
    work: Callable[[], list[np.ndarray]], capfd: pytest.CaptureFixture[str]
) -> None:
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
