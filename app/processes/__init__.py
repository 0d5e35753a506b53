"""Processes of the engine, seen from the window."""
