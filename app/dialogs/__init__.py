"""Dialogs: training options, export, comparison, devices."""
