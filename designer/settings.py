"""The settings of the program: those of the platform, or a file in the folder of `NETWRIGHT_HOME`."""

import os

from PySide6.QtCore import QSettings

from netwright.engine.core.folders import VARIABLE, config_folder


def settings() -> QSettings:
    """Return the settings of the user."""
    if os.environ.get(VARIABLE):
        return QSettings(str(config_folder() / "settings.ini"), QSettings.Format.IniFormat)
    return QSettings("Netwright", "Netwright")
