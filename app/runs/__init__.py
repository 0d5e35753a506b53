"""Runs in the window: following them, asking them for things, the queue."""
