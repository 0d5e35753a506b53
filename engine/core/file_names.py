"""Names of files that every file system accepts, made of names that anybody may have written."""

import re
import unicodedata
from collections.abc import Iterable

LONGEST = 120
"""Characters of a name without its suffix: 255 bytes, which file systems allow, hold twice as many bytes of it."""
_UNFIT = re.compile(r'[\x00-\x1f\x7f-\x9f\ud800-\udfff<>:"/\\|?*\u200e\u200f\u202a-\u202e\u2066-\u2069]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
"""Names of devices on Windows, with any suffix."""


class FileNames:
    """Gives each name a file name of its own: no two are equal, also where case and accents are ignored."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """`taken`: names that are not given."""
        self._taken = {_folded(name) for name in taken}
        self._last: dict[str, int] = {}

    def of(self, name: str) -> str:
        """Return the file name, without a suffix: that of the name where it is fit and free."""
        clean = re.sub(r"^\.+", "_", _UNFIT.sub("_", unicodedata.normalize("NFC", name)))
        while len(clean.encode()) > 2 * LONGEST or len(clean) > LONGEST:
            clean = clean[:-1]
        clean = clean.strip().rstrip(". ") or "_"
        clean = f"_{clean}" if _DEVICES.fullmatch(clean) else clean
        unique, number = clean, self._last.get(_folded(clean), 1)
        while _folded(unique) in self._taken:
            number += 1
            unique = f"{clean}_{number}"
        self._last[_folded(clean)] = number
        self._taken.add(_folded(unique))
        return unique


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))
