"""The templates: files of the generator, sound, and with the learnables that the architectures are known for."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.check import check
from netwright.engine.project.file import dumps, load
from scripts.make_templates import MAKERS, TEMPLATES, project

KNOWN = {
    "alexnet": 61_100_840,
    "vgg16": 138_357_544,
    "googlenet": 6_624_904,
    "resnet18": 11_689_512,
    "resnet50": 25_557_032,
    "resnet101": 44_549_160,
    "squeezenet1_1": 1_235_496,
    "mobilenet_v2": 3_504_872,
    "densenet121": 7_978_856,
    "efficientnet_b0": 5_288_548,
    "vit_b_16": 86_567_656,
}
"""Those of torchvision's models with 1,000 classes, without auxiliary heads."""


def template(name: str) -> Network:
    return load(TEMPLATES / f"{name}.netwright").project.network


@pytest.mark.parametrize("name", MAKERS)
def test_the_file_is_what_the_generator_makes(name: str) -> None:
    made = dumps(project(name))
    assert made == (TEMPLATES / f"{name}.netwright").read_text(encoding="utf-8"), (
        "run `python -m scripts.make_templates`"
    )


@pytest.mark.parametrize("name", MAKERS)
def test_it_has_no_errors_and_builds_with_the_learnables_that_are_declared(name: str) -> None:
    report = check(load(TEMPLATES / f"{name}.netwright").project)
    assert report.errors == ()
    with torch.device("meta"):
        module = build(template(name), report.analysis)
    declared = report.analysis.parameters
    assert sum(parameter.numel() for parameter in module.parameters()) == declared
    assert declared == KNOWN.get(name, declared)


def plain_mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def plain_autoencoder() -> nn.Module:
    widths = (784, 128, 64, 16, 64, 128, 784)
    return nn.Sequential(*(nn.Linear(a, b) for a, b in pairwise(widths)))


def plain_narx() -> nn.Module:
    return nn.Sequential(nn.Linear(24 * 2, 32), nn.Tanh(), nn.Linear(32, 1))


def plain_lstm_forecaster() -> nn.Module:
    return nn.ModuleList([nn.LSTM(2, 64), nn.Linear(64, 24)])


def plain_tcn_forecaster() -> nn.Module:
    convolutions = [nn.Conv1d(2 if n == 0 else 32, 32, 3) for n in range(8)]
    return nn.ModuleList([*convolutions, nn.Conv1d(2, 32, 1), nn.Linear(32, 24)])


def plain_conv1d_signals() -> nn.Module:
    rows = ((3, 128, 8), (128, 256, 5), (256, 128, 3))
    parts = [nn.Sequential(nn.Conv1d(a, b, k, bias=False), nn.BatchNorm1d(b)) for a, b, k in rows]
    return nn.Sequential(*parts, nn.Linear(128, 6))


def plain_lstm_classifier() -> nn.Module:
    return nn.ModuleList([nn.LSTM(12, 100), nn.Linear(100, 9)])


def plain_seq2seq() -> nn.Module:
    parts = [nn.Embedding(8000, 256), nn.LSTM(256, 128, bidirectional=True), nn.Embedding(8000, 256)]
    return nn.ModuleList([*parts, nn.LSTM(256, 256), nn.Linear(512, 256), nn.Linear(256, 8000)])


def plain_gpt_small() -> nn.Module:
    layer = nn.TransformerEncoderLayer(384, 6, 1536)
    ends = [nn.Embedding(256, 384), nn.Embedding(256, 384), nn.LayerNorm(384), nn.Linear(384, 256, bias=False)]
    return nn.ModuleList([nn.TransformerEncoder(layer, 6, enable_nested_tensor=False), *ends])


def plain_unet() -> nn.Module:
    def double(before: int, after: int) -> list[nn.Module]:
        first, second = nn.Conv2d(before, after, 3, bias=False), nn.Conv2d(after, after, 3, bias=False)
        return [first, nn.BatchNorm2d(after), second, nn.BatchNorm2d(after)]

    widths = (1, 64, 128, 256, 512, 1024)
    down = [part for a, b in pairwise(widths) for part in double(a, b)]
    up = [part for w in widths[1:-1] for part in (nn.ConvTranspose2d(2 * w, w, 2), *double(2 * w, w))]
    return nn.ModuleList([*down, *up, nn.Conv2d(64, 2, 1)])


def plain_airbench94() -> nn.Module:
    parts: list[nn.Module] = [nn.Conv2d(3, 24, 2)]
    for before, after in pairwise((24, 64, 256, 256)):
        for channels in (before, after):
            parts += [nn.Conv2d(channels, after, 3, bias=False), nn.BatchNorm2d(after)]
    return nn.Sequential(*parts, nn.Linear(256, 10, bias=False))


PLAIN = {
    "mlp": plain_mlp,
    "autoencoder": plain_autoencoder,
    "narx": plain_narx,
    "lstm_forecaster": plain_lstm_forecaster,
    "tcn_forecaster": plain_tcn_forecaster,
    "conv1d_signals": plain_conv1d_signals,
    "lstm_classifier": plain_lstm_classifier,
    "seq2seq": plain_seq2seq,
    "gpt_small": plain_gpt_small,
    "unet": plain_unet,
    "airbench94": plain_airbench94,
}


@pytest.mark.parametrize("name", PLAIN)
def test_those_of_our_own_have_the_learnables_of_the_same_network_in_plain_torch(name: str) -> None:
    with torch.device("meta"):
        expected = sum(parameter.numel() for parameter in PLAIN[name]().parameters())
    network = template(name)
    assert analyse(network).parameters == expected


def test_every_template_is_known_by_its_count() -> None:
    assert KNOWN.keys() | PLAIN.keys() == MAKERS.keys()


@pytest.mark.parametrize("name", ["squeezenet1_1", "unet", "seq2seq", "conv1d_signals", "autoencoder"])
def test_it_computes_what_is_declared(name: str) -> None:
    """A few of them run for real; the rest differ in numbers only."""
    network = template(name)
    analysis = analyse(network)
    module = build(network, analysis).eval()
    inputs = []
    for layer in network.inputs:
        type = analysis.shapes[layer.id].output
        sizes = [size for size in type.sizes if isinstance(size, int)]
        inputs.append(torch.zeros(1, *sizes, dtype=torch.long) if type.kind == "index" else torch.rand(1, *sizes))
    with torch.no_grad():
        result = module(*inputs)
    (port,) = network.output_ports
    assert result.shape[1:] == analysis.shapes[port.layer].output.sizes
