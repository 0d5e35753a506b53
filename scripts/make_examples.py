"""Writes the example projects, of the data that `scripts.make_example_data` has made. The same bytes each time.

Run by hand: `.venv/bin/python -m scripts.make_examples`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from netwright.engine.core.files import write_atomically
from netwright.engine.data.loading.load import facts
from netwright.engine.layers.base import LayerType
from netwright.engine.network import edits
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.layout import NODE_WIDTH, Layout
from netwright.engine.network.network import Layer, Network, Port
from netwright.engine.project.check import check
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions

EXAMPLES = Path(__file__).parents[1] / "resources" / "examples"
CENTRE, TOP, STEP = 400.0, 60.0, 60.0
ASIDE = 236.0


class Drawing:
    """A network that grows downwards. Each row is one layer, or several side by side."""

    def __init__(self) -> None:
        self.network = Network.empty()
        self.positions: dict[str, tuple[float, float]] = {}

    def add(self, name: str, key: str, *feeds: Layer, row: float, aside: float = 0.0, **values: object) -> Layer:
        """One more layer, fed by these, so many rows from the top."""
        type: LayerType = layer_type(key)(**values)
        id = f"d{len(self.network) + 1:02d}"
        self.network, layer = edits.add_layer(self.network, type, name, id=id)
        for source, port in zip(feeds, type.input_ports(), strict=True):
            self.network = edits.connect(self.network, Port(source.id, "out"), Port(id, port))
        self.positions[id] = (CENTRE - NODE_WIDTH / 2 + aside, TOP + row * STEP)
        return layer

    def project(self, data: DataOptions, training: TrainingOptions) -> Project:
        """The drawn network with its data and options; the environment is left to `auto`."""
        return Project(self.network, Layout(self.positions), data, training)


def digits() -> Project:
    """Convolutions with a way around one of them, on the built-in digits."""
    draw = Drawing()
    last = draw.add("image", "image_input", row=0, channels=1, size=8)
    last = draw.add("conv_1", "conv2d", last, row=1, filters=16)
    last = draw.add("bn_1", "batch_norm", last, row=2)
    fork = draw.add("relu_1", "relu", last, row=3)
    left = draw.add("conv_2", "conv2d", fork, row=4, aside=-ASIDE / 2, filters=16)
    left = draw.add("bn_2", "batch_norm", left, row=5, aside=-ASIDE / 2)
    left = draw.add("relu_2", "relu", left, row=6, aside=-ASIDE / 2)
    right = draw.add("skip", "conv2d", fork, row=5, aside=ASIDE / 2, filters=16, kernel=1)
    last = draw.add("add", "addition", left, right, row=7)
    last = draw.add("pool", "max_pool2d", last, row=8)
    last = draw.add("conv_3", "conv2d", last, row=9, filters=32)
    last = draw.add("bn_3", "batch_norm", last, row=10)
    last = draw.add("relu_3", "relu", last, row=11)
    last = draw.add("fc", "fully_connected", last, row=12, outputs=10)
    draw.add("softmax", "softmax", last, row=13)
    training = TrainingOptions(
        initial_learn_rate=0.05, max_epochs=12, mini_batch_size=128, shuffle="every-epoch", validation_frequency=10
    )
    return draw.project(DataOptions(source="digits"), training)


def heating() -> Project:
    """A regression on a table."""
    data = DataOptions(source="table", path="../data/heating.csv", response="heating_kwh", task="numbers")
    draw = Drawing()
    last = draw.add("features", "feature_input", row=0, channels=_sizes(data)[-1])
    for number, outputs in enumerate((32, 16), start=1):
        last = draw.add(f"fc_{number}", "fully_connected", last, row=2 * number - 1, outputs=outputs)
        last = draw.add(f"relu_{number}", "relu", last, row=2 * number)
    draw.add("heating", "fully_connected", last, row=5, outputs=1)
    training = TrainingOptions(
        solver="adam",
        initial_learn_rate=0.01,
        schedule="cosine",
        max_epochs=120,
        mini_batch_size=64,
        shuffle="every-epoch",
    )
    return draw.project(data, training)


def power() -> Project:
    """Forecasts a day from the two days before it, and from what is known of it."""
    data = DataOptions(
        source="series",
        path="../data/power.csv",
        response="demand_mw",
        time_column="time",
        known_columns="temperature, workday",
        lags=48,
        horizon=24,
    )
    draw = Drawing()
    known = _facts(data)
    sides = []
    for given, aside in zip(known.inputs, (-ASIDE / 2, ASIDE / 2), strict=True):
        steps, channels = given.type.sizes
        last = draw.add(given.name, "sequence_input", row=0, aside=aside, channels=channels, length=steps)
        sides.append(draw.add(f"flat_{given.name}", "flatten", last, row=1, aside=aside))
    last = draw.add("join", "concatenation", *sides, row=2)
    last = draw.add("fc_1", "fully_connected", last, row=3, outputs=64)
    last = draw.add("tanh_1", "tanh", last, row=4)
    last = draw.add("fc_2", "fully_connected", last, row=5, outputs=known.outputs)
    draw.add("demand", "inverse_norm", last, row=6, numbers="fitted")
    training = TrainingOptions(
        solver="adam",
        initial_learn_rate=0.003,
        schedule="cosine",
        normalize_targets=True,
        metrics=("rmse", "mae"),
        l2_regularization=0.001,
        max_epochs=30,
        mini_batch_size=32,
        shuffle="every-epoch",
    )
    return draw.project(data, training)


def shapes() -> Project:
    """Says of each pixel what it belongs to, with a small U-Net."""
    data = DataOptions(source="arrays", path="../data/shapes.npz", ignored_value=255)
    channels, height, width = _sizes(data)
    draw = Drawing()
    last = draw.add("image", "image_input", row=0, channels=channels, size=(height, width))
    last = draw.add("conv_1", "conv2d", last, row=1, filters=12)
    fork = draw.add("relu_1", "relu", last, row=2)
    last = draw.add("pool", "max_pool2d", fork, row=3, aside=ASIDE / 2)
    last = draw.add("conv_2", "conv2d", last, row=4, aside=ASIDE / 2, filters=24)
    last = draw.add("relu_2", "relu", last, row=5, aside=ASIDE / 2)
    last = draw.add("conv_3", "conv2d", last, row=6, aside=ASIDE / 2, filters=24)
    last = draw.add("relu_3", "relu", last, row=7, aside=ASIDE / 2)
    last = draw.add("up", "transposed_conv2d", last, row=8, aside=ASIDE / 2, filters=12, kernel=2, stride=2)
    last = draw.add("join", "concatenation", fork, last, row=9)
    last = draw.add("conv_4", "conv2d", last, row=10, filters=12)
    last = draw.add("relu_4", "relu", last, row=11)
    last = draw.add("scores", "conv2d", last, row=12, filters=len(_facts(data).classes), kernel=1)
    draw.add("mask", "softmax", last, row=13)
    training = TrainingOptions(
        solver="adam",
        initial_learn_rate=0.01,
        loss="dice-cross-entropy",
        max_epochs=20,
        mini_batch_size=16,
        shuffle="every-epoch",
        validation_frequency=20,
    )
    return draw.project(data, training)


def waves() -> Project:
    """Tells sequences apart with an LSTM."""
    data = DataOptions(source="arrays", path="../data/waves.npz")
    draw = Drawing()
    last = draw.add("sequence", "sequence_input", row=0, channels=_sizes(data)[-1])
    last = draw.add("lstm", "lstm", last, row=1, hidden_units=32, output_mode="last")
    last = draw.add("fc", "fully_connected", last, row=2, outputs=len(_facts(data).classes))
    draw.add("softmax", "softmax", last, row=3)
    training = TrainingOptions(
        solver="adam",
        initial_learn_rate=0.01,
        schedule="cosine",
        max_epochs=60,
        mini_batch_size=64,
        shuffle="every-epoch",
        gradient_threshold=1.0,
        gradient_threshold_method="global-l2norm",
    )
    return draw.project(data, training)


def angles() -> Project:
    """Convolutions that read a number off a picture."""
    draw = Drawing()
    last = draw.add("image", "image_input", row=0, channels=1, size=28)
    for number, filters in enumerate((8, 16, 32), start=1):
        last = draw.add(f"conv_{number}", "conv2d", last, row=4 * number - 3, filters=filters)
        last = draw.add(f"bn_{number}", "batch_norm", last, row=4 * number - 2)
        last = draw.add(f"relu_{number}", "relu", last, row=4 * number - 1)
        last = draw.add(f"pool_{number}", "average_pool2d", last, row=4 * number, kernel=2, stride=2)
    last = draw.add("fc", "fully_connected", last, row=13, outputs=1)
    draw.add("angle", "inverse_norm", last, row=14, numbers="fitted")
    training = TrainingOptions(
        solver="adam",
        initial_learn_rate=0.005,
        schedule="cosine",
        normalize_targets=True,
        metrics=("rmse", "mae"),
        max_epochs=30,
        mini_batch_size=64,
        shuffle="every-epoch",
    )
    return draw.project(DataOptions(source="arrays", path="../data/angles.npz"), training)


def codes() -> Project:
    """An autoencoder: a picture becomes ten numbers, and a picture again."""
    draw = Drawing()
    last = draw.add("image", "image_input", row=0, channels=1, size=8, normalization="rescale-zero-one")
    last = draw.add("fc_1", "fully_connected", last, row=1, outputs=256)
    last = draw.add("relu_1", "relu", last, row=2)
    last = draw.add("code", "fully_connected", last, row=3, outputs=10)
    last = draw.add("fc_2", "fully_connected", last, row=4, outputs=256)
    last = draw.add("relu_2", "relu", last, row=5)
    last = draw.add("fc_3", "fully_connected", last, row=6, outputs=64)
    last = draw.add("sigmoid", "sigmoid", last, row=7)
    draw.add("restored", "reshape", last, row=8, layout="image", sizes=(1, 8, 8))
    training = TrainingOptions(
        solver="adam",
        initial_learn_rate=0.002,
        schedule="cosine",
        max_epochs=80,
        mini_batch_size=32,
        shuffle="every-epoch",
        l2_regularization=0.0,
    )
    return draw.project(DataOptions(source="arrays", path="../data/codes.npz"), training)


def orders() -> Project:
    """Each column of words has an embedding; their vectors join the numbers."""
    data = DataOptions(source="table", path="../data/orders.csv", response="returned", category_encoding="indices")
    draw, sides, columns = Drawing(), [], _facts(data).inputs
    for place, column in enumerate(columns):
        aside = (place - (len(columns) - 1) / 2) * ASIDE
        if column.type.kind == "real":
            sides.append(draw.add("numbers", "feature_input", row=0, aside=aside, channels=len(column.columns)))
            continue
        categories = len(column.prepared[0].categories) + 1
        last = draw.add(column.name, "sequence_input", row=0, aside=aside, content="indices", length=1)
        last = draw.add(
            f"{column.name}_vector", "embedding", last, row=1, aside=aside, vocabulary=categories, dimension=4
        )
        sides.append(draw.add(f"{column.name}_flat", "flatten", last, row=2, aside=aside))
    last = draw.add("join", "concatenation", *sides, row=4, inputs=len(sides))
    for number, outputs in enumerate((64, 32), start=1):
        last = draw.add(f"fc_{number}", "fully_connected", last, row=3 * number + 2, outputs=outputs)
        last = draw.add(f"relu_{number}", "relu", last, row=3 * number + 3)
        last = draw.add(f"dropout_{number}", "dropout", last, row=3 * number + 4, probability=0.2)
    last = draw.add("fc_3", "fully_connected", last, row=11, outputs=2)
    draw.add("softmax", "softmax", last, row=12)
    training = TrainingOptions(
        solver="adam",
        initial_learn_rate=0.003,
        schedule="cosine",
        max_epochs=20,
        mini_batch_size=64,
        shuffle="every-epoch",
        l2_regularization=0.001,
    )
    return draw.project(data, training)


def recipes() -> Project:
    """A small transformer that writes letter by letter."""
    data = DataOptions(source="text", path="../data/recipes.txt", tokens="byte", text_samples="lines", block_length=160)
    width = 64
    draw, left = Drawing(), -0.75 * ASIDE
    last = draw.add("letters", "sequence_input", row=0, aside=left, content="indices")
    last = draw.add("embedding", "embedding", last, row=1, aside=left, vocabulary=256, dimension=width)
    last = draw.add("position", "position_embedding", last, row=2, aside=left, positions=160)
    for number in (1, 2):
        row, aside = 3, (number - 1.5) * 1.5 * ASIDE
        fork = last
        last = draw.add(f"norm_{2 * number - 1}", "layer_norm", fork, row=row, aside=aside)
        last = draw.add(f"attention_{number}", "self_attention", last, row=row + 1, aside=aside, heads=4, mask="causal")
        fork = draw.add(f"add_{2 * number - 1}", "addition", fork, last, row=row + 2, aside=aside)
        last = draw.add(f"norm_{2 * number}", "layer_norm", fork, row=row + 3, aside=aside)
        last = draw.add(f"fc_{2 * number - 1}", "fully_connected", last, row=row + 4, aside=aside, outputs=4 * width)
        last = draw.add(f"gelu_{number}", "gelu", last, row=row + 5, aside=aside)
        last = draw.add(f"fc_{2 * number}", "fully_connected", last, row=row + 6, aside=aside, outputs=width)
        last = draw.add(f"add_{2 * number}", "addition", fork, last, row=row + 7, aside=aside)
    last = draw.add("norm", "layer_norm", last, row=11, aside=-left)
    last = draw.add("scores", "fully_connected", last, row=12, aside=-left, outputs=256)
    draw.add("softmax", "softmax", last, row=13, aside=-left)
    training = TrainingOptions(
        solver="adamw",
        initial_learn_rate=0.004,
        schedule="cosine",
        max_epochs=12,
        mini_batch_size=16,
        shuffle="every-epoch",
        gradient_threshold=1.0,
        gradient_threshold_method="global-l2norm",
    )
    return draw.project(data, training)


def reports() -> Project:
    """Words in both directions through an LSTM."""
    data = DataOptions(source="text", path="../data/reports.csv", response="fault", lower_case=True)
    draw, text = Drawing(), _facts(data).inputs[0].text
    assert text is not None
    last = draw.add("words", "sequence_input", row=0, content="indices")
    last = draw.add("embedding", "embedding", last, row=1, vocabulary=text.vocabulary, dimension=32)
    last = draw.add("lstm", "bilstm", last, row=2, hidden_units=32)
    last = draw.add("pool", "global_max_pool", last, row=3)
    last = draw.add("dropout", "dropout", last, row=4, probability=0.3)
    last = draw.add("fc", "fully_connected", last, row=5, outputs=len(_facts(data).classes))
    draw.add("softmax", "softmax", last, row=6)
    training = TrainingOptions(
        solver="adam",
        initial_learn_rate=0.01,
        schedule="cosine",
        max_epochs=20,
        mini_batch_size=32,
        shuffle="every-epoch",
    )
    return draw.project(data, training)


def sounds() -> Project:
    """Convolutions over the mel spectrograms of drums."""
    data = DataOptions(source="audio", path="../data/sounds")
    draw = Drawing()
    _, height, width = _facts(data).inputs[0].type.sizes
    last = draw.add("spectrogram", "image_input", row=0, channels=1, size=(height, width))
    for number, filters in enumerate((8, 16, 32), start=1):
        last = draw.add(f"conv_{number}", "conv2d", last, row=4 * number - 3, filters=filters)
        last = draw.add(f"bn_{number}", "batch_norm", last, row=4 * number - 2)
        last = draw.add(f"relu_{number}", "relu", last, row=4 * number - 1)
        if number < 3:
            last = draw.add(f"pool_{number}", "max_pool2d", last, row=4 * number, kernel=2, stride=2)
    last = draw.add("mean", "global_average_pool", last, row=12)
    last = draw.add("fc", "fully_connected", last, row=13, outputs=len(_facts(data).classes))
    draw.add("softmax", "softmax", last, row=14)
    training = TrainingOptions(
        solver="adam",
        initial_learn_rate=0.005,
        schedule="cosine",
        max_epochs=40,
        mini_batch_size=16,
        shuffle="every-epoch",
    )
    return draw.project(data, training)


def stations() -> Project:
    """One network for six series: a week ahead from two weeks, and from the weather that is forecast."""
    data = DataOptions(
        source="series",
        path="../data/stations.csv",
        response="bicycles",
        time_column="day",
        group_column="station",
        known_columns="temperature, rain_mm, workday",
        lags=14,
        horizon=7,
    )
    draw = Drawing()
    known, sides = _facts(data), []
    for part, aside in zip(known.inputs, (-ASIDE / 2, ASIDE / 2), strict=True):
        steps, channels = part.type.sizes
        last = draw.add(part.name, "sequence_input", row=0, aside=aside, channels=channels, length=steps)
        sides.append(draw.add(f"flat_{part.name}", "flatten", last, row=1, aside=aside))
    last = draw.add("join", "concatenation", *sides, row=2)
    last = draw.add("fc_1", "fully_connected", last, row=3, outputs=64)
    last = draw.add("relu_1", "relu", last, row=4)
    last = draw.add("fc_2", "fully_connected", last, row=5, outputs=64)
    last = draw.add("relu_2", "relu", last, row=6)
    last = draw.add("fc_3", "fully_connected", last, row=7, outputs=known.outputs)
    draw.add("bicycles", "inverse_norm", last, row=8, numbers="fitted")
    training = TrainingOptions(
        solver="adam",
        initial_learn_rate=0.003,
        schedule="cosine",
        normalize_targets=True,
        metrics=("rmse", "mae"),
        l2_regularization=0.01,
        max_epochs=60,
        mini_batch_size=64,
        shuffle="every-epoch",
    )
    return draw.project(data, training)


MAKERS = (digits, shapes, angles, codes, heating, orders, power, stations, waves, sounds, reports, recipes)
PROJECTS: Mapping[str, Callable[[], Project]] = {maker.__name__: maker for maker in MAKERS}


def _facts(data: DataOptions) -> DatasetInfo:
    return facts(data, EXAMPLES)


def _sizes(data: DataOptions) -> tuple[int, ...]:
    return tuple(size for size in _facts(data).inputs[0].type.sizes if isinstance(size, int))


def write_projects() -> None:
    """Write the project files. Stops if one of them has a problem."""
    EXAMPLES.mkdir(parents=True, exist_ok=True)
    for name, make in PROJECTS.items():
        project = make()
        report = check(project, _facts(project.data))
        if report.problems:
            raise SystemExit(f"{name}: " + "; ".join(problem.message for problem in report.problems))
        write_atomically(EXAMPLES / f"{name}.netwright", dumps(project).encode())


if __name__ == "__main__":
    write_projects()
    print(*sorted(f"{path.name}: {path.stat().st_size:,} bytes" for path in EXAMPLES.glob("*.netwright")), sep="\n")
