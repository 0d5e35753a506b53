"""Dates in texts: the forms that are recognised, and the numbers that become of them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime

import numpy as np

from engine.data.sources.source import Array
from engine.project.preparation import DATE_FORMS, DATE_PARTS

CALENDAR, ELAPSED = DATE_PARTS[:-1], DATE_PARTS[-1]
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = r"(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*([AaPp][Mm])?)?"
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")
_SECONDS_A_DAY = 86_400.0


def _iso(text: str) -> datetime:
    if not _ISO.fullmatch(text):
        raise ValueError
    found = datetime.fromisoformat(text)
    try:
        return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError from None


def _by(pattern: str, order: str) -> Callable[[str], datetime]:
    """Return a reader of dates; the groups of the pattern are year, month and day (y, m, d) in this order."""
    expression = re.compile(pattern + _TIME)

    def read_one(text: str) -> datetime:
        found = expression.fullmatch(text)
        if found is None:
            raise ValueError
        parts = dict(zip(order, found.groups()[:3], strict=True))
        month = parts["m"]
        number = int(month) if month.isdigit() else MONTHS.index(month[:3].lower()) + 1
        hour, minute, second, half = found.groups()[3:]
        hours = int(hour or 0)
        if half:
            if not 1 <= hours <= 12:
                raise ValueError
            hours = hours % 12 + (12 if half.lower() == "pm" else 0)
        return datetime(int(parts["y"]), number, int(parts["d"]), hours, int(minute or 0), int(second or 0))

    return read_one


_READERS = (
    _iso,
    _by(r"(\d{4})/(\d{1,2})/(\d{1,2})", "ymd"),
    _by(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", "dmy"),
    _by(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})", "dmy"),
    _by(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})", "mdy"),
    _by(r"(\d{1,2})[ -]([A-Za-z]{3,9})\.?[ -](\d{4})", "dmy"),
    _by(r"([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})", "mdy"),
)
FORMS: Mapping[str, Callable[[str], datetime]] = dict(zip(DATE_FORMS, _READERS, strict=True))
"""Readers of dates by an example of their form. Each may be followed by a time, 23:59, 23:59:59 or 11:59 PM; ISO dates
may have an offset from UTC, to which they are converted. MATLAB writes 31-Jan-2024 23:59:59."""


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
    fitting = list(FORMS)
    for text in texts:
        forms = DATE_FORMS[:1] if _ISO.fullmatch(text) else DATE_FORMS[1:]
        fitting = [form for form in fitting if form in forms and is_date(text, form)]
        if not fitting:
            break
    return tuple(fitting)


def numbers(dates: Sequence[datetime], parts: Sequence[str], origin: str) -> Array:
    """Return one number per date and part (N, parts). Monday is 1; elapsed days are counted from `origin`."""
    start = datetime.combine(date.fromisoformat(origin), datetime.min.time()) if origin else datetime.min
    of: dict[str, Callable[[datetime], float]] = {
        "year": lambda moment: moment.year,
        "month": lambda moment: moment.month,
        "day of week": lambda moment: moment.isoweekday(),
        "hour": lambda moment: moment.hour + moment.minute / 60,
        "elapsed days": lambda moment: (moment - start).total_seconds() / _SECONDS_A_DAY,
    }
    columns = [np.fromiter((of[part](moment) for moment in dates), np.float64, len(dates)) for part in parts]
    return np.stack(columns, axis=1)
