"""Forecasts that need no network, to judge one by: the last value, and the value one season before.

Source of the scaled error (MASE): Hyndman, Koehler: Another look at measures of forecast accuracy, International
Journal of Forecasting 22(4), 2006.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.sources.source import Array
from netwright.engine.data.sources.windows import Windows
from netwright.engine.project.dataset_info import Forecast

LAST = "last value"
LEAST_CORRELATION = 0.3
"""Correlation of a series with itself one season earlier, from which the season is believed."""
LEAST_SEASONS = 3
"""Seasons that the training rows must hold."""
MOST_ROWS = 2**17
"""Rows in which a season is looked for."""
CHUNK_NUMBERS = 2**20


@dataclass(frozen=True)
class Baselines:
    """Errors of the baselines in the units of the targets.

    `errors` holds, per split and baseline, `rmse`, `mae` and `mase`. `season` is the period in steps, 0 if none was
    found; `is_guessed` whether it was found in the data. `scale` is the mean absolute difference between training
    values one season (or one step) apart, which divides errors for MASE.
    """

    season: int
    is_guessed: bool
    scale: float
    errors: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)

    def write(self) -> dict[str, Any]:
        """Return the value as JSON."""
        errors = {split: {name: dict(values) for name, values in kinds.items()} for split, kinds in self.errors.items()}
        return {"season": self.season, "is_guessed": self.is_guessed, "scale": self.scale, **errors}


def baselines(data: LoadedData) -> Baselines | None:
    """Return the baselines of a forecast on validation and test; None for other data."""
    forecast, windows = data.facts.forecast, data.inputs[0] if data.inputs else None
    if forecast is None or not isinstance(windows, Windows):
        return None
    values, series = _training_values(windows, data.numbers["training"], len(forecast.targets))
    longest = series == np.argmax(np.bincount(series))
    season = forecast.season or guessed_season(values[longest, 0])
    scale = _scale(values, series, season or 1)
    errors = {}
    for split in ("validation", "test"):
        indices = data.numbers.get(split, np.empty(0, np.int64))
        if len(indices):
            kinds = {LAST: 0, **({f"season of {season:,}": season} if season else {})}
            errors[split] = {name: _errors(windows, indices, forecast, kind, scale) for name, kind in kinds.items()}
    return Baselines(season, bool(season) and not forecast.season, scale, errors)


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


def guessed_season(values: Array) -> int:
    """Return the period of a series (T) in steps: the highest peak of its autocorrelation; 0 where there is none.

    The trend is removed first. Where the peak at a fraction of that period is nearly as high, it is the period.
    """
    values = values[-MOST_ROWS:].astype(np.float64)
    longest = len(values) // LEAST_SEASONS
    if longest < 3 or not (spread := float(values.std())):
        return 0
    time = np.linspace(-1.0, 1.0, len(values))
    values = (values - values.mean()) / spread
    values -= time * (time @ values) / (time @ time)
    power = np.abs(np.fft.rfft(values, 2 * len(values))) ** 2
    products = np.fft.irfft(power)[: 2 * longest + 2]
    if products[0] <= 1e-9 * len(values):  # a straight line
        return 0
    correlation = products / products[0] * len(values) / (len(values) - np.arange(len(products)))
    middle, trough = correlation[1 : longest + 1], np.minimum.accumulate(correlation)[1 : longest + 1]
    is_peak = (middle > correlation[:longest]) & (middle >= correlation[2 : longest + 2])
    is_peak &= (middle > LEAST_CORRELATION) & (middle > trough + LEAST_CORRELATION)
    peaks = 1 + np.flatnonzero(is_peak)
    peaks = peaks[correlation[2 * peaks] > LEAST_CORRELATION]  # what happens once is no season
    if not len(peaks):
        return 0
    best = float(correlation[peaks].max())
    return int(peaks[correlation[peaks] >= 0.95 * best][0])


def _errors(windows: Windows, indices: Array, forecast: Forecast, season: int, scale: float) -> dict[str, float]:
    """Return `rmse`, `mae` and `mase` of a baseline over some windows; `season` 0 repeats the last value."""
    squares = absolutes = 0.0
    count = 0
    for wrong in _differences(windows, indices, forecast, season):
        squares += float(np.square(wrong).sum())
        absolutes += float(np.abs(wrong).sum())
        count += wrong.size
    mae = absolutes / count
    return {"rmse": math.sqrt(squares / count), "mae": mae, "mase": mae / scale if scale else math.nan}


def _differences(windows: Windows, indices: Array, forecast: Forecast, season: int) -> Iterator[Array]:
    """Yield forecast minus truth (n, horizon, targets) for a few windows at a time."""
    count = len(forecast.targets)
    steps = np.arange(forecast.horizon)
    back = season * -(-(steps + 1) // season) if season else steps + 1
    step = max(1, CHUNK_NUMBERS // (forecast.horizon * count))
    assert windows.bounds is not None
    for begin in range(0, len(indices), step):
        starts = windows.starts[indices[begin : begin + step]]
        first = windows.bounds[np.searchsorted(windows.bounds, starts, side="right") - 1]
        now = (starts + forecast.lags)[:, np.newaxis]
        source = now + steps - back
        source = np.where(source >= first[:, np.newaxis], source, now - 1)  # the series may begin within the season
        truth = windows.rows[now + steps, :count]
        yield windows.rows[source, :count].astype(np.float64) - truth
