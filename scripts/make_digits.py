"""Writes resources/data/digits.npz from scikit-learn's copy of the UCI digits. The same bytes each time.

Run by hand, once: `.venv/bin/python scripts/make_digits.py`. scikit-learn is needed here only.
"""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).parents[1] / "resources" / "data" / "digits.npz"


def write_npz(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """A compressed `.npz` without the time of writing in it, which `numpy.savez` would put there."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, content.getvalue(), compresslevel=9)


def main() -> None:
    """Read, check and write."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images, labels = digits.images.astype(np.uint8), digits.target.astype(np.uint8)
    if images.shape != (1797, 8, 8) or images.max() != 16 or not np.array_equal(images, digits.images):
        raise SystemExit("This is not the set of 1,797 digits with whole values from 0 to 16.")
    PATH.parent.mkdir(parents=True, exist_ok=True)
    write_npz(PATH, {"images": images, "labels": labels})
    print(f"{PATH}: {len(images):,} digits, {PATH.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
