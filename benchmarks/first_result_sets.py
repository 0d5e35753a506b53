"""Data sets of `first_results.py`: made here, or shipped with scikit-learn; `read_folder` reads downloaded ones.

Options of starters were tuned on the sets of `TUNING`, and are judged by those of `REPORTED`.
"""

import ast
import csv
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import arff
from sklearn import datasets

SAMPLE_RATE = 8000
"""Samples of a sound per second."""


@dataclass(frozen=True)
class Rows:
    """A table: columns by name, of numbers or texts; the last is the response."""

    columns: Mapping[str, Any]
    is_regression: bool = False


@dataclass(frozen=True)
class Pictures:
    """Pictures (N, H, W) or (N, H, W, 3) of bytes, and the class of each."""

    pixels: Any
    classes: Any


@dataclass(frozen=True)
class Documents:
    """Texts and the class of each."""

    texts: Sequence[str]
    classes: Sequence[str]


@dataclass(frozen=True)
class Steps:
    """A series with dates, and the number of steps to predict; the season is for the baselines."""

    dates: Sequence[str]
    values: Any
    horizon: int
    season: int


@dataclass(frozen=True)
class Sounds:
    """Sounds (N, samples) of a second between -1 and 1, and the class of each."""

    waves: Any
    classes: Any


Data = Rows | Pictures | Documents | Steps | Sounds


def _frame(loader: Callable[[], Any], *, is_regression: bool = False) -> Rows:
    bunch = loader()
    names = [re.sub(r"\W+", "_", str(name)) for name in getattr(bunch, "feature_names", range(bunch.data.shape[1]))]
    columns: dict[str, Any] = {f"x_{name}": bunch.data[:, place] for place, name in enumerate(names)}
    response = bunch.target if is_regression else [f"c{value}" for value in bunch.target]
    return Rows({**columns, "response": response}, is_regression)


def _of_arrays(x: Any, response: Any, *, is_regression: bool = False) -> Rows:
    columns: dict[str, Any] = {f"x{place}": x[:, place] for place in range(x.shape[1])}
    return Rows({**columns, "response": response}, is_regression)


def three_classes() -> Rows:
    """Three classes of six clusters, 20 columns of which 8 tell."""
    x, y = datasets.make_classification(
        3000, 20, n_informative=8, n_redundant=4, n_classes=3, n_clusters_per_class=2, class_sep=0.8, random_state=11
    )
    return _of_arrays(x, [f"c{value}" for value in y])


def friedman_price() -> Rows:
    """Prices by the first function of Friedman, with five columns that tell nothing and a district."""
    x, y = datasets.make_friedman1(2000, 10, noise=1.0, random_state=12)
    generator = np.random.default_rng(12)
    district = generator.choice(["north", "south", "east", "west"], len(y))
    extra = np.select([district == name for name in ("north", "south", "east")], [4.0, -2.0, 1.0], 0.0)
    columns: dict[str, Any] = {f"x{place}": x[:, place] for place in range(10)}
    price = 20_000 + 9_000 * (y + extra)
    return Rows({**columns, "district": district, "price": np.round(price)}, is_regression=True)


def churn() -> Rows:
    """Customers who leave, by contract, tenure and charge; categories and skewed numbers."""
    generator = np.random.default_rng(13)
    count = 4000
    contract = generator.choice(["monthly", "yearly", "two years"], count, p=[0.55, 0.25, 0.2])
    payment = generator.choice(["card", "transfer", "cheque", "cash"], count)
    tenure = np.round(generator.exponential(24, count)).astype(int)
    charge = np.round(np.exp(generator.normal(4, 0.4, count)), 2)
    calls = generator.poisson(1.5, count)
    support = generator.choice(["yes", "no"], count)
    logit = -1.1 + 1.2 * (contract == "monthly") - 0.05 * np.minimum(tenure, 40) + 0.012 * (charge - 55)
    logit += 0.4 * (calls - 1.5) * (support == "no") + 0.5 * (payment == "cheque")
    leaves = np.where(generator.random(count) < 1 / (1 + np.exp(-logit)), "yes", "no")
    columns: dict[str, Any] = {"contract": contract, "payment": payment, "tenure": tenure, "charge": charge}
    return Rows({**columns, "calls": calls, "support": support, "leaves": leaves})


