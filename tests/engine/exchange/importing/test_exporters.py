"""Files that other programs write come in with their numbers: torch's two exporters, scikit-learn, ONNX Runtime."""

import contextlib
import io
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing.import_report import ImportReport
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.lowering.modules.onnx_runtime import onnx_runtime
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network
from netwright.engine.project.file import load

torch.manual_seed(0)


class Residual(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, given: int, filters: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(given, filters, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(filters)
        self.conv2 = nn.Conv2d(filters, filters, 3, 1, 1)
        self.down = nn.Conv2d(given, filters, 1, stride) if given != filters else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv2(torch.relu(self.bn1(self.conv1(x))))
        return torch.relu(y + self.down(x))


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, 1, 1)
        self.layer1 = nn.Sequential(Residual(4, 4), Residual(4, 4), Residual(4, 4))
        self.layer2 = nn.Sequential(Residual(4, 8, 2), Residual(8, 8))
        self.fc = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layer2(self.layer1(self.stem(x)))
        return self.fc(torch.flatten(nn.functional.adaptive_avg_pool2d(y, 1), 1))


class Encoder(nn.Module):
    def __init__(self, *, before: bool = False, layers: int = 3) -> None:
        super().__init__()
        self.embed = nn.Linear(6, 16)
        part = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=before, activation="gelu")
        self.encoder = nn.TransformerEncoder(part, layers, enable_nested_tensor=False)
        self.head = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.embed(x)).mean(1))


class Causal(nn.Module):
    """A language model's attention, with the mask of torch's scaled dot product."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, 16), nn.Linear(16, 16, bias=False), nn.Linear(16, 16)
        self.o = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, steps, _ = x.shape
        q, k, v = (part(x).view(batch, steps, 4, 4).transpose(1, 2) for part in (self.q, self.k, self.v))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(batch, steps, 16))


class Written(nn.Module):
    """Attention as vision transformers write it, with one matrix for queries, keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, steps, _ = x.shape
        q, k, v = self.qkv(x).reshape(batch, steps, 3, 4, 4).permute(2, 0, 3, 1, 4).unbind(0)
        weights = ((q * 0.5) @ k.transpose(-2, -1)).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(batch, steps, 16))


class Masked(nn.Module):
    """A bias for each pair of steps, which no layer has: products of matrices."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.register_buffer("bias", torch.randn(2, 5, 5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, steps, _ = x.shape
        q, k, v = (one.view(batch, steps, 2, 4).transpose(1, 2) for one in self.qkv(x).chunk(3, -1))
        return (((q @ k.transpose(-2, -1)) * 0.5 + self.bias).softmax(-1) @ v).transpose(1, 2).reshape(batch, steps, 8)


class Recurrent(nn.Module):
    def __init__(self, kind: str, layers: int = 1, *, both: bool = False) -> None:
        super().__init__()
        self.recurrent = getattr(nn, kind)(5, 6, num_layers=layers, batch_first=True, bidirectional=both)
        self.fc = nn.Linear(12 if both else 6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.recurrent(x)[0][:, -1])


def cnn() -> nn.Module:
    first = [nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(4, 8, 3), nn.Hardswish(), nn.Dropout(), nn.AdaptiveAvgPool2d(1)]
    return nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(8, 3), nn.Softmax(1))


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], tuple[str, ...]]] = {
    "cnn": (cnn, (2, 1, 12, 12), ("conv2d", "max_pool2d")),
    "resnet": (ResNet, (2, 3, 16, 16), ("block",)),
    "encoder": (Encoder, (2, 7, 6), ("block",)),
    "norm first": (lambda: Encoder(before=True), (2, 7, 6), ("block",)),
    "causal": (Causal, (2, 7, 16), ("self_attention",)),
    "written out": (Written, (2, 7, 16), ("self_attention",)),
    "masked": (Masked, (2, 5, 8), ("matrix_product",)),
    "lstm": (lambda: Recurrent("LSTM"), (2, 7, 5), ("lstm",)),
    "gru": (lambda: Recurrent("GRU"), (2, 7, 5), ("gru",)),
    "two lstm": (lambda: Recurrent("LSTM", 2, both=True), (2, 7, 5), ("bilstm",)),
}


def exported(name: str, path: Path, opset: int, *, dynamo: bool, free: bool) -> None:
    make, sizes, _ = MODELS[name]
    model = make().eval()
    with torch.no_grad():  # torch copies the weights of the layers of an encoder
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    kwargs = {"dynamic_shapes": ({0: torch.export.Dim("batch")},)} if dynamo else {"dynamic_axes": {"x": {0: "batch"}}}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, (torch.randn(sizes),), path, dynamo=dynamo, opset_version=opset, input_names=["x"],
            verbose=False, **(kwargs if free else {}),
        )  # fmt: skip


def imported(path: Path) -> ImportReport:
    report = import_file(path, path.with_suffix(".netwright"), replaces=True)
    assert report.parity.agrees, report.parity
    assert not any(row.opaque for row in report.operators), report.operators
    return report


def keys(network: Network) -> set[str]:
    """Return the keys of all layers, also of those in blocks."""
    types = [layer.type for layer in network.layers.values()]
    return {type.key for type in types}.union(*(keys(type.network) for type in types if isinstance(type, Block)))


def layers(report: ImportReport) -> dict[str, tuple[str, int]]:
    """Return the key of each layer at the top by name, and how often it is repeated."""
    network = load(report.project).project.network
    return {one.name: (one.type.key, getattr(one.type, "repeat", 1)) for one in network.layers.values()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("encoder", {"encoder": ("block", 3), "embed": ("fully_connected", 1), "head": ("fully_connected", 1)}),
        ("resnet", {"layer1": ("block", 3), "layer2": ("block", 1), "fc": ("fully_connected", 1)}),
    ],
)
def test_equal_parts_are_one_block(tmp_path: Path, name: str, expected: dict[str, tuple[str, int]]) -> None:
    """Weights of the copies differ, so that a copy in another's place would give other numbers."""
    exported(name, tmp_path / "a.onnx", 17, dynamo=False, free=False)
    found = layers(imported(tmp_path / "a.onnx"))
    assert expected.items() <= found.items()


