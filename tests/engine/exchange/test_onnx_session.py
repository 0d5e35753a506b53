"""ONNX files that crash ONNX Runtime, take all memory or never end: `predict` says so in words, and stops them."""

import os
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from onnx import TensorProto, helper

from netwright.engine.analysis.predictors import open_predictor
from netwright.engine.core import foreign_file
from netwright.engine.core.errors import UserError
from netwright.engine.exchange import onnx_session
from netwright.engine.exchange.onnx_session import OnnxSession
from tests.engine.exchange.importing.hostile_files import call_twice, endless_loop, model, saved

X = {"x": np.ones((2, 3), np.float32)}


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file gets a second."""
    monkeypatch.setattr(foreign_file, "LEAST_WORK_S", 1.0)


def test_a_file_is_open_in_another_process_until_it_is_forgotten(tmp_path: Path) -> None:
    others = psutil.Process().children()
    session = OnnxSession(saved(tmp_path, model([helper.make_node("Relu", ["x"], ["y"])])))
    assert [(port.name, port.type, port.sizes) for port in session.inputs] == [("x", "tensor(float)", (None, 3))]
    (found,) = session.run(X)
    assert found.tolist() == [[1.0] * 3] * 2
    (child,) = set(psutil.Process().children()) - set(others)
    del session
    child.wait(60.0)


def test_what_never_ends_is_stopped(hurried: None, tmp_path: Path) -> None:
    with closing(OnnxSession(saved(tmp_path, endless_loop()))) as session:
        with pytest.raises(UserError, match=r"cannot be computed: it was not computed within .*, the limit .* do harm"):
            session.run(X)
        with pytest.raises(UserError, match="it was not computed within"):  # at once
            session.run(X)


def test_a_sample_may_take_longer_than_the_first_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many samples get the time of one for each."""
    asked: list[tuple[float, int]] = []
    session = OnnxSession(saved(tmp_path, model([helper.make_node("Relu", ["x"], ["y"])])))
    real = session._asked

    def note(done: str, patience_s: float, feeds: Any) -> Any:
        asked.append((patience_s, len(feeds["x"])))
        return real(done, patience_s, feeds)

    monkeypatch.setattr(session, "_asked", note)
    session._sample_s = 0.0
    session.run({"x": np.ones((1000, 3), np.float32)})
    assert [count for _, count in asked] == [1, 1000]
    assert asked[1][0] == pytest.approx(session._allowed_s + 10_000 * session._sample_s)


def test_a_crash_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_session, "open_session", lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
    with pytest.raises(UserError, match="cannot be loaded: ONNX Runtime crashed while it was loaded"):
        OnnxSession(saved(tmp_path, endless_loop()))


@pytest.mark.skipif("not os.path.exists('/proc/self/status')", reason="the system does not count what is asked for")
def test_memory_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_session, "allowed_memory", lambda: 2**28)
    nodes = [helper.make_node("Tile", ["x", "r"], ["big"]), helper.make_node("ReduceSum", ["big"], ["y"], keepdims=0)]
    file = saved(tmp_path, model(nodes, {"r": np.array([1, 2**28])}))
    words = r"net\.onnx cannot be computed by ONNX Runtime: there is not enough memory for it\.$"
    with closing(OnnxSession(file)) as session, pytest.raises(UserError, match=words):
        session.run(X)


@pytest.mark.parametrize("in_branches", [False, True])
def test_functions_are_counted_before_a_session(
    in_branches: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_session, "open_session", None)
    with pytest.raises(UserError, match=r"The functions in the file stand for [\d,]+ operators; at most 200,000"):
        OnnxSession(saved(tmp_path, call_twice(40, in_branches=in_branches)))


def test_inputs_that_fit_no_memory_are_refused(tmp_path: Path) -> None:
    file = saved(tmp_path, model([helper.make_node("Relu", ["x"], ["y"])], sizes=("N", 2**20, 2**20)))
    with pytest.raises(UserError, match=r"The inputs of .* need 16,384.0 GiB of memory"):
        open_predictor(file)


def test_a_file_without_inputs_is_refused(tmp_path: Path) -> None:
    whole = model([helper.make_node("RandomNormal", [], ["y"], shape=[2, 3])])
    del whole.graph.input[:]
    with pytest.raises(UserError, match="takes no inputs"):
        open_predictor(saved(tmp_path, whole))


def test_an_output_that_is_no_tensor_is_refused(tmp_path: Path) -> None:
    whole = model([helper.make_node("SequenceConstruct", ["x"], ["y"])])
    whole.graph.output[0].CopyFrom(helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None))
    with pytest.raises(UserError, match="one of its outputs is no tensor"):
        open_predictor(saved(tmp_path, whole))
