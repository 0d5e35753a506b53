"""Every template that has published weights takes torchvision's state-dict: by name, and four of them in numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.engine.core.files import ROOT
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.start_weights import fill_from
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.project.transferred_layers import replace_head
from netwright.engine.project.weights_matching import MatchReport, Side, match
from tests.engine.lowering import torchvision_layouts as layouts
from tests.engine.lowering.torchvision_layouts import Shapes, State

PUBLISHED: dict[str, Callable[[], Shapes]] = {
    "alexnet": layouts.alexnet,
    "densenet121": layouts.densenet,
    "efficientnet_b0": layouts.efficientnet,
    "googlenet": layouts.googlenet,
    "mobilenet_v2": layouts.mobilenet,
    "resnet18": lambda: layouts.resnet((2, 2, 2, 2), bottleneck=False),
    "resnet50": lambda: layouts.resnet((3, 4, 6, 3), bottleneck=True),
    "resnet101": lambda: layouts.resnet((3, 4, 23, 3), bottleneck=True),
    "squeezenet1_1": layouts.squeezenet,
    "vgg16": layouts.vgg16,
    "vit_b_16": layouts.vit,
}
OTHERS: dict[str, Callable[[], Shapes]] = {
    "densenet121": lambda: layouts.densenet("."),
    "vit_b_16": lambda: layouts.vit(("mlp.0", "mlp.3")),
    "vit_b_16 of timm": layouts.timm_vit,
}


def template(name: str) -> Project:
    return load(ROOT / "resources" / "templates" / f"{name}.netwright").project


def matched(network: Network, shapes: Shapes) -> MatchReport:
    """Match without numbers: neither side is built."""
    analysis = analyse(network)
    with torch.device("meta"):
        module = build(network, analysis)
    own = {key: tuple(value.shape) for key, value in module.state_dict().items()}
    image = frozenset({"image.shift", "image.scale"})
    return match(Side(own, prefixes(network, analysis), image), Side(dict(shapes)))


SLOW = pytest.mark.parity
CASES: list[Any] = [
    pytest.param(name, shapes, marks=SLOW) if name == "resnet101" else (name, shapes)
    for name, shapes in (*PUBLISHED.items(), *OTHERS.items())
]


@pytest.mark.parametrize(("name", "shapes"), CASES)
def test_each_key_of_the_publisher_fills_a_layer_of_the_template(name: str, shapes: Callable[[], Shapes]) -> None:
    found = matched(template(name.partition(" ")[0]).network, shapes())
    assert found.layout.startswith("timm" if "timm" in name else "torchvision")
    assert {layer.state for layer in found.layers} == {"loaded"}
    assert (found.missing, found.other_shape) == ((), ())
    assert all(key.startswith("aux") for key in found.left_over)
    assert len({(one.source.key, one.source.part) for one in found.matched}) == len(found.matched)


HEADS = [name if name in ("resnet18", "squeezenet1_1") else pytest.param(name, marks=SLOW) for name in PUBLISHED]


@pytest.mark.parametrize("name", HEADS)
def test_with_a_new_head_all_but_the_head_is_loaded(name: str) -> None:
    found = matched(replace_head(template(name), 7).network, PUBLISHED[name]())
    assert [layer.state for layer in found.layers].count("fresh") == 1
    assert found.layers[-1].state == "fresh"


NUMBERS: dict[str, Callable[[State, torch.Tensor], torch.Tensor]] = {
    "resnet18": layouts.run_resnet18,
    "mobilenet_v2": layouts.run_mobilenet,
    "vgg16": layouts.run_vgg16,
    "vit_b_16": layouts.run_vit,
}


SMALL = ("resnet18", "mobilenet_v2")


@pytest.mark.parametrize("name", [name if name in SMALL else pytest.param(name, marks=SLOW) for name in NUMBERS])
def test_a_template_filled_with_the_publishers_weights_computes_the_same(name: str, tmp_path: Path) -> None:
    state = layouts.random_state(PUBLISHED[name]())
    torch.save(state, tmp_path / "w.pth")
    project = template(name)
    network, analysis = project.network, analyse(project.network)
    module = build(network, analysis, logits=True)
    found = fill_from(project, analysis, module, tmp_path / "w.pth", "")
    assert {layer.state for layer in found.layers} == {"loaded"}
    x = torch.randn(1, 3, 224, 224)
    with torch.no_grad():
        ours, theirs = module.eval()(x), NUMBERS[name](state, x)
    assert float(theirs.std()) > 1e-3
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4 * float(theirs.std()))


def test_names_that_only_look_like_those_of_a_template_follow_no_layout() -> None:
    shapes = {f"{name}.weight": (2, 2) for name in ("stage_1.conv_2", "stage_9_first.bn_7", "fire_1.conv_9", "fc_1")}
    found = match(Side(shapes), Side(shapes))
    assert found.layout == ""
    assert len(found.matched) == 0, "no layers were named"
    own = Side(shapes, {str(number): [key.removesuffix(".weight")] for number, key in enumerate(shapes)})
    assert len(match(own, Side(shapes)).matched) == 4
