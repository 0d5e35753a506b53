"""Import libraries of Netwright's extras, with an error that says how to install one that is missing."""

import importlib
from typing import Any

from netwright.engine.core.errors import UserError

MOST_CHARACTERS = 200
NOT_INSTALLED = "not_installed"


def import_extra(module: str, extra: str, purpose: str, way_out: str = "", *, broken: str = "") -> Any:
    """Import and return a module of a library that an extra of Netwright installs.

    `purpose` begins the message, such as `Parquet files`, and `way_out` ends it with what can be done without the
    library; `broken` says what else may be the cause where it is installed and cannot be loaded. Raises `UserError`
    where it is not installed, or cannot be loaded.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        hint = f'Install it: pip install "netwright[{extra}]". {way_out}'
        raise UserError(f"{purpose} need {missing}, which is not installed.", code=NOT_INSTALLED, hint=hint) from error
    except Exception as error:  # a library that is broken, or does not go with another one, raises what it likes
        words = str(error).strip().partition("\n")[0][:MOST_CHARACTERS]
        library = module.partition(".")[0]
        anew = f'Install it anew: pip install --force-reinstall "netwright[{extra}]".'
        raise UserError(
            f"{purpose} need {library}, which cannot be loaded here: {type(error).__name__}: {words}.",
            code=NOT_INSTALLED,
            hint=" ".join(filter(None, (anew, broken, way_out))),
        ) from error
