"""Arrays in .npz files: what their axes mean, what responses are, and damaged or hostile files."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import Symbol, sequence, tokens
from netwright.engine.data.loading.batches import ResidentDataset
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.loading.sequences import Padding
from netwright.engine.data.loading.streaming import streamed
from netwright.engine.data.sources.array_files import headers
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo

OPTIONS = DataOptions(source="arrays", path="d.npz", validation_share=0.0, test_share=0.0)
Y = np.array([0, 1, 0, 1, 2, 2])


def read(folder: Path, options: DataOptions = OPTIONS, **arrays: Any) -> tuple[DatasetInfo, LoadedData]:
    np.savez_compressed(folder / "d.npz", **arrays)
    return facts(options, folder), load(options, folder)


def refused(folder: Path, options: DataOptions = OPTIONS, **arrays: Any) -> str:
    if arrays:
        np.savez(folder / "d.npz", **arrays)
    with pytest.raises(UserError) as error:
        load(options, folder)
    return str(error.value).replace(str(folder / "d.npz"), "F")


@pytest.mark.parametrize(
    ("shape", "layout", "sizes"),
    [
        ((6,), "features", (1,)),
        ((6, 3), "features", (3,)),
        ((6, 5, 2), "sequence", (5, 2)),
        ((6, 3, 5, 4), "image", (3, 5, 4)),
        ((6, 1, 2, 3, 4), "volume", (1, 2, 3, 4)),
    ],
)
def test_axes_say_what_an_array_is(tmp_path, shape, layout, sizes):
    x = np.random.default_rng(0).standard_normal(shape)
    found, data = read(tmp_path, x=x, y=Y)
    given = found.inputs[0]
    assert (given.name, given.type.layout, given.type.sizes, given.type.kind) == ("x", layout, sizes, "real")
    array = data.split("training").inputs[0]
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, x.reshape(6, *sizes).astype(np.float32))


@pytest.mark.parametrize(
    ("shape", "kind", "sizes", "note"),
    [
        ((6, 9, 8), "u1", (1, 9, 8), "'x' was taken as grey images of 8 × 9. Sequences of bytes are read from"),
        ((6, 9, 8, 3), "u1", (3, 9, 8), "'x' was taken as images of 8 × 9 whose 3 channels come last."),
        ((6, 9, 8, 4), "f4", (4, 9, 8), "'x' was taken as images of 8 × 9 whose 4 channels come last."),
        ((6, 8, 8, 1), "f4", (1, 8, 8), "'x' was taken as grey images of 8 × 8."),
    ],
)
def test_images_as_keras_has_them_get_their_channels_first(tmp_path, shape, kind, sizes, note):
    x = np.random.default_rng(0).integers(0, 256, shape).astype(kind)
    found, data = read(tmp_path, x=x, y=Y)
    assert (found.inputs[0].type.layout, found.inputs[0].type.sizes) == ("image", sizes)
    assert found.notes[0].startswith(note)
    moved = x[:, np.newaxis] if x.ndim == 3 else x.transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(data.split("training").inputs[0], moved)
    np.savez(tmp_path / "d.npz", x=x, y=Y)  # not compressed: its samples are read one by one
    lazy = load(OPTIONS.replace(loading="stream"), tmp_path).split("training").inputs[0]
    np.testing.assert_array_equal(lazy[np.array([4, 1])], moved[[4, 1]])


@pytest.mark.parametrize(("shape", "kind"), [((6, 9, 8), "f4"), ((6, 9, 8), "i2"), ((6, 22, 100, 1), "f4")])
def test_sequences_and_channels_of_long_signals_stay_as_they_are(tmp_path, shape, kind):
    found, _ = read(tmp_path, x=np.ones(shape, kind), y=Y)
    assert found.inputs[0].type.sizes == shape[1:]


def test_whole_numbers_are_indices(tmp_path):
    found, data = read(tmp_path, x=np.arange(24).reshape(6, 4), y=Y)
    assert (found.inputs[0].type.layout, found.inputs[0].type.kind) == ("tokens", "index")
    assert "To take them as numbers, set integer arrays to numbers (data.integer_arrays=numbers)" in found.notes[0]
    assert data.facts.notes[-1] == "The largest index in 'x' is 23: an embedding needs a vocabulary of at least 24."
    assert data.split("training").inputs[0][1].tolist() == [4, 5, 6, 7]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_whole_numbers_are_features_on_request(tmp_path: Path, *, is_streamed: bool) -> None:
    np.savez(tmp_path / "a.npz", x=np.arange(24).reshape(6, 4) - 5, y=Y)
    options = DataOptions(source="arrays", path="a.npz", integer_arrays="numbers", validation_share=0, test_share=0)
    data = load(options, tmp_path, is_streamed=is_streamed)
    assert (data.facts.inputs[0].type.layout, data.facts.inputs[0].type.kind) == ("features", "real")
    assert data.facts.notes == ()
    assert data.split("training").inputs[0][:].tolist() == (np.arange(24).reshape(6, 4) - 5).tolist()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float64", "bool"])
def test_types_of_number(tmp_path, dtype):
    x = np.arange(6 * 2 * 3 * 3).reshape(6, 2, 3, 3).astype(dtype)
    _, data = read(tmp_path, x=x, y=Y)
    np.testing.assert_array_equal(data.split("training").inputs[0], x.astype(np.float32))


@pytest.mark.parametrize("sizes", [(), (3,), (5, 3), (3, 4, 2), (3, 2, 2, 2)])
def test_complex_numbers_are_twice_the_channels(tmp_path, sizes):
    random = np.random.default_rng(0)
    x = random.normal(size=(6, *sizes)) + 1j * random.normal(size=(6, *sizes))
    facts, data = read(tmp_path, x=x, y=Y)
    given = data.split("training").inputs[0]
    type = facts.inputs[0].type
    assert type.kind == "real"
    assert given.shape[1:] == type.sizes
    channels = type.dim("C")
    assert type["C"] == 2 * (x.shape[channels] if sizes else 1)
    together = np.take(given, range(0, type["C"], 2), channels) + 1j * np.take(given, range(1, type["C"], 2), channels)
    samples = [np.abs(together - sample.astype(np.complex64)).reshape(len(given), -1).max(1).min() for sample in x]
    assert sum(distance < 1e-6 for distance in samples) == len(given)


def test_several_inputs_by_name_in_the_order_of_the_file(tmp_path):
    found, data = read(tmp_path, z=np.zeros((6, 2)), a=np.ones((6, 3)), y=Y)
    assert [given.name for given in found.inputs] == ["z", "a"]
    assert [array.shape for array in data.split("training").inputs] == [(6, 2), (6, 3)]


@pytest.mark.parametrize(
    ("y", "classes", "targets"),
    [
        (np.array([3, 10, 3, 7, 10, 3]), ("3", "7", "10"), [0, 2, 0, 1, 2, 0]),
        (np.array([[1], [2], [1], [2], [1], [2]]), ("1", "2"), [0, 1, 0, 1, 0, 1]),
        (np.array(["b", "a", "b", "c", "a", "b"]), ("a", "b", "c"), [1, 0, 1, 2, 0, 1]),
        (np.array([b"b", b"a"] * 3), ("a", "b"), [1, 0] * 3),
        (np.array([True, False] * 3), ("False", "True"), [1, 0] * 3),
    ],
)
def test_classes(tmp_path, y, classes, targets):
    found, data = read(tmp_path, x=np.zeros((6, 2)), y=y)
    assert (found.task, found.classes) == ("classes", classes)
    assert data.split("training").targets[0].tolist() == targets
    assert data.split("training").targets[0].dtype == np.int64


@pytest.mark.parametrize(("y", "responses"), [(np.linspace(0, 1, 6), 1), (np.ones((6, 3)), 3)])
def test_numbers(tmp_path, y, responses):
    found, data = read(tmp_path, x=np.zeros((6, 2)), y=y)
    assert (found.task, found.classes, found.outputs) == ("numbers", (), responses)
    assert data.split("training").targets[0].dtype == np.float32
    np.testing.assert_allclose(data.split("training").targets[0], y.reshape(6, responses), rtol=1e-6)


def test_the_task_can_be_said(tmp_path):
    x = np.zeros((6, 2))
    assert read(tmp_path, OPTIONS.replace(task="numbers"), x=x, y=Y)[0].task == "numbers"
    found, _ = read(tmp_path, OPTIONS.replace(task="classes"), x=x, y=Y.astype(np.float64))
    assert found.classes == ("0", "1", "2")


def test_very_many_whole_numbers_are_numbers_with_a_note(tmp_path):
    found, _ = read(tmp_path, x=np.zeros((1500, 1)), y=np.arange(1500))
    assert found.task == "numbers"
    assert found.notes == ("'y' has more than 1,000 different values: taken as numbers.",)


def test_the_response_by_name(tmp_path):
    found, _ = read(tmp_path, OPTIONS.replace(response="label"), x=np.zeros((6, 2)), label=Y)
    assert [given.name for given in found.inputs] == ["x"]


def test_channels_last_are_doubted(tmp_path):
    found, _ = read(tmp_path, x=np.zeros((6, 5, 8, 3)), y=Y)
    assert "x.transpose(0, 3, 1, 2)" in found.notes[0]


BAD = np.ones((6, 4))
BAD[2, 1], BAD[3, 0] = np.nan, np.inf


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": BAD, "y": Y}, "Array 'x' of F: 2 numbers are not finite in single precision, the first at [2, 1]: nan."),
        ({"x": np.full((6, 1), 1e300), "y": Y}, "Array 'x' of F: 6 numbers are not finite in single precision"),
        (
            {"x": np.zeros((6, 1)), "y": BAD[:, 0]},
            "Array 'y' of F: 1 number is not finite in single precision, the first at [3]",
        ),
        (
            {"x": np.zeros((5, 1)), "y": Y},
            "The arrays of F differ in their number of samples (the first axis): 'x' 5, 'y' 6.",
        ),
        ({"x": np.zeros((0, 1)), "y": np.zeros(0)}, "The arrays of F have no samples"),
        (
            {"x": np.zeros((6, 1)), "z": Y},
            'F has no array "y" with the responses. Its arrays are: x, z. Name the target',
        ),
        ({"y": Y}, 'F holds the responses "y" and no input.'),
        ({"y": np.ones((6, 2), int), "y_lengths": np.ones(6, int)}, 'F holds the responses "y" and no input.'),
        ({"x": np.float64(3), "y": Y}, "Array 'x' of F is a single value."),
        ({"x": np.zeros((6, 0)), "y": Y}, "Array 'x' of F has the shape (6, 0): an axis of size 0."),
        ({"x": np.zeros((6, 1, 1, 1, 1, 1)), "y": Y}, "Array 'x' of F has 6 axes"),
        ({"x": np.full((6, 1), complex(0, np.inf)), "y": Y}, "Array 'x' of F: 6 numbers are not finite"),
        ({"x": np.array(["a"] * 6), "y": Y}, "Array 'x' of F holds <U1; an input holds numbers."),
        (
            {"x": np.full((6, 2), -1), "y": Y},
            "Array 'x' of F holds whole numbers, taken as indices, but the smallest is -1.",
        ),
        ({"x": np.full((6, 2), 2**30), "y": Y}, "Array 'x' of F holds the index 1,073,741,824"),
        ({"x": np.zeros((6, 1)), "y": np.ones(6, int)}, "Array 'y' of F has one class only, '1'."),
        ({"x": np.zeros((6, 1)), "y": np.zeros((6, 2, 2))}, "Array 'y' of F has the shape (6, 2, 2); responses are N"),
        (
            {"x": np.zeros((6, 1)), "y": np.array(["a", "b"] * 6).reshape(6, 2)},
            "Array 'y' of F has the shape (6, 2); classes",
        ),
        (
            {"x": np.zeros((6, 1)), "y": np.zeros(6, "datetime64[s]")},
            "Array 'y' of F holds datetime64[s]; responses are",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path, arrays, message):
    assert refused(tmp_path, **arrays).startswith(message)


def test_texts_are_no_numbers_to_predict(tmp_path):
    text = refused(tmp_path, OPTIONS.replace(task="numbers"), x=np.zeros((6, 1)), y=np.array(["a", "b"] * 3))
    assert text.startswith("Array 'y' of F holds texts. Expected numbers to predict.")


def test_python_objects_are_never_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return open, (str(tmp_path / "ran"), "w")

    objects = np.empty(6, object)
    objects[:] = [Bomb()] * 6
    text = refused(tmp_path, x=objects, y=Y)
    assert text.startswith(
        "Array 'x' of F holds Python objects, which are not loaded because they could run a program."
    )
    assert not (tmp_path / "ran").exists()


def test_a_folder_of_arrays_with_odd_names(tmp_path):
    for name in ("x\x1b[2J", "x" * 201):
        folder = tmp_path / str(len(name))
        folder.mkdir()
        np.save(folder / f"{name}.npy", Y)
        with pytest.raises(UserError, match=r"holds an array called .*Expected names of letters and digits") as caught:
            headers(folder)
        assert str(caught.value).isprintable()


def test_foreign_and_damaged_files(tmp_path):
    file = tmp_path / "d.npz"
    file.write_text("no archive")
    assert refused(tmp_path).startswith("F is no .npz file, or was cut off.")
    np.save(tmp_path / "x.npy", Y)
    file.write_bytes((tmp_path / "x.npy").read_bytes())
    assert refused(tmp_path).startswith("F is no .npz file, or was cut off.")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("readme.txt", "x")
    assert refused(tmp_path).startswith("F holds no arrays.")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.npy", "x")
    assert refused(tmp_path).startswith("F is damaged: ")
    file.write_bytes(b"")
    assert refused(tmp_path).startswith("F is empty: it has 0 bytes.")


def test_a_flipped_byte_or_a_cut_is_found(tmp_path):
    file = tmp_path / "d.npz"
    np.savez(file, x=np.random.default_rng(0).random((6, 100)), y=Y)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert "was cut off" in refused(tmp_path)
    place = 1500  # within the numbers of x
    file.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
    assert refused(tmp_path).startswith("F is damaged: ")


def test_a_header_that_promises_too_much_allocates_nothing(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**6)})
    with zipfile.ZipFile(tmp_path / "d.npz", "w") as archive:
        archive.writestr("x.npy", header.getvalue() + b"\0" * 80)
    text = refused(tmp_path)
    assert text.startswith("F is damaged: array 'x' should have 8,000,000,000,000,000 bytes and has 80.")


def test_a_second_array_says_how_long_sequences_are(tmp_path: Path) -> None:
    x = np.full((6, 5, 2), np.nan, np.float32)
    lengths = np.array([1, 5, 3, 2, 2, 4])
    for sample, length in enumerate(lengths):
        x[sample, :length] = sample
    known, loaded = read(tmp_path, x=x, x_lengths=lengths, y=Y)
    (given,) = known.inputs
    assert (given.name, given.type, given.lengths) == ("x", sequence(Symbol("T"), 2), (1, 5))
    assert DatasetInfo.read(known.write()) == known
    assert any("1 to 5 steps" in note for note in known.notes)
    part = loaded.split("training")
    order = loaded.numbers["training"]
    assert part.lengths[0] is not None
    np.testing.assert_array_equal(part.lengths[0], lengths[order])
    assert np.isfinite(part.inputs[0]).all()
    np.testing.assert_array_equal(part.real(0)[:, 0], np.repeat(np.arange(6), lengths))


def test_tokens_have_lengths_too_and_features_have_none(tmp_path: Path) -> None:
    known, loaded = read(tmp_path, x=np.full((6, 4), 7), x_lengths=np.array([1, 2, 3, 4, 4, 4]), y=Y)
    assert known.inputs[0].type == tokens(Symbol("T"))
    assert loaded.split("training").inputs[0][0].tolist() == [7.0, 0.0, 0.0, 0.0]
    _, loaded = read(tmp_path, x=np.full((6, 9), 7), x_lengths=np.array([1, 2, 3, 4, 4, 4]), y=Y)
    assert loaded.split("training").inputs[0].shape == (6, 4)
    known, _ = read(tmp_path, x=np.ones((6, 4), np.float32), x_lengths=np.ones(6, np.int64), y=Y)
    assert [given.type.layout for given in known.inputs] == ["features", "features"]


@pytest.mark.parametrize("wrong", [0, 6, -1])
def test_a_length_that_cannot_be_is_refused_with_its_sample(tmp_path: Path, wrong: int) -> None:
    x = np.zeros((6, 5, 2), np.float32)
    words = refused(tmp_path, x=x, x_lengths=np.array([1, 2, wrong, 3, 4, 5]), y=Y)
    assert words == (
        "Array 'x_lengths' of F says how long each sequence in 'x' is: expected 1 to 5 steps, "
        f"received {wrong} for sample 2. Correct it, or leave the sample out."
    )


def test_lengths_that_cut_nothing_off_change_nothing(tmp_path: Path) -> None:
    known, loaded = read(tmp_path, x=np.ones((6, 5, 2), np.float32), x_lengths=np.full(6, 5), y=Y)
    assert [(given.type, given.lengths) for given in known.inputs] == [(sequence(5, 2), None)]
    assert loaded.split("training").real(0).shape == (6, 5, 2)


def header(text: str, version: bytes = b"\1\0") -> bytes:
    """The beginning of an array in a file, with any header."""
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("description", "shape", "message"),
    [
        ("<f4", "(1000000000000, 3)", "array 'x' should have 12,000,000,000,000 bytes and has 0"),
        ("<f4", "(-2, -3)", "array 'x' should have 24 bytes and has 0"),
        ("<U0", "(1000000000000,)", "Array 'x' of F holds texts without characters."),
        ("<f4", "(1000000000000, 0)", "Array 'x' of F has the shape (1000000000000, 0): an axis of size 0."),
        ("<f4", "(" * 3000, "F is damaged: "),
        ("<f4", "__import__('os').abort()", "F is damaged: "),
    ],
)
def test_sizes_are_not_believed(tmp_path, description, shape, message):
    with zipfile.ZipFile(tmp_path / "d.npz", "w") as file:
        text = f"{{'descr': '{description}', 'fortran_order': False, 'shape': {shape}, }}"
        file.writestr("x.npy", header(text))
    assert message in refused(tmp_path)


def test_a_declared_size_is_held_against_the_file(tmp_path):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as file:
        file.writestr("x.npy", header("{'descr': '|u1', 'fortran_order': False, 'shape': (1099511627776,), }"))
        entry = file.infolist()[0]
        entry.file_size = 2**40 + file.infolist()[0].file_size
    (tmp_path / "d.npz").write_bytes(whole.getvalue())
    assert "array 'x' cannot have" in refused(tmp_path)


def test_entries_that_numpy_does_not_write_are_refused(tmp_path):
    array = io.BytesIO()
    np.save(array, np.zeros((6, 2)))
    for names, how, message in (
        (["a\x1b[2J"], zipfile.ZIP_STORED, 'F holds an array called "a\\u001b[2J".'),
        (["x"], zipfile.ZIP_LZMA, "Array 'x' of F is compressed in another way than numpy does it."),
        ([f"x{i}" for i in range(1001)], zipfile.ZIP_STORED, "F holds 1,001 arrays; at most 1,000 are taken."),
    ):
        with zipfile.ZipFile(tmp_path / "d.npz", "w", how) as file:
            for name in names:
                file.writestr(f"{name}.npy", array.getvalue())
        assert refused(tmp_path).startswith(message)
    with zipfile.ZipFile(tmp_path / "d.npz", "w") as file:
        for _ in range(2):
            file.NameToInfo.clear()  # what would warn of it
            file.writestr("x.npy", array.getvalue())
    assert refused(tmp_path).startswith("F holds two arrays called 'x'.")


@pytest.mark.parametrize("code", [0x110000, 0xD800])
def test_texts_of_what_is_no_character_are_refused(tmp_path, code):
    texts = np.array([97, code, 97, 98, 97, 98], np.uint32).view("<U1")
    assert refused(tmp_path, x=np.zeros((6, 1)), y=texts).startswith("Array 'y' of F holds texts with characters")


@pytest.mark.parametrize("value", [1e30, np.inf, np.float16(np.inf)])
def test_numbers_without_a_place_are_no_classes(tmp_path, value):
    options = OPTIONS.replace(task="classes")
    text = refused(tmp_path, options, x=np.zeros((6, 5, 2)), y=np.full((6, 5), value))
    assert text.startswith("Array 'y' of F holds numbers beyond 2,147,483,648, which are no classes.")


def test_one_of_several_npy_files_stands_for_their_folder(tmp_path):
    np.save(tmp_path / "signals.npy", np.zeros((6, 8, 2), np.float32))
    np.save(tmp_path / "y.npy", np.arange(6) % 2)
    named, folder = (DataOptions(source="arrays", path=path) for path in ("signals.npy", "."))
    assert facts(named, tmp_path).inputs == facts(folder, tmp_path).inputs
    assert facts(named, tmp_path).inputs[0].type.sizes == (8, 2)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_indices_above_those_of_single_precision_stay_what_they_are(tmp_path: Path, *, is_streamed: bool) -> None:
    ids = 2**24 + np.arange(24).reshape(6, 4)
    np.savez(tmp_path / "d.npz", x=ids, y=Y)
    part = load(OPTIONS, tmp_path, is_streamed=is_streamed).split("training")
    dataset = ResidentDataset.of if not is_streamed else streamed
    made = dataset(part.inputs, ["index"], part.targets, torch.device("cpu"), [], Padding(), [None])
    (found,), _ = made.at(torch.arange(6))
    assert found.dtype == torch.int64
    assert found.tolist() == ids.tolist()


@pytest.mark.parametrize("is_streamed", [False, True])
def test_doubles_are_read_as_such_on_request(tmp_path: Path, *, is_streamed: bool) -> None:
    x = np.stack([1e9 + np.arange(6.0), np.arange(6.0)], 1)
    np.savez(tmp_path / "d.npz", x=x, z=np.arange(6, dtype=np.float32), w=x + 1j * x[::-1], y=Y)
    data = load(OPTIONS, tmp_path, is_streamed=is_streamed)
    assert data.wider == {0, 2}
    part = data.split("training", data.wider)
    assert [given.dtype for given in part.inputs] == [np.float64, np.float32, np.float64]
    np.testing.assert_array_equal(part.inputs[0][:], x)
    np.testing.assert_array_equal(part.inputs[2][:][:, ::2], x)


def test_responses_that_lose_digits_are_told(tmp_path: Path) -> None:
    times = 1e9 + np.arange(6.0) + 0.25
    found, _ = read(tmp_path, x=np.zeros((6, 1)), y=times)
    assert "'y' is rounded by up to" in found.notes[0]
    (tmp_path / "t.csv").write_text("a,b,y\n" + "".join(f"{row},{row / 3},{time}\n" for row, time in enumerate(times)))
    options = DataOptions(source="table", path="t.csv", response="b, y")
    assert [note.partition(" is")[0] for note in facts(options, tmp_path).notes] == ["'y'"]
    assert facts(options.replace(response="b"), tmp_path).notes == ()


@pytest.mark.parametrize(
    ("names", "response"),
    [
        (("XTrain", "YTrain"), "YTrain"),
        (("X", "T"), "T"),
        (("images", "labels"), "labels"),
        (("irisInputs", "irisTargets"), "irisTargets"),
        (("signals", "speed"), "speed"),
    ],
)
def test_the_response_is_told_by_usual_names_or_as_the_smaller_of_two(
    tmp_path: Path, names: tuple[str, str], response: str
) -> None:
    arrays: dict[str, Any] = {names[0]: np.zeros((6, 4)), names[1]: Y}
    found, _ = read(tmp_path, **arrays)
    assert ([given.name for given in found.inputs], [target.name for target in found.targets]) == (
        [names[0]],
        [response],
    )
    assert f"The response is '{response}'." in " ".join(found.notes)


def test_no_response_is_told_from_three_arrays_or_two_alike(tmp_path: Path) -> None:
    assert "F has no array 'y' with the responses" in refused(tmp_path, a=np.zeros((6, 4)), b=Y, c=Y).replace('"', "'")
    assert "has no array" in refused(tmp_path, a=np.zeros((6, 4)), b=np.zeros((6, 4)))
    assert "To forecast a series, write it as a table" in refused(tmp_path, data=np.zeros(6))


def test_names_with_splits_say_how_to_divide(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"XTrain": np.zeros((6, 4)), "YTrain": Y, "XTest": np.zeros((3, 4)), "YTest": Y[:3]}
    assert refused(tmp_path, **arrays).endswith("set the split to folders (data.split=folders).")
    found, data = read(tmp_path, OPTIONS.replace(split="folders"), **arrays)
    assert (found.samples["training"], found.samples["test"]) == (6, 3)
    assert [target.name for target in data.facts.targets] == ["Y"]
