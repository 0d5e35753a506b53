"""Every layer type, over generated values: what it declares is what the built module, its source and ONNX do."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from torch import fx, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import Symbol, TensorType
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.lowering.initialization import initialize
from netwright.engine.lowering.module import build
from netwright.engine.lowering.print_source import source
from netwright.engine.network.analysis import analyse
from netwright.engine.network.catalog import catalog
from netwright.engine.network.network import Network
from tests.strategies import Case, cases

# The ports of a block stand for nothing outside one; what is inside blocks is in tests/engine/build/test_blocks.py.
# What an ONNX operator computes is not said by its type: tests/engine/lowering/modules/test_onnx_operator.py.
KEYS = tuple(
    key
    for key, type in catalog().items()
    if not type().is_measured and type.family != "Block" and key != "onnx_operator"
)
LENGTHS = (9, 14)
# The inputs of which numbers are computed: the others only decide something, and get no gradient.
COMPUTED = {
    "where": slice(1, None),
    "learned_parameter": slice(0),
    "position_embedding": slice(0),
    "crop2d": slice(1),
    "crop3d": slice(1),
    "max_unpool2d": slice(1),
    "resize1d": slice(1),
    "resize2d": slice(1),
    "resize3d": slice(1),
}
# Products that torch does not count; their rule is tested beside the others of their family.
UNCOUNTED = {"bilinear"}
# Some layers accept few of the inputs that are tried; hypothesis complains on its own where it finds none at all.
RULES = settings(suppress_health_check=[HealthCheck.filter_too_much])
# Each export takes 0.5 to 3 s; shrinking a failure would take minutes.
EXPORTS = settings(phases=(Phase.explicit, Phase.generate), suppress_health_check=list(HealthCheck))


def built(network: Network, seed: int = 0) -> fx.GraphModule:
    """The module with weights that all count: also those that start as zero or one are random, the same each time."""
    torch.manual_seed(seed)  # for weights that are drawn as a module is made
    module = build(network, analyse(network))
    initialize(module, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
        for name, buffer in module.named_buffers():
            if buffer.is_floating_point() and name in module.state_dict():  # the others are tables, not state
                buffer.copy_(0.5 + torch.rand(buffer.shape, generator=generator))
    return module.eval()


def random_inputs(types: Sequence[TensorType], batch: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(batch)
    return [_random_input(type, batch, generator) for type in types]


def _random_input(type: TensorType, batch: int, generator: torch.Generator) -> torch.Tensor:
    shape = (batch, *(size for size in type.sizes if isinstance(size, int)))
    if type.kind == "index":
        return torch.zeros(shape)
    if type.kind == "complex":
        return torch.randn(shape, generator=generator, dtype=torch.complex64)
    return torch.randn(shape, generator=generator)


def entering(case: Case) -> tuple[TensorType, ...]:
    """The types of the tensors that the network takes: an input layer takes what it gives."""
    return (case.output,) if case.type.is_input else case.inputs


def known_cases(case: Case) -> list[Case]:
    """The case as it is, or with several lengths where sequences are of any length."""
    if all(x.is_known for x in case.inputs):
        return [case]
    return [known for steps in LENGTHS if (known := case.with_steps(steps)) is not None]


def results(module: Callable[..., Any], inputs: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """What leaves the outputs of a network, one or several."""
    found = module(*inputs)
    return found if isinstance(found, tuple) else (found,)


def _with_length(types: Sequence[TensorType]) -> list[TensorType]:
    """An input layer for sequences of any length is tried with one length."""
    return [TensorType(x.axes, tuple(_sizes(x)), x.kind) for x in types]


def _sizes(type: TensorType) -> list[int]:
    return [size if isinstance(size, int) else LENGTHS[0] for size in type.sizes]


def _agrees(declared: TensorType, found: tuple[int, ...]) -> None:
    """The declared sizes hold, where they are known."""
    assert len(declared.sizes) == len(found)
    assert all(isinstance(d, Symbol) or d == f for d, f in zip(declared.sizes, found, strict=True)), (declared, found)


def sizes_agree(module: nn.Module, case: Case, known: Case) -> None:
    for batch in (1, 2, 5):
        found = results(module, random_inputs(_with_length(entering(known)), batch))
        for result, declared, exact in zip(found, case.outputs, known.outputs, strict=True):
            assert tuple(result.shape) == (batch, *_sizes(exact)), case
            assert result.is_complex() == (declared.kind == "complex"), case
            _agrees(declared, tuple(result.shape[1:]))


def _without_prefix(parameters: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """`layer_1.weight` is declared as `weight`, `layer_1_key.weight` as `key.weight`."""
    names = {name: name.removeprefix("layer_1").removeprefix("_").removeprefix(".") for name in parameters}
    return {names[name]: shape for name, shape in parameters.items()}


@contextlib.contextmanager
def as_products() -> Iterator[None]:
    """An LSTM of oneDNN and a fused attention are one operation each, which torch does not count; here they are not."""
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None), sdpa_kernel(SDPBackend.MATH):
        yield


def flops_agree(module: nn.Module, known: Case) -> None:
    with as_products(), FlopCounterMode(display=False) as counter:
        module(*random_inputs(_with_length(entering(known)), 2))
    assert known.type.flops(*known.inputs) == counter.get_total_flops() / 2, known


def network_of(text: str) -> nn.Module:
    """The network that a printed file defines, ready to run."""
    names: dict[str, Any] = {"__name__": "printed"}
    exec(compile(text, "printed.py", "exec"), names)
    network: nn.Module = names["Network"]()
    return network.eval()


def gradients_are_finite(module: nn.Module, key: str, known: Case) -> None:
    inputs = random_inputs(_with_length(entering(known)), 3)
    is_real = [type.kind != "index" for type in entering(known)]
    inputs = [x.requires_grad_() if real else x for x, real in zip(inputs, is_real, strict=True)]
    found = tuple(torch.view_as_real(y) if y.is_complex() else y for y in results(module, inputs))
    assert all(torch.isfinite(result).all() for result in found), known
    learning = [result for result in found if result.requires_grad]
    if learning:
        torch.stack([(result * torch.randn(result.shape)).sum() for result in learning]).sum().backward()
        given = [x for x, real in zip(inputs, is_real, strict=True) if real]
        asked = [*module.parameters(), *given[COMPUTED.get(key, slice(None))]]
        assert all(x.grad is not None and torch.isfinite(x.grad).all() for x in asked), known


def declared_agrees(key: str, case: Case) -> None:
    """The module has the sizes, weights and products that the layer declares, its printed source is the same module,
    and its gradients are finite."""
    network = case.network()
    module = built(network)
    parameters = {name: tuple(value.shape) for name, value in module.named_parameters()}
    assert _without_prefix(parameters) == case.type.weights(*case.inputs), case
    printed = network_of(source(network, analyse(network), title=key))
    state = module.state_dict()
    assert {k: v.shape for k, v in printed.state_dict().items()} == {k: v.shape for k, v in state.items()}
    printed.load_state_dict(state)
    for known in known_cases(case):
        sizes_agree(module, case, known)
        if key not in UNCOUNTED:
            flops_agree(module, known)
        inputs = random_inputs(_with_length(entering(known)), 3)
        torch.testing.assert_close(printed(*inputs), module(*inputs), rtol=0, atol=0, equal_nan=True)
    if not all(x.is_known for x in case.inputs):
        assert case.type.flops(*case.inputs) >= 0
    module.train()
    for known in known_cases(case):
        gradients_are_finite(module, key, known)


@pytest.mark.parametrize("key", KEYS)
def test_a_layer_is_what_it_declares(key: str) -> None:
    @settings(RULES, max_examples=3)
    @given(cases(key))
    def check(case: Case) -> None:
        declared_agrees(key, case)

    check()


def exported_agrees(case: Case, folder: Path) -> None:
    """The export compares itself with torch and refuses; a layer that has no ONNX form is refused by name."""
    network = case.network()
    state = built(network).state_dict()
    to = folder / "network.onnx"
    if case.type.onnx_refusal:
        with pytest.raises(UserError, match="layer_1"):
            export_onnx(network, state, to, facts=None, samples=None)
        assert not to.exists()
        return
    if any(x.kind == "complex" for x in case.inputs):
        return  # a network gets complex numbers only from layers that are refused
    done = export_onnx(network, state, to, facts=None, samples=None)
    assert done.samples_compared == 5


@pytest.mark.parametrize("key", KEYS[4::19])  # of all layer types in `make parity`, below
def test_onnx_gives_the_same_numbers(key: str, tmp_path: Path) -> None:
    @settings(EXPORTS, max_examples=1)
    @given(cases(key))
    def check(case: Case) -> None:
        exported_agrees(case, tmp_path)

    check()


@pytest.mark.parity
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("key", KEYS)
def test_many_cases_agree_also_in_onnx(key: str, tmp_path: Path) -> None:
    seen: set[Case] = set()

    @settings(EXPORTS, max_examples=20)
    @given(cases(key))
    def check(case: Case) -> None:
        if case not in seen:
            declared_agrees(key, case)
            exported_agrees(case, tmp_path)
            seen.add(case)

    check()