def moons() -> Rows:
    """Two moons with noise, among six columns of noise."""
    x, y = datasets.make_moons(1200, noise=0.25, random_state=21)
    noise = np.random.default_rng(21).normal(size=(1200, 6))
    return _of_arrays(np.hstack([x, noise]), [f"c{value}" for value in y])


def impedance() -> Rows:
    """Friedman's second function: columns of very different scales."""
    x, y = datasets.make_friedman2(1500, noise=80.0, random_state=22)
    return _of_arrays(x, y, is_regression=True)


def five_classes() -> Rows:
    """Five classes in 30 columns, with labels that are wrong now and then."""
    x, y = datasets.make_classification(
        5000, 30, n_informative=12, n_redundant=6, n_classes=5, n_clusters_per_class=2, flip_y=0.05, random_state=23
    )
    return _of_arrays(x, [f"c{value}" for value in y])


def rents() -> Rows:
    """Rents by size, district and year, with outliers in both."""
    generator = np.random.default_rng(24)
    count = 2500
    size = np.exp(generator.normal(4.2, 0.4, count))
    district = generator.choice([f"d{number}" for number in range(12)], count)
    level = dict(zip(sorted(set(district)), generator.normal(12, 3, 12), strict=True))
    year = generator.integers(1900, 2024, count)
    rent = size * np.array([level[name] for name in district]) * (1 + 0.002 * (year - 1960)) + 50
    rent *= np.exp(
        generator.normal(0, 0.12, count) + (generator.random(count) < 0.02) * generator.normal(0, 0.8, count)
    )
    columns: dict[str, Any] = {"size": np.round(size, 1), "district": district, "year": year}
    return Rows({**columns, "lift": generator.choice(["yes", "no"], count), "rent": np.round(rent, 2)}, True)


def small_line() -> Rows:
    """A line in 12 columns with much noise, in 200 rows."""
    x, y, _ = datasets.make_regression(200, 12, n_informative=5, noise=40.0, coef=True, random_state=25)
    return _of_arrays(x, y, is_regression=True)


def digit_pictures() -> Pictures:
    """The 1,797 digits of scikit-learn, 8 × 8."""
    bunch = datasets.load_digits()
    return Pictures((bunch.images * 15.9).astype(np.uint8), bunch.target)


def shapes() -> Pictures:
    """Five shapes at any place, size, turn and colour on noise, 48 × 48 in colour."""
    return _drawn(2000, 48, ("circle", "square", "triangle", "cross", "ring"), seed=31, is_grey=False)


def strokes() -> Pictures:
    """Six signs of strokes at any place and size, 32 × 32 in grey."""
    return _drawn(1600, 32, ("bar", "angle", "cross", "ring", "wedge", "square"), seed=32, is_grey=True)


def gratings() -> Pictures:
    """Waves of four directions and two widths at any phase, 24 × 24, in noise."""
    generator = np.random.default_rng(33)
    count, side = 1600, 24
    classes = generator.integers(0, 8, count)
    height, width = np.mgrid[:side, :side]
    pixels = np.empty((count, side, side))
    for number, kind in enumerate(classes):
        angle = np.pi * (kind % 4) / 4 + generator.normal(0, 0.08)
        wave = 2 * np.pi * (width * np.cos(angle) + height * np.sin(angle)) / (5 if kind < 4 else 8)
        pixels[number] = np.sin(wave + generator.uniform(0, 7)) + generator.normal(0, 1.0, (side, side))
    return Pictures(np.clip(128 + 40 * pixels, 0, 255).astype(np.uint8), classes)


