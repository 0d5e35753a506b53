"""The start of an installed application: makes the environment of the engine once, and starts programs in it."""
