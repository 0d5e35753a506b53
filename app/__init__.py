"""The window that brings canvas, data and runs together."""
