"""A program of `torch.export` gives the network's outputs without Netwright, for any batch size."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.files import ROOT
from netwright.engine.exchange import exported_program
from netwright.engine.exchange.export import export
from netwright.engine.exchange.exported_program import export_program, exported
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from tests.builders import chain, classifier, layer

UNROLLED = {"lstm_classifier"}
"""Templates with recurrent layers over sequences of any length, which torch.export would fix."""
TEMPLATES = sorted({path.stem for path in (ROOT / "resources" / "templates").glob("*.netwright")} - UNROLLED)


def batch(network: Network, *sizes: int) -> tuple[np.ndarray, ...]:
    return tuple(np.random.default_rng(0).normal(size=sizes).astype(np.float32) for _ in network.inputs)


def test_a_project_leaves_as_a_program_with_its_preparation(tmp_path: Path) -> None:
    rows = "\n".join(f"{30 + 7 * number},{'west' if number % 2 else 'east'},{number}.5" for number in range(12))
    (tmp_path / "houses.csv").write_text(f"area,side,price\n{rows}\n")
    network = chain(layer("feature_input", channels=3), layer("fully_connected", outputs=1))
    data = DataOptions(source="table", path="houses.csv", response="price", task="numbers")
    save(Project(network, data=data), tmp_path / "net.netwright")
    done = export(tmp_path / "net.netwright", "pt2", tmp_path / "net.pt2")
    assert (done.format, done.samples_kind, done.samples_compared) == ("pt2", "real", 2)
    assert done.largest_difference is not None
    assert done.largest_difference < 1e-6
    extra = {"netwright.json": "", "preparation.json": ""}
    loaded = torch.export.load(done.path, extra_files=extra)
    about, prepared = (json.loads(text) for text in extra.values())
    assert about["inputs"][0]["columns"] == ["area", "side=east", "side=west"]
    assert prepared["inputs"][0]["columns"][0]["name"] == "area"
    assert [loaded.module()(torch.rand(size, 3)).shape for size in (1, 3, 8)] == [(1, 1), (3, 1), (8, 1)]
    content = done.path.read_bytes()
    assert b"netwright.engine" not in content
    assert str(ROOT).encode() not in content


def test_a_free_number_of_steps_stays_free_or_is_refused_in_words(tmp_path: Path) -> None:
    entry = layer("sequence_input", channels=4)
    network = chain(entry, layer("conv1d", filters=3), layer("global_average_pool"))
    module = build(network, analyse(network)).eval()
    program = exported(module, network, batch(network, 2, 9, 4)).module()
    assert [program(torch.rand(3, steps, 4)).shape for steps in (1, 5, 30)] == [(3, 3)] * 3
    network = chain(entry, layer("lstm", hidden_units=3, output_mode="last"), layer("fully_connected", outputs=2))
    module = build(network, analyse(network))
    with pytest.raises(
        UserError, match=r"number of steps of 'sequence_input_1'.* because it unrolls lstm_1"
    ) as refused:
        export_program(network, module.state_dict(), tmp_path / "net.pt2", facts=None, samples=None)
    assert "ONNX" in refused.value.hint
    assert not list(tmp_path.iterdir())


def test_a_program_that_differs_or_does_not_run_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = classifier()
    state = build(network, analyse(network)).state_dict()
    with pytest.raises(UserError, match=r"ends in \.pt2; received 'net.onnx'"):
        export_program(network, state, tmp_path / "net.onnx", facts=None, samples=None)
    monkeypatch.setattr(exported_program, "RUN", "import sys; sys.exit('no such operator')")
    with pytest.raises(RunError, match="does not run: no such operator"):
        export_program(network, state, tmp_path / "net.pt2", facts=None, samples=None)
    monkeypatch.setattr(
        exported_program,
        "_run_elsewhere",
        lambda data, batches: {f"{number}_0": np.full((len(one[0]), 3), 0.5) for number, one in enumerate(batches)},
    )
    with pytest.raises(RunError, match=r"output 1 differs by 0\..* for a batch of 1"):
        export_program(network, state, tmp_path / "net.pt2", facts=None, samples=None)
    assert not list(tmp_path.iterdir())


@pytest.mark.parity
@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_leave_as_programs(name: str, tmp_path: Path) -> None:
    network = load(ROOT / "resources" / "templates" / f"{name}.netwright").project.network
    state = build(network, analyse(network)).state_dict()
    done = export_program(network, state, tmp_path / "net.pt2", facts=None, samples=None)
    assert done.largest_difference < 1e-4
