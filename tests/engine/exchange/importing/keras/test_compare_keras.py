"""Keras's own numbers beside ours, where Keras is installed; here a stand-in for it computes them."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.exchange.importing.keras import compare_keras
from tests.engine.exchange.importing.keras.keras_files import functional, layer, write

KERNEL = np.random.default_rng(5).normal(size=(4, 3)).astype(np.float32)
STAND_IN = """
import numpy as np
from types import SimpleNamespace

class Model:
    def __call__(self, x, training):
        assert not training
        return {"out": np.asarray(x) @ np.load(PATH) * FACTOR}

saving = SimpleNamespace(load_model=lambda path, compile, safe_mode: Model())
ops = SimpleNamespace(convert_to_numpy=np.asarray)
tree = SimpleNamespace(flatten=lambda found: list(found.values()))
"""


def dense(path: Path, **config: Any) -> Path:
    """Write a model of one dense layer."""
    layers = [
        layer("InputLayer", "x", batch_shape=[None, 4]),
        layer("Dense", "out", ["x"], units=3, use_bias=False, **config),
    ]
    return write(path, functional(layers, ["out"]), {"dense": [KERNEL]})


def test_without_keras_the_report_says_that_nothing_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    report = import_file(dense(tmp_path / "a.keras"), tmp_path / "a.netwright")
    assert "Keras is not installed here" in report.parity.refusal
    assert report.warnings == (f"The outputs are not compared with the original: {report.parity.refusal}",)


@pytest.mark.parametrize(
    "named",
    [
        {"module": "builtins", "class_name": "eval", "config": {}},
        {"module": "keras.utils", "class_name": "get_file", "config": {}},
        {"module": "os", "class_name": "function", "config": "system"},
        {"module": "keras.layers", "class_name": "Lambda", "config": {}},
        {"class_name": "Dense", "config": {}},
    ],
)
def test_a_file_that_names_other_code_is_not_given_to_keras(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: dict[str, Any]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    monkeypatch.setattr(compare_keras, "_run", lambda *_: pytest.fail("Keras was run"))
    report = import_file(dense(tmp_path / "a.keras", kernel_constraint=named), tmp_path / "a.netwright")
    assert report.parity.refusal == compare_keras.FOREIGN


@pytest.mark.parity
@pytest.mark.parametrize("factor", [1.0, 1.01])
def test_numbers_of_keras_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    np.save(tmp_path / "kernel.npy", KERNEL)
    text = STAND_IN.replace("PATH", repr(str(tmp_path / "kernel.npy"))).replace("FACTOR", str(factor))
    (tmp_path / "stand_in").mkdir()
    (tmp_path / "stand_in" / "keras.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "stand_in")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "stand_in"))
    report = import_file(dense(tmp_path / "a.keras"), tmp_path / "a.netwright")
    assert not report.parity.refusal
    assert report.parity.agrees == (factor == 1.0)
    assert [one.name for one in report.parity.outputs] == ["out"]
    assert bool(report.warnings) == (factor != 1.0)
