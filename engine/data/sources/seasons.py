"""The period of a time series, by its autocorrelation."""

import numpy as np

from netwright.engine.data.sources.source import Array

LEAST_CORRELATION = 0.3
"""Correlation of a series with itself one season earlier, from which the season is believed."""
LEAST_SEASONS = 3
"""Seasons that the training rows must hold."""
MOST_ROWS = 2**17
"""Rows in which a season is looked for."""


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
