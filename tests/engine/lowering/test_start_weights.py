import contextlib
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from netwright.engine.core.errors import UserError
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.start_weights import fill_from, loaded_layers, read_source, start_report
from netwright.engine.lowering.weights_file import write_weights_file
from netwright.engine.lowering.weights_folder import save, sha256
from netwright.engine.network.analysis import analyse
from netwright.engine.network.edits import rename
from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from netwright.engine.project.transferred_layers import replace_head
from tests.blocks import behind, residual
from tests.builders import classifier, layer

STATE = {"a.weight": torch.arange(6.0).reshape(2, 3), "a.bias": torch.ones(2)}


def built(network: Network, seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    return build(network, analyse(network))


def written(network: Network, path: Path) -> str:
    """Write a file with weights of this network, and return its SHA-256."""
    return write_weights_file(path, built(network, 7).state_dict(), prefixes(network, analyse(network)))


def starting(network: Network, file: str, **values: Any) -> Project:
    project = Project(network)
    return replace(project, weights=project.weights.replace(file=file, **values))


@pytest.mark.parametrize(
    "content",
    [
        STATE,
        {"state_dict": STATE, "epoch": 3},
        {"model": {"state_dict": STATE}},
        {"a.weight": torch.nn.Parameter(STATE["a.weight"]), "a.bias": STATE["a.bias"], "version": 1},
    ],
)
@pytest.mark.parametrize("is_old", [False, True], ids=["zip", "old"])
def test_state_dicts_of_torch_are_read(tmp_path: Path, content: Any, is_old: bool) -> None:
    path = tmp_path / "w.pth"
    torch.save(content, path, _use_new_zipfile_serialization=not is_old)
    state, layers = read_source(path)
    assert layers == {}
    assert all(torch.equal(state[key], value) for key, value in STATE.items())


class Trap:
    def __reduce__(self) -> Any:
        return print, ("run",)


def test_a_file_that_would_run_code_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "w.pt"
    for content in (torch.nn.Linear(2, 2), {"a": Trap()}):
        torch.save(content, path)
        with pytest.raises(UserError, match=r"would run code from it\. Save the weights alone: torch\.save"):
            read_source(path)
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(UserError):
        read_source(path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04" + bytes(100), b"\x80\x02}."])
def test_damaged_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "w.pt"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"w\.pt (is no file of torch\.save|holds no tensors)"):
        read_source(path)


def test_a_damaged_file_of_the_old_form_is_refused_wherever_it_was_cut_or_changed(tmp_path: Path) -> None:
    torch.save(STATE, tmp_path / "w.pt", _use_new_zipfile_serialization=False)
    content, path = (tmp_path / "w.pt").read_bytes(), tmp_path / "damaged.pt"
    for place in range(0, len(content), 7):
        for damaged in (content[:place], content[:place] + b"\xff" + content[place + 1 :]):
            path.write_bytes(damaged)
            with contextlib.suppress(UserError):  # a changed number is no damage that could be seen
                read_source(path)


def test_a_compressed_archive_is_refused(tmp_path: Path) -> None:
    torch.save(STATE, tmp_path / "plain.pt")
    with (
        zipfile.ZipFile(tmp_path / "plain.pt") as plain,
        zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as bomb,
    ):
        for entry in plain.infolist():
            bomb.writestr(entry.filename, plain.read(entry))
    with pytest.raises(UserError, match="is compressed inside"):
        read_source(tmp_path / "bomb.pt")


def test_other_files_and_empty_ones_are_refused(tmp_path: Path) -> None:
    torch.save({"epoch": 3, "list": [1]}, tmp_path / "w.pt")
    with pytest.raises(UserError, match="holds no tensors by name"):
        read_source(tmp_path / "w.pt")
    with pytest.raises(UserError, match=r"ends in '\.onnx'. Expected \.safetensors, \.pt"):
        read_source(tmp_path / "net.onnx")