def _drawn(count: int, side: int, kinds: Sequence[str], *, seed: int, is_grey: bool) -> Pictures:
    """Return pictures of these kinds of shapes."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(0, len(kinds), count)
    height, width = np.mgrid[:side, :side].astype(float)
    pixels = np.empty((count, side, side, 3))
    for number, kind in enumerate(classes):
        radius = generator.uniform(0.14, 0.3) * side
        turn = generator.uniform(0, 2 * np.pi)
        at = generator.uniform(radius, side - radius, 2)
        x = ((width - at[0]) * np.cos(turn) + (height - at[1]) * np.sin(turn)) / radius
        y = (-(width - at[0]) * np.sin(turn) + (height - at[1]) * np.cos(turn)) / radius
        inside = _inside(kinds[kind], x, y)[..., np.newaxis]
        ground = generator.uniform(0, 255, 3)
        ink = generator.uniform(0, 255, 3)
        while np.abs(ink - ground)[: 1 if is_grey else 3].max() < 70:
            ink = generator.uniform(0, 255, 3)
        pixels[number] = np.where(inside, ink, ground) + generator.normal(0, 22, (side, side, 3))
    pixels = np.clip(pixels, 0, 255)
    return Pictures((pixels[..., 0] if is_grey else pixels).astype(np.uint8), np.array(kinds)[classes])


def _inside(kind: str, x: Any, y: Any) -> Any:
    """Return where a shape of radius 1 is."""
    far = np.hypot(x, y)
    match kind:
        case "circle":
            return far < 0.85
        case "ring":
            return (far < 1) & (far > 0.6)
        case "square":
            return np.maximum(np.abs(x), np.abs(y)) < 0.75
        case "triangle":
            return (y > -0.6) & (y < 1 - 1.8 * np.abs(x))
        case "cross":
            return (np.minimum(np.abs(x), np.abs(y)) < 0.25) & (np.maximum(np.abs(x), np.abs(y)) < 0.95)
        case "bar":
            return (np.abs(x) < 0.22) & (np.abs(y) < 1)
        case "angle":
            return ((np.abs(x + 0.6) < 0.2) & (np.abs(y) < 0.9)) | ((np.abs(y - 0.7) < 0.2) & (np.abs(x) < 0.9))
        case _:
            return (far < 1) & (np.abs(np.arctan2(y, x)) < 0.6)


def docstrings() -> Documents:
    """Docstrings of five libraries; which one?"""
    return _documented(("numpy", "scipy", "sklearn", "torch", "PIL"), 600)


def standard_docstrings() -> Documents:
    """Docstrings of six parts of Python's library; which one?"""
    return _documented(("asyncio", "email", "unittest", "xml", "tkinter", "multiprocessing"), 400)


def _documented(libraries: Sequence[str], most: int) -> Documents:
    """Return docstrings in the source of libraries, without the name of the library."""
    texts, classes = [], []
    for name in libraries:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.submodule_search_locations
        seen: dict[str, None] = {}
        for file in sorted(Path(spec.submodule_search_locations[0]).rglob("*.py")):
            if "test" in str(file).removeprefix(str(Path(spec.origin or "").parent)):
                continue
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8", errors="replace"))):
                if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                    continue
                text = ast.get_docstring(node)
                if text and len(text) > 60:
                    seen.setdefault(re.sub(rf"(?i)\b(np|{name})\b\w*", "", " ".join(text.split()))[:1500])
        picked = np.random.default_rng(41).permutation(sorted(seen))[:most].tolist()
        texts += picked
        classes += [name] * len(picked)
    return Documents(texts, classes)


def reviews() -> Documents:
    """Sentences made of good and bad words, some of them turned by 'not': the order counts."""
    generator = np.random.default_rng(42)
    good, bad = ["good", "great", "lovely", "quick", "quiet", "solid"], ["bad", "poor", "ugly", "slow", "noisy", "weak"]
    things = ["room", "phone", "meal", "film", "train", "desk", "lamp", "chair"]
    texts, classes = [], []
    for _ in range(2400):
        score, parts = 0, []
        for _ in range(int(generator.integers(1, 4))):
            is_good, is_turned = generator.random() < 0.5, generator.random() < 0.35
            word = generator.choice(good if is_good else bad)
            score += 1 if is_good != is_turned else -1
            parts.append(f"the {generator.choice(things)} was {'not ' if is_turned else ''}{word}")
        if score:
            texts.append(f"I think {' and '.join(parts)} when we were there in {generator.integers(1990, 2020)}")
            classes.append("up" if score > 0 else "down")
    return Documents(texts, classes)


def _hours(count: int) -> list[str]:
    return [
        str(stamp).replace("T", " ")
        for stamp in np.datetime64("2022-01-01T00:00") + np.arange(count) * np.timedelta64(60, "m")
    ]


