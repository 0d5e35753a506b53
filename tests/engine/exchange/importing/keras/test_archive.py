"""Damaged and hostile `.keras` files are refused in words."""

import io
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing.keras import archive
from netwright.engine.exchange.importing.keras.convert_model import read
from tests.engine.exchange.importing.keras.keras_files import functional, layer, sequential, weights_file, write


def read_network(path: Path) -> object:
    return read(path, {})


DENSE = sequential([layer("InputLayer", "x", batch_shape=[None, 2]), layer("Dense", "y", units=2, use_bias=False)])


def h5(fill: Any) -> bytes:
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        fill(file)
    return buffer.getvalue()


def test_links_out_of_the_file_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.h5"
    secret.write_bytes(weights_file({"dense": [np.eye(2)]}))

    def external(file: Any) -> None:
        file["layers/dense"] = h5py.ExternalLink(str(secret), "/layers/dense")

    def soft(file: Any) -> None:
        file["other/0"] = np.eye(2)
        file["layers/dense/vars"] = h5py.SoftLink("/other")

    for fill in (external, soft):
        with pytest.raises(UserError, match="is a link, which is not followed"):
            read_network(write(tmp_path / "a.keras", DENSE, h5(fill)))


def test_values_outside_of_the_file_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(np.eye(2).tobytes())

    def fill(file: Any) -> None:
        group = file.create_group("layers/dense/vars")
        group.create_dataset("0", (2, 2), "f8", external=[(str(tmp_path / "raw"), 0, 32)])

    with pytest.raises(UserError, match="lie in another file"):
        read_network(write(tmp_path / "a.keras", DENSE, h5(fill)))


def test_a_huge_shape_is_refused_before_it_is_read(tmp_path: Path) -> None:
    def fill(file: Any) -> None:
        file.create_group("layers/dense/vars").create_dataset("0", (2**20, 2**20), "f4", chunks=(1024, 1024))

    with pytest.raises(UserError, match="far more than the file holds"):
        read_network(write(tmp_path / "a.keras", DENSE, h5(fill)))


def test_weights_that_are_no_numbers(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="are not numbers"):
        read_network(write(tmp_path / "a.keras", DENSE, h5(lambda file: file.create_group("layers/dense/vars/0"))))


def test_a_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_TIMES_LARGER", 3)
    with pytest.raises(UserError, match="would grow from"):
        read_network(write(tmp_path / "a.keras", DENSE, bytes(2**22)))


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"text", bytes(1000)])
def test_no_archive(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.keras"
    path.write_bytes(content)
    with pytest.raises(UserError, match="cannot be read as a Keras model"):
        read_network(path)


def test_a_missing_file_and_missing_members(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        read_network(tmp_path / "none.keras")
    with zipfile.ZipFile(tmp_path / "a.keras", "w") as file:
        file.writestr("../../config.json", "{}")
    with pytest.raises(UserError, match=r"config.json, metadata.json, model.weights.h5 is missing"):
        read_network(tmp_path / "a.keras")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("[1]", "not a JSON object"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ({"class_name": "MyModel", "config": {}}, "a class of its own"),
        (sequential([]), "has no layers"),
        (functional([layer("InputLayer", "x", batch_shape=[None, 2])], ["z"]), "'z' depends on is not in it"),
        (functional([layer("InputLayer", "x", batch_shape="big")], ["x"]), "has no shape"),
        (functional([layer("InputLayer", "x", batch_shape=[None, 10**30])], ["x"]), "channels"),
        (sequential([{"class_name": "Dense"}]), "it has no config"),
    ],
)
def test_damaged_architectures(config: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words):
        read_network(write(tmp_path / "a.keras", config))


def test_a_damaged_weights_file(tmp_path: Path) -> None:
    good = weights_file({"dense": [np.eye(2)]})
    for content in (good[:100], b"x" * 500, good.replace(b"OHDR", b"OHDS").replace(b"TREE", b"TREX")):
        with pytest.raises(UserError, match=r"Keras model|weights"):
            read_network(write(tmp_path / "a.keras", DENSE, content))
