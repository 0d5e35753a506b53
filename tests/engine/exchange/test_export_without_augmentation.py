"""Random changes of images belong to the training: no export holds anything of them."""

from dataclasses import replace
from pathlib import Path

import onnx

from netwright.engine.exchange.export import export
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from tests.builders import chain, layer


def test_exports_are_the_same_with_and_without(tmp_path: Path) -> None:
    network = chain(layer("image_input", size=8), layer("fully_connected", outputs=10), layer("softmax"))
    plain = Project(network, data=DataOptions(source="digits"))
    changing = {"rand_rotation": (-20, 20), "jitter_contrast": 0.2, "erasing_probability": 0.5}
    texts = []
    for name, project in (("a", plain), ("b", replace(plain, training=plain.training.replace(**changing)))):
        folder = tmp_path / name
        folder.mkdir()
        save(project, folder / "net.netwright")
        texts.append(export(folder / "net.netwright", "pytorch", folder / "net.py").path.read_text())
    assert texts[0] == texts[1]
    export(tmp_path / "b" / "net.netwright", "onnx", tmp_path / "net.onnx")
    nodes = {node.op_type for node in onnx.load(tmp_path / "net.onnx").graph.node}
    assert nodes <= {"Sub", "Mul", "Flatten", "Reshape", "Gemm", "MatMul", "Add", "Softmax", "Constant", "Concat"}, (
        nodes
    )
    assert "Softmax" in nodes