def _load(horizon: int) -> Steps:
    """Return a load by hour for two years: day, week, year, weather, and a slow rise."""
    generator = np.random.default_rng(51)
    count = 17_520
    hour, day = np.arange(count) % 24, np.arange(count) // 24
    weather = _wandering(generator, count, 0.98, 4.0)
    weekend = (day % 7) >= 5
    shape = 60 * np.exp(-(((hour - 19) / 3.5) ** 2)) + 45 * np.exp(-(((hour - 9) / 3) ** 2))
    load = 300 + shape * np.where(weekend, 0.6, 1.0) - 25 * weekend + 40 * np.cos(2 * np.pi * day / 365)
    load += weather + generator.normal(0, 5, count) + 0.002 * np.arange(count)
    return Steps(_hours(count), np.round(load, 2), horizon, 168 if horizon > 1 else 24)


def _wandering(generator: Any, count: int, keep: float, size: float) -> Any:
    values, value = np.empty(count), 0.0
    for step in range(count):
        value = keep * value + generator.normal(0, size)
        values[step] = value
    return values


def load_hour() -> Steps:
    """Load of the next hour."""
    return _load(1)


def load_day() -> Steps:
    """Load of the next 24 hours."""
    return _load(24)


def passengers() -> Steps:
    """Monthly numbers of 40 years with a trend, and a season that grows with it."""
    generator = np.random.default_rng(52)
    count = 480
    month = np.arange(count)
    level = 800 * np.exp(0.004 * month + 0.02 * np.cumsum(generator.normal(0, 0.4, count)))
    season = 1 + 0.18 * np.sin(2 * np.pi * month / 12) + 0.07 * np.cos(4 * np.pi * month / 12)
    values = level * season * np.exp(generator.normal(0, 0.02, count))
    return Steps(_months(count), np.round(values, 1), 6, 12)


def _months(count: int) -> list[str]:
    return [f"{1970 + step // 12}-{1 + step % 12:02d}" for step in range(count)]


def sales() -> Steps:
    """Daily sales of five years: a week, a year, a rise, some outliers."""
    generator = np.random.default_rng(53)
    count = 1826
    day = np.arange(count)
    week = np.array([1.0, 0.95, 1.0, 1.05, 1.25, 1.5, 0.7])[day % 7]
    level = 200 + 0.12 * day + 30 * np.sin(2 * np.pi * day / 365) + _wandering(generator, count, 0.9, 4.0)
    values = level * week + generator.normal(0, 12, count) + (generator.random(count) < 0.01) * 150
    dates = [str(np.datetime64("2018-01-01") + int(step)) for step in day]
    return Steps(dates, np.round(values, 1), 7, 7)


def walk() -> Steps:
    """A random walk with drift: nothing beats the last value by much."""
    values = 100 + np.cumsum(np.random.default_rng(54).normal(0.05, 1.0, 1500))
    dates = [str(np.datetime64("2015-01-01") + int(step)) for step in range(1500)]
    return Steps(dates, np.round(values, 3), 5, 0)


def visitors() -> Steps:
    """Visitors per hour of ten weeks, with a season of 24 steps."""
    generator = np.random.default_rng(55)
    count = 1680
    hour = np.arange(count) % 24
    day = 30 + 25 * np.sin(2 * np.pi * (hour - 8) / 24)
    values = day * (1 + 0.15 * _wandering(generator, count, 0.95, 0.2)) + generator.normal(0, 2, count)
    return Steps(_hours(count), np.round(values + 0.01 * np.arange(count), 2), 12, 24)


def spirals() -> Rows:
    """Two spirals that wind around each other, among four columns of noise."""
    generator = np.random.default_rng(61)
    count = 2000
    turn = np.sqrt(generator.random(count)) * 3 * np.pi
    side = generator.integers(0, 2, count)
    x, y = (turn * wave(turn + np.pi * side) + generator.normal(0, 0.45, count) for wave in (np.cos, np.sin))
    noise = generator.normal(size=(count, 4))
    return _of_arrays(np.column_stack([x, y, noise]), [f"c{value}" for value in side])


def angle() -> Rows:
    """Friedman's third function: an angle, columns of very different scales."""
    x, y = datasets.make_friedman3(1500, noise=0.1, random_state=62)
    return _of_arrays(x, y, is_regression=True)


