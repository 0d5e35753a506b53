import json
from pathlib import Path

import pytest
import torch

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.weights_folder import MANIFEST, WEIGHTS, fill, load, save
from netwright.engine.network.analysis import analyse
from tests.builders import classifier

STATE = {"a.weight": torch.arange(6.0).reshape(2, 3), "a.count": torch.tensor(7)}


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    network = classifier()
    module = build(network, analyse(network))
    layers = prefixes(network, analyse(network))
    save(module, tmp_path / "best", {"layers": layers, "classes": ["a", "ü"], "iteration": 12})
    state, manifest = load(tmp_path / "best")
    assert list(state) == sorted(module.state_dict())
    assert all(torch.equal(value, state[key]) for key, value in module.state_dict().items())
    assert (manifest["classes"], manifest["iteration"]) == (["a", "ü"], 12)
    assert {prefix for own in manifest["layers"].values() for prefix in own} >= {key.split(".")[0] for key in state}


def test_shared_and_transposed_tensors_can_be_saved(tmp_path: Path) -> None:
    whole = torch.arange(6.0).reshape(2, 3)
    save({"a": whole, "b": whole.T, "c": whole[1]}, tmp_path / "best", {})
    state, _ = load(tmp_path / "best")
    assert torch.equal(state["b"], whole.T)
    assert torch.equal(state["c"], whole[1])


def test_a_newer_folder_replaces_the_older(tmp_path: Path) -> None:
    for iteration in (1, 2):
        save({"a": torch.full((2,), float(iteration))}, tmp_path / "best", {"iteration": iteration})
    state, manifest = load(tmp_path / "best")
    assert (state["a"].tolist(), manifest["iteration"]) == ([2.0, 2.0], 2)
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


def test_after_a_crash_between_the_renames_the_older_is_found(tmp_path: Path) -> None:
    save(STATE, tmp_path / "best", {"iteration": 1})
    (tmp_path / "best").rename(tmp_path / ".best.old")
    assert load(tmp_path / "best")[1]["iteration"] == 1
    save(STATE, tmp_path / "best", {"iteration": 2})
    assert load(tmp_path / "best")[1]["iteration"] == 2


@pytest.mark.parametrize("position", [0, 9, -1])
def test_a_flipped_bit_is_noticed(tmp_path: Path, position: int) -> None:
    save(STATE, tmp_path / "best", {})
    file = tmp_path / "best" / WEIGHTS
    content = bytearray(file.read_bytes())
    content[position] ^= 1
    file.write_bytes(content)
    with pytest.raises(UserError, match="damaged: its checksum"):
        load(tmp_path / "best")


@pytest.mark.parametrize(
    "manifest", ["", "{", "[]", "{}", '{"files": {}}', '{"files": {"weights.safetensors": {"sha256": 3}}}', "[" * 99999]
)
def test_a_damaged_manifest_is_refused(tmp_path: Path, manifest: str) -> None:
    save(STATE, tmp_path / "best", {})
    (tmp_path / "best" / MANIFEST).write_text(manifest)
    with pytest.raises(UserError, match="damaged"):
        load(tmp_path / "best")


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no weights in .*nowhere"):
        load(tmp_path / "nowhere")
    save(STATE, tmp_path / "best", {})
    (tmp_path / "best" / WEIGHTS).unlink()
    with pytest.raises(UserError, match="cannot be read: No such file"):
        load(tmp_path / "best")


def test_a_file_that_is_no_safetensors_is_refused(tmp_path: Path) -> None:
    save(STATE, tmp_path / "best", {})
    (tmp_path / "best" / WEIGHTS).write_bytes(b"not tensors")
    manifest = json.loads((tmp_path / "best" / MANIFEST).read_text())
    manifest["files"][WEIGHTS]["sha256"] = "ef0a8e1a0e5a1c6f3a"
    (tmp_path / "best" / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(UserError, match=r"manifest.json is damaged: its checksum does not fit its content"):
        load(tmp_path / "best")
    del manifest["sha256"]
    (tmp_path / "best" / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(UserError, match=r"safetensors is damaged: its checksum is not the one in manifest.json"):
        load(tmp_path / "best")


def test_a_place_that_cannot_be_written_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match=r"cannot be written to .*file/best"):
        save(STATE, tmp_path / "file" / "best", {})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_weights_of_another_network_are_refused_by_name() -> None:
    small, large = (build(network, analyse(network)) for network in (classifier(3), classifier(4)))
    with pytest.raises(UserError, match=r"'fc_2.weight' is 4 × 8 in the network, 3 × 8 in the weights"):
        fill(large, small.state_dict())
    state = small.state_dict()
    with pytest.raises(UserError, match=r"'fc_1.bias' is missing"):
        fill(small, {key: value for key, value in state.items() if key != "fc_1.bias"})
    with pytest.raises(UserError, match="has no 'other'"):
        fill(small, {**state, "other": torch.zeros(1)})
