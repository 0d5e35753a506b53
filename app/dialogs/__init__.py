"""Dialogs: training options, export, preferences, about."""