def credits() -> Rows:
    """Credits that are not paid back: incomes and debts with heavy tails, some of them wrong by a factor of 100."""
    generator = np.random.default_rng(63)
    count = 3000
    income = np.exp(generator.normal(10, 0.7, count))
    debt = income * np.exp(generator.normal(-1.2, 0.9, count))
    late = generator.poisson(0.8, count)
    age = np.round(generator.uniform(20, 75, count))
    housing = generator.choice(["owned", "rented", "free"], count, p=[0.5, 0.4, 0.1])
    logit = -1.6 + 1.1 * (np.log(debt / income) + 1.2) + 0.6 * late - 0.6 * (np.log(income) - 10)
    logit += 0.5 * (housing == "rented") - 0.02 * (age - 45) * (late > 0)
    paid = np.where(generator.random(count) < 1 / (1 + np.exp(-logit)), "no", "yes")
    wrong = generator.random(count) < 0.01
    columns: dict[str, Any] = {"income": np.round(np.where(wrong, 100 * income, income)), "debt": np.round(debt)}
    return Rows({**columns, "late": late, "age": age, "housing": housing, "paid": paid})


def yields() -> Rows:
    """Harvests by soil, rain and sun, which saturate; a column with spikes."""
    generator = np.random.default_rng(64)
    count = 1800
    rain, sun = generator.gamma(4, 120, count), generator.normal(1700, 250, count)
    nitrogen = generator.exponential(60, count)
    soil = generator.choice(["clay", "loam", "sand", "peat"], count)
    level = np.select([soil == name for name in ("clay", "loam", "sand")], [1.0, 1.25, 0.8], 1.1)
    harvest = 9 * level * (1 - np.exp(-rain / 300)) * (1 - np.exp(-(nitrogen + 30) / 60))
    harvest += 0.002 * (sun - 1700) + generator.normal(0, 0.5, count)
    spikes = generator.standard_t(1.2, count)
    columns: dict[str, Any] = {"rain": np.round(rain, 1), "sun": np.round(sun), "nitrogen": np.round(nitrogen, 1)}
    return Rows({**columns, "spikes": np.round(spikes, 3), "soil": soil, "harvest": np.round(harvest, 2)}, True)


def incomes() -> Rows:
    """Spending by income and wealth with heavy tails, and a place."""
    generator = np.random.default_rng(65)
    count = 2200
    income, wealth = np.exp(generator.normal(10, 0.8, count)), generator.pareto(1.5, count) * 20_000
    place = generator.choice(["city", "town", "village"], count)
    level = np.select([place == "city", place == "town"], [1.3, 1.0], 0.85)
    spending = (
        level * 40 * income**0.6 * (1 + 0.1 * np.log1p(wealth / 20_000)) * np.exp(generator.normal(0, 0.2, count))
    )
    columns: dict[str, Any] = {"income": np.round(income), "wealth": np.round(wealth), "place": place}
    return Rows({**columns, "spending": np.round(spending)}, is_regression=True)


def sensors() -> Rows:
    """Faults told by eight sensors with spikes: tails of Student's distribution with 1.5 degrees of freedom."""
    generator = np.random.default_rng(66)
    count = 2400
    state = generator.integers(0, 4, count)
    middles = generator.normal(0, 1.2, (4, 8))
    x = middles[state] + 0.6 * generator.normal(size=(count, 8)) + 0.25 * generator.standard_t(1.5, (count, 8))
    x[:, :4] += 0.7 * x[:, 4:] * np.where(state % 2, 1, -1)[:, np.newaxis]
    return _of_arrays(np.round(x, 4), [f"fault {value}" for value in state])


def alarms() -> Sounds:
    """Five alarms: a steady tone, two tones in turn, a rising one, pulses, a warble; in noise, at any pitch."""
    return _rung(("steady", "turns", "rising", "pulses", "warble"), 71)


def calls() -> Sounds:
    """Five calls of birds: a falling whistle, a trill, three chirps, a buzz, a click train; in noise, at any pitch."""
    return _rung(("falling", "trill", "chirps", "buzz", "clicks"), 72)


