"""User folders of Netwright, in the standard locations of each platform.

On Linux they follow the XDG base directories: `$XDG_CONFIG_HOME/netwright`, else `~/.config/netwright`, and so on.
`NETWRIGHT_HOME` puts all of them into one folder, on every platform: what is done there leaves no trace elsewhere. All
functions raise `RuntimeError` for a user without a home folder, as in some containers. platformdirs is imported when a
folder is first needed: most commands need none.
"""

import os
from pathlib import Path

VARIABLE = "NETWRIGHT_HOME"
_NAME = "netwright"


def config_folder() -> Path:
    """Return the folder of settings."""
    from platformdirs import user_config_dir

    return _own("config") or _checked(user_config_dir(_NAME, appauthor=False))


def data_folder() -> Path:
    """Return the folder of user data: runs of projects without a file, presets, blocks."""
    from platformdirs import user_data_dir

    return _own("data") or _checked(user_data_dir(_NAME, appauthor=False))


def state_folder() -> Path:
    """Return the folder of persistent state that is not user data: the queue, recovery files."""
    from platformdirs import user_state_dir

    return _own("state") or _checked(user_state_dir(_NAME, appauthor=False))


def cache_folder() -> Path:
    """Return the cache folder, for data that can be recomputed."""
    from platformdirs import user_cache_dir

    return _own("cache") or _checked(user_cache_dir(_NAME, appauthor=False))


def _checked(path: str) -> Path:
    if path.startswith("~"):
        raise RuntimeError("The user has no home folder.")
    return Path(path)


def _own(kind: str) -> Path | None:
    home = os.environ.get(VARIABLE)
    return Path(home) / kind if home else None
