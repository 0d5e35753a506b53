"""The neural ODE: against solutions that are known, and module, source and ONNX against each other."""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.lowering.initialization import initialize
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.print_source import source
from netwright.engine.network import blocks
from netwright.engine.network.analysis import analyse
from netwright.engine.network.block import BlockInput, BlockOutput, NeuralOde
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.layout import Layout
from netwright.engine.network.memory import training_memory
from netwright.engine.network.network import Connection, Layer, Network, Port
from netwright.engine.project.file import dumps, loads
from netwright.engine.project.project import Project

ORDERS = {"euler": 1, "midpoint": 2, "rk4": 4, "dopri5": 5}


def chain(*layers: Layer) -> Network:
    links = []
    for one, other in pairwise(layers):
        links.append(Connection(Port(one.id, one.type.output_ports()[0]), Port(other.id, other.type.input_ports()[0])))
    return Network({layer.id: layer for layer in layers}, tuple(links))


def placed(name: str, key: str, **fields: object) -> Layer:
    return Layer(name, name, layer_type(key)(**fields))


def ode(*inside: Layer, **fields: object) -> NeuralOde:
    inner = chain(Layer("i", "y", BlockInput()), *inside, Layer("o", "dy", BlockOutput()))
    return NeuralOde(inner, **fields)


def flowing(*inside: Layer, channels: int = 1, **fields: Any) -> Network:
    given = placed("given", "feature_input", channels=channels, normalization="none")
    return chain(given, Layer("flow", "flow", ode(*inside, **fields)))


def decay(**fields: Any) -> fx.GraphModule:
    """dy/dt = -y."""
    network = flowing(placed("rate", "fully_connected", outputs=1, bias=False), **fields)
    module = build(network, analyse(network)).double()
    with torch.no_grad():
        module.get_parameter("flow.rate.weight").fill_(-1.0)
    return module


def error_of(solver: str, steps: int) -> float:
    result = decay(solver=solver, steps=steps, end=2.0)(torch.ones(1, 1, dtype=torch.float64))
    return abs(float(result.detach()) - math.exp(-2.0))


@pytest.mark.parametrize("solver", ORDERS)
def test_the_error_falls_with_the_order_of_the_formula(solver: str) -> None:
    ratio = error_of(solver, 8) / error_of(solver, 16)
    assert 0.8 * 2 ** ORDERS[solver] < ratio < 1.35 * 2 ** ORDERS[solver]


def test_time_runs_back_too() -> None:
    result = decay(start=1.0, end=0.0, steps=8)(torch.ones(1, 1, dtype=torch.float64))
    assert float(result.detach()) == pytest.approx(math.e, rel=1e-5)


def test_a_step_of_euler_is_a_residual_block() -> None:
    network = flowing(
        placed("fc", "fully_connected", outputs=4), placed("tanh", "tanh"), channels=4, solver="euler", steps=1
    )
    module = build(network, analyse(network))
    x = torch.randn(3, 4)
    assert torch.allclose(module(x), x + torch.tanh(module.get_submodule("flow.fc")(x)))


def curved(**fields: object) -> Network:
    inside = (placed("conv", "conv2d", filters=3), placed("bn", "batch_norm"), placed("tanh", "tanh"))
    given = placed("image", "image_input", channels=3, size=6)
    return chain(given, Layer("flow", "flow", ode(*inside, **fields)), placed("fc", "fully_connected", outputs=2))


def test_its_weights_are_there_once_and_its_work_as_often_as_it_is_computed() -> None:
    network = curved(solver="rk4", steps=3)
    analysis = analyse(network)
    assert not analysis.problems
    module = build(network, analysis)
    assert [key for key in module.state_dict() if key.startswith("flow.conv")] == ["flow.conv.weight", "flow.conv.bias"]
    assert sum(parameter.numel() for parameter in module.parameters()) == analysis.parameters
    assert prefixes(network, analysis)["flow/conv"] == ("flow.conv",)
    once = analyse(curved(solver="euler", steps=1))
    assert analysis.shapes["flow"].flops == 12 * once.shapes["flow"].flops > 0
    assert training_memory(analysis, 1, 0).activations > 5 * training_memory(once, 1, 0).activations


@pytest.mark.parametrize("solver", ORDERS)
def test_source_and_onnx_are_the_built_module(solver: str, tmp_path: Path) -> None:
    network = curved(solver=solver, steps=2)
    analysis = analyse(network)
    module = build(network, analysis)
    initialize(module, 1)
    module.eval()
    space: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source(network, analysis, title="Flow"), "exported", "exec"), space)
    printed: nn.Module = space["Network"]()
    printed.load_state_dict(module.state_dict())
    x = torch.randn(2, 3, 6, 6)
    assert torch.equal(printed.eval()(x), module(x))
    if solver == "rk4":
        done = export_onnx(network, module.state_dict(), tmp_path / "flow.onnx", facts=None, samples=None)
        assert done.samples_compared == 5


def test_what_it_learns_is_the_gradient_of_what_it_computes() -> None:
    module = decay(steps=2, solver="midpoint")
    rate = module.get_parameter("flow.rate.weight")
    (gradient,) = torch.autograd.grad(module(torch.ones(1, 1, dtype=torch.float64)).sum(), rate)
    h, a = 0.5, -1.0
    factor = 1 + h * a + h * h * a * a / 2
    assert float(gradient) == pytest.approx(2 * factor * (h + h * h * a))


def test_a_network_that_gives_something_else_is_refused() -> None:
    (problem,) = analyse(flowing(placed("fc", "fully_connected", outputs=3), channels=4)).problems
    assert "Make it give what it takes" in problem.message
    assert problem.layer == "flow"


def test_more_work_than_a_network_may_have_is_refused() -> None:
    with pytest.raises(FieldErrors, match="Take fewer steps"):
        ode(*(placed(f"fc{n}", "fully_connected") for n in range(4)), steps=1000, solver="dopri5")


def test_it_is_written_and_read_and_cannot_be_ungrouped() -> None:
    network = curved(steps=7, solver="dopri5")
    project = Project(network, Layout())
    assert loads(dumps(project)).project.network == network
    with pytest.raises(UserError, match="cannot be ungrouped"):
        blocks.ungroup(network, Layout(), "flow")


def test_a_softmax_inside_is_no_output_of_the_network() -> None:
    network = flowing(placed("soft", "softmax"), channels=4)
    analysis = analyse(network)
    module = build(network, analysis, logits=True)
    assert "flow.soft" in dict(module.named_modules())