@pytest.mark.parametrize("name", ["w.safetensors", "w.pt", "best/weights.safetensors"])
def test_a_file_that_changed_since_is_refused_in_every_form(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if path.parent != tmp_path:
        save(STATE, path.parent, {"layers": {"k": ["a"]}})
        assert read_source(path, sha256(path))[1] == {"k": ("a",)}
    elif path.suffix == ".pt":
        torch.save(STATE, path)
    else:
        save_file(STATE, path)
    read_source(path, sha256(path))
    with pytest.raises(UserError, match=r"changed since they were chosen.*choose the weights again") as refused:
        read_source(path, "0" * 64)
    assert refused.value.code == "changed"
    path.unlink()
    with pytest.raises(UserError, match=r"cannot be read.*--set weights\.file="):
        read_source(path, "0" * 64)


def test_weights_find_their_layers_after_a_renaming_and_a_new_head_starts_fresh(tmp_path: Path) -> None:
    network = behind(
        layer("image_input", channels=2, size=6),
        residual(2, repeat=2),
        layer("global_average_pool"),
        layer("fully_connected", outputs=5),
        layer("softmax"),
        names=("stage", "pool", "head"),
    )
    checksum = written(network, tmp_path / "w.safetensors")
    renamed = rename(network, "id2", "body")
    project = replace_head(starting(renamed, "w.safetensors", sha256=checksum), 5)
    found = start_report(project, tmp_path)
    assert found.sentence().startswith("5 layers loaded. 1 layer starts fresh. 2 keys of the file are left over.")
    assert [one.name for one in found.layers if one.state == "fresh"] == ["head_1"]
    assert (found.file, found.sha256) == (str(tmp_path / "w.safetensors"), checksum)
    module = built(project.network)
    before = {key: value.clone() for key, value in module.state_dict().items()}
    filled = fill_from(project, analyse(project.network), module, tmp_path / "w.safetensors", checksum)
    assert replace(filled, file="", sha256="") == replace(found, file="", sha256="")
    state, there = module.state_dict(), built(network, 7).state_dict()
    for key, value in state.items():
        same = before[key] if key.startswith("head_1") else there[key.replace("body", "stage")]
        assert torch.equal(value, same), key


def test_statistics_of_inputs_are_loaded_unless_they_are_to_be_reset(tmp_path: Path) -> None:
    network = classifier()
    state = built(network, 7).state_dict()
    state["image_1.shift"].fill_(4.0)
    write_weights_file(tmp_path / "w.safetensors", state, prefixes(network, analyse(network)))
    project = starting(network, "w.safetensors")
    for reset in (False, True):
        project = replace(project, training=project.training.replace(reset_input_normalization=reset))
        module = built(network)
        found = fill_from(project, analyse(network), module, tmp_path / "w.safetensors", "")
        assert float(module.state_dict()["image_1.shift"]) == (0.0 if reset else 4.0)
        assert ("id1" in loaded_layers(found)) is not reset
        assert found.missing == ()


def test_whole_numbers_are_no_weights(tmp_path: Path) -> None:
    network = classifier()
    state = {key: value.to(torch.int8) for key, value in built(network).state_dict().items()}
    save_file(state, tmp_path / "w.safetensors")
    with pytest.raises(UserError, match="No weight of"):
        start_report(starting(network, "w.safetensors"), tmp_path).refuse_nothing()


def test_half_precision_fills_single(tmp_path: Path) -> None:
    network = classifier()
    state = {key: value.half() for key, value in built(network, 7).state_dict().items()}
    save_file(state, tmp_path / "w.safetensors")
    module = built(network)
    fill_from(starting(network, "w.safetensors"), analyse(network), module, tmp_path / "w.safetensors", "")
    assert all(torch.equal(value, state[key].float()) for key, value in module.state_dict().items())


@pytest.mark.parametrize("is_zip", [True, False])
def test_a_name_that_no_program_gives_is_refused_at_once(tmp_path: Path, is_zip: bool) -> None:
    content = b"\x80\x02c" + b"x" * 200_000 + b"\ny\n."
    (tmp_path / "w.pt").write_bytes(content)
    if is_zip:
        with zipfile.ZipFile(tmp_path / "w.pt", "w") as file:
            file.writestr("w/data.pkl", content)
    with pytest.raises(UserError, match=r"holds a name of 200,002 characters"):
        read_source(tmp_path / "w.pt")
