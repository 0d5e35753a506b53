"""Dates in texts: the forms that are recognised, and how they are read."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from netwright.engine.project.preparation import DATE_FORMS, MONTH_FORMS, TIME_FORM

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAY_FIRST = ("31/01/2024", "31/01/24")
MOST_KEPT = 2**16
CENTURY_SPLIT = 70
"""Years of two digits from here on are of the last century, as in MATLAB and C."""
_CLOCK = r"(\d{1,2})(?::(\d{2})(?::(\d{2})(?:\.\d+)?)?|\.(\d{2})\.(\d{2}))\s*([AaPp][Mm])?"
"""23:59, 23:59:59.5, 11:59 PM, and 23.59.59."""
_TIME = rf"(?:[T ,]+{_CLOCK})?"
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")


def _iso(text: str) -> datetime:
    if not _ISO.fullmatch(text):
        raise ValueError(text)
    moment = datetime.fromisoformat(text)
    try:
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError(text) from None


def _by(pattern: str, order: str, time: str = _TIME) -> Callable[[str], datetime]:
    """Return a reader of dates; the groups of the pattern are year, month, quarter and day (y, m, q, d) in this
    order."""
    expression = pattern + time  # compiled with the first text: most starts read no date

    def read_one(text: str) -> datetime:
        match = re.fullmatch(expression, text)
        if match is None:
            raise ValueError(text)
        parts = dict(zip(order, match.groups(), strict=False))
        month = parts.get("m", "1")
        number = int(month) if month.isdigit() else MONTHS.index(month[:3].lower()) + 1
        number = 3 * int(parts["q"]) - 2 if "q" in parts else number
        year = int(parts["y"])
        year += (1900 if year >= CENTURY_SPLIT else 2000) if len(parts["y"]) == 2 else 0
        return datetime(year, number, int(parts.get("d", "1")), *_clock(match.groups()[len(order) :]))

    return read_one


def _clock(groups: tuple[str | None, ...]) -> tuple[int, int, int]:
    """Return hour, minute and second of the groups of `_CLOCK`. Raises `ValueError`."""
    hour, minute, second, minute_behind_point, second_behind_point, half = groups or (None,) * 6
    minute, second = minute or minute_behind_point, second or second_behind_point
    hours = int(hour or 0)
    if half:
        if not 1 <= hours <= 12:
            raise ValueError(hour)
        hours = hours % 12 + (12 if half.lower() == "pm" else 0)
    return hours, int(minute or 0), int(second or 0)


def _time(text: str) -> datetime:
    """Return a time of the day, on the first day that there is."""
    match = re.fullmatch(_CLOCK, text)
    if match is None:
        raise ValueError(text)
    return datetime(1, 1, 1, *_clock(match.groups()))


_READERS = (
    _iso,
    _by(r"(\d{4})/(\d{1,2})/(\d{1,2})", "ymd"),
    _by(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", "dmy"),
    _by(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})", "dmy"),
    _by(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})", "mdy"),
    _by(r"(\d{1,2})[ -]([A-Za-z]{3,9})\.?[ -](\d{4})", "dmy"),
    _by(r"([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})", "mdy"),
    _by(r"(\d{1,2})\.(\d{1,2})\.(\d{2})", "dmy"),
    _by(r"(\d{1,2})/(\d{1,2})/(\d{2})", "dmy"),
    _by(r"(\d{1,2})/(\d{1,2})/(\d{2})", "mdy"),
    _by(r"(\d{1,2})[ -]([A-Za-z]{3})[ -](\d{2})", "dmy"),
    _by(r"(\d{4})[-/](\d{2})", "ym", ""),
    _by(r"(\d{1,2})[./](\d{4})", "my", ""),
    _by(r"([A-Za-z]{3,9})\.?[ -](\d{4})", "my", ""),
    _by(r"(\d{4})[ -]?Q([1-4])", "yq", ""),
    _time,
)
FORMS: Mapping[str, Callable[[str], datetime]] = dict(zip(DATE_FORMS, _READERS, strict=True))
"""Readers of dates by an example of their form. Those with a day may be followed by a time, 23:59, 23:59:59 or 11:59
PM; ISO dates may have an offset from UTC, to which they are converted. MATLAB writes 31-Jan-2024 23:59:59."""


@lru_cache(MOST_KEPT)
def read(text: str, form: str) -> datetime:
    """Return the date in a text of a form, or in ISO form. Raises `ValueError` for any other, and for dates that do not
    exist."""
    return _iso(text) if _ISO.fullmatch(text) else FORMS[form](text)


def is_date(text: str, form: str) -> bool:
    """Return whether a text is a date of a form, or in ISO form."""
    try:
        read(text, form)
    except ValueError:
        return False
    return True


def forms_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the forms in which all texts are dates; two where day and month cannot be told apart."""
    fitting = list(DATE_FORMS)
    for text in texts:
        forms = DATE_FORMS[:1] if _ISO.fullmatch(text) else DATE_FORMS[1:]
        fitting = [form for form in fitting if form in forms and is_date(text, form)]
        if not fitting:
            break
    return tuple(fitting)


def in_order(forms: tuple[str, ...], *, is_day_first: bool) -> str:
    """Return one of the forms that fit: the one with the day first, or the other one."""
    return next((form for form in forms if (form in DAY_FIRST) == is_day_first), forms[0])


def parts_in(form: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of the parts of a date that a form has: a month has no day of the week, a time nothing but hours."""
    if form == TIME_FORM:
        return ("hour",)
    return tuple(part for part in parts if form not in MONTH_FORMS or part not in ("day of week", "hour"))
