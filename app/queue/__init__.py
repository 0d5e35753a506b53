"""Runs that wait, seen from the window."""
