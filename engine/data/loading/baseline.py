"""Answers that need no network, to judge one by: the last value and the value one season before for forecasts, the most
frequent class or the mean for other data, and a linear model for forecasts and tables.

Source of the scaled error (MASE): Hyndman, Koehler: Another look at measures of forecast accuracy, International
Journal of Forecasting 22(4), 2006.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.sources.seasons import guessed_season
from netwright.engine.data.sources.source import Array, pieces
from netwright.engine.data.sources.windows import Windows
from netwright.engine.project.dataset_info import Forecast, TargetInfo

LAST, MAJORITY, MEAN, LINEAR, BOOSTING = "last value", "most frequent class", "mean", "linear model", "boosting"
MOST_FITTED_ROWS, MOST_LINEAR_COLUMNS, MOST_BOOSTED_COLUMNS, MOST_BOOSTED_CLASSES = 20_000, 1_000, 200, 20
"""Training rows that a model is fitted on, evenly spaced, and columns and classes up to which there is one."""
RIDGE = 1.0
"""Weight of the squared coefficients of normalised columns, beside the squared errors."""
CHUNK_NUMBERS = 2**20


@dataclass(frozen=True)
class Baselines:
    """Errors of the baselines in the units of the targets.

    `errors` holds, per split and baseline, `accuracy`, or `rmse` and `mae`, of forecasts `mase` too. Of forecasts,
    `season` is the period in steps, 0 if none was found; `is_guessed` whether it was found in the data. `scale` is the
    mean absolute difference between training values one season (or one step) apart, which divides errors for MASE.
    """

    season: int = 0
    is_guessed: bool = False
    scale: float | None = None
    errors: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)

    def write(self) -> dict[str, Any]:
        """Return the value as JSON."""
        errors = {split: {name: dict(values) for name, values in kinds.items()} for split, kinds in self.errors.items()}
        if self.scale is None:
            return errors
        return {"season": self.season, "is_guessed": self.is_guessed, "scale": self.scale, **errors}


def baselines(data: LoadedData, *, boosts: bool = False) -> Baselines | None:
    """Return the baselines on validation and test: of a forecast, or of one class or vector of numbers per sample; None
    for other data. `boosts`: tables have gradient boosting of scikit-learn too, where that is installed; it takes
    seconds."""
    forecast, windows = data.facts.forecast, data.inputs[0] if data.inputs else None
    if forecast is None or not isinstance(windows, Windows):
        return _constant_and_fitted(data, boosts=boosts)
    values, series = _training_values(windows, data.numbers["training"], len(forecast.targets))
    longest = series == np.argmax(np.bincount(series))
    season = forecast.season or guessed_season(values[longest, 0])
    scale = _scale(values, series, season or 1)
    models = {LAST: _repeated(windows, forecast, 0)}
    if season:
        models[f"season of {season:,}"] = _repeated(windows, forecast, season)
    if (model := _linear_forecast(windows, data.numbers["training"], forecast)) is not None:
        models[LINEAR] = model
    errors = {
        split: {name: _errors(windows, indices, forecast, model, scale) for name, model in models.items()}
        for split, indices in _judged(data)
    }
    return Baselines(season, bool(season) and not forecast.season, scale, errors)


def _judged(data: LoadedData) -> Iterator[tuple[str, Array]]:
    """Yield validation and test with the indices of their samples, where they have any."""
    for split in ("validation", "test"):
        if len(indices := data.numbers.get(split, np.empty(0, np.int64))):
            yield split, indices


Model = Callable[[Array], Array]
"""Returns the answers (n, C) for the samples with these indices: scores of classes, or numbers."""


def _constant_and_fitted(data: LoadedData, *, boosts: bool) -> Baselines | None:
    """Return the most frequent class, or the mean, and for tables models that are fitted on the training split."""
    info, training, target = data.facts.targets[0], data.numbers["training"], data.targets[0]
    if len(data.facts.targets) > 1 or info.per != "sample" or info.task not in ("classes", "numbers"):
        return None
    is_classes = info.task == "classes"

    def known(indices: Array) -> Array:
        return indices[target[indices] >= 0 if is_classes else ~np.isnan(target[indices]).any(axis=1)]

    count, sums = 0, np.zeros(info.outputs)
    for some in map(known, pieces(training)):
        count += len(some)
        sums += np.bincount(target[some], minlength=info.outputs) if is_classes else target[some].sum(0, np.float64)
    if not count:
        return None
    constant = sums / count
    models: dict[str, Model] = {
        MAJORITY if is_classes else MEAN: lambda indices: np.broadcast_to(constant, (len(indices), len(constant)))
    }
    if (table := _table(data)) is not None:
        fitted = known(training)[:: -(-count // MOST_FITTED_ROWS)]
        wanted = np.eye(info.outputs)[target[fitted]] if is_classes else target[fitted].astype(np.float64)
        models[LINEAR] = _linear(table, fitted, wanted)
        if boosts and (model := _boosting(table, fitted, wanted, is_classes=is_classes)) is not None:
            models[BOOSTING] = model
    return Baselines(
        errors={
            split: {name: _scored(model, indices, target, info) for name, model in models.items()}
            for split, indices in _judged(data)
        }
    )


def _scored(model: Model, indices: Array, target: Array, info: TargetInfo) -> dict[str, float]:
    """Return `accuracy`, or `rmse` and `mae`, of a model, some samples at a time; what does not count is left out."""
    count, sums, is_classes = 0, np.zeros(2), info.task == "classes"
    step = max(1, CHUNK_NUMBERS // info.outputs)
    for start in range(0, len(indices), step):
        some = indices[start : start + step]
        answers, truth = model(some), target[some]
        each = (answers.argmax(axis=1) == truth)[truth >= 0] if is_classes else (answers - truth)[~np.isnan(truth)]
        count += each.size
        sums += np.square(each, dtype=np.float64).sum(), np.abs(each).sum()
    if not count:
        return {}
    squares, absolutes = (sums / count).tolist()
    return {"accuracy": absolutes} if is_classes else {"rmse": math.sqrt(squares), "mae": absolutes}


def _table(data: LoadedData) -> Model | None:
    """Return a function from the indices of rows to their numbers (n, C); None for data that is no table in memory."""
    columns = [x for x in data.inputs if isinstance(x, np.ndarray) and x.ndim == 2]
    is_table = len(columns) == len(data.inputs) and all(i.type.layout == "features" for i in data.facts.inputs)
    if not is_table or sum(x.shape[1] for x in columns) > MOST_LINEAR_COLUMNS:
        return None
    return lambda indices: np.concatenate([x[indices].astype(np.float64) for x in columns], axis=1)


def _linear(table: Model, training: Array, wanted: Array) -> Model:
    """Return ridge regression of numbers, or of the indicators of classes (n, C), on normalised columns."""
    known, middle = table(training), wanted.mean(axis=0)
    shift, spread = known.mean(axis=0), known.std(axis=0)
    spread[spread == 0] = 1.0
    known = (known - shift) / spread
    weights = np.linalg.solve(known.T @ known + RIDGE * np.eye(known.shape[1]), known.T @ (wanted - middle))
    return lambda indices: (table(indices) - shift) / spread @ weights + middle


def _boosting(table: Model, training: Array, wanted: Array, *, is_classes: bool) -> Model | None:
    """Return gradient boosting of histograms with scikit-learn's defaults; None without that library, for several
    numbers, and for more columns or classes than take seconds."""
    known, outputs = table(training), wanted.shape[1]
    if known.shape[1] > MOST_BOOSTED_COLUMNS or outputs > (MOST_BOOSTED_CLASSES if is_classes else 1):
        return None
    try:
        ensemble = import_extra("sklearn.ensemble", "baselines", "Gradient boosting")
    except UserError:
        return None
    if not is_classes:
        regressor = ensemble.HistGradientBoostingRegressor(random_state=0).fit(known, wanted[:, 0])
        return lambda indices: np.asarray(regressor.predict(table(indices)))[:, np.newaxis]
    classes = wanted.argmax(axis=1)
    if len(np.unique(classes)) < 2:
        return None
    classifier = ensemble.HistGradientBoostingClassifier(random_state=0).fit(known, classes)
    return lambda indices: np.eye(outputs)[classifier.predict(table(indices))]


def _training_values(windows: Windows, indices: Array, count: int) -> tuple[Array, Array]:
    """Return the targets in the rows of training windows (n, R), and the index of the series of each (n)."""
    assert windows.bounds is not None
    places = np.flatnonzero(windows.held(indices))
    series = np.searchsorted(windows.bounds, places, side="right") - 1
    return windows.rows[places, :count].astype(np.float64), series


def _scale(values: Array, series: Array, step: int) -> float:
    """Return the mean absolute difference between values of a series `step` rows apart; 0 where there are none."""
    is_inside = series[step:] == series[:-step]
    apart = np.abs(values[step:] - values[:-step])[is_inside]
    return float(apart.mean()) if apart.size else 0.0


Forecasts = Callable[[Array], Array]
"""Returns the forecasts (n, horizon, targets) of windows that begin at these rows (n)."""


def _repeated(windows: Windows, forecast: Forecast, season: int) -> Forecasts:
    """Return the forecasts that repeat the last season; with `season` 0, the last value."""
    count, steps = len(forecast.targets), np.arange(forecast.horizon)
    back = season * -(-(steps + 1) // season) if season else steps + 1
    assert windows.bounds is not None
    bounds = windows.bounds

    def forecasts(starts: Array) -> Array:
        first = bounds[np.searchsorted(bounds, starts, side="right") - 1]
        now = (starts + forecast.lags)[:, np.newaxis]
        source = now + steps - back
        source = np.where(source >= first[:, np.newaxis], source, now - 1)  # the series may begin within the season
        return windows.rows[source, :count].astype(np.float64)

    return forecasts


def _linear_forecast(windows: Windows, training: Array, forecast: Forecast) -> Forecasts | None:
    """Return ridge regression on the lags; None without training windows, and for more numbers per window than take
    seconds."""
    count, columns = len(forecast.targets), forecast.lags * windows.rows.shape[1]
    outputs = forecast.horizon * count
    if not len(training) or max(columns, outputs) > MOST_LINEAR_COLUMNS:
        return None
    lags, steps = np.arange(forecast.lags), forecast.lags + np.arange(forecast.horizon)

    def history(starts: Array) -> Array:
        return windows.rows[starts[:, np.newaxis] + lags].reshape(len(starts), -1).astype(np.float64)

    chosen = windows.starts[training[:: -(-len(training) // MOST_FITTED_ROWS)]]
    truth = windows.rows[chosen[:, np.newaxis] + steps, :count].reshape(len(chosen), -1).astype(np.float64)
    if not (np.isfinite(truth).all() and np.isfinite(history(chosen)).all()):
        return None
    model = _linear(history, chosen, truth)
    return lambda starts: model(starts).reshape(len(starts), forecast.horizon, count)


def _errors(
    windows: Windows, indices: Array, forecast: Forecast, forecasts: Forecasts, scale: float
) -> dict[str, float]:
    """Return `rmse`, `mae` and `mase` of forecasts over some windows, a few at a time."""
    targets, steps = len(forecast.targets), forecast.lags + np.arange(forecast.horizon)
    squares = absolutes = 0.0
    count = 0
    step = max(1, CHUNK_NUMBERS // (forecast.horizon * targets + forecast.lags * windows.rows.shape[1]))
    for begin in range(0, len(indices), step):
        starts = windows.starts[indices[begin : begin + step]]
        truth = windows.rows[starts[:, np.newaxis] + steps, :targets]
        wrong = forecasts(starts) - truth
        squares += float(np.square(wrong).sum())
        absolutes += float(np.abs(wrong).sum())
        count += wrong.size
    mae = absolutes / count
    return {"rmse": math.sqrt(squares / count), "mae": mae, "mase": mae / scale if scale else math.nan}
