"""Each format of arrays: written by its reference writer, read whole and streamed, and refused where it cannot be."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io
import torch
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.sources.array_files import headers
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources.guess import guesses

OPTIONS = DataOptions(source="arrays", path="d", validation_share=0.0, test_share=0.0)
DRAWN = np.random.default_rng(5)
X = DRAWN.normal(size=(12, 3, 5, 4)).astype(np.float32)
Y = np.arange(12) % 3
NAMES = np.array(["cat", "dog", "eel"])[Y]


def both(folder: Path, path: str, *, is_streamed: bool = True, **changes: Any) -> LoadedData:
    """The data, which must be the same whole and streamed; `is_streamed`: whether it can be."""
    options = OPTIONS.replace(path=path, **changes)
    held, read = load(options, folder), load(options, folder, is_streamed=True)
    assert held.facts == read.facts
    assert (held.facts.resident_because == "") == is_streamed
    one, other = held.split("training"), read.split("training")
    for array, lazy in zip(one.inputs, other.inputs, strict=True):
        np.testing.assert_array_equal(lazy[:], array)
        if is_streamed:
            chosen = np.array([7, 1, 1, 10])
            out = np.empty((4, *array.shape[1:]), np.float32)
            lazy.stored.read(chosen, out)
            order = held.numbers["training"]
            np.testing.assert_array_equal(out, array[np.argsort(order)][chosen])
    for target, again in zip(one.targets, other.targets, strict=True):
        np.testing.assert_array_equal(target, again)
    return held


def in_order(data: LoadedData) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Inputs and targets in the order of the file."""
    part, order = data.split("training"), np.argsort(data.numbers["training"])
    return [x[order] for x in part.inputs], [y[order] for y in part.targets]


def refused(folder: Path, path: str, **changes: Any) -> str:
    with pytest.raises(UserError) as error:
        load(OPTIONS.replace(path=path, **changes), folder)
    return str(error.value).replace(str(folder), "")


# ---- safetensors ----


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8])
def test_safetensors_of_each_dtype(tmp_path: Path, dtype: torch.dtype) -> None:
    x = torch.from_numpy(X * 20).abs().to(dtype)
    save_tensors({"x": x, "y": torch.from_numpy(Y)}, tmp_path / "d.safetensors")
    data = both(tmp_path, "d.safetensors")
    (found,), (target,) = in_order(data)
    np.testing.assert_array_equal(found, x.to(torch.float32).numpy())
    assert target.tolist() == Y.tolist()


def test_safetensors_that_cannot_be_used(tmp_path: Path) -> None:
    save_tensors({"x": torch.zeros(12, 3).to(torch.float8_e5m2), "y": torch.zeros(12)}, tmp_path / "d.safetensors")
    assert "holds F8_E5M2, which is not read" in refused(tmp_path, "d.safetensors")
    content = (tmp_path / "d.safetensors").read_bytes()
    (tmp_path / "d.safetensors").write_bytes(content[:-3])
    assert refused(tmp_path, "d.safetensors").startswith("/d.safetensors is no safetensors file, or is damaged: ")


