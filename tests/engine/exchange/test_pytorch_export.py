import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import ROOT
from netwright.engine.core.types import features, image
from netwright.engine.exchange.pytorch_export import demo_batch, export_pytorch
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.file import load
from netwright.engine.project.input_format import InputFormat, Range
from netwright.engine.project.project import Project
from tests.builders import classifier

FACTS = DatasetInfo((InputInfo("images", image(1, 6, 6)),), {"training": 9}, classes_of("a", "b", "c"))


TOOLS = (
    ("ruff", "format", "--check", "--isolated", "--line-length", "120"),
    ("ruff", "check", "--select", "E,F,I,UP,B,SIM,C4,N,PTH,W", "--isolated", "--line-length", "120"),
    ("mypy", "--strict", "--allow-untyped-calls", "--no-warn-return-any"),  # torch's own annotations lack these
)


def evaluated(path: Path) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "exported"}
    exec(path.read_text(encoding="utf-8"), names)
    return names


def test_source_and_weights_make_the_same_network(tmp_path: Path) -> None:
    network = classifier()
    module = build(network, analyse(network)).eval()
    written = export_pytorch(Project(network), module.state_dict(), tmp_path / "net.py", facts=FACTS, title="Net")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.py", "net.safetensors"]
    names = evaluated(written)
    assert names["CLASSES"] == ["a", "b", "c"]
    copy = names["Network"]().eval()
    copy.load_state_dict(load_file(tmp_path / "net.safetensors"))
    images = torch.rand(4, 1, 6, 6)
    assert torch.equal(copy(images), module(images))


def test_the_file_runs_with_its_weights_and_without_netwright(tmp_path: Path) -> None:
    network = classifier()
    state = build(network, analyse(network)).state_dict()
    export_pytorch(Project(network), state, tmp_path / "net.py", facts=None, title="Net")
    done = subprocess.run(
        [sys.executable, "-I", tmp_path / "net.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "4 × 3\n"), done.stderr


def test_without_weights_there_is_only_the_source(tmp_path: Path) -> None:
    export_pytorch(Project(classifier()), None, tmp_path / "net.py", facts=None, title="Net")
    assert [path.name for path in tmp_path.iterdir()] == ["net.py"]
    assert "CLASSES" not in evaluated(tmp_path / "net.py")


def test_weights_of_another_network_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    other = build(classifier(4), analyse(classifier(4))).state_dict()
    with pytest.raises(UserError, match=r"fc_2.* × 8 in the network"):
        export_pytorch(Project(classifier(3)), other, tmp_path / "net.py", facts=None, title="Net")
    assert not list(tmp_path.iterdir())


def test_bad_places_and_networks_are_refused_in_words(tmp_path: Path) -> None:
    for network, to, words in (
        (classifier(), tmp_path / "net.safetensors", r"ends in \.py; received 'net.safetensors'"),
        (classifier(), tmp_path / "missing" / "net.py", "does not exist"),
        (Network.empty(), tmp_path / "net.py", "no layers"),
    ):
        with pytest.raises(UserError, match=words):
            export_pytorch(Project(network), None, to, facts=None, title="Net")
    assert not list(tmp_path.iterdir())


def test_a_file_that_was_not_named_is_not_overwritten(tmp_path: Path) -> None:
    network = classifier()
    state = build(network, analyse(network)).state_dict()
    beside = tmp_path / "net.safetensors"
    beside.write_text("mine")
    with pytest.raises(
        UserError, match=r"would overwrite the file .*net\.safetensors\. Name another file, or add --force"
    ):
        export_pytorch(Project(network), state, tmp_path / "net.py", facts=None, title="Net")
    assert (beside.read_text(), (tmp_path / "net.py").exists()) == ("mine", False)
    export_pytorch(Project(network), state, tmp_path / "net.py", facts=None, title="Net", replaces=True)
    assert beside.read_bytes() != b"mine"


def test_the_demonstration_of_a_table_is_broken_as_formatters_do() -> None:
    low, high = tuple(0.125 * number for number in range(12)), tuple(1000.0 + number for number in range(12))
    given = InputFormat("x", features(12), range=Range(low, high))
    lines = demo_batch(given, 4, 16).split("\n")
    assert [line.strip() for line in lines[::6]] == ["torch.tensor(", ")"]
    assert max(map(len, lines)) <= 120
    wide = InputFormat("x", features(40), range=Range(low * 3 + low[:4], high * 3 + high[:4]))
    assert demo_batch(wide, 4, 16) == "torch.empty(4, 40).uniform_(0, 1011)"


@pytest.mark.parity
def test_printed_templates_are_formatted_and_typed(tmp_path: Path) -> None:
    for path in (ROOT / "resources").glob("*/*.netwright"):
        network = load(path).project.network
        export_pytorch(Project(network), None, tmp_path / f"{path.stem}.py", facts=None, title=path.stem)
    files = sorted(path.name for path in tmp_path.glob("*.py"))
    assert len(files) > 20
    for tool in TOOLS:
        command = [sys.executable, "-m", *tool, *files]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
