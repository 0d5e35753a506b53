"""Numbers written as texts: marks of decimals and thousands, percent and currency signs, missing values."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

MISSING = frozenset(
    {
        *("", "na", "n/a", "n.a.", "nan", "null", "<na>", "#n/a", "#na", "?", "-", "--", "."),
        *("n. a.", "k.a.", "k. a.", "..", "\u2013", "\u2014"),
        *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"),
    }
)
"""Markers of missing values, in lower case; `k. A.` is the German `n. a.`, `..` that of offices of statistics."""
OTHER_MARK = {".": ",", ",": "."}
UNITS = ("%", "‰", "$", "€", "£", "¥", "₹", "₽", "USD", "EUR", "GBP", "CHF", "JPY")
"""Signs that may stand beside a number."""
SHARES = ("%", "‰")
BLANKS = " \u00a0\u202f'\u2019"
"""Marks of thousands beside point and comma."""
_UNIT = "|".join(map(re.escape, UNITS))
_CELL = re.compile(
    rf"(?P<sign>[-+\u2212]?)\s*(?P<before>{_UNIT})?\s*(?P<second>[-+\u2212]?)"
    rf"(?P<body>\d[\d.,{BLANKS}]*|[.,]\d+)(?P<power>[eE][-+]?\d+)?\s*(?P<after>{_UNIT})?"
)
_PLAIN = {mark: re.compile(rf"\d+|\d*{re.escape(mark)}\d+" + (r"|\d+\." if mark == "." else "")) for mark in ".,"}
_GROUPED = {
    (mark, between): re.compile(rf"[1-9]\d{{0,2}}(?:[{re.escape(between)}]\d{{3}})+(?:{re.escape(mark)}\d*)?")
    for mark in ".,"
    for between in (OTHER_MARK[mark], BLANKS)
}


class UnlikeNumbersError(Exception):
    """Numbers of a column that disagree about thousands marks: beside `2500`, `1,000` could be 1 or 1000."""

    def __init__(self, grouped: str, unlike: str) -> None:
        super().__init__(f"{grouped} and {unlike}")
        self.grouped, self.unlike = grouped, unlike


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written. `between`: the marks of thousands; empty without. `unit`: the sign that
    stands beside them. `example`: a number that shows it."""

    decimal: str = "."
    between: str = ""
    unit: str = ""
    example: str = field(default="", compare=False)

    def number(self, cell: str) -> float:
        """Return the number in a cell. Raises `ValueError`."""
        parts = _CELL.fullmatch(cell.strip())
        if parts is None or not _fits(parts["body"].rstrip(BLANKS), self.decimal, self.between):
            raise ValueError(cell)
        return float(_sign(parts) + _digits(parts["body"], self.decimal) + (parts["power"] or ""))

    @property
    def words(self) -> tuple[str, ...]:
        """Return the differences from the format of `0.5`, each in words."""
        words = []
        if self.decimal == ",":
            words.append("a comma is taken as the decimal mark")
        if self.between:
            marks = {".": "points are", ",": "commas are"}.get(self.between, "blanks and apostrophes are")
            words.append(f"{marks} taken as thousands separators")
        if self.unit:
            words.append(f"the sign {self.unit} is left out")
        return tuple(words)


def is_missing(cell: str) -> bool:
    """Return whether a cell marks a missing value."""
    return cell.strip().lower() in MISSING


def is_number(cell: str) -> bool:
    """Return whether a cell holds a number as Python writes it, NaN or infinity."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def is_number_like(cell: str) -> bool:
    """Return whether a cell holds a number, however it is written."""
    return is_number(cell) or number_format((cell,), ".") is not None


def mark_shown(cell: str) -> str:
    """Return the decimal mark that a cell shows for certain: `,` of `3,14` and `1.000,5`, `.` of `3.14`; empty for
    `1,000`, which could have thousands, and for anything else."""
    parts = _CELL.fullmatch(cell.strip())
    if parts is None:
        return ""
    body = parts["body"].rstrip(BLANKS)
    return next((mark for mark in ".," if _is_certain(body, mark)), "")


def is_mark_open(cell: str) -> bool:
    """Return whether the comma of a cell could be the decimal mark or that of thousands: `1,000`."""
    parts = _CELL.fullmatch(cell.strip())
    return parts is not None and re.fullmatch(r"[1-9]\d{0,2},\d{3}", parts["body"].rstrip(BLANKS)) is not None


def number_format(cells: Iterable[str], decimal: str) -> NumberFormat | None:
    """Return how all cells of a column are written as numbers; None where they are not. `decimal`: the mark where the
    cells could have either. Raises `UnlikeNumbersError`."""
    bodies: dict[str, str] = {}
    units: set[str] = set()
    without_unit = False
    for cell in cells:
        parts = _CELL.fullmatch(cell.strip())
        if parts is None or (parts["before"] and parts["after"]) or (parts["sign"] and parts["second"]):
            return None
        body = parts["body"].rstrip(BLANKS)
        bodies.setdefault(body, cell.strip())
        unit = parts["before"] or parts["after"] or ""
        units |= {unit} - {""}
        without_unit = without_unit or (not unit and body.strip("0.,") != "")
    if not bodies or len(units) > 1 or (without_unit and units & set(SHARES)):
        return None
    unit = next(iter(units), "")
    for mark in (decimal, OTHER_MARK[decimal]):
        if mark != decimal and not any(_is_certain(body, mark) for body in bodies):
            continue
        for between in ("", OTHER_MARK[mark], BLANKS):
            if all(_fits(body, mark, between) for body in bodies):
                return _agreed(bodies, mark, between, unit)
    return None


def _fits(body: str, mark: str, between: str) -> bool:
    if _PLAIN[mark].fullmatch(body):
        return True
    return bool(between) and _GROUPED[mark, between].fullmatch(body) is not None


def _is_certain(body: str, mark: str) -> bool:
    """Return whether a mark in a number can only be the decimal mark."""
    if mark not in body:
        return False
    if _PLAIN[mark].fullmatch(body):
        return re.fullmatch(rf"[1-9]\d{{0,2}}{re.escape(mark)}\d{{3}}", body) is None
    return any(_GROUPED[mark, between].fullmatch(body) for between in (OTHER_MARK[mark], BLANKS))


def _agreed(bodies: dict[str, str], mark: str, between: str, unit: str) -> NumberFormat:
    """Return the format. Raises `UnlikeNumbersError` where only some large numbers have thousands marks, and nothing
    else tells these from decimal marks."""
    grouped = [body for body in bodies if between and not _PLAIN[mark].fullmatch(body)]
    example = bodies[next((body for body in (*grouped, *bodies) if not body.isdigit()), next(iter(bodies)))]
    if between in (".", ",") and not any(mark in body or body.count(between) > 1 for body in grouped):
        unlike = next((body for body in bodies if body not in grouped and len(body.partition(mark)[0]) > 3), None)
        if unlike is not None:
            raise UnlikeNumbersError(bodies[grouped[0]], bodies[unlike])
    return NumberFormat(mark, between, unit, example)


def _sign(parts: re.Match[str]) -> str:
    return "-" if (parts["sign"] or parts["second"]) in ("-", "\u2212") else ""


def _digits(body: str, decimal: str) -> str:
    digits = "".join(sign for sign in body if sign.isdigit() or sign == decimal)
    return digits.replace(",", ".")
