"""The record of how data is prepared: read back as written, and refused in words where it is wrong."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import features, image, sequence, tokens
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo, classes_of, numbers_of
from netwright.engine.project.preparation import (
    FILE,
    ColumnPreparation,
    InputPreparation,
    Normalization,
    Preparation,
    TargetPreparation,
)
from netwright.engine.project.preparing import FittedNumbers, preparation_of
from tests.builders import chain, layer

GOLDEN = Path(__file__).parents[2] / "golden" / "preparation_1.json"
RECORD = Preparation(
    kind="table",
    inputs=(
        InputPreparation(
            name="input",
            source="features",
            reads="columns",
            axes=("C",),
            sizes=(8,),
            dtype="float64",
            columns=(
                ColumnPreparation(name="area", missing=81.5),
                ColumnPreparation(name="facing", kind="category", categories=("north", "wëst"), missing="north"),
                ColumnPreparation(
                    name="sold",
                    kind="date",
                    parts=("year", "month", "day of week", "elapsed days"),
                    origin="2020-01-31",
                ),
                ColumnPreparation(name="rooms"),
            ),
            normalization=Normalization(method="zscore", shift=(0.5,) * 8, scale=(2.0,) * 8),
        ),
        InputPreparation(name="town", axes=("T",), sizes=(None,), content="indices", dtype="int64", vocabulary=30),
        InputPreparation(
            name="photo",
            reads="image",
            axes=("C", "H", "W"),
            sizes=(3, 28, 28),
            span=(0.0, 255.0),
            normalization=Normalization(method="zscore", per="element"),
        ),
    ),
    targets=(
        TargetPreparation(
            name="price",
            task="numbers",
            axes=("C",),
            sizes=(1,),
            columns=("price",),
            normalization=Normalization(method="zscore", shift=(250_000.0,), scale=(1e5,)),
        ),
        TargetPreparation(
            name="kind",
            source="y",
            task="classes",
            axes=("C",),
            sizes=(2,),
            classes=("flat", "house"),
            activation="softmax",
        ),
        TargetPreparation(
            name="text", task="transcripts", axes=("T", "C"), sizes=(None, 3), classes=("a", "b"), blank="last"
        ),
    ),
)


def test_the_golden_file_of_version_1_is_read_and_written_byte_for_byte() -> None:
    assert Preparation.parse(GOLDEN.read_bytes(), "golden") == RECORD
    assert RECORD.content() == GOLDEN.read_bytes()
    assert Preparation.parse(RECORD.text(), "text") == RECORD


def test_columns_name_the_numbers_they_become() -> None:
    assert RECORD.inputs[0].column_names == (
        "area",
        "facing=north",
        "facing=wëst",
        "sold: year",
        "sold: month",
        "sold: day of week",
        "sold: elapsed days",
        "rooms",
    )


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """The record as JSON with the value at a path replaced, or removed for None."""
    data = RECORD.write()
    inner: Any = data
    for step in path[:-1]:
        inner = inner[step]
    if to is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed("version", to=2), "R has version 2; this version of Netwright reads up to 1. Update Netwright."),
        (changed("version", to=None), "R is damaged: expected an object with the version 1."),
        ([], "R is damaged: expected an object with the version 1."),
        (changed("inputs", to={}), "R is damaged: inputs: expected a list, received {}."),
        (changed("inputs", 0, "sizes", to=["8"]), 'inputs[0].sizes[0]: expected a whole number, received "8".'),
        (changed("inputs", 0, "sizes", to=[True]), "inputs[0].sizes[0]: expected a whole number, received true."),
        (changed("inputs", 0, "sizes", to=[9]), "inputs[0]: its columns give 8 numbers, its size is 9."),
        (changed("inputs", 2, "sizes", to=[3, 2**30, 2**30]), "inputs[2].sizes: expected sizes from 1, of at most"),
        (changed("inputs", 2, "sizes", to=[3, 28]), "inputs[2]: expected a size for each axis"),
        (changed("inputs", 0, "reads", to="mail"), 'inputs[0].reads: expected one of "columns", "image", "array"'),
        (changed("inputs", 0, "colums", to=[]), "inputs[0]: there is no field \"colums\". Did you mean 'columns'?."),
        (changed("inputs", 0, "name", to=None), 'inputs[0]: the field "name" is missing.'),
        (changed("inputs", 0, "columns", 0, "missing", to="x"), 'columns[0].missing: "x" is no number.'),
        (changed("inputs", 0, "columns", 1, "categories", to=["a", "a"]), "columns[1].categories: two are the same."),
        (changed("inputs", 0, "columns", 2, "parts", to=["week"] * 4), 'columns[2].parts: there is no part "week".'),
        (changed("inputs", 0, "normalization", "shift", to=[1.0]), "expected as many shifts as scales"),
        (changed("inputs", 0, "normalization", "shift", 0, to=10**400), "shift[0]: expected a finite number"),
        (changed("inputs", 2, "span", to=[1.0]), "inputs[2].span: expected the smallest and the largest value."),
        (changed("targets", 1, "activation", to=3), 'targets[1].activation: expected one of "", "softmax", "sigmoid"'),
    ],
)
def test_what_is_wrong_is_named(data: Any, message: str) -> None:
    with pytest.raises(UserError) as error:
        Preparation.read(data, "R")
    assert message in str(error.value)


@pytest.mark.parametrize("text", [b"\xff", b"", b"[" * 100_000])
def test_what_is_no_json_is_damaged(text: bytes) -> None:
    with pytest.raises(UserError, match="R is damaged: it is not JSON"):
        Preparation.parse(text, "R")


def test_a_folder_without_a_record_and_one_whose_checksum_differs_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no preparation\.json: the version of Netwright that trained it"):
        Preparation.load(tmp_path)
    (tmp_path / FILE).write_bytes(RECORD.content())
    assert Preparation.load(tmp_path) == RECORD
    manifest = {"files": {FILE: {"sha256": hashlib.sha256(RECORD.content()).hexdigest()}}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert Preparation.load(tmp_path) == RECORD
    (tmp_path / FILE).write_bytes(replace(RECORD, kind="images").content())
    with pytest.raises(UserError, match=r"is damaged: its checksum is not the one in manifest\.json"):
        Preparation.load(tmp_path)


def test_the_record_of_a_project_follows_the_order_and_the_names_of_its_network() -> None:
    network = chain(layer("feature_input", channels=3), layer("fully_connected", outputs=1))
    columns = (
        ColumnPreparation(name="a"),
        ColumnPreparation(name="b", kind="category", categories=("x", "y")),
    )
    info = InputInfo("features", features(3), ("a", "b=x", "b=y"), prepared=columns)
    facts = DatasetInfo((info,), {"training": 9}, classes_of("no", "yes", name="kind"))
    (id,) = (one.id for one in network.inputs)
    record = preparation_of(
        network,
        DataOptions(source="table", path="t"),
        facts,
        {id: FittedNumbers((1.0,) * 3, (2.0,) * 3, is_double=True)},
    )
    (given,), (target,) = record.inputs, record.targets
    assert (given.name, given.source, given.reads, given.dtype, given.columns) == (
        network.inputs[0].name,
        "features",
        "columns",
        "float64",
        columns,
    )
    assert given.normalization == Normalization(method="zscore", shift=(1.0,) * 3, scale=(2.0,) * 3)
    assert (target.source, target.classes, target.activation) == ("kind", ("no", "yes"), "sigmoid")
    assert Preparation.parse(record.content(), "R") == record
    for_onnx = record.for_onnx(["out_probabilities"])
    assert (for_onnx.targets[0].name, for_onnx.targets[0].activation) == ("out_probabilities", "")


def test_tokens_and_open_sequences_keep_their_limits() -> None:
    network = chain(layer("sequence_input", content="indices"), layer("embedding", vocabulary=30, dimension=4))
    facts = DatasetInfo((InputInfo("x", tokens(5)),), {"training": 9}, numbers_of())
    (given,) = preparation_of(network, DataOptions(source="arrays", path="x"), facts).inputs
    assert (given.content, given.dtype, given.vocabulary, given.sizes) == ("indices", "int64", 30, (None,))
    assert given.lengths == (5, 5)
    network = chain(layer("sequence_input", channels=2))
    facts = DatasetInfo((InputInfo("x", sequence(7, 2).opened(), lengths=(4, 7)),), {"training": 9}, numbers_of())
    (given,) = preparation_of(network, DataOptions(source="arrays", path="x"), facts).inputs
    assert (given.sizes, given.lengths) == ((None, 2), (4, 7))


def test_pixels_and_the_softmax_of_the_network() -> None:
    network = chain(
        layer("image_input", channels=3, size=4),
        layer("conv2d", filters=2),
        layer("softmax"),
    )
    target = TargetInfo("mask", image(2, 4, 4), "classes", ("a", "b"))
    info = InputInfo("image", image(3, 4, 4), span=(0.0, 255.0))
    facts = DatasetInfo((info,), {"training": 9}, (target,))
    record = preparation_of(network, DataOptions(source="images", path="x", masks="m"), facts)
    assert (record.inputs[0].reads, record.inputs[0].span) == ("image", (0.0, 255.0))
    assert record.targets[0].activation == "", "the network gives probabilities"


def test_a_network_with_errors_has_inputs_and_no_targets() -> None:
    network = chain(layer("image_input", size=4), layer("conv2d", kernel=9, padding=0))
    facts = DatasetInfo((InputInfo("image", image(1, 4, 4)),), {"training": 9}, numbers_of())
    record = preparation_of(network, DataOptions(source="arrays", path="x"), facts)
    assert (len(record.inputs), record.targets) == (1, ())