def test_a_folder_of_files_is_joined_along_the_samples(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for number, part in enumerate((slice(0, 5), slice(5, 12))):
        save_file({"x": X[part], "y": Y[part]}, tmp_path / "parts" / f"{number}.safetensors")
    (found,), (target,) = in_order(both(tmp_path, "parts"))
    np.testing.assert_array_equal(found, X)
    assert target.tolist() == Y.tolist()
    save_file({"x": X[:, :2].copy()}, tmp_path / "parts" / "2.safetensors")
    assert "several files that do not fit together: 0.safetensors has (5, 3, 5, 4)" in refused(tmp_path, "parts")


# ---- HDF5 ----


@pytest.mark.parametrize("how", [{}, {"chunks": (5, 3, 2, 4), "compression": "gzip"}, {"compression": "lzf"}])
def test_hdf5_in_groups_and_chunks(tmp_path: Path, how: dict[str, Any]) -> None:
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file.create_dataset("train/x", data=X, **how)
        file.create_dataset("train/y", data=NAMES.tolist())
    data = both(tmp_path, "d.h5", response="train/y")
    assert data.facts.inputs[0].name == "train/x"
    assert data.facts.classes == ("cat", "dog", "eel")
    (found,), (target,) = in_order(data)
    np.testing.assert_array_equal(found, X)
    assert target.tolist() == Y.tolist()


def test_hdf5_by_its_first_bytes_and_behind_a_user_block(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "d.data", "w", userblock_size=512) as file:
        file["x"], file["y"] = X, Y > 0
    data = both(tmp_path, "d.data")
    assert data.facts.classes == ("False", "True")
    np.testing.assert_array_equal(in_order(data)[0][0], X)


def _links(file: Any) -> None:
    file["x"] = h5py.ExternalLink("/etc/passwd", "/x")


def _references(file: Any) -> None:
    file["y"] = Y
    file["x"] = np.array([file["y"].ref] * 12, dtype=h5py.ref_dtype)


def _ragged(file: Any) -> None:
    rows = file.create_dataset("x", (12,), dtype=h5py.vlen_dtype(np.float32))
    rows[0] = [1, 2]


def _virtual(file: Any) -> None:
    layout = h5py.VirtualLayout((12, 3), "f4")
    layout[:] = h5py.VirtualSource("other.h5", "x", (12, 3))
    file.create_virtual_dataset("x", layout)


def _outside(file: Any) -> None:
    file.create_dataset("x", (12, 3), "f4", external=[("/etc/passwd", 0, 144)])


def _bomb(file: Any) -> None:
    file.create_dataset("x", (10**12, 30), "f4", chunks=(10, 30), compression="gzip")


def _circle(file: Any) -> None:
    file.create_group("a")["b"] = file["/"]


@pytest.mark.parametrize(
    ("fill", "why"),
    [
        (_links, "'x' of /d.h5 is a link to another file, which is not followed"),
        (_references, "holds object references, which are not read"),
        (_ragged, "holds rows of unequal length, which are not read"),
        (_virtual, "is a virtual dataset: they lie in other files"),
        (_outside, "has its values outside"),
        (_bomb, "declares 109 TiB, more than the file of"),
        (_circle, "or in a circle"),
    ],
)
def test_hdf5_that_leads_elsewhere_is_refused(tmp_path: Path, fill: Callable[[Any], None], why: str) -> None:
    with h5py.File(tmp_path / "d.h5", "w") as file:
        fill(file)
    assert why in refused(tmp_path, "d.h5")


def test_a_filter_without_its_plugin_is_named(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "d.h5", "w") as file:
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_chunk((12, 3))
        plan.set_filter(32001, h5py.h5z.FLAG_OPTIONAL, ())
        h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((12, 3)), plan)
    assert "compressed with Blosc (filter 32001), which is not read here. Write it with gzip" in refused(
        tmp_path, "d.h5"
    )


