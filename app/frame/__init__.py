"""The parts of the main window: actions and their commands, menus, bars, tabs."""
