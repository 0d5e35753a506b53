"""The numbers that dates become."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime

import numpy as np

from netwright.engine.data.sources.source import Array
from netwright.engine.project.preparation import DATE_PARTS

CALENDAR, ELAPSED = DATE_PARTS[:-1], DATE_PARTS[-1]
_SECONDS_A_DAY = 86_400.0


def numbers(dates: Sequence[datetime], parts: Sequence[str], origin: str) -> Array:
    """Return one number per date and part (N, parts). Monday is 1; elapsed days are counted from `origin`."""
    start = datetime.combine(date.fromisoformat(origin), datetime.min.time()) if origin else datetime.min
    of: Mapping[str, Callable[[datetime], float]] = {
        "year": lambda moment: moment.year,
        "month": lambda moment: moment.month,
        "day of week": lambda moment: moment.isoweekday(),
        "hour": lambda moment: moment.hour + moment.minute / 60,
        "elapsed days": lambda moment: (moment - start).total_seconds() / _SECONDS_A_DAY,
    }
    columns = [np.fromiter((of[part](moment) for moment in dates), np.float64, len(dates)) for part in parts]
    return np.stack(columns, axis=1)
