"""The project file and the options in it."""
