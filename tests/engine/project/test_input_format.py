"""The sentence on what an input takes, from the network and from what is known of the data."""

from dataclasses import replace

from netwright.engine.core.types import features, image, sequence, tokens
from netwright.engine.exchange.pytorch_export import demo_batch
from netwright.engine.network.network import Network
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.input_format import InputFormat, Range, input_formats
from netwright.engine.project.preparation import ColumnPreparation
from netwright.engine.project.preparing import preparation_of
from tests.builders import chain, layer

SAMPLES = {"training": 9}


def one(network: Network, data: DataOptions, info: InputInfo | None, ranges: Range | None = None) -> InputFormat:
    facts = DatasetInfo((info,), SAMPLES, classes_of("a", "b")) if info else None
    record = preparation_of(network, data, facts).for_onnx(())
    (given,) = input_formats(record, {network.inputs[0].name: ranges} if ranges else {})
    return given


def test_images_have_the_range_of_their_source_and_survive_json() -> None:
    info = InputInfo("image", image(3, 28, 28), span=(0.0, 255.0))
    facts = DatasetInfo((info,), SAMPLES, classes_of("a", "b"))
    assert DatasetInfo.read(facts.write()) == facts
    network = chain(layer("image_input", channels=3, size=28))
    given = one(network, DataOptions(source="images", path="x"), info, Range((9.0,), (99.0,)))
    assert given.short() == "pixels 0 to 255, float32, N × 3 × 28 × 28 (batch, channel, height, width)"
    assert "resized to 28 × 28" in given.lines()[1]
    assert "normalises this input itself (zscore)" in given.lines()[2]


def test_what_is_not_known_is_not_said() -> None:
    network = chain(layer("image_input", size=8, normalization="none"))
    given = one(network, DataOptions(), None)
    assert given.short() == "pixels, float32, N × 1 × 8 × 8 (batch, channel, height, width)"
    assert given.lines()[1:] == ("The network does not normalise this input.",)
    assert (given.write()["low"], given.write()["high"]) == (None, None)


def test_pixels_of_a_source_are_known_without_its_data() -> None:
    network = chain(layer("image_input", size=8))
    assert one(network, DataOptions(source="digits"), None).short().startswith("pixels 0 to 16, float32")


def test_columns_are_named_in_order_with_their_ranges() -> None:
    names = tuple(f"c{number}" for number in range(10))
    info = InputInfo("features", features(10), names)
    ranges = Range(tuple(map(float, range(10))), (1000.5,) * 10, "in the training data")
    given = one(chain(layer("feature_input", channels=10)), DataOptions(source="table", path="t.csv"), info, ranges)
    assert given.short() == (
        "10 columns in this order (c0, c1, c2, c3, c4, c5, c6, c7 and 2 more), float32, N × 10 (batch, channel)"
    )
    assert given.lines()[-1] == "c9: 9 to 1,000"
    assert given.write()["columns"] == list(names)
    assert given.write()["column_ranges"][9] == [9.0, 1000.5]


def test_sequences_say_their_axes_and_steps() -> None:
    info = InputInfo("x", sequence(7, 2).opened(), lengths=(4, 7))
    network = chain(layer("sequence_input", channels=2))
    given = one(
        network, DataOptions(source="arrays", path="x.npz"), info, Range((-1.5,), (2.0,), "in the training data")
    )
    assert given.short() == "numbers -1.5 to 2 in the training data, float32, N × T × 2 (batch, step, channel)"
    assert "the data has 4 to 7 steps" in given.lines()[1]
    fixed = one(network, DataOptions(source="arrays", path="x.npz"), InputInfo("x", sequence(40, 2)))
    assert (fixed.lengths, "the data has 40 steps" in fixed.lines()[1]) == ((40, 40), True)


def test_tokens_are_whole_numbers_of_the_vocabulary() -> None:
    network = chain(
        layer("sequence_input", content="indices", length=5), layer("embedding", vocabulary=30, dimension=4)
    )
    given = one(network, DataOptions(source="arrays", path="x.npz"), InputInfo("x", tokens(5)))
    assert given.short() == "whole numbers 0 to 29, float32, N × 5 (batch, step)"


def test_large_numbers_are_told_apart() -> None:
    ranges = Range((1_700_000_000.0,), (1_700_000_039.0,))
    given = one(chain(layer("feature_input", channels=2)), DataOptions(), None, ranges)
    assert given.short().startswith("numbers 1,700,000,000 to 1,700,000,039, float32")
    assert demo_batch(given, 4, 16) == "torch.empty(4, 2).uniform_(1.7e+09, 1.70000004e+09)"
    double = replace(given, dtype="float64")
    assert demo_batch(double, 4, 16) == "torch.empty(4, 2, dtype=torch.float64).uniform_(1700000000, 1700000039)"


def test_gaps_dates_and_indices_of_columns_are_described() -> None:
    columns = (
        ColumnPreparation(name="a", missing=1.5),
        ColumnPreparation(
            name="d", kind="date", parts=("year", "elapsed days"), origin="2024-01-31", missing="2024-02-01"
        ),
    )
    town = ColumnPreparation(name="town", kind="category", categories=("Bonn", "Ulm"), encoding="index")
    info = InputInfo("features", features(3), ("a", "d: year", "d: elapsed days"), prepared=columns)
    data = DataOptions(source="table", path="t.csv")
    given = one(chain(layer("feature_input", channels=3, normalization="none")), data, info)
    assert given.lines()[1:3] == (
        "The date 'd' becomes year, elapsed days, counted from 2024-01-31; Monday is day 1.",
        "Missing values are 'a' 1.5, 'd' 2024-02-01, from the training rows.",
    )
    index = one(
        chain(layer("sequence_input", content="indices", length=1)),
        data,
        InputInfo("town", tokens(1), ("town",), prepared=(town,)),
    )
    assert index.lines()[1] == "The index of 'town' is 1 Bonn, 2 Ulm; 0 for any other text."
