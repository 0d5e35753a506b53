"""Runs in the window: following them, their curves, their controls."""
