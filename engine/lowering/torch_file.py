"""Files that `torch.save` wrote, read without running anything that lies in them."""

import pickle
import pickletools
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import torch

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable

PICKLE = "data.pkl"
MOST_PICKLES = 5
"""Pickles at the beginning of a file before version 1.6; numbers follow."""
LONGEST_NAME = 10_000


def read_torch_file(path: Path, way_out: str) -> Any:
    """Return the content of a file: tensors, in dictionaries or lists. Raises `UserError`, with this way out for a file
    that holds other objects."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                    raise UserError(f"{path} is compressed inside, which torch.save never does; it is not read.")
                for entry in archive.infolist():
                    if entry.filename.endswith(PICKLE):
                        with archive.open(entry) as file:
                            _refuse_long_names(file, path)
        else:
            with open(path, "rb") as file:
                _refuse_long_names(file, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of versions of pickle
            return torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
    except pickle.UnpicklingError as error:
        if "Unsupported global" in str(error) or "Unsupported class" in str(error):
            raise UserError(
                f"{path} holds more than tensors, such as a whole model, and reading that would run code from it.",
                hint=way_out,
            ) from None
        raise _damaged(path, error) from None
    except UserError:
        raise
    except Exception as error:  # torch checks little: damaged bytes raise whatever they lead to
        raise _damaged(path, error) from None


def _refuse_long_names(file: IO[bytes], path: Path) -> None:
    """Raise `UserError` for a name that no program gives: torch searches its message about an unknown class in a time
    that grows with the square of the name, minutes for 200,000 characters."""
    with suppress(ValueError, OverflowError, MemoryError):  # torch says what is damaged
        for _ in range(MOST_PICKLES):
            for _, value, _ in pickletools.genops(file):
                if isinstance(value, str) and len(value) > LONGEST_NAME:
                    raise UserError(f"{path} holds a name of {len(value):,} characters; it is not read.")


def _damaged(path: Path, error: Exception) -> UserError:
    reason = printable((str(error).splitlines() or [""])[0][:200])
    return UserError(
        f"{path} is no file of torch.save, or is damaged: {reason}.", hint="Copy it again from where it came."
    )
