"""The operators that a program of `torch.export` may have: those that torch can translate to ONNX, or into others.

A program runs while it is read and compared, also the operators in it that no output needs. Some of ATen's write files
(`aten.save`, `aten.from_file`) or trust sizes that they are given, so that names are looked up in a list.
"""

import functools
import logging
from collections.abc import Set

import torch

from netwright.engine.exchange.onnx_graph import keep_operator_table

OPSET = 23
"""Version of ONNX's operators that programs are translated to."""
SIZES = frozenset(
    (
        *("torch.sym_not", "torch.sym_int", "torch.sym_float", "torch.sym_ite", "torch.sym_max", "torch.sym_min"),
        *("torch.sym_sqrt", "torch.sym_sum", "math.trunc", "math.ceil", "math.floor"),
        *("_operator.getitem", "_operator.add", "_operator.sub", "_operator.mul", "_operator.floordiv"),
        *("_operator.truediv", "_operator.mod", "_operator.neg", "_operator.pos", "_operator.pow", "_operator.eq"),
        *("_operator.ne", "_operator.lt", "_operator.le", "_operator.gt", "_operator.ge", "_operator.and_"),
        *("_operator.or_", "_operator.not_"),
    )
)
"""Functions of sizes."""
PLAIN = frozenset(
    f"torch.ops.aten.{name}"
    for name in (
        *("_assert_scalar.default", "_assert_tensor_metadata.default", "_functional_assert_scalar.default"),
        *("sym_constrain_range.default", "sym_constrain_range_for_size.default"),
        *("copy_.default", "empty.memory_format", "lift_fresh_copy.default"),
    )
)
"""Checks of sizes, which torch's exporter leaves out, and copies, which it takes for the tensors themselves."""
WRAPPED = "torch.ops.higher_order.wrap_with_set_grad_enabled"


@functools.cache
def known_operators() -> frozenset[str]:
    """Return the names of the operators, as a program has them."""
    from torch._decomp import decomposition_table
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    keep_operator_table()
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)  # it misses torchvision
    try:
        table = ONNXRegistry.from_torchlib(opset_version=OPSET)
    finally:
        logging.disable(before)
    translated = [entry.fx_target for several in table.functions.values() for entry in several]
    operators = {
        str(operator)
        for operator in (*translated, *torch.export.default_decompositions(), *decomposition_table)
        if isinstance(operator, torch._ops.OpOverload) and operator.namespace in ("aten", "prims")
    }
    names = {f"torch.ops.{name}" for name in operators | _composed()}
    return frozenset(names | _in_place({name.rpartition(".")[0] for name in names}) | SIZES | PLAIN | {WRAPPED})


def _composed() -> set[str]:
    """Return the operators that ATen itself writes as others, and that change no tensor in place."""
    operators = set()
    for name in torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd"):
        namespace, _, inner = name.partition("::")
        base, _, overload = inner.partition(".")
        if namespace == "aten":
            operator = getattr(getattr(torch.ops.aten, base), overload or "default")
            if not operator._schema.is_mutable:
                operators.add(str(operator))
    return operators


def _in_place(packets: Set[str]) -> set[str]:
    """Return the operators that change their first tensor instead, such as `aten.add_.Tensor` of `aten.add`."""
    operators = set()
    for name in torch._C._dispatch_get_all_op_names():
        base, _, overload = name.removeprefix("aten::").partition(".")
        if name.startswith("aten::") and base.endswith("_") and f"torch.ops.aten.{base[:-1]}" in packets:
            operators.add(f"torch.ops.aten.{base}.{overload or 'default'}")
    return operators
