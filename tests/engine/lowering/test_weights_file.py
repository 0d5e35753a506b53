import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from netwright.engine.core.errors import UserError
from netwright.engine.lowering import weights_file
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.weights_file import read_weights_file, write_weights_file
from netwright.engine.network.analysis import analyse
from tests.builders import classifier


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    network = classifier()
    analysis = analyse(network)
    state, layers = build(network, analysis).state_dict(), prefixes(network, analysis)
    path = tmp_path / "a.weights.safetensors"
    checksum = write_weights_file(path, state, layers)
    assert checksum == hashlib.sha256(path.read_bytes()).hexdigest()
    read, read_layers = read_weights_file(path, checksum)
    assert read.keys() == state.keys()
    assert all(torch.equal(read[key], value) for key, value in state.items())
    assert read_layers == layers
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_shared_and_transposed_tensors_can_be_written(tmp_path: Path) -> None:
    whole = torch.arange(6.0).reshape(2, 3)
    write_weights_file(tmp_path / "w.safetensors", {"a": whole, "b": whole.T, "c": whole[1], "d": whole}, {})
    state, _ = read_weights_file(tmp_path / "w.safetensors")
    assert torch.equal(state["b"], whole.T)
    assert torch.equal(state["c"], whole[1])
    assert torch.equal(state["d"], whole)


def test_a_file_of_another_program_has_no_layers(tmp_path: Path) -> None:
    save_file({"conv1.weight": torch.ones(2), "half": torch.ones(3, dtype=torch.bfloat16)}, tmp_path / "w.safetensors")
    state, layers = read_weights_file(tmp_path / "w.safetensors")
    assert (set(state), layers) == ({"conv1.weight", "half"}, {})


def test_a_file_that_changed_since_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    checksum = write_weights_file(path, {"a": torch.ones(2)}, {})
    write_weights_file(path, {"a": torch.zeros(2)}, {})
    with pytest.raises(UserError, match=r"changed: their SHA-256 is not .*choose the weights again") as refused:
        read_weights_file(path, checksum)
    assert refused.value.code == "changed"


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be written to .*nowhere"):
        write_weights_file(tmp_path / "nowhere" / "w.safetensors", {"a": torch.ones(2)}, {})
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(UserError, match="cannot be written"):
        write_weights_file(folder, {"a": torch.ones(2)}, {})
    assert list(tmp_path.iterdir()) == [folder]


def file_of(header: Any, data: bytes = b"", size: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if size is None else size).to_bytes(8, "little") + text + data


def tensor(**changes: Any) -> dict[str, Any]:
    return {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "damaged"),
        (b"\x01\x02", "damaged"),
        (b"PK\x03\x04" + bytes(60), "damaged"),
        (file_of(b"{", size=2**62), "its header has 4,611,686,018,427,387,904 bytes; at most"),
        (file_of(b"{}", size=2**20), "damaged"),
        (file_of(b"[" * 60_000), "its header is not JSON"),
        (file_of(b'{"__metadata__": {"netwright.layers": "' + b"[" * 60_000 + b'"}}'), "is not an object of lists"),
        (file_of([]), "is not an object of tensors"),
        (file_of({"a": tensor(), "__metadata__": 3}), "is not an object of tensors"),
        (file_of({"a": tensor()}), "damaged"),
        (file_of({"a": tensor(shape=[2**40, 2**40])}, bytes(8)), "damaged"),
        (file_of({"a": tensor(shape=[-2])}, bytes(8)), "damaged"),
        (file_of({"a": tensor(), "b": tensor()}, bytes(8)), "damaged"),
        (file_of({"a": tensor(dtype="Q7")}, bytes(8)), "damaged"),
        (file_of({"a" * 5000: tensor()}, bytes(8)), "a name of more than 4,096 characters"),
        (file_of({"a": tensor(), "__metadata__": {"netwright.layers": "[]"}}, bytes(8)), "not an object of lists"),
        (file_of({"a": tensor(), "__metadata__": {"netwright.layers": '{"k": 3}'}}, bytes(8)), "not an object of"),
        (file_of({"a": tensor(), "__metadata__": {"netwright.layers": '{"k": [3]}'}}, bytes(8)), "does not list"),
    ],
)
def test_a_hostile_file_is_refused_in_words(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(content)
    with pytest.raises(UserError, match=said):
        read_weights_file(path)


def test_a_file_with_too_many_tensors_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_file, "MOST_TENSORS", 2)
    save_file({name: torch.ones(1) for name in "abc"}, tmp_path / "w.safetensors")
    with pytest.raises(UserError, match="holds 3 tensors; at most 2 are read"):
        read_weights_file(tmp_path / "w.safetensors")


def test_a_missing_file_or_a_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file") as refused:
        read_weights_file(tmp_path / "none.safetensors")
    assert refused.value.code == "not_found"
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        read_weights_file(tmp_path)