def test_a_cut_chunk_is_named_while_it_is_streamed(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["y"] = Y
        at = file.create_dataset("x", data=X, chunks=(1, 3, 5, 4), compression="gzip").id.get_chunk_info(3).byte_offset
    content = bytearray((tmp_path / "d.h5").read_bytes())
    content[at : at + 8] = b"\xff" * 8
    (tmp_path / "d.h5").write_bytes(content)
    part = load(OPTIONS.replace(path="d.h5"), tmp_path, is_streamed=True).split("training")
    with pytest.raises(UserError, match=r"d.h5 is damaged: "):
        part.inputs[0][:]


# ---- MATLAB ----


def as_matlab(x: np.ndarray) -> np.ndarray:
    """Images H W C N of N C H W, as MATLAB holds them."""
    return x.transpose(2, 3, 1, 0)


@pytest.mark.parametrize("form", ["5", "4"])
@pytest.mark.parametrize("is_compressed", [False, True])
def test_matlab_matrices(tmp_path: Path, form: str, *, is_compressed: bool) -> None:
    x = X[:, 0, 0].astype(np.float64)
    content = {"x": x, "y": (Y + 1.0)[:, np.newaxis], "rate": 16000.0}
    scipy.io.savemat(tmp_path / "d.mat", content, format=form, do_compression=is_compressed and form == "5")
    data = both(tmp_path, "d.mat", is_streamed=False)
    assert data.facts.classes == ("1", "2", "3")
    np.testing.assert_array_equal(in_order(data)[0][0], x.astype(np.float32))


def test_matlab_images_structures_cells_and_names(tmp_path: Path) -> None:
    sequences = np.empty(12, object)
    sequences[:] = [np.full((3 + n % 4, 2), n, np.float32) for n in range(12)]
    names = np.empty((12, 1), object)
    names[:, 0] = NAMES
    content = {"data": {"image": as_matlab(X), "walk": sequences, "note": "made here"}, "y": names}
    scipy.io.savemat(tmp_path / "d.mat", content, do_compression=True)
    data = both(tmp_path, "d.mat", is_streamed=False)
    assert [given.name for given in data.facts.inputs] == ["data.image", "data.walk"]
    assert data.facts.inputs[1].lengths == (3, 6)
    assert data.facts.classes == ("cat", "dog", "eel")
    np.testing.assert_array_equal(in_order(data)[0][0], X)
    assert in_order(data)[0][1][5, :5, 0].tolist() == [5, 5, 5, 5, 0]


def test_matlab_matrices_that_agree_in_their_columns_have_the_samples_there(tmp_path: Path) -> None:
    """As the data sets of MATLAB's shallow networks have them."""
    samples = np.arange(24.0).reshape(6, 4)
    scipy.io.savemat(tmp_path / "d.mat", {"irisInputs": samples.T, "irisTargets": np.eye(3)[[0, 1, 2, 2, 1, 0]].T})
    data = both(tmp_path, "d.mat", is_streamed=False)
    np.testing.assert_array_equal(data.inputs[0], samples)
    assert data.targets[0].tolist() == [0, 1, 2, 2, 1, 0]


def test_matlab_files_of_python_have_the_samples_first(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "d.mat", {"x": X, "y": Y})
    data = both(tmp_path, "d.mat", is_streamed=False, matlab_axes="python")
    np.testing.assert_array_equal(in_order(data)[0][0], X)
    save_73(tmp_path / "new.mat", x=X, y=Y[:, np.newaxis])
    data = both(tmp_path, "new.mat", is_streamed=False, matlab_axes="python")
    np.testing.assert_array_equal(in_order(data)[0][0], X)


def save_73(path: Path, **arrays: np.ndarray | list[str]) -> None:
    """A file as MATLAB's save -v7.3 lays it out: HDF5 behind 512 bytes, axes reversed, texts as references."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in arrays.items():
            if isinstance(values, list):
                cells = file.create_dataset(name, (1, len(values)), dtype=h5py.ref_dtype)
                for place, text in enumerate(values):
                    codes = np.frombuffer(text.encode("utf-16-le"), np.uint16)[:, np.newaxis]
                    held = file.create_dataset(f"#refs#/{name}{place}", data=codes)
                    held.attrs["MATLAB_class"] = np.bytes_("char")
                    cells[0, place] = held.ref
                cells.attrs["MATLAB_class"] = np.bytes_("cell")
                continue
            held = file.create_dataset(name, data=values.T, chunks=True, compression="gzip")
            kind = {"b": "logical", "f": "single" if values.dtype == np.float32 else "double"}.get(values.dtype.kind)
            held.attrs["MATLAB_class"] = np.bytes_(kind or values.dtype.name)
    with open(path, "r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(124) + struct.pack("<H", 0x0200) + b"IM")


def test_matlab_7_3_is_streamed_where_samples_lie_together(tmp_path: Path) -> None:
    save_73(tmp_path / "d.mat", x=as_matlab(X), walk=X[:, 0].transpose(1, 2, 0), y=NAMES.tolist())
    data = both(tmp_path, "d.mat")
    assert {given.name: given.type.layout for given in data.facts.inputs} == {"walk": "sequence", "x": "image"}
    walk, x = in_order(data)[0]
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(walk, X[:, 0])
    assert in_order(data)[1][0].tolist() == Y.tolist()


def test_matlab_7_3_features_and_labels_of_doubles(tmp_path: Path) -> None:
    save_73(tmp_path / "d.mat", x=X[:, 0, 0].astype(np.float64), y=(Y + 1.0)[:, np.newaxis])
    data = both(tmp_path, "d.mat", is_streamed=False)
    assert data.facts.classes == ("1", "2", "3")
    np.testing.assert_array_equal(in_order(data)[0][0], X[:, 0, 0])


def test_a_categorical_of_matlab_says_the_way_out(tmp_path: Path) -> None:
    save_73(tmp_path / "d.mat", x=X[:, 0, 0])
    with h5py.File(tmp_path / "d.mat", "r+") as file:
        file["y"] = np.zeros((1, 6), np.uint32)
        file["y"].attrs["MATLAB_class"] = np.bytes_("categorical")
        file["y"].attrs["MATLAB_object_decode"] = 3
    assert "Store class names with cellstr(labels)" in refused(tmp_path, "d.mat")


def test_a_damaged_mat_file_is_refused(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "d.mat", {"x": X, "y": Y})
    (tmp_path / "d.mat").write_bytes((tmp_path / "d.mat").read_bytes()[:700])
    assert refused(tmp_path, "d.mat").startswith("/d.mat is damaged: ")


# ---- MNIST and CIFAR ----


def save_idx(path: Path, values: np.ndarray) -> None:
    head = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
    content = head + values.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@pytest.mark.parametrize("between", ["-idx{}-ubyte", ".idx{}-ubyte", "-idx{}-ubyte.gz"])
@pytest.mark.parametrize("named", ["", "images", "labels"])
def test_mnist(tmp_path: Path, between: str, named: str) -> None:
    images = DRAWN.integers(0, 256, (12, 6, 5))
    for start in ("train-", "t10k-"):
        save_idx(tmp_path / f"{start}images{between.format(3)}", images)
        save_idx(tmp_path / f"{start}labels{between.format(1)}", Y[: len(images)])
        images = images[:7] if start == "train-" else images
    path = f"train-{named}{between.format(3 if named == 'images' else 1)}" if named else "."
    divided = load(OPTIONS.replace(path=path, split="folders"), tmp_path)
    assert divided.facts.samples == {"training": 12, "validation": 0, "test": 7}
    np.testing.assert_array_equal(divided.split("test").inputs[0][:, 0], images)
    data = both(tmp_path, path, is_streamed=not between.endswith("gz"))
    assert data.facts.samples["training"] == 12
    assert data.facts.inputs[0].type.sizes == (1, 6, 5)
    assert data.facts.inputs[0].span == (0.0, 255.0)
    (x,), (y,) = in_order(data)
    assert x.shape == (12, 1, 6, 5)
    assert y.tolist() == Y.tolist()


def test_mnist_that_is_incomplete_or_damaged(tmp_path: Path) -> None:
    save_idx(tmp_path / "train-images-idx3-ubyte.gz", np.zeros((12, 6, 5)))
    assert "lies there without its labels" in refused(tmp_path, "train-images-idx3-ubyte.gz")
    save_idx(tmp_path / "train-labels-idx1-ubyte", Y)
    file = tmp_path / "train-images-idx3-ubyte.gz"
    file.write_bytes(file.read_bytes()[:-12])
    assert "train-images-idx3-ubyte.gz is damaged: " in refused(tmp_path, ".")
    file.write_bytes(gzip.compress(struct.pack(">BBBB3I", 0, 0, 8, 3, 10**6, 10**4, 10**4)))
    assert "declares 91 TiB, more than the file of" in refused(tmp_path, ".")


def save_cifar(path: Path, labels: np.ndarray, images: np.ndarray) -> None:
    path.write_bytes(np.concatenate((labels.astype(np.uint8), images.reshape(len(images), -1)), 1).tobytes())


def test_cifar_10(tmp_path: Path) -> None:
    images = DRAWN.integers(0, 256, (15, 3, 32, 32), dtype=np.uint8)
    for number in range(3):
        part = slice(4 * number, 4 * number + 4)
        save_cifar(tmp_path / f"data_batch_{number + 1}.bin", Y[part, np.newaxis], images[part])
    save_cifar(tmp_path / "test_batch.bin", Y[:3, np.newaxis], images[12:])
    (tmp_path / "batches.meta.txt").write_text("airplane\nautomobile\nbird\n" + "".join(f"c{n}\n" for n in range(7)))
    for path in (".", "data_batch_2.bin"):
        data = both(tmp_path, path)
        assert data.facts.classes == ("airplane", "automobile", "bird")
        np.testing.assert_array_equal(in_order(data)[0][0], images[:12])
        assert in_order(data)[1][0].tolist() == Y.tolist()
    assert headers(tmp_path / "test_batch.bin")["x"].shape == (3, 3, 32, 32)
    assert any(note.startswith("Not read: test_batch.bin.") for note in data.facts.notes)
    divided = load(DataOptions(source="arrays", path=".", split="folders", validation_share=0.25), tmp_path)
    assert divided.facts.samples == {"training": 9, "validation": 3, "test": 3}
    np.testing.assert_array_equal(divided.split("test").inputs[0], images[12:])
    assert guesses(tmp_path)[0].options == {"split": "folders"}


def test_cifar_100_has_two_kinds_of_labels(tmp_path: Path) -> None:
    images = DRAWN.integers(0, 256, (12, 3, 32, 32), dtype=np.uint8)
    save_cifar(tmp_path / "train.bin", np.stack((Y, 10 * Y), 1), images)
    data = both(tmp_path, ".")
    assert (data.facts.classes, data.facts.targets[0].name) == (("0", "10", "20"), "fine")
    assert [given.name for given in data.facts.inputs] == ["x"]
    assert both(tmp_path, ".", response="coarse").facts.classes == ("0", "1", "2")
    assert len(both(tmp_path, ".", response="fine, coarse").facts.targets) == 2


def test_cifar_of_python_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data_batch_1").write_bytes(b"\x80\x02}q\x01.")
    for path in (".", "data_batch_1"):
        assert "pickles, which are not loaded" in refused(tmp_path, path)
        assert "Download the binary version" in refused(tmp_path, path)


def test_a_cifar_file_that_was_cut_off(tmp_path: Path) -> None:
    (tmp_path / "data_batch_1.bin").write_bytes(b"\0" * 5000)
    assert "should have a multiple of 3,073 bytes and has 5,000" in refused(tmp_path, ".")


# ---- torch ----


def test_tensors_of_torch_save(tmp_path: Path) -> None:
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    for content in ({"x": x, "y": y, "note": "made here"}, (x, y), {"x": x.bfloat16(), "y": y}):
        torch.save(content, tmp_path / "d.pt")
        data = both(tmp_path, "d.pt", is_streamed=False)
        assert np.allclose(np.asarray(data.inputs[0]), X, rtol=1e-2)
        assert data.targets[0].tolist() == Y.tolist()


def test_no_objects_of_torch_save_are_loaded(tmp_path: Path) -> None:
    torch.save(torch.utils.data.TensorDataset(torch.zeros(3, 2)), tmp_path / "d.pt")
    assert "Save the tensors alone: torch.save({'x': x, 'y': y}, FILE)." in refused(tmp_path, "d.pt")
    torch.save([1, 2, 3], tmp_path / "d.pt")
    assert "/d.pt holds 0 tensors by name" in refused(tmp_path, "d.pt")
    torch.save({"x": torch.eye(3).to_sparse(), "y": torch.zeros(3)}, tmp_path / "d.pt")
    assert "Array 'x' of /d.pt is sparse" in refused(tmp_path, "d.pt")
    (tmp_path / "d.pt").write_bytes(b"PK\x03\x04 nothing more")
    assert "is no file of torch.save, or is damaged" in refused(tmp_path, "d.pt")
