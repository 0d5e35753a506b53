"""ONNX's own tests of operators: what we lift computes what they expect, and what we do not lift is refused."""

import importlib
import itertools
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing import lifter, operator_reference
from netwright.engine.exchange.importing.folding import ELEMENTWISE, FOLDED
from netwright.engine.exchange.importing.importer import network_of
from netwright.engine.exchange.importing.lifts.lift_registry import lifts
from netwright.engine.exchange.importing.onnx_file import OLDEST, read
from netwright.engine.exchange.importing.parity import computed

ROOT = Path(__file__).parents[4]
SHORT = (
    *("test_convtranspose_pads", "test_maxpool_2d_ceil", "test_batchnorm_example", "test_softmax_axis_1"),
    *("test_prelu_broadcast", "test_slice_neg", "test_split_equal_parts_2d_opset13", "test_reflect_pad"),
    *("test_greater_equal_bcast", "test_gemm_default_vector_bias"),
)
FILES = (
    *("convtranspose", "maxpool", "batch_normalization", "softmax", "prelu"),
    *("slice", "split", "pad", "greater_or_equal", "gemm"),
)
EACH_NUMBER = {
    *({*ELEMENTWISE} - {"Identity"}),
    *("Clip", "Max", "Min", "Mean", "Sum", "Mish", "Swish", "Pow", "Round", "Shrink", "Sign", "Mod", "BitShift"),
    *("Asin", "Acos", "Acosh", "Atanh", "QuantizeLinear", "DequantizeLinear"),
}
BEYOND = ("_empty_set", "test_mod_float_edge_cases_fmod_0_", "test_training_dropout", "_bf16")
"""Parts of the names of cases with what layers do not take: no numbers at all, the remainder of infinity, what is
dropped at random in training, and results that are rounded to 8 bits."""
LEAST = 520
"""Number of cases that are lifted; others have one dimension, or none that could be the batch."""
ELSEWHERE = {"Cast", "CastLike", "GlobalLpPool", "If", "MeanVarianceNormalization", "OneHot", "Tile"}
"""Operators of which no case of ONNX's keeps the samples apart; `test_lifts.py` and `test_branches.py` compare them."""


