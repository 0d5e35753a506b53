"""Assistants in the window: what they ask of its user."""
