"""Steps in time: how even they are, and which columns of a table hold times and tell series apart."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise

from netwright.engine.project.dates import forms_of, in_order, read
from netwright.engine.project.preparation import TIME_FORM
from netwright.engine.project.sources.csv_dialect import Beginning

TIME_NAMES = frozenset({"date", "datetime", "ds", "time", "timestamp", "month", "year", "day", "when", "period"})
ID_NAMES = frozenset({"id", "sequence", "sequence_id", "series", "series_id", "unit"})
LEAST_ROWS = 3
USUAL_SHARE = 0.5
"""Fraction of the steps that must be the usual one."""
MOST_KEYS = 6
"""Columns of which two together may tell series apart."""
Time = datetime | float


@dataclass(frozen=True)
class TimeSeries:
    """Columns that make a table one of time series: that of the time, or of date and time of the day, and those that
    tell series apart. `share` is the fraction of steps that are the usual one."""

    times: tuple[str, ...]
    keys: tuple[str, ...] = ()
    series: int = 1
    share: float = 1.0


def likeliest(forms: Sequence[str], cells: Sequence[str], *, is_day_first: bool, is_open: bool) -> str:
    """Return one of the forms that fit the times of a column: where `is_open`, the one with the evenest steps."""
    usual = in_order(tuple(forms), is_day_first=is_day_first)
    if len(forms) < 2 or not is_open:
        return usual

    def share(form: str) -> tuple[float, bool]:
        try:
            return usual_share([read(cell.strip(), form) for cell in cells]), form == usual
        except ValueError:
            return 0.0, form == usual

    return max(forms, key=share)


def usual_share(times: Sequence[Time]) -> float:
    """Return the fraction of the steps that are the most frequent one: of months, where all times are the same day of
    one; 0 where a time is not later than the one before it."""
    steps = _steps(times)
    if not steps or min(steps) <= 0:
        return 0.0
    return Counter(steps).most_common(1)[0][1] / len(steps)


def _steps(times: Sequence[Time]) -> list[float]:
    numbers = [_seconds(time) for time in times]
    moments = [time for time in times if isinstance(time, datetime)]
    if len(moments) == len(times) and len({(m.day, m.hour, m.minute, m.second) for m in moments}) == 1:
        numbers = [12.0 * moment.year + moment.month for moment in moments]
    return [after - before for before, after in pairwise(numbers)]


def _seconds(time: Time) -> float:
    return (time - datetime(1970, 1, 1)).total_seconds() if isinstance(time, datetime) else time


def time_series(table: Beginning, is_day_first: bool = False) -> TimeSeries | None:
    """Return the columns of time and series of a table; None for a table of other rows."""
    names = table.dialect.names
    if len(names) < 2 or len(table.rows) < LEAST_ROWS:
        return None
    clocks = [place for place, name in enumerate(names) if name and _is_clock(table, place)]
    for place, name in sorted(enumerate(names), key=lambda item: (item[1].lower() not in TIME_NAMES, item[0])):
        for places in (*((place, clock) for clock in clocks if clock != place), (place,)):
            times = _times(table, places) if name and place not in clocks else None
            if times is not None and (series := _with_keys(table, places, times)) is not None:
                return series
    return None


def _is_clock(table: Beginning, place: int) -> bool:
    """Return whether a column holds times of the day."""
    return forms_of(dict.fromkeys(row[place] for row in table.rows)) == (TIME_FORM,)


def _times(table: Beginning, places: Sequence[int]) -> list[Time] | None:
    """Return the times of a column, or of dates and times of the day in two; None for other columns, and where one is
    missing. Numbers are times in a first column that is called so."""
    cells = [" ".join(row[place] for place in places) for row in table.rows]
    if not all(row[place] for row in table.rows for place in places):
        return None
    forms = forms_of(dict.fromkeys(cells))
    if forms:
        form = likeliest(forms, cells, is_day_first=table.dialect.decimal == ",", is_open=True)
        return [read(cell, form) for cell in cells]
    if places[0] or len(places) > 1 or table.dialect.names[0].lower() not in TIME_NAMES:
        return None
    try:
        return [float(cell.replace(",", ".")) for cell in cells]
    except ValueError:
        return None


def _with_keys(table: Beginning, places: Sequence[int], times: list[Time]) -> TimeSeries | None:
    """Return the series that times make: one, or several told apart by one or two columns."""
    names = tuple(table.dialect.names[place] for place in places)
    if share := _ordered_share(times):
        keys = [key for key in _keys(table, places) if len({row[key] for row in table.rows}) == 1]
        constant = tuple(table.dialect.names[key] for key in keys[:1])
        return TimeSeries(names, constant, 1, share) if share >= USUAL_SHARE else None
    keys = _keys(table, places)
    for count in (1, 2):
        choices = [
            series
            for some in combinations(keys[: MOST_KEYS if count == 2 else None], count)
            if (series := _several(table, names, some, times)) is not None
        ]
        if choices:
            return min(choices, key=lambda series: series.series)
    return None


def _ordered_share(times: Sequence[Time]) -> float:
    """Return the share of the usual step of times that rise, or fall."""
    return usual_share(times) or usual_share(times[::-1])


def _keys(table: Beginning, times: Sequence[int]) -> list[int]:
    """Return the columns that could tell series apart: of texts that are no times, or of whole numbers that are called
    so."""
    keys = []
    for place, name in enumerate(table.dialect.names):
        cells = [row[place] for row in table.rows]
        is_number = all(cell.lstrip("-").isdigit() for cell in cells)
        is_text = not any(_is_float(cell) for cell in cells)
        words = name.lower().replace("-", "_").split("_")
        is_named = name.lower() in ID_NAMES or words[-1] in ("id", "no", "nr", "number", "code") or name.endswith("ID")
        is_key = (is_text and not forms_of(dict.fromkeys(cells))) or (is_number and is_named)
        if place not in times and name and all(cells) and is_key:
            keys.append(place)
    return keys


def _is_float(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _several(table: Beginning, names: tuple[str, ...], keys: Sequence[int], times: list[Time]) -> TimeSeries | None:
    """Return the series that columns tell apart; None where the times of one do not follow each other."""
    groups: dict[tuple[str, ...], list[Time]] = {}
    for row, time in zip(table.rows, times, strict=True):
        groups.setdefault(tuple(row[key] for key in keys), []).append(time)
    if len(groups) < 2 or len(times) < LEAST_ROWS * len(groups):
        return None
    shares = [_ordered_share(some) for some in groups.values() if len(some) > 1]
    if not shares or min(shares) < USUAL_SHARE:
        return None
    return TimeSeries(names, tuple(table.dialect.names[key] for key in keys), len(groups), min(shares))
