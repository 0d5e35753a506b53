"""The first result of a beginner, `netwright-engine new --data` and `train` with every default, beside scikit-learn's.

One quarter of each data set (`first_result_sets`) is held out and never seen by `new` or `train`. Run for example:

    python -m benchmarks.first_results                      # the reported sets, split and seed 0
    python -m benchmarks.first_results --sets tuning --seeds 2
    python -m benchmarks.first_results --only "shapes;wine" --ours # without scikit-learn's
    python -m benchmarks.first_results --engine before=/other/.venv/bin/netwright-engine --engine after=.venv/bin/...
    python -m benchmarks.first_results --openml downloads --seeds 5 # the CSV and ARFF files of a folder

Engines and scikit-learn's models take turns for each set and seed, on the same split; the seed decides the split, and
all that is drawn at random. Scores: accuracy, R² for numbers, and for forecasts the skill 1 - RMSE / RMSE of the best
of the last value and the value one season before.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from PIL import Image
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.first_result_sets import (
    REPORTED,
    SAMPLE_RATE,
    TUNING,
    Data,
    Documents,
    Pictures,
    Rows,
    Sounds,
    Steps,
    read_folder,
)

ENGINES = {"ours": Path(sys.executable).with_name("netwright-engine")}
"""The commands that are measured, by name."""
HELD_OUT = 0.25
MOST_BOOSTED = 1000
"""Columns up to which gradient boosting is fitted: it takes minutes on raw pixels."""


@dataclass
class Score:
    """Scores of one data set and seed by the name of the model, the larger the better."""

    name: str
    seed: int
    kind: str
    scores: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)


# --- ours, by the command line --------------------------------------------------------------------------------------


def _engine(engine: Path, folder: Path, *words: str) -> str:
    """Run a command line in a folder; return its output."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    env = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": f"{home}/.config", "XDG_CACHE_HOME": f"{home}/.cache"}
    done = subprocess.run([engine, *words], cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        print(" ".join(words), done.stdout[-800:], done.stderr[-1500:], sep="\n")
    return done.stdout


def _measure_ours(score: Score, folder: Path, data: str, held_out: str, metric: str, *settings: str) -> None:
    """Add the score of each engine on the held-out data, the seconds of `train`, and the first line that it ended
    with."""
    options = [word for setting in settings for word in ("--set", setting)]
    project = Path(data).stem + ".netwright"
    for name, engine in ENGINES.items():
        (folder / project).unlink(missing_ok=True)
        shutil.rmtree(folder / "run", ignore_errors=True)
        _engine(engine, folder, "new", "--data", data, *options)
        begin = time.perf_counter()
        said = _engine(engine, folder, "train", project, "--run-dir", "run", "--set", f"training.seed={score.seed}")
        score.seconds[name] = time.perf_counter() - begin
        score.said[name] = said.splitlines()[0] if said else ""
        text = _engine(engine, folder, "evaluate", "run", "--data", held_out, "--json")
        try:
            score.scores[name] = _score_in(json.loads(text), metric)
        except ValueError:
            score.scores[name] = float("nan")


def _score_in(scores: Any, metric: str) -> float:
    """Return a metric of an evaluation."""
    target = scores["outputs"][0] if "outputs" in scores else scores
    for place in (target, scores, scores.get("metrics", {}), target.get("metrics", {})):
        if isinstance(place, dict) and isinstance(place.get(metric), int | float):
            return float(place[metric])
    raise KeyError(f"no {metric} in {list(scores)}")


# --- scikit-learn's defaults ------------------------------------------------------------------------------------------


def _models(seed: int, *, is_regression: bool, columns: int) -> dict[str, Any]:
    """Return scikit-learn's models with their defaults; a linear one may take as many iterations as it needs."""
    if is_regression:
        return {
            "linear": Ridge(),
            "forest": RandomForestRegressor(random_state=seed),
            "boosting": HistGradientBoostingRegressor(random_state=seed),
            "MLP": MLPRegressor(random_state=seed),
        }
    models: dict[str, Any] = {
        "linear": LogisticRegression(max_iter=1000),
        "forest": RandomForestClassifier(random_state=seed),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "MLP": MLPClassifier(random_state=seed),
    }
    return {name: model for name, model in models.items() if name != "boosting" or columns <= MOST_BOOSTED}


def _write(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def _of_table(data: Rows, score: Score, folder: Path, *, has_others: bool) -> None:
    names = list(data.columns)
    response = names[-1]
    y = np.asarray(data.columns[response])
    places = np.arange(len(y))
    training, held_out = train_test_split(
        places, test_size=HELD_OUT, random_state=100 + score.seed, stratify=None if data.is_regression else y
    )
    for name, chosen in (("data.csv", training), ("held_out.csv", held_out)):
        _write(folder / name, names, ([data.columns[column][row] for column in names] for row in chosen))
    metric = "r2" if data.is_regression else "accuracy"
    settings = ["data.response=" + response, *(["data.task=numbers"] if data.is_regression else [])]
    _measure_ours(score, folder, "data.csv", "held_out.csv", metric, *settings)
    if has_others:
        columns = [np.asarray(data.columns[name]) for name in names[:-1]]
        kinds = [column.dtype.kind in "biuf" for column in columns]
        x = np.empty((len(y), len(columns)), object)
        for place, column in enumerate(columns):
            x[:, place] = column
        texts = [place for place, is_number in enumerate(kinds) if not is_number]
        numbers = [place for place, is_number in enumerate(kinds) if is_number]
        for name, model in _models(score.seed, is_regression=data.is_regression, columns=x.shape[1]).items():
            scaler = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
            encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            line = make_pipeline(make_column_transformer((scaler, numbers), (encoder, texts)), model)
            score.scores[name] = line.fit(x[training], y[training]).score(x[held_out], y[held_out])


def _of_pictures(data: Pictures, score: Score, folder: Path, *, has_others: bool) -> None:
    training, held_out = train_test_split(
        np.arange(len(data.classes)), test_size=HELD_OUT, random_state=100 + score.seed, stratify=data.classes
    )
    for name, chosen in (("data", training), ("held_out", held_out)):
        for row in chosen:
            place = folder / name / f"{data.classes[row]}"
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(data.pixels[row]).save(place / f"{row:05}.png")
    _measure_ours(score, folder, "data", "held_out", "accuracy")
    if has_others:
        x = data.pixels.reshape(len(data.classes), -1) / 255.0
        for name, model in _models(score.seed, is_regression=False, columns=x.shape[1]).items():
            line = make_pipeline(StandardScaler(), model)
            score.scores[name] = line.fit(x[training], data.classes[training]).score(
                x[held_out], data.classes[held_out]
            )


def _of_sounds(data: Sounds, score: Score, folder: Path, *, has_others: bool) -> None:
    """Judge sounds; scikit-learn's models read the mean and the deviation over time of a logarithmic spectrogram."""
    training, held_out = train_test_split(
        np.arange(len(data.classes)), test_size=HELD_OUT, random_state=100 + score.seed, stratify=data.classes
    )
    for name, chosen in (("data", training), ("held_out", held_out)):
        for row in chosen:
            place = folder / name / f"{data.classes[row]}"
            place.mkdir(parents=True, exist_ok=True)
            soundfile.write(place / f"{row:05}.wav", data.waves[row], SAMPLE_RATE)
    _measure_ours(score, folder, "data", "held_out", "accuracy")
    if has_others:
        frames = np.lib.stride_tricks.sliding_window_view(data.waves, 256, axis=1)[:, ::128] * np.hanning(256)
        loudness = np.log(np.abs(np.fft.rfft(frames)) + 1e-3)
        x = np.concatenate([loudness.mean(axis=1), loudness.std(axis=1)], axis=1)
        for name, model in _models(score.seed, is_regression=False, columns=x.shape[1]).items():
            line = make_pipeline(StandardScaler(), model)
            score.scores[name] = line.fit(x[training], data.classes[training]).score(
                x[held_out], data.classes[held_out]
            )


def _of_texts(data: Documents, score: Score, folder: Path, *, has_others: bool) -> None:
    training, held_out = train_test_split(
        np.arange(len(data.texts)), test_size=HELD_OUT, random_state=100 + score.seed, stratify=data.classes
    )
    for name, chosen in (("data.csv", training), ("held_out.csv", held_out)):
        _write(folder / name, ("text", "class"), ((data.texts[row], data.classes[row]) for row in chosen))
    _measure_ours(score, folder, "data.csv", "held_out.csv", "accuracy")
    if has_others:
        x, y = np.array(data.texts, object), np.array(data.classes)
        for name, model in _models(score.seed, is_regression=False, columns=MOST_BOOSTED + 1).items():
            line = make_pipeline(TfidfVectorizer(), model)
            score.scores[name] = line.fit(x[training], y[training]).score(x[held_out], y[held_out])


def _of_series(data: Steps, score: Score, folder: Path, *, has_others: bool) -> None:
    """Judge a forecast on the last quarter; with further seeds it ends earlier."""
    values = np.asarray(data.values)[: len(data.values) - score.seed * (len(data.values) // 20)]
    border = round(len(values) * (1 - HELD_OUT))
    _write(folder / "data.csv", ("time", "value"), zip(data.dates[:border], values[:border], strict=True))
    first_engine = next(iter(ENGINES.values()))
    _engine(first_engine, folder, "new", "--data", "data.csv", "--set", f"data.horizon={data.horizon}")
    lags = json.loads((folder / "data.netwright").read_text(encoding="utf-8"))["data"].get("lags", 24)
    first = border - lags
    _write(
        folder / "held_out.csv", ("time", "value"), zip(data.dates[first : len(values)], values[first:], strict=True)
    )
    _measure_ours(score, folder, "data.csv", "held_out.csv", "rmse", f"data.horizon={data.horizon}")
    others = _forecasts(values, border, data, max(lags, 2 * data.season), has_others=has_others)
    errors = {**score.scores, **others}
    best = min(errors[name] for name in ("last value", "season") if name in errors)
    score.scores = {name: 1 - error / best for name, error in errors.items()}


def _forecasts(values: Any, border: int, data: Steps, lags: int, *, has_others: bool) -> dict[str, float]:
    """Return the RMSE of forecasts that need no network, over all windows of the held-out quarter; `lags` are those of
    the linear model, as many as ours has or two seasons."""
    horizon, season = data.horizon, data.season
    starts = np.arange(border, len(values) - horizon + 1)
    truth = np.stack([values[start : start + horizon] for start in starts])

    def rmse(forecast: Any) -> float:
        return float(np.sqrt(np.mean((forecast - truth) ** 2)))

    errors = {"last value": rmse(np.repeat(values[starts - 1, np.newaxis], horizon, 1))}
    steps = np.arange(horizon)
    if season:
        back = season * (1 + steps // season)
        errors["season"] = rmse(values[starts[:, np.newaxis] + steps - back])
    if not has_others:
        return errors
    windows = np.stack([values[start - lags : start] for start in np.arange(lags, len(values) - horizon + 1)])
    follows = np.stack([values[start : start + horizon] for start in np.arange(lags, len(values) - horizon + 1)])
    is_training = np.arange(len(windows)) + lags + horizon <= border
    later = np.arange(len(windows)) + lags >= border
    ridge = make_pipeline(StandardScaler(), Ridge()).fit(windows[is_training], follows[is_training])
    errors["linear"] = rmse(ridge.predict(windows[later]).reshape(-1, horizon))
    if season:
        errors["Holt-Winters"] = rmse(_holt_winters(values, border, starts, horizon, season))
    return errors


def _holt_winters(values: Any, border: int, starts: Any, horizon: int, season: int) -> Any:
    """Return forecasts by additive level, trend and season; the three rates with the least error of one step."""
    best, rates = np.inf, (0.2, 0.01, 0.2)
    for level in (0.05, 0.1, 0.2, 0.4, 0.7, 0.95):
        for trend in (0.0, 0.01, 0.05):
            for seasonal in (0.05, 0.2, 0.4):
                error, _ = _smoothed(values[:border], season, (level, trend, seasonal))
                if error < best:
                    best, rates = error, (level, trend, seasonal)
    _, states = _smoothed(values, season, rates)
    forecasts = np.empty((len(starts), horizon))
    for row, start in enumerate(starts):
        level_now, trend_now, seasons = states[start - 1]
        ahead = np.arange(1, horizon + 1)
        forecasts[row] = level_now + trend_now * ahead + seasons[(start + ahead - 1) % season]
    return forecasts


def _smoothed(values: Any, season: int, rates: tuple[float, float, float]) -> tuple[float, list[Any]]:
    """Return the squared error of forecasts of one step, and the state after each step."""
    level, trend = float(values[: 2 * season].mean()), 0.0
    seasons = (values[:season] + values[season : 2 * season]) / 2 - level
    seasons = seasons.copy()
    error, states = 0.0, []
    for step, value in enumerate(values):
        place = step % season
        forecast = level + trend + seasons[place]
        error += (value - forecast) ** 2 if step > 2 * season else 0.0
        before = level
        level = rates[0] * (value - seasons[place]) + (1 - rates[0]) * (level + trend)
        trend = rates[1] * (level - before) + (1 - rates[1]) * trend
        seasons[place] = rates[2] * (value - level) + (1 - rates[2]) * seasons[place]
        states.append((level, trend, seasons.copy()))
    return error, states


JUDGES: dict[type, Callable[..., None]] = {
    Rows: _of_table,
    Pictures: _of_pictures,
    Sounds: _of_sounds,
    Documents: _of_texts,
    Steps: _of_series,
}


def measure(name: str, data: Data, seed: int, *, has_others: bool) -> Score:
    """Return the scores of one data set and seed."""
    score = Score(name, seed, type(data).__name__)
    with tempfile.TemporaryDirectory() as place:
        JUDGES[type(data)](data, score, Path(place), has_others=has_others)
    return score


def table(scores: Sequence[Score]) -> str:
    """Return the means over the seeds as a table of Markdown, with standard deviations of the engines, and the mean
    rank of each model by kind of data: of an engine among scikit-learn's models, of these with the last engine."""
    names = list(dict.fromkeys(score.name for score in scores))
    models = list(dict.fromkeys(model for score in scores for model in score.scores))
    lines = ["| set | " + " | ".join(models) + " | seconds | said first |", "|" + "---|" * (len(models) + 3)]
    ranks: dict[str, list[dict[str, float]]] = {}
    for name in names:
        own = [score for score in scores if score.name == name]
        values = {model: [score.scores[model] for score in own] for model in own[0].scores}
        means = {model: float(np.mean(of_seeds)) for model, of_seeds in values.items()}
        ranks.setdefault(own[0].kind, []).append({model: _rank(model, means) for model in means})
        spreads = {model: f" ± {np.std(values[model]):.3f}" if len(own) > 1 else "" for model in ENGINES}
        cells = [f"{means[model]:.3f}{spreads.get(model, '')}" if model in means else "" for model in models]
        seconds = ", ".join(f"{np.mean([score.seconds[engine] for score in own]):.0f}" for engine in ENGINES)
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {seconds} | {list(own[0].said.values())[-1][:70]} |")
    for kind, rows in ranks.items():
        means = {model: float(np.mean(of)) for model in models if (of := [row[model] for row in rows if model in row])}
        cells = [f"{means[model]:.2f}" if model in means else "" for model in models]
        lines.append(f"| mean rank, {len(rows)} of {kind} | " + " | ".join(cells) + " | | |")
    return "\n".join(lines)


def _rank(model: str, means: Mapping[str, float]) -> float:
    """Return the place of a model among its rivals, from 1; equals share theirs."""
    last = list(ENGINES)[-1]
    rivals = [means[n] for n in means if n != model and (n not in ENGINES or (n == last and model not in ENGINES))]
    own = means[model]
    return 1 + sum(rival > own + 1e-9 for rival in rivals) + 0.5 * sum(abs(rival - own) <= 1e-9 for rival in rivals)


def main() -> None:
    """Measure the chosen sets and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", choices=("reported", "tuning", "all"), default="reported")
    parser.add_argument("--only", default="", help="names of sets, separated by semicolons")
    parser.add_argument("--openml", type=Path, metavar="FOLDER", help="CSV and ARFF files of tables, in place of sets")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds, each with a split of its own")
    parser.add_argument("--ours", action="store_true", help="without scikit-learn's models")
    parser.add_argument("--engine", action="append", default=[], metavar="NAME=PATH", help="a command to measure")
    arguments = parser.parse_args()
    if arguments.engine:
        ENGINES.clear()
        ENGINES.update((name, Path(path).absolute()) for name, _, path in (e.partition("=") for e in arguments.engine))
    chosen: Mapping[str, Callable[[], Data]] = {**REPORTED, **TUNING}
    if arguments.openml is not None:
        chosen = read_folder(arguments.openml)
    elif not arguments.only and arguments.sets != "all":
        chosen = REPORTED if arguments.sets == "reported" else TUNING
    if arguments.only:
        chosen = {name: make for name, make in chosen.items() if name in arguments.only.split(";")}
    sets, scores = {name: make() for name, make in chosen.items()}, []
    for seed in range(arguments.seeds):
        for name, data in sets.items():
            score = measure(name, data, seed, has_others=not arguments.ours)
            scores.append(score)
            print(
                f"{name} {seed}: {json.dumps(score.scores)} {score.seconds} {score.said}", file=sys.stderr, flush=True
            )
    print(table(scores))


if __name__ == "__main__":
    main()