def test_attention_with_a_bias_for_each_pair_of_steps(tmp_path: Path) -> None:
    exported("masked", tmp_path / "a.onnx", 17, dynamo=False, free=True)
    found = [key for key, _ in layers(imported(tmp_path / "a.onnx")).values()]
    assert found.count("matrix_product") == 2
    assert "softmax" in found


@pytest.mark.parity
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("dynamo", "opset"), [(True, 18), (True, 20), *((False, one) for one in range(13, 21))])
def test_what_torch_exports(tmp_path: Path, name: str, dynamo: bool, opset: int) -> None:
    if not dynamo and opset < 14 and name in ("encoder", "norm first", "causal"):
        with pytest.raises(Exception, match="opset version 13"):
            exported(name, tmp_path / "a.onnx", opset, dynamo=dynamo, free=True)
        return
    for free in (True, False):
        exported(name, tmp_path / "a.onnx", opset, dynamo=dynamo, free=free)
        report = imported(tmp_path / "a.onnx")
        assert set(MODELS[name][2]) <= keys(load(report.project).project.network)


@pytest.mark.parity
@pytest.mark.parametrize("name", ["mlp", "classifier", "named classes", "linear", "logistic"])
def test_what_scikit_learn_exports(tmp_path: Path, name: str) -> None:
    """Operators of ai.onnx.ml stay as they are, and the report says so."""
    from skl2onnx import to_onnx
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    drawn = np.random.default_rng(0)
    x = drawn.normal(size=(80, 4)).astype(np.float32)
    y, label = x[:, 0] - 2 * x[:, 1], (x[:, 0] > x[:, 2]).astype(int)
    named = np.where(label, "above", "below")
    make = {
        "mlp": (MLPRegressor(hidden_layer_sizes=(8,), max_iter=30), y),
        "classifier": (MLPClassifier(hidden_layer_sizes=(8,), max_iter=30), label),
        "named classes": (MLPClassifier(hidden_layer_sizes=(8,), max_iter=30), named),
        "linear": (make_pipeline(StandardScaler(), LinearRegression()), y),
        "logistic": (make_pipeline(StandardScaler(), LogisticRegression()), label),
    }
    model, target = make[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, target)
        options = {} if target is y else {"zipmap": False}
        proto = to_onnx(model, x[:1], options={id(model): options} if options else None)
    (tmp_path / "a.onnx").write_bytes(proto.SerializeToString())
    report = import_file(tmp_path / "a.onnx", tmp_path / "a.netwright")
    assert report.parity.agrees, report.parity
    opaque = {row.operator for row in report.operators if row.opaque}
    subjects = [warning.partition(":")[0] for warning in report.warnings]
    notes = {"named classes": ["The output 'label' is left out"], "classifier": ["argmax_1, gradients"]}
    assert subjects[-1:] == notes.get(name, []), report.warnings
    assert list(report.ends)[-1:] == (["variable"] if target is y else ["probabilities"])
    if name in ("mlp", "named classes"):
        assert not opaque
    assert all(one.startswith("ai.onnx.ml:") for one in opaque - {"ArgMax"})


@pytest.mark.parity
def test_the_models_of_onnx_runtime(tmp_path: Path) -> None:
    folder = Path(onnx_runtime().__file__).parent / "datasets"
    files = sorted(folder.glob("*.onnx"))
    assert len(files) >= 3
    for file in files:
        if file.stem == "mul_1":
            with pytest.raises(UserError, match="known numbers that differ between the samples"):
                import_file(file, tmp_path / "a.netwright")
            continue
        report = import_file(file, tmp_path / f"{file.stem}.netwright")
        assert report.parity.agrees, (file.name, report.parity)
