"""ONNX files from elsewhere: what is assumed of them, and what they answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.engine.analysis.predictions import predict, predict_raw
from netwright.engine.analysis.predictors import open_predictor
from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.runs.model_files import Assumptions, ModelChoice


def write(path: Path, sizes: Sequence[int | str], nodes: Sequence[tuple[str, dict[str, Any]]]) -> Path:
    """Write a chain of ONNX operators from `x` of these sizes to `y`."""
    from onnx import TensorProto, helper, save

    names = ["x", *(f"h{place}" for place in range(1, len(nodes))), "y"]
    made = [
        helper.make_node(kind, [names[place]], [names[place + 1]], **given) for place, (kind, given) in enumerate(nodes)
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, list(sizes))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    model = helper.make_model(
        helper.make_graph(made, "g", [x], [y]), opset_imports=[helper.make_opsetid("", 13)], ir_version=8
    )
    save(model, path)
    return path


def picture(path: Path, colour: tuple[int, int, int]) -> Path:
    Image.new("RGB", (4, 4), colour).save(path)
    return path


MEANS: list[tuple[str, dict[str, Any]]] = [("GlobalAveragePool", {}), ("Flatten", {})]
"""The mean of each channel."""


def test_pictures_are_classes_by_softmax_in_parts_of_the_fixed_number_of_samples(tmp_path: Path) -> None:
    network = open_predictor(write(tmp_path / "net.onnx", [2, 3, 4, 4], MEANS))
    assert network.assumed == (
        "'x' takes pictures of 4 × 4 pixels (red, green, blue).",
        "Pixels are from 0 to 1.",
        "'y' gives one of 3 classes, numbered from 0.",
        "Its scores become probabilities by softmax.",
    )
    colours = {"r": (255, 0, 0), "g": (0, 255, 0), "b": (0, 0, 255)}
    files = [picture(tmp_path / f"{name}.png", colour) for name, colour in colours.items()]
    answers = [one["outputs"][0] for one in predict(network, files)]
    assert [one["class"] for one in answers] == ["0", "1", "2"]
    assert answers[0]["top"][0]["probability"] == pytest.approx(np.e / (np.e + 2))


def test_channels_may_come_last_and_classes_have_names(tmp_path: Path) -> None:
    nodes: list[tuple[str, dict[str, Any]]] = [("ReduceMean", {"axes": [1, 2], "keepdims": 0}), ("Softmax", {})]
    file = write(tmp_path / "net.onnx", ["n", "h", "w", 3], nodes)
    network = open_predictor(ModelChoice(file, assumptions=Assumptions("ImageNet", ("red", "green", "blue"))))
    assert network.record.inputs[0].sizes == (3, 224, 224)
    assert "the channels come last" in network.assumed[0]
    assert network.assumed[1:] == (
        "Pixels are scaled by mean and standard deviation of ImageNet.",
        "'y' gives one of 3 classes.",
    )
    (answer,) = predict(network, [picture(tmp_path / "r.png", (255, 0, 0))])
    scores = np.exp([(1 - 0.485) / 0.229, -0.456 / 0.224, -0.406 / 0.225])
    top = answer["outputs"][0]["top"]
    assert top[0] == {"class": "red", "probability": pytest.approx(scores[0] / scores.sum(), abs=2e-4)}


def test_numbers_are_columns_by_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "net.onnx", ["n", 2], [("ReduceSum", {})])
    network = open_predictor(file)
    (answer,) = predict_raw(network, [{"x1": "1.5", "x2": 2}], ["1"])
    assert answer["outputs"] == [{"name": "y", "value": 3.5}]
    (tmp_path / "rows.csv").write_text("x1,x2\n1,2\n")
    assert main(["predict", str(file), str(tmp_path / "rows.csv")]) == 0
    captured = capsys.readouterr()
    assert "assumed: 'x' takes 2 numbers, named x1 to x2, as they are." in captured.err
    assert captured.out.endswith("rows.csv:2: 3\n")


def test_names_that_are_not_as_many_as_the_classes_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "net.onnx", ["n", 3, 4, 4], MEANS)
    with pytest.raises(UserError, match="has 3 classes; 2 names were given"):
        open_predictor(ModelChoice(file, assumptions=Assumptions(classes=("a", "b"))))
    with pytest.raises(UserError, match="There are no pixels"):
        Assumptions("bright")


def test_arrays_of_any_size_are_taken_as_they_are(tmp_path: Path) -> None:
    network = open_predictor(write(tmp_path / "net.onnx", ["n", 2, "h", "w"], [("Relu", {})]))
    assert network.assumed == (
        "'x' takes arrays as they are.",
        "'y' gives one of 2 classes per pixel, numbered from 0.",
        "Its scores become probabilities by softmax.",
    )
    np.save(tmp_path / "a.npy", np.ones((1, 2, 5, 7), np.float32))
    (answer,) = predict(network, [tmp_path / "a.npy"])
    assert answer["outputs"][0]["shares"] == {"0": 1.0, "1": 0.0}
