"""Writes the example projects, and the generated data of four of them. The same bytes each time.

Run by hand: `.venv/bin/python -m scripts.make_examples [projects|data ...]`. What the data is stands
in resources/data/ATTRIBUTION.md.
"""

import csv
import io
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

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
from scripts.make_digits import write_npz

RESOURCES = Path(__file__).parents[1] / "resources"
EXAMPLES, DATA = RESOURCES / "examples", RESOURCES / "data"
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
        max_epochs=30,
        mini_batch_size=64,
        shuffle="every-epoch",
        gradient_threshold=1.0,
        gradient_threshold_method="global-l2norm",
    )
    return draw.project(data, training)


PROJECTS = {"digits": digits, "heating": heating, "power": power, "shapes": shapes, "waves": waves}


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


def make_heating(rows: int = 800) -> list[list[Any]]:
    """Made-up houses on made-up days: a simple heat balance, with noise of 4 %."""
    random = np.random.default_rng(1)
    facing = np.array(["north", "east", "south", "west"])
    gain = {"north": 0.35, "east": 0.7, "south": 1.0, "west": 0.75}
    table: list[list[Any]] = [
        ["floor_m2", "window_share", "wall_u_value", "facing", "occupants", "outside_c", "sun_kwh_m2", "heating_kwh"]
    ]
    for _ in range(rows):
        floor, share = random.uniform(50, 220), random.uniform(0.1, 0.45)
        wall_u, side = random.uniform(0.15, 1.4), str(random.choice(facing))
        people, outside, sun = int(random.integers(1, 7)), random.uniform(-12, 16), random.uniform(0.2, 4.0)
        floor, share, wall_u = round(floor, 1), round(share, 3), round(wall_u, 2)
        outside, sun = round(outside, 1), round(sun, 2)
        shell, window = 1.1 * floor, share * floor * 0.5
        lost = (shell * wall_u + window * 1.3 + floor * 0.25) * (20.0 - outside) * 24 / 1000
        gained = window * sun * gain[side] * 0.55 + people * 1.9 + floor * 0.04
        # What is gained beyond what is lost heats nothing: a soft floor at zero.
        needed = np.logaddexp(0.0, (lost - gained) / 4.0) * 4.0 * (1 + 0.04 * random.standard_normal())
        table.append([floor, share, wall_u, side, people, outside, sun, round(float(needed), 2)])
    return table


def make_power(days: int = 77) -> list[list[Any]]:
    """Made-up demand of a town, hour by hour from winter to spring: people get up, work and cook, stay in bed at
    weekends, and heat when it was cold for a while; and the weather that makes them."""
    random = np.random.default_rng(4)
    hours = np.arange(24 * days)
    hour, day = hours % 24, hours // 24
    weather = np.zeros(len(hours))
    for now in range(1, len(hours)):
        weather[now] = 0.985 * weather[now - 1] + 0.45 * random.standard_normal()
    outside = 3.0 + 0.14 * day + 3.5 * np.sin(2 * np.pi * (hour - 9) / 24) + weather
    felt = np.zeros(len(hours))  # walls keep warm
    felt[0] = outside[0]
    for now in range(1, len(hours)):
        felt[now] = 0.9 * felt[now - 1] + 0.1 * outside[now]
    workday = (day % 7 < 5) & ~np.isin(day, (38, 59))  # the first day is a Monday; two holidays
    morning = np.exp(-0.5 * ((hour - np.where(workday, 8.0, 10.0)) / 2.0) ** 2)
    noon = np.exp(-0.5 * ((hour - 13.0) / 3.0) ** 2)
    evening = np.exp(-0.5 * ((hour - 19.0) / 2.5) ** 2)
    people = np.where(workday, 16 * morning + 12 * noon + 18 * evening, 7 * morning + 9 * noon + 15 * evening)
    demand = 38.0 + people + 0.9 * np.logaddexp(0.0, 16.0 - felt) + 0.7 * random.standard_normal(len(hours))
    start = datetime(2024, 1, 15)
    table: list[list[Any]] = [["time", "temperature", "workday", "demand_mw"]]
    for now in range(len(hours)):
        time = (start + timedelta(hours=now)).isoformat(sep=" ", timespec="minutes")
        table.append([time, round(float(outside[now]), 1), int(workday[now]), round(float(demand[now]), 1)])
    return table


def make_waves(count: int = 1200, steps: int = 40) -> dict[str, np.ndarray[Any, Any]]:
    """Four wave forms of random pitch, phase and height, as two sensors a quarter of a period apart see them."""
    random = np.random.default_rng(2)
    names = np.array(["sawtooth", "sine", "square", "triangle"])
    kinds = np.arange(count) % len(names)
    random.shuffle(kinds)
    periods, start = random.uniform(9, 20, (count, 1, 1)), random.uniform(0, 1, (count, 1, 1))
    phase = (np.arange(steps)[:, None] / periods + start + np.array([0.0, 0.25])) % 1.0
    forms = np.stack(
        [
            2 * phase - 1,
            np.sin(2 * np.pi * phase),
            np.where(phase < 0.5, 1.0, -1.0),
            1 - 4 * np.abs(phase - 0.5),
        ]
    )
    heights = random.uniform(0.7, 1.3, (count, 1, 1))
    values = forms[kinds, np.arange(count)] * heights + 0.08 * random.standard_normal(phase.shape)
    return {"x": (np.rint(values * 32) / 32).astype(np.float16), "y": names[kinds]}


def make_shapes(count: int = 200, size: int = 24) -> dict[str, np.ndarray[Any, Any]]:
    """Discs, squares and triangles of any grey on a darker or lighter ground, and what each pixel belongs to: 0 the
    ground, then the three; 255, which does not count, along the edges of the picture."""
    random = np.random.default_rng(3)
    y, x = np.mgrid[:size, :size]
    images, masks = np.empty((count, 1, size, size)), np.zeros((count, size, size), np.uint8)
    for number in range(count):
        images[number] = random.uniform(40, 90)
        for kind in random.permutation(3)[: random.integers(1, 4)] + 1:
            middle_y, middle_x = random.uniform(6, size - 6, 2)
            reach = random.uniform(3.5, 6.0)
            down, right = y - middle_y, x - middle_x
            inside = {
                1: down**2 + right**2 < reach**2,
                2: np.maximum(abs(down), abs(right)) < 0.85 * reach,
                3: (down < 0.7 * reach) & (2 * abs(right) < down + reach),
            }[int(kind)]
            images[number, 0][inside] = random.uniform(120, 230)
            masks[number][inside] = kind
    images += random.normal(0, 8, images.shape)
    for edge in (0, -1):
        masks[:, edge], masks[:, :, edge] = 255, 255
    return {"x": np.clip(np.rint(images / 8) * 8, 0, 255).astype(np.uint8), "y_mask": masks}


def write_data() -> None:
    """Write the tables, the pictures and the sequences."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(make_heating())
    write_atomically(DATA / "heating.csv", text.getvalue().encode())
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(make_power())
    write_atomically(DATA / "power.csv", text.getvalue().encode())
    write_npz(DATA / "shapes.npz", make_shapes())
    write_npz(DATA / "waves.npz", make_waves())


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["data", "projects"]
    if "data" in wanted:
        write_data()
    if "projects" in wanted:
        write_projects()
    print(*sorted(f"{p.name}: {p.stat().st_size:,} bytes" for p in (*DATA.iterdir(), *EXAMPLES.iterdir())), sep="\n")
