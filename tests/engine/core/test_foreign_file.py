"""The time that a file accounts for: by its size on the disk, with that of the weights that it names."""

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netwright.engine.core import foreign_file
from netwright.engine.core.foreign_file import BYTES_PER_S, LEAST_WORK_S, SMALL_BYTES, allowed_work_s

SECOND = BYTES_PER_S


@pytest.fixture(autouse=True)
def _nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_file, "SMALL_BYTES", 0)


def test_a_small_file_has_the_least_time_and_a_large_one_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_file, "SMALL_BYTES", SMALL_BYTES)
    (tmp_path / "small.onnx").write_bytes(b"x" * SMALL_BYTES)
    (tmp_path / "large.onnx").write_bytes(b"x" * (SMALL_BYTES + 100 * SECOND))
    assert allowed_work_s(tmp_path / "small.onnx") == LEAST_WORK_S
    assert allowed_work_s(tmp_path / "large.onnx") == pytest.approx(LEAST_WORK_S + 100, abs=0.1)
    assert allowed_work_s(tmp_path / "missing.onnx") == LEAST_WORK_S
    assert allowed_work_s(tmp_path) == LEAST_WORK_S


@pytest.mark.parametrize("path", ["", ".", "..", "/"])
def test_a_path_without_a_name_has_the_least_time(path: str) -> None:
    """It is no file, which is said by what opens it."""
    assert allowed_work_s(Path(path)) == LEAST_WORK_S


@pytest.mark.skipif(sys.platform == "win32", reason="only a file that is marked as sparse has holes")
def test_holes_in_a_file_do_not_count(tmp_path: Path) -> None:
    with (tmp_path / "a.onnx").open("wb") as file:
        file.truncate(SECOND * 10_000)
    assert allowed_work_s(tmp_path / "a.onnx") == pytest.approx(LEAST_WORK_S, abs=1.0)


def test_weights_that_an_onnx_file_names_count(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones((3, SECOND), np.float32), "w")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "net", ends[:1], ends[1:], [weight])
    (tmp_path / "w").mkdir()
    onnx.save(helper.make_model(graph), tmp_path / "a.onnx", save_as_external_data=True, location="w/numbers.bin")
    assert (tmp_path / "a.onnx").stat().st_size < SECOND
    assert allowed_work_s(tmp_path / "a.onnx") == pytest.approx(LEAST_WORK_S + 12, abs=1.0)


def test_weights_of_source_count(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x")
    (tmp_path / "a.safetensors").write_bytes(b"x" * SECOND * 5)
    assert allowed_work_s(tmp_path / "a.py") == pytest.approx(LEAST_WORK_S + 5, abs=0.6)