def cases(files: Sequence[str] = ()) -> list[Any]:
    """Return ONNX's tests of one operator that we lift: those of some of its files, or all, which take 10 s to make."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in files:
            importlib.import_module(f"{node.__name__}.{name}")
        found = list(node._NodeTestCases) if files else node.collect_testcases(None)
    known = {op for domain, op in lifts() if not domain} | set(FOLDED)
    single = [case for case in found if case.model is not None and len(case.model.graph.node) == 1]
    return [
        case
        for case in single
        if case.model is not None
        and case.model.graph.node[0].op_type in known
        and not any(word in case.name for word in BEYOND)
    ]


def models(case: Any, folder: Path) -> Iterator[tuple[Path, dict[str, np.ndarray]]]:
    """Yield the model with its first input alone free, then with all, and with its first output alone; a function of
    each number of a vector gets the vector as a sample. And what the free inputs get."""
    given = case.data_sets[0][0]
    if not all(isinstance(one, np.ndarray | np.generic) for one in given):
        return
    given = [np.asarray(one) for one in given]
    for free, few in itertools.product((1, len(given)), (False, True)):
        proto = onnx.ModelProto()
        proto.CopyFrom(case.model)
        inputs = list(case.model.graph.input)
        del proto.graph.input[:]
        proto.graph.input.extend(inputs[:free])
        if few:
            del proto.graph.output[1:]
        feeds = {value.name: array for value, array in zip(inputs[:free], given[:free], strict=True)}
        for value in proto.graph.input:
            if len(value.type.tensor_type.shape.dim) == 1 and case.model.graph.node[0].op_type in EACH_NUMBER:
                for _ in range(2):  # two dimensions of whole numbers are taken for indices
                    value.type.tensor_type.shape.dim.insert(0, onnx.TensorShapeProto.Dimension(dim_value=1))
                feeds[value.name] = feeds[value.name][None, None]
        for one in proto.opset_import:
            one.version = max(one.version, OLDEST)
        pairs = zip(inputs[free:], given[free:], strict=True)
        proto.graph.initializer.extend(numpy_helper.from_array(array, value.name) for value, array in pairs)
        path = folder / "a.onnx"
        path.write_bytes(proto.SerializeToString())
        yield path, feeds


def is_lifted(case: Any, folder: Path) -> bool:
    """Return whether a case is lifted in any form. Each form that is has to give the numbers that are expected."""
    found = False
    outputs = dict(zip((one.name for one in case.model.graph.output), case.data_sets[0][1], strict=True))
    for path, feeds in models(case, folder):
        try:
            made = network_of(read(path), {})
        except UserError:
            continue
        if made.constants or any(fate.opaque for fate in made.lifted.fates.values()):
            continue
        inputs, ends = made.ends()
        for (name, _, _), ours in zip(ends, computed(made.module(), inputs, ends, feeds), strict=True):
            expected = np.asarray(outputs[name], np.float64)
            ours = ours.reshape(expected.shape) if ours.size == expected.size else ours
            np.testing.assert_allclose(ours, expected, 1e-3, 1e-5, err_msg=case.name)
        found = True
    return found


def is_folded(case: Any, folder: Path) -> bool:
    """Return whether an operator whose inputs are all known is computed at the import."""
    given, expected = case.data_sets[0]
    proto = onnx.ModelProto()
    proto.CopyFrom(case.model)
    del proto.graph.input[:]
    if not all(isinstance(one, np.ndarray | np.generic) for one in given):
        return False
    pairs = zip(case.model.graph.input, map(np.asarray, given), strict=True)
    proto.graph.initializer.extend(numpy_helper.from_array(array, value.name) for value, array in pairs)
    path = folder / "a.onnx"
    path.write_bytes(proto.SerializeToString())
    graph = read(path)
    lifter._fold_constants(graph, {})
    if graph.nodes:
        return False
    for name, numbers in zip(case.model.graph.node[0].output, expected, strict=True):
        np.testing.assert_allclose(graph.constants[name].array(), numbers, 1e-4, 1e-6, err_msg=case.name)
    return True


def lifted(words: str, folder: Path) -> list[str]:
    """Return the names of the cases that are lifted, as a process of its own finds them: to import ONNX's tests changes
    what torch's exporter writes in the same process."""
    command = [sys.executable, "-m", "tests.engine.exchange.importing.test_onnx_operators", words, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1700)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.split()


def test_operators_compute_what_onnx_expects(tmp_path: Path) -> None:
    assert lifted("short", tmp_path) == list(SHORT)


@pytest.mark.parity
@pytest.mark.timeout(1800)
def test_all_operators_compute_what_onnx_expects(tmp_path: Path) -> None:
    """Every operator of the table in the docs is lifted, or computed, in one case at least."""
    found = lifted("all", tmp_path)
    assert {name.partition(":")[0] for name in found} >= operator_reference.of_onnx().keys() - ELSEWHERE
    assert len(found) >= LEAST


def test_the_table_of_operators_is_up_to_date() -> None:
    page = operator_reference.PATH.read_text(encoding="utf-8")
    assert page == operator_reference.text(page), "run `python scripts/make_reference.py`"
    assert len(operator_reference.of_onnx()) >= 120


if __name__ == "__main__":
    named = {case.name: case for case in cases(FILES if sys.argv[1] == "short" else ())}
    for chosen in SHORT if sys.argv[1] == "short" else named:
        op = named[chosen].model.graph.node[0].op_type
        if (is_folded if op in FOLDED else is_lifted)(named[chosen], Path(sys.argv[2])):
            print(chosen if sys.argv[1] == "short" else f"{op}:{chosen}")
