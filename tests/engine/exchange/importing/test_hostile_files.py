"""Small ONNX files that ask for far more than their size accounts for are refused, in words and in time."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from netwright.engine.cli.readers import ask
from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing import folding
from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Constant, Graph, Node
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.exchange.importing.onnx_file import read
from netwright.engine.exchange.importing.onnx_functions import has_functions, refuse_large_functions
from netwright.engine.exchange.importing.values import NotLiftable
from tests.engine.exchange.importing.hostile_files import OPSETS, call_twice, endless_loop, far_away, model, saved

NOISE = np.random.default_rng(0).standard_normal(30_000).astype(np.float32)


def calling_itself() -> ModelProto:
    whole = call_twice(2)
    whole.functions[0].node[0].CopyFrom(helper.make_node("f1", ["a"], ["b"], domain="own"))
    return whole


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call_twice(40), r"stand for 549,755,813,888 operators; at most 200,000 are read"),
        (lambda: call_twice(40, in_branches=True), r"stand for [\d,]+ operators; at most 200,000 are read"),
        (lambda: call_twice(16, weight=NOISE), r"stand for 3\.7 GiB; at most 2\.0 GiB are read"),
        (calling_itself, "call themselves, which ONNX does not allow"),
        (lambda: far_away("w" * 70_000, (3, 3)), "the name of a file with its numbers has 70,000 characters"),
        (lambda: far_away("w" * 400, (3, 3)), "its numbers in 'w+' cannot be read: File name too long"),
        (lambda: far_away("loop", (3, 3)), "its numbers in 'loop' cannot be read|is not beside it"),
    ],
)
def test_what_no_memory_holds_is_refused(make: Callable[[], ModelProto], words: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(UserError, match=words):
        read(saved(tmp_path, make()))


def test_few_functions_are_read(tmp_path: Path) -> None:
    whole = call_twice(5)
    refuse_large_functions(whole)
    assert [node.op for node in read(saved(tmp_path, whole)).nodes] == ["Neg"] * 16


def test_functions_are_seen_without_reading_the_file(tmp_path: Path) -> None:
    assert has_functions(saved(tmp_path, call_twice(2)))
    assert not has_functions(saved(tmp_path, endless_loop()))
    weight = far_away("w.bin", (3, 3))
    weight.graph.doc_string = "\xca\x01" * 100  # the mark of a function, elsewhere
    assert not has_functions(saved(tmp_path, weight))
    for content in (b"", b"\xca", b"\xff" * 20, b"text"):
        (tmp_path / "other.onnx").write_bytes(content)
        assert not has_functions(tmp_path / "other.onnx")


def test_functions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Those of other domains, and overloads."""
    whole = model([helper.make_node("f", ["x"], ["m"], domain="own"), helper.make_node("f", ["m"], ["y"], domain="b")])
    inner = [helper.make_node("f", ["a"], ["b"], domain="own")]
    whole.functions.append(
        helper.make_function("own", "f", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], OPSETS)
    )
    whole.functions.append(helper.make_function("b", "f", ["a"], ["b"], inner, OPSETS))
    refuse_large_functions(whole)


def test_numbers_that_are_gone_or_fit_no_memory_are_refused(tmp_path: Path) -> None:
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(4 * 9)
    graph = read(saved(tmp_path, far_away("w.bin", (3, 3))))
    (tmp_path / "w.bin").unlink()
    with pytest.raises(UserError, match=r"w cannot be read from w\.bin: .*No such file"):
        graph.constants["w"].array()


@pytest.mark.parametrize("grows", [False, True])
def test_a_loop_without_end_is_stopped(grows: bool, tmp_path: Path) -> None:
    file = saved(tmp_path, endless_loop(grows))
    words = r"net\.onnx was stopped after 4\.0 s of computing|took over .* of memory|An operator has no layer"
    with pytest.raises(UserError, match=words):
        ask("import", {"file": str(file), "output": str(tmp_path / "net.netwright"), "time_limit": 4})
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif("not os.path.exists('/proc/self/status')", reason="the system does not count what is asked for")
def test_a_comparison_that_fits_no_memory_is_left_out(tmp_path: Path) -> None:
    file = saved(tmp_path, model([helper.make_node("Relu", ["x"], ["y"])], sizes=("N", 3, 60_000, 60_000)))
    report = import_file(file, tmp_path / "net.netwright")
    assert report.parity.refusal == "There is not enough memory to compute it."
    assert report.layers == 2


def test_an_operator_that_fits_no_memory_is_told_in_words(tmp_path: Path) -> None:
    nodes = [helper.make_node("Expand", ["x", "s"], ["h"]), helper.make_node("ReduceSum", ["h"], ["y"])]
    file = saved(tmp_path, model(nodes, {"s": np.array([1, 2**44, 3])}, sizes=(1, 3)))
    with pytest.raises(UserError, match=r"cannot be computed by itself \(there is not enough memory for it\)"):
        import_file(file, tmp_path / "net.netwright")


def test_numbers_that_double_with_each_operator_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "MOST_BYTES", 100_000)
    graph = Graph([], {"c": Constant.of(np.ones(10_000, np.float32))}, (), (), 18)
    for names in (["c"], ["c", "c"]):
        node = Node("Concat", names, ["d"], {"axis": 0})
        if len(names) == 1:
            assert folding.fold(Context(graph), node) is not None
        else:
            with pytest.raises(NotLiftable, match="would make 20,000 numbers"):
                folding.fold(Context(graph), node)


def test_sizes_that_are_promised_are_not_made(tmp_path: Path) -> None:
    weight = onnx.TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2**20, 2**20])
    with pytest.raises(UserError, match=r"w has 1,099,511,627,776 numbers|w has 0 numbers"):
        read(saved(tmp_path, model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": weight})))


def no_equation() -> ModelProto:
    node = helper.make_node("Einsum", ["x", "w"], ["y"], equation="ab,bc->ac")
    del node.attribute[:]
    return model([node], {"w": np.ones((3, 2), np.float32)})


def other_type() -> ModelProto:
    return model([helper.make_node("Softmax", ["x"], ["y"], axis="last")])


def no_input() -> ModelProto:
    return model([helper.make_node("Concat", [], ["y"], axis=0)])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (no_equation, "Einsum has no 'equation'"),
        (other_type, "'axis' of Softmax is of another type than ONNX says"),
        (no_input, "Concat has 0 inputs"),
    ],
)
def test_operators_without_what_they_need_are_refused(
    make: Callable[[], ModelProto], words: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=words):
        read(saved(tmp_path, make()))


def test_a_version_beyond_all_numbers_is_tried(tmp_path: Path) -> None:
    whole = model([helper.make_node("Relu", ["x"], ["y"])])
    whole.opset_import[0].version = 2**40
    assert [node.op for node in read(saved(tmp_path, whole)).nodes] == ["Relu"]


def test_whole_numbers_as_weights_are_refused(tmp_path: Path) -> None:
    constants = {"w": np.ones((3, 2), np.float32), "b": np.ones(2, np.int32)}
    file = saved(tmp_path, model([helper.make_node("Gemm", ["x", "w", "b"], ["y"])], constants))
    with pytest.raises(UserError, match="The weights of the file do not fit its layers"):
        import_file(file, tmp_path / "net.netwright")


def test_sizes_of_inputs_beyond_all_numbers_are_not_made(tmp_path: Path) -> None:
    file = saved(tmp_path, model([helper.make_node("Relu", ["x"], ["y"])], sizes=("N", 3, 2**30, 2**30)))
    report = import_file(file, tmp_path / "net.netwright")
    assert report.parity.refusal == "There is not enough memory to compute it."