def _rung(kinds: Sequence[str], seed: int, each: int = 100) -> Sounds:
    """Return sounds of a second, of these kinds."""
    generator = np.random.default_rng(seed)
    at = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    waves, classes = [], []
    for number in range(each * len(kinds)):
        kind = kinds[number % len(kinds)]
        pitch, rate = generator.uniform(400, 1500), generator.uniform(4, 9)
        begin, length = generator.uniform(0, 0.3), generator.uniform(0.5, 0.7)
        along = np.clip((at - begin) / length, 0, 1)
        loudness: Any = np.ones(len(at))
        bend: Any = np.ones(len(at))
        match kind:
            case "turns":
                bend = np.where(np.sin(2 * np.pi * rate * at) > 0, 1.0, 1.35)
            case "rising":
                bend = 0.7 + 0.8 * along
            case "falling":
                bend = 1.5 - 0.8 * along
            case "pulses" | "chirps":
                phase = (rate * at) % 1
                loudness = phase < 0.45
                bend = 1 + 0.8 * phase if kind == "chirps" else bend
            case "warble":
                bend = 1 + 0.15 * np.sin(2 * np.pi * 2 * rate * at)
            case "trill":
                loudness = 0.5 + 0.5 * np.sin(2 * np.pi * 3 * rate * at)
            case "clicks":
                loudness = ((2 * rate * at) % 1) < 0.08
        wave = np.sin(2 * np.pi * np.cumsum(pitch * bend) / SAMPLE_RATE)
        if kind == "buzz":
            wave = np.sign(wave) * 0.6
        wave = wave * loudness * ((along > 0) & (along < 1)) * generator.uniform(0.1, 0.5)
        waves.append(wave + generator.normal(0, 10 ** generator.uniform(-2, -0.9), len(at)))
        classes.append(kind)
    return Sounds(np.clip(np.array(waves), -1, 1), np.array(classes))


def read_folder(folder: Path) -> dict[str, Callable[[], Rows]]:
    """Return a set per CSV or ARFF file of a folder, as they are downloaded from OpenML. The response is the column
    `class` or `target`, or the last one; it is numbers to predict where it has numbers with more than 20 values."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".csv", ".arff"))
    return {path.stem: partial(_read_file, path) for path in files}


def _read_file(path: Path) -> Rows:
    if path.suffix.lower() == ".arff":
        records, meta = arff.loadarff(path)
        columns: dict[str, Any] = {name: records[name] for name in meta.names()}
        columns = {n: c.astype(str) if c.dtype.kind == "S" else c for n, c in columns.items()}
    else:
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        columns = {name: _numbers([row[place] for row in rows]) for place, name in enumerate(head)}
    names = [name for name in columns if name.lower() in ("class", "target")] or [list(columns)[-1]]
    response = columns.pop(names[-1])
    is_regression = response.dtype.kind == "f" and len(np.unique(response)) > 20
    return Rows({**columns, names[-1]: response if is_regression else response.astype(str)}, is_regression)


def _numbers(texts: list[str]) -> Any:
    """Return a column as numbers, unknown ones as NaN, or as the texts that they are."""
    try:
        return np.array([float(text) if text.strip() not in ("", "?") else np.nan for text in texts])
    except ValueError:
        return np.array(texts)


REPORTED: dict[str, Callable[[], Data]] = {
    "wine": lambda: _frame(datasets.load_wine),
    "breast cancer": lambda: _frame(datasets.load_breast_cancer),
    "diabetes": lambda: _frame(datasets.load_diabetes, is_regression=True),
    "digits as columns": lambda: _frame(datasets.load_digits),
    "three classes": three_classes,
    "friedman price": friedman_price,
    "churn": churn,
    "spirals": spirals,
    "angle": angle,
    "credits": credits,
    "yields": yields,
    "digit pictures": digit_pictures,
    "shapes": shapes,
    "alarms": alarms,
    "docstrings": docstrings,
    "load, next hour": load_hour,
    "load, next day": load_day,
    "passengers": passengers,
}
TUNING: dict[str, Callable[[], Data]] = {
    "iris": lambda: _frame(datasets.load_iris),
    "moons": moons,
    "impedance": impedance,
    "five classes": five_classes,
    "rents": rents,
    "small line": small_line,
    "incomes": incomes,
    "sensors": sensors,
    "strokes": strokes,
    "gratings": gratings,
    "calls": calls,
    "standard docstrings": standard_docstrings,
    "reviews": reviews,
    "sales": sales,
    "walk": walk,
    "visitors": visitors,
}
