"""The window that brings canvas, data and runs together."""

if __name__ != "netwright.app":
    raise ImportError(f"This package is imported as netwright.app, not as {__name__}.")
