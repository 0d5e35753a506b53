"""Runs of a network whose layers share weights: two workers are one, a resumed run goes on, every export has the
weights once and comes back with them."""

from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_INPUT
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.file import load
from tests.builders import chain, layer
from tests.runs import Done, train
from tests.system.test_resume_runs import engine
from tests.system.test_training import TWO, digits, largest_difference

OPTIONS: dict[str, Any] = {"mini_batch_size": 157, "solver": "adam", "shuffle": "every-epoch"}
PARAMETERS = (64 * 16 + 16) + (16 * 16 + 16) + (16 * 10 + 10)


def network() -> Network:
    made = chain(
        layer("image_input", size=8),
        *[layer("fully_connected", outputs=16), layer("tanh")] * 3,
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )
    return edits.share_weights(made, [made.layer("fc_2").id, made.layer("fc_3").id])


def test_workers_share_and_a_resumed_run_goes_on(tmp_path: Path) -> None:
    one = train(digits(network(), max_epochs=3, **OPTIONS), tmp_path / "one")
    two = train(digits(network(), TWO, max_epochs=3, **OPTIONS), tmp_path / "two")
    assert largest_difference(one, two) < 1e-4
    sharded = {**TWO, "strategy": "fully-sharded"}
    often = {"checkpoint_unit": "epochs", "checkpoint_frequency": 1}
    three = train(digits(network(), sharded, max_epochs=1, **OPTIONS, **often), tmp_path / "three")
    engine("resume", three.folder.path, "--set", "training.max_epochs=3")
    assert largest_difference(one, Done(three.folder, [])) < 1e-4
    for done in (one, two, three):
        weights, manifest = load_weights(done.folder.path / "last")
        assert not [key for key in weights if key.startswith("fc_3")]
        assert manifest["layers"][network().layer("fc_3").id] == []
    leaves_and_returns(one, tmp_path)


def leaves_and_returns(done: Done, folder: Path) -> None:
    """Every form has the weights once; what comes back has as many parameters, shared by the same layers."""
    for form, name in (("onnx", "one.onnx"), ("pytorch", "one.py"), ("pt2", "one.pt2")):
        assert main(["export", str(done.folder.path), "--format", form, "-o", str(folder / name)]) == 0
    assert main(["export", str(done.folder.path), "--with-training", "-o", str(folder / "train.py")]) == 0
    for precision in ("float16", "int8-dynamic", "int8-static"):
        out = folder / f"{precision}.onnx"
        words = ["--precision", precision, *(["--accepted-loss", "1"] if precision.startswith("int8") else [])]
        assert main(["export", str(done.folder.path), *words, "-o", str(out)]) == 0
        kept = [tuple(one.dims) for one in onnx.load(out).graph.initializer]
        assert kept.count((16, 16)) == 1, precision
    stored = [tuple(one.dims) for one in onnx.load(folder / "one.onnx").graph.initializer]
    assert stored.count((16, 16)) == 1
    text = (folder / "one.py").read_text()
    assert text.count("self.fc_2 = nn.Linear") == 1
    assert "self.fc_3 = " not in text
    assert "fc_3 = self.fc_2(" in text
    for name in ("one.onnx", "one.pt2"):
        report = import_file(folder / name, folder / f"{name}.netwright")
        assert report.parity.agrees
        assert not [text for text in report.warnings if "share their weights" in text]
        back = load(report.project).project.network
        assert analyse(back).parameters == PARAMETERS == report.parameters, name
        assert sum(bool(one.weights_of) for one in back.layers.values()) == 1


def test_stages_of_a_pipeline_keep_shared_weights_together(tmp_path: Path) -> None:
    stages = {**TWO, "strategy": "pipeline"}
    done = train(digits(network(), stages, max_epochs=1, **OPTIONS), tmp_path / "run")
    one = train(digits(network(), max_epochs=1, **OPTIONS), tmp_path / "one")
    assert largest_difference(one, done) < 1e-4
    assert torch.isfinite(torch.tensor(done.losses)).all()


def test_pruning_keeps_the_channels_of_shared_layers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = train(digits(network(), max_epochs=1, **OPTIONS), tmp_path / "run")
    assert main(["prune", str(done.folder.path), "--amounts", "0.5", "--structured"]) == EXIT_INPUT
    assert "'fc_1' keeps all channels: 'fc_2' has the same weights as another layer" in capsys.readouterr().err
    assert main(["prune", str(done.folder.path), "--amounts", "0.5"]) == 0
