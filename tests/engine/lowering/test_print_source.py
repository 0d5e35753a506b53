import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import ROOT
from netwright.engine.lowering.module import build
from netwright.engine.lowering.print_source import source
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.file import load
from tests.builders import add, chain, classifier, layer


def printed(network: Network, **options: Any) -> str:
    return source(network, analyse(network), title="Digits", **options)


def evaluated(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "printed"}
    exec(compile(text, "printed.py", "exec"), names)
    return names


def test_it_is_the_same_network() -> None:
    network = classifier()
    module = build(network, analyse(network))
    copy = evaluated(printed(network))["Network"]()
    copy.load_state_dict(module.state_dict())
    images = torch.rand(4, 1, 6, 6)
    assert torch.equal(copy(images), module(images))


def test_it_takes_sequences_of_any_length() -> None:
    network = chain(
        layer("sequence_input", channels=3),
        layer("conv1d", filters=4),
        layer("self_attention", heads=2),
        layer("lstm", hidden_units=5, output_mode="last"),
        layer("fully_connected", outputs=2),
    )
    module = build(network, analyse(network)).eval()
    copy = evaluated(printed(network))["Network"]().eval()
    copy.load_state_dict(module.state_dict())
    for steps in (1, 6, 40):
        x = torch.rand(2, steps, 3)
        assert torch.equal(copy(x), module(x))


def test_it_reads_well() -> None:
    text = printed(classifier(), classes=("no", "yes"))
    assert text.startswith('"""Digits: a neural network.\n\nInput image_1: N × 1 × 6 × 6 (batch × C × H × W)\n')
    assert 'CLASSES = ["no", "yes"]' in text
    assert "        self.fc_1 = nn.Linear(in_features=36, out_features=8, bias=True)\n" in text
    assert "        relu_1 = self.relu_1(fc_1)  # 8\n" in text
    assert "netwright" not in text.lower()


def test_it_leaves_out_the_softmax_of_the_output_for_logits() -> None:
    assert "softmax_1 = self.softmax_1" in printed(classifier())
    text = printed(classifier(), logits=True)
    assert "self.softmax_1(" not in text
    assert "return fc_2\n" in text


def test_a_network_with_errors_is_refused() -> None:
    with pytest.raises(UserError, match="no layers"):
        printed(Network.empty())


def wide() -> Network:
    """Many inputs and outputs with long names, so that lines have to be broken."""
    network = Network.empty()
    for number in range(5):
        network, feed = add(
            network, layer("feature_input", channels=3), name=f"a_rather_long_name_of_an_input_{number}"
        )
        network, hidden = add(network, layer("fully_connected"), feed, name=f"{'long_' * 7}fc_{number}")
        network, _ = add(network, layer("softmax"), hidden, name=f"a_rather_long_name_of_an_output_{number}")
    return network


@pytest.mark.parametrize("network", [classifier(), wide()], ids=["classifier", "wide"])
@pytest.mark.parametrize("classes", [(), ("a", "b"), tuple(f"class number {n}" for n in range(20))])
def test_formatters_have_nothing_to_change(network: Network, classes: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "network.py"
    file.write_text(printed(network, classes=classes), encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--line-length", "120", "--no-cache"]
    formatted = subprocess.run([*ruff, "format", "--diff", *options, file], capture_output=True, text=True, check=False)
    assert formatted.returncode == 0, formatted.stdout
    linted = subprocess.run([*ruff, "check", *options, file], capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout


def test_it_runs_without_netwright(tmp_path: Path) -> None:
    file = tmp_path / "digits.py"
    file.write_text(printed(classifier()), encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", file], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "4 × 3\n"), done.stderr


@given(title=st.text(), classes=st.lists(st.text(max_size=8), max_size=3))
def test_a_title_or_a_class_name_cannot_leave_its_string(title: str, classes: list[str]) -> None:
    network = chain(layer("feature_input"))
    tree = ast.parse(source(network, analyse(network), title=title, classes=classes))
    kinds = [type(node) for node in tree.body]
    assigned = [ast.Assign] if classes else []
    helper = [ast.ClassDef, ast.ClassDef, ast.FunctionDef, ast.If]
    assert kinds == [ast.Expr, ast.ImportFrom, ast.Import, ast.ImportFrom, *assigned, *helper]
    found = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)]
    assert found == ([classes] if classes else [])


def test_names_are_those_of_the_layers() -> None:
    network = edits.rename(classifier(), "id2", "hidden")
    assert "        hidden = self.hidden(hidden)  # 8\n" in printed(network)


def test_a_bypassed_layer_is_neither_in_the_module_nor_in_the_source() -> None:
    network = edits.set_bypassed(classifier(), ["id3"], True)  # the activation
    module = build(network, analyse(network))
    text = printed(network)
    assert "relu" not in text.lower()
    assert not any("relu" in name for name, _ in module.named_modules())
    copy = evaluated(text)["Network"]()
    copy.load_state_dict(module.state_dict())
    images = torch.rand(4, 1, 6, 6)
    assert torch.equal(copy(images), module(images))


def test_a_network_of_nothing_but_bypassed_layers_gives_back_its_input() -> None:
    network = chain(layer("feature_input", channels=3, normalization="none"), layer("relu"), layer("softmax"))
    network = edits.set_bypassed(network, ["id2", "id3"], True)
    x = torch.randn(2, 3)
    assert torch.equal(build(network, analyse(network))(x), x)
    assert torch.equal(evaluated(printed(network))["Network"]()(x), x)


def test_blocks_in_series_are_loops_of_classes_with_sizes_and_numbers() -> None:
    texts = {}
    for name in ("vgg16", "efficientnet_b0"):
        network = load(ROOT / "resources" / "templates" / f"{name}.netwright").project.network
        texts[name] = source(network, analyse(network), title=name)
        assert max(map(len, texts[name].splitlines())) <= 120
    assert '    """Map image (N, 3, 224, 224) to (N, 1000)."""\n' in texts["vgg16"]
    assert "class Stage2(nn.Module):" in texts["vgg16"]
    assert "        self.stage_4 = nn.Sequential(\n            *(\n                Stage(" in texts["efficientnet_b0"]
    assert (
        "\n                )\n                for _ in range(2)\n            ),\n        )\n"
        in texts["efficientnet_b0"]
    )
