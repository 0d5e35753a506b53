"""Networks that leave as ONNX come back, and leave again, with equal numbers: every layer type, templates, random
chains. Exported source comes back by the note at its end."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import ROOT
from netwright.engine.core.types import Symbol, TensorType
from netwright.engine.exchange.importing import exported_source
from netwright.engine.exchange.importing.import_report import ReadNetwork
from netwright.engine.exchange.importing.importer import Made, network_of
from netwright.engine.exchange.importing.onnx_file import read
from netwright.engine.exchange.importing.parity import as_file
from netwright.engine.exchange.importing.values import BATCH, Tensor
from netwright.engine.exchange.onnx_check import accepted_difference, distances, in_units, spread_and_size
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.exchange.sample_inputs import random_samples
from netwright.engine.lowering.initialization import initialize
from netwright.engine.lowering.module import build
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.lowering.print_source import source
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.project.source_note import with_note
from scripts.make_templates import MAKERS, TEMPLATES
from tests.builders import layer
from tests.engine.layers.test_parity import KEYS, _with_length, built, known_cases, random_inputs, results
from tests.engine.layers.test_parity import network_of as printed_network
from tests.strategies import Case, cases, lifelike

# Layer types that an ONNX file does not give back in every case; `docs/onnx.md` has the reasons.
NOT_FROM_ONNX = {"spectral_conv1d", "spectral_conv2d", "spectral_conv3d", "sequence_input", "identity"}
SOURCES = ("mlp", "autoencoder", "conv1d_signals", "lstm_classifier", "seq2seq", "narx")
SHORT_KEYS = ("embedding", "log_sigmoid")
State = Mapping[str, torch.Tensor]
RULES = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=(Phase.explicit, Phase.generate))


def back(network: Network, state: dict[str, torch.Tensor], folder: Path) -> Made:
    """Export, import, and compare the imported network with ONNX Runtime on the file."""
    export_onnx(network, state, folder / "one.onnx", facts=None, samples=None)
    made = network_of(read(folder / "one.onnx"), {})
    parity = made.compared()
    assert parity.agrees, (parity, made.lifted.fates)
    return made


def again(network: Network, state: State, made: Made, folder: Path, batches: Sequence[Sequence[np.ndarray]]) -> None:
    """Export the imported network, and compare its file with the first one on batches for that.

    A network that prints the source of the exported one and has its weights would leave as the same file, which takes
    most of the time; the network itself is compared with the first file instead.
    """
    module = made.module()
    first = open_session(folder / "one.onnx", 1)
    inputs, outputs = made.ends()
    names = [one.name for one in first.get_inputs()]
    computed = module if is_same(made.network, module.state_dict(), network, state) else file_of(made, folder)
    for batch in batches:
        feeds = dict(zip(names, batch, strict=True))
        expected = first.run([name for name, _, _ in outputs], feeds)
        with torch.no_grad():
            found = results(
                computed, [torch.from_numpy(_turned(feeds[value.name], tensor)) for value, tensor in inputs]
            )
        for one, (_, tensor, place) in zip(expected, outputs, strict=True):
            assert_equal(np.asarray(one), as_file(found[place], tensor))


def is_same(network: Network, state: State, other: Network, its_state: State) -> bool:
    """Whether two networks have the same source and weights."""
    one, two = (source(each, analyse(each), title="net") for each in (network, other))
    has_same_keys = one == two and state.keys() == its_state.keys()
    return has_same_keys and all(torch.equal(value, its_state[key]) for key, value in state.items())


def file_of(made: Made, folder: Path) -> Callable[..., tuple[torch.Tensor, ...]]:
    """Export the imported network, and return what computes the file."""
    export_onnx(made.network, made.module().state_dict(), folder / "two.onnx", facts=None, samples=None)
    session = open_session(folder / "two.onnx", 1)

    def computed(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        feeds = {one.name: array.numpy() for one, array in zip(session.get_inputs(), given, strict=True)}
        return tuple(torch.from_numpy(np.asarray(one)) for one in session.run(None, feeds))

    return computed


def _turned(array: np.ndarray, tensor: Tensor) -> np.ndarray:
    """Return an input of the first file with its dimensions as the imported network takes them."""
    return np.ascontiguousarray(array.transpose([tensor.dims.index(dim) for dim in (BATCH, *tensor.type.axes)]))


def assert_equal(one: np.ndarray, other: np.ndarray) -> None:
    assert one.shape == other.shape
    spread, size = spread_and_size(one.astype(np.float64), None)
    difference = distances(one.astype(np.float64), other.astype(np.float64)).max(initial=0.0)
    assert difference <= accepted_difference(spread, size)[0]


def source_comes_back(network: Network, folder: Path) -> None:
    """Print, run what is printed, read it back, and compare both with the network: exactly equal numbers."""
    module = built(network)
    state = module.state_dict()
    path = folder / "printed.py"
    text = with_note(source(network, analyse(network), title="net"), Project(network))
    path.write_text(text, encoding="utf-8")
    printed = printed_network(text)
    result = exported_source.read(path, {})
    assert isinstance(result, ReadNetwork)
    assert result.network == network
    imported = build(result.network, analyse(result.network)).eval()
    inputs = [torch.from_numpy(one) for one in list(random_samples(network))[-1]]
    with torch.no_grad():
        expected = module(*inputs)
        for other in (printed, imported):
            other.load_state_dict(state)
            torch.testing.assert_close(other(*inputs), expected, rtol=0, atol=0, equal_nan=True)


def types_of(case: Case) -> tuple[TensorType, ...]:
    """The types of the inputs of the network of a case."""
    return tuple(one.type.output() for one in lifelike(case).inputs)


def comes_back(case: Case, folder: Path) -> bool:
    """Whether a case comes back from ONNX, with equal numbers. A type that may not is refused, or comes back as an
    operator that stays as it is."""
    if case.type.onnx_refusal or any(x.kind == "complex" for x in case.inputs):
        return True  # it does not leave: tests/engine/layers/test_parity.py
    network = lifelike(case)
    state = built(network).state_dict()
    try:
        made = back(network, state, folder)
    except UserError:
        assert case.type.key in NOT_FROM_ONNX, case
        return False
    is_opaque = any(fate.opaque for fate in made.lifted.fates.values())
    assert not is_opaque or case.type.key in NOT_FROM_ONNX, made.lifted.fates
    batches = [
        [x.numpy() for x in random_inputs(_with_length(types_of(known)), batch)]
        for known in known_cases(case)
        for batch in (1, 3)
    ]
    again(network, state, made, folder, batches)
    return True


@pytest.mark.parametrize("key", SHORT_KEYS)
def test_layers_come_back_from_onnx(key: str, tmp_path: Path) -> None:
    @settings(RULES, max_examples=1)
    @given(cases(key))
    def check(case: Case) -> None:
        assert comes_back(case, tmp_path)

    check()


def test_causal_attention_over_any_number_of_steps_comes_back(tmp_path: Path) -> None:
    """Its mask is a triangle whose sizes are known only when the network runs."""
    steps = TensorType(("T", "C"), (Symbol("T"), 6))
    network = lifelike(Case(layer("attention", mask="causal"), (steps,) * 3))
    made = back(network, {}, tmp_path)
    assert [one.type for one in made.network.layers.values() if not one.type.is_input] == [
        layer("attention", mask="causal")
    ]


@pytest.mark.parity
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("key", KEYS)
def test_all_layers_come_back_from_onnx(key: str, tmp_path: Path) -> None:
    seen: set[Case] = set()

    @settings(RULES, max_examples=4)
    @given(cases(key))
    def check(case: Case) -> None:
        if case not in seen:
            comes_back(case, tmp_path)
            seen.add(case)

    check()


def test_layers_that_do_not_come_back_are_in_the_docs() -> None:
    page = (ROOT / "docs" / "onnx.md").read_text(encoding="utf-8")
    assert [key for key in NOT_FROM_ONNX if f"`{key}`" not in page] == []


def template_comes_back(name: str, folder: Path) -> None:
    network = load(TEMPLATES / f"{name}.netwright").project.network
    module = build(network, analyse(network)).eval()
    initialize(module, 0)
    made = back(network, module.state_dict(), folder)
    assert not any(fate.opaque for fate in made.lifted.fates.values())
    again(network, module.state_dict(), made, folder, [in_units(module, list(random_samples(network))[-1])])


@pytest.mark.parity
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", MAKERS)
def test_all_templates_come_back_from_onnx(name: str, tmp_path: Path) -> None:
    template_comes_back(name, tmp_path)


@pytest.mark.parametrize("name", SOURCES)
def test_templates_come_back_from_source_with_equal_numbers(name: str, tmp_path: Path) -> None:
    source_comes_back(load(TEMPLATES / f"{name}.netwright").project.network, tmp_path)


@pytest.mark.parity
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in SOURCES])
def test_all_templates_come_back_from_source_with_equal_numbers(name: str, tmp_path: Path) -> None:
    source_comes_back(load(TEMPLATES / f"{name}.netwright").project.network, tmp_path)
