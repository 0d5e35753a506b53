"""ONNX Runtime as the engine loads it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
COMPARE = """
import onnx
import engine.exchange.onnx_export
from engine.exchange.runtime import onnxruntime
given = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy"]
graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g", given[:1], given[1:])
model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10)
onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
"""


def test_it_sends_nothing_and_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    kept = {
        name: value for name, value in os.environ.items() if name not in ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")
    }
    environment = {**kept, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", COMPARE], env=environment, check=True)
    assert list(tmp_path.rglob("*")) == []
