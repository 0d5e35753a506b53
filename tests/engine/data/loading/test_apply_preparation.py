"""New rows, files and arrays become what training got; outputs become answers."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.apply_preparation import Raw, Row, prepare, present
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.network import edits
from netwright.engine.network.network import Network
from netwright.engine.project.data import DataOptions
from netwright.engine.project.preparation import ColumnPreparation, InputPreparation, Preparation, TargetPreparation
from netwright.engine.project.preparing import preparation_of
from tests.builders import chain, layer

WHOLE = DataOptions(validation_share=0.0, test_share=0.0)


def record_of(network: Network, options: DataOptions, data: LoadedData) -> Preparation:
    """The record as it is read from its file."""
    return Preparation.parse(preparation_of(network, options, data.facts).content(), "R")


@pytest.mark.parametrize("as_file", [True, False])
def test_rows_of_a_table_become_what_training_got(tmp_path: Path, as_file: bool) -> None:
    rows = [(1.5, "red", "2,000", 0.5), (-2.0, " blue ", "17,500", 1.5), (3e7, "red", "1,000", 2.5)]
    text = "a,colour,count,y\n" + "".join(f'{a},{colour},"{count}",{y}\n' for a, colour, count, y in rows)
    (tmp_path / "t.csv").write_text(text)
    options = WHOLE.replace(source="table", path="t.csv")
    data = load(options, tmp_path)
    record = record_of(chain(layer("feature_input", channels=4)), options, data)
    raw: Raw = [{"colour": colour, "count": count, "a": a} for a, colour, count, _ in rows]
    (made,) = prepare(record, tmp_path / "t.csv" if as_file else raw)
    assert made.dtype == np.float32
    np.testing.assert_array_equal(made, data.split("training").inputs[0])


def test_a_file_for_prediction_needs_neither_the_response_nor_a_second_column(tmp_path: Path) -> None:
    record = table(ColumnPreparation(name="a"))
    (tmp_path / "new.csv").write_text("a\n1\n2.5\n")
    assert prepare(record, tmp_path / "new.csv")[0].tolist() == [[1], [2.5]]
    (tmp_path / "numbered.csv").write_text(",b,a\n0,7,1\n1,7,2.5\n")
    assert prepare(record, tmp_path / "numbered.csv")[0].tolist() == [[1], [2.5]], "a first column without a name"
    (tmp_path / "other.csv").write_text("b,c\n1,2\n")
    with pytest.raises(UserError, match=r'has no column "a"\. Expected rows with the columns a'):
        prepare(record, tmp_path / "other.csv")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n\nx,2\n")
    with pytest.raises(UserError, match=r"Column 'a', line 4 of .*bad.csv: expected a finite number, received \"x\""):
        prepare(record, tmp_path / "bad.csv")


def table(*columns: ColumnPreparation, **more: Any) -> Preparation:
    count = sum(len(column.names) for column in columns)
    given = InputPreparation(name="x", reads="columns", axes=("C",), sizes=(count,), columns=columns, **more)
    return Preparation(kind="table", inputs=(given,))


def test_a_category_that_training_did_not_have_is_0_in_all() -> None:
    record = table(ColumnPreparation(name="c", kind="category", categories=("a", "b")))
    assert prepare(record, [{"c": "b"}, {"c": "z"}])[0].tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"n": 1, "c": "a"}, {"n": 2}], 'Row 2 has no column "c". Expected rows with the columns n, c.'),
        ([{"n": "x", "c": "a"}], "Column 'n', row 1: expected a finite number, received \"x\". Correct the value"),
        ([{"n": "1,5,2", "c": "a"}], "Column 'n', row 1: expected a finite number, received \"1,5,2\"."),
        ([{"n": None, "c": "a"}], "Column 'n', row 1: expected a finite number, there is no value."),
        ([{"n": "", "c": "a"}], "Column 'n', row 1: expected a finite number, there is no value."),
        ([{"n": float("nan"), "c": "a"}], "Column 'n', row 1: expected a finite number, there is no value."),
        ([{"n": float("inf"), "c": "a"}], "Column 'n', row 1: expected a finite number, received Infinity."),
        ([{"n": True, "c": "a"}], "Column 'n', row 1: expected a finite number, received true."),
        ([{"n": 1e300, "c": "a"}], "Column 'n', row 1: received 1e+300; expected numbers up to 3.4e+38."),
        ([{"n": 1, "c": "a"}, {"n": 1, "c": None}], "Column 'c', row 2: expected a text, there is no value."),
        ([], "There is nothing to prepare"),
        ([Path("x.png")], "The network does not take pictures. Expected rows with the columns n, c."),
        (np.zeros((2, 5)), "Array 'x' has the shape 2 × 5; expected N × 3, samples first."),
    ],
)
def test_rows_that_do_not_fit_are_named(rows: Any, message: str) -> None:
    record = table(ColumnPreparation(name="n"), ColumnPreparation(name="c", kind="category", categories=("a", "b")))
    with pytest.raises(UserError) as error:
        prepare(record, rows)
    assert str(error.value).startswith(message)


def test_gaps_take_the_values_of_the_record() -> None:
    record = table(
        ColumnPreparation(name="n", missing=7.5),
        ColumnPreparation(name="c", kind="category", categories=("a", "b"), missing="b"),
    )
    rows: list[Row] = [{"n": None, "c": "a"}, {"n": "NA", "c": ""}, {"n": np.float32(1), "c": "?"}]
    assert prepare(record, rows)[0].tolist() == [[7.5, 1, 0], [7.5, 0, 1], [1, 0, 1]]


@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_become_what_training_got(tmp_path: Path, channels: int) -> None:
    rng = np.random.default_rng(0)
    for name in ("cat", "dog"):
        (tmp_path / "i" / name).mkdir(parents=True)
        for number in range(2):
            pixels = rng.integers(0, 256, (9, 7, 3), np.uint8)
            Image.fromarray(pixels).save(tmp_path / "i" / name / f"{number}.png")
    options = WHOLE.replace(source="images", path="i", image_size=6, channels="grey" if channels == 1 else "rgb")
    data = load(options, tmp_path)
    record = record_of(chain(layer("image_input", channels=channels, size=6)), options, data)
    files = [tmp_path / "i" / name / f"{number}.png" for name in ("cat", "dog") for number in range(2)]
    expected = data.split("training").inputs[0]
    np.testing.assert_array_equal(prepare(record, files)[0], expected)
    np.testing.assert_array_equal(prepare(record, tmp_path / "i" / "dog")[0], expected[2:])
    np.testing.assert_array_equal(prepare(record, files[1])[0], expected[1:2])
    (tmp_path / "bad.png").write_text("no picture")
    with pytest.raises(UserError, match=r"bad.png cannot be used: it is not a picture"):
        prepare(record, tmp_path / "bad.png")


def test_arrays_become_what_training_got(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(6, 5, 2)) + 1j * rng.normal(size=(6, 5, 2))
    token, y = rng.integers(0, 9, (6, 4)), rng.normal(size=6)
    np.savez(tmp_path / "a.npz", signal=signal, token=token, y=y)
    options = WHOLE.replace(source="arrays", path="a.npz")
    data = load(options, tmp_path)
    network = chain(layer("sequence_input", channels=4))
    network, _ = edits.add_layer(network, layer("sequence_input", content="indices", length=4))
    network = edits.rename(network, network.inputs[0].id, "signal")
    network = edits.rename(network, network.inputs[1].id, "token")
    record = record_of(network, options, data)
    expected = data.split("training").inputs
    raws: list[Raw] = [{"token": token, "signal": signal}, tmp_path / "a.npz", [signal, token]]
    for raw in raws:
        made = prepare(record, raw)
        assert [array.dtype for array in made] == [np.float32, np.int64]
        for one, other in zip(made, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(UserError, match=r'There is no array "token"\..*Expected arrays: \'signal\' N × T × 4'):
        prepare(record, {"signal": signal})
    with pytest.raises(UserError, match=r"Array 'token' has the shape 6 × 3; expected N × 4, samples first"):
        prepare(record, [signal, token[:, :3]])
    with pytest.raises(UserError, match=r"Array 'token' holds -1 to 8; expected whole numbers from 0"):
        prepare(record, [signal, np.where(token == 0, -1, token)])
    signal[0, 0, 0] = np.nan
    with pytest.raises(UserError, match="Array 'signal': 1 number is not finite"):
        prepare(record, [signal, token])
    with pytest.raises(UserError, match="differ in their number of samples"):
        prepare(record, [signal[1:], token])


def test_images_whose_channels_come_last_are_predicted_as_training_got_them(tmp_path: Path) -> None:
    x = np.random.default_rng(0).integers(0, 256, (6, 9, 8, 3)).astype(np.uint8)
    np.savez(tmp_path / "a.npz", x=x, y=np.arange(6) % 2)
    options = WHOLE.replace(source="arrays", path="a.npz")
    data = load(options, tmp_path)
    record = record_of(chain(layer("image_input", channels=3, size=(9, 8))), options, data)
    raws: list[Raw] = [{"x": x}, tmp_path / "a.npz", {"x": x.transpose(0, 3, 1, 2)}]
    for raw in raws:
        np.testing.assert_array_equal(prepare(record, raw)[0], data.split("training").inputs[0])
    with pytest.raises(UserError, match="has the shape 6 × 9 × 8 × 2; expected"):
        prepare(record, {"x": x[..., :2]})


def answers(output: Any, **target: Any) -> Any:
    known: dict[str, Any] = {"axes": ("C",), "sizes": (np.shape(output)[1],), "classes": ("a", "b", "c"), **target}
    record = Preparation(kind="table", inputs=(), targets=(TargetPreparation(name="y", **known),))
    (answer,) = present(record, [np.asarray(output, np.float32)])
    return answer


def test_classes_have_probabilities_by_name() -> None:
    scores = [[1.0, 3.0, 2.0], [1000.0, 0.0, -1000.0]]
    found = answers(scores, task="classes", activation="softmax")
    assert found.values.tolist() == [1, 0]
    assert [found.sample(n)["class"] for n in range(len(found))] == ["b", "a"]
    assert list(found.sample(0)["probabilities"]) == ["a", "b", "c"]
    np.testing.assert_allclose(found.probabilities[0], np.exp([1, 3, 2]) / np.exp([1, 3, 2]).sum())
    same = answers(found.probabilities, task="classes")
    np.testing.assert_allclose(same.probabilities, found.probabilities, rtol=1e-6)


def test_two_classes_of_one_channel() -> None:
    found = answers([[2.0], [-2.0], [0.0]], task="classes", activation="sigmoid", classes=("no", "yes"))
    assert [found.sample(n)["class"] for n in range(3)] == ["yes", "no", "yes"]
    assert found.sample(2)["probabilities"] == {"no": 0.5, "yes": 0.5}


def test_labels_numbers_pixels_and_transcripts() -> None:
    labels = answers([[5.0, -5.0, 0.1]], task="labels", activation="sigmoid")
    assert labels.sample(0)["labels"] == ["a", "c"]
    assert answers([[0.2, 0.9, 0.4]], task="labels", threshold=0.3).sample(0)["labels"] == ["b", "c"]
    assert answers([[3.5]], task="numbers", classes=(), columns=("price",)).sample(0) == 3.5
    assert answers([[3.5, 2.0]], task="numbers", columns=("price", "size")).sample(0) == {"price": 3.5, "size": 2.0}
    pixels = np.zeros((1, 3, 2, 2))
    pixels[0, 2, 0, 1] = pixels[0, 1, 1, 1] = 4
    found = answers(pixels, task="classes", activation="softmax", axes=("C", "H", "W"), sizes=(3, 2, 2))
    assert found.sample(0) == [[0, 2], [0, 1]]
    steps = np.eye(4)[[[1, 1, 0, 1, 2, 0, 3, 3]]]
    timed = {"task": "transcripts", "axes": ("T", "C"), "sizes": (None, 4)}
    assert answers(steps, **timed).sample(0) == ["a", "a", "b", "c"]
    assert answers(steps, **timed, blank="last").sample(0) == ["b", "a", "b", "c", "a"]


def test_outputs_of_another_shape_are_refused() -> None:
    with pytest.raises(UserError, match=r"The output 'y' has the shape 1 × 2; expected N × 3"):
        answers([[1.0, 2.0]], task="classes", sizes=(3,))


def test_gaps_dates_and_indices_become_what_training_got(tmp_path: Path) -> None:
    rows = [("1", "x", "31.01.2024 12:00", 0.5), ("NA", "", "", 1.5), ("4", "y", "02.02.2024 00:30", 2.5)]
    header = "n,c,d,y\n"
    (tmp_path / "t.csv").write_text(header + "".join(",".join(map(str, row)) + "\n" for row in rows))
    options = WHOLE.replace(
        source="table",
        path="t.csv",
        missing_values="impute",
        impute_texts="most-frequent",
        category_encoding="indices",
    )
    data = load(options, tmp_path)
    network = chain(layer("feature_input", channels=6))
    network, _ = edits.add_layer(network, layer("sequence_input", content="indices", length=1))
    record = record_of(network, options, data)
    expected = data.split("training").inputs
    later = [2024, 2, 5, 0.5, 2 + 0.5 / 24]
    np.testing.assert_allclose(expected[0], [[1, 2024, 1, 3, 12, 0.5], [2.5, *later], [4, *later]], rtol=1e-6)
    assert expected[1].tolist() == [[1], [1], [2]]
    typed: list[Row] = [{"n": n, "c": c, "d": d} for n, c, d, _ in rows]
    typed[2] = {"n": 4, "c": "y", "d": datetime(2024, 2, 2, 0, 30)}
    typed[1] = {"n": None, "c": None, "d": None}
    for raw in (tmp_path / "t.csv", typed):
        for made, array in zip(prepare(record, raw), expected, strict=True):
            np.testing.assert_array_equal(made, array)
    assert prepare(record, [{"n": 1, "c": "new", "d": date(2024, 1, 31)}])[1].tolist() == [[0]]
    with pytest.raises(UserError, match=r"Column 'd', row 1: expected a date such as 31\.01\.2024, received \"soon\""):
        prepare(record, [{"n": 1, "c": "x", "d": "soon"}])


def test_a_record_whose_classes_do_not_fit_its_output_is_refused() -> None:
    with pytest.raises(UserError, match=r"'y' has the sizes N × 4, which do not fit its 3 classes"):
        answers([[1.0, 2.0, 3.0, 4.0]], task="classes")
