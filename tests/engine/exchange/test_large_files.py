"""A network of more than 2 GB of weights comes in and leaves as ONNX, by the commands, with its weights in other
files."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from safetensors import safe_open

from netwright.engine.core.process import module_environment
from netwright.engine.lowering.modules.onnx_runtime import open_session

WIDTH, DEPTH, INPUTS, CLASSES = 8192, 9, 1024, 10
DISK_BYTES, MEMORY_BYTES = 9e9, 11e9
"""What the test needs: three files of 2.2 GB at a time, and three times the weights in memory."""


def refuse_little_room(folder: Path) -> None:
    """Skip the test, with the reason, where disk or memory do not suffice."""
    free = shutil.disk_usage(folder).free
    rows = dict(line.split(":") for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    available = int(rows["MemAvailable"].split()[0]) * 1024
    if free < DISK_BYTES or available < MEMORY_BYTES:
        pytest.skip(
            f"NOT TESTED: files over 2 GB need {DISK_BYTES / 1e9:.0f} GB of disk in {folder} and "
            f"{MEMORY_BYTES / 1e9:.0f} GB of memory; free are {free / 1e9:.1f} and {available / 1e9:.1f}"
        )


def write_large(path: Path) -> None:
    """Write a chain of fully connected layers whose weights, 2.18 GB, lie beside the file."""
    drawn = np.random.default_rng(0)
    block = drawn.standard_normal((WIDTH, WIDTH), dtype=np.float32)
    nodes: list[onnx.NodeProto] = []
    tensors: list[onnx.TensorProto] = []
    x, sizes = "x", [INPUTS, *[WIDTH] * DEPTH, CLASSES]
    with path.with_name(f"{path.name}.data").open("wb") as data:

        def stored(name: str, array: np.ndarray) -> str:
            tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=array.shape)
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", f"{path.name}.data"), ("offset", str(data.tell()))):
                tensor.external_data.add(key=key, value=value)
            array.tofile(data)
            tensors.append(tensor)
            return name

        for at, (wide, high) in enumerate(pairwise(sizes)):
            weight = np.roll(block, at, 1)[:high, :wide] * np.float32(1.4 / np.sqrt(wide))
            names = [stored(f"fc{at}.weight", weight), stored(f"fc{at}.bias", block[at, :high] * np.float32(0.1))]
            nodes.append(helper.make_node("Gemm", [x, *names], [f"fc{at}"], f"/fc{at}/Gemm", transB=1))
            x = f"fc{at}"
            if at < DEPTH:
                nodes.append(helper.make_node("Relu", [x], [f"relu{at}"], f"/relu{at}/Relu"))
                x = f"relu{at}"
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", INPUTS])
    graph = helper.make_graph(nodes, "large", [given], [helper.make_empty_tensor_value_info(x)], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    path.write_bytes(model.SerializeToString())


def run(arguments: Sequence[str]) -> dict[str, Any]:
    """Run a command with `--json`, and return what it prints."""
    command = [sys.executable, "-m", "netwright.engine", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=module_environment(), timeout=900, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return dict(json.loads(done.stdout))


def outputs_of(path: Path, x: np.ndarray) -> np.ndarray:
    session = open_session(path)
    return np.asarray(session.run(None, {session.get_inputs()[0].name: x})[0])


def imported(source: Path, project: Path) -> Path:
    """Import the file, and return its weights."""
    report = run(["import", str(source), "-o", str(project)])
    assert report["agrees"], report["warnings"]
    assert report["samples"] == 18
    assert report["outputs"][0]["spread"] > 0.1
    assert report["parameters"] * 4 > 2**31
    return Path(report["weights"])


@pytest.mark.parity
@pytest.mark.timeout(1800)
def test_weights_over_2_gb_come_in_and_leave(tmp_path: Path) -> None:
    refuse_little_room(tmp_path)
    try:
        check_large(tmp_path)
    finally:
        for path in tmp_path.iterdir():  # pytest keeps the folders of three sessions
            path.unlink()


def check_large(folder: Path) -> None:
    given, again = folder / "large.onnx", folder / "again.onnx"
    write_large(given)
    x = np.random.default_rng(1).standard_normal((3, INPUTS)).astype(np.float32)
    expected = outputs_of(given, x)
    weights = imported(given, folder / "large.netwright")
    assert weights.stat().st_size > 2**31
    given.with_name(f"{given.name}.data").unlink()
    exported = run(["export", str(folder / "large.netwright"), "--format", "onnx", "-o", str(again)])
    assert exported["samples"] > 0
    assert again.stat().st_size < 2**20
    assert again.with_name(f"{again.name}.data").stat().st_size > 2**31
    assert np.abs(outputs_of(again, x) - expected).max() < 1e-4 * expected.std()
    first = _tensors(weights)
    weights.unlink()
    assert first == _tensors(imported(again, folder / "twice.netwright"))


def _tensors(path: Path) -> list[tuple[tuple[int, ...], float]]:
    """Return sizes and sum of the numbers of each tensor, in a fixed order."""
    with safe_open(path, "np") as file:
        arrays = (file.get_tensor(key) for key in file.keys())  # noqa: SIM118  # a file is no mapping
        return sorted((array.shape, float(array.astype(np.float64).sum())) for array in arrays)
