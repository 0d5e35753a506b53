"""Designing a network on a canvas: scene, gestures, palette, forms, problems."""

if __name__ != "netwright.designer":
    raise ImportError(f"This package is imported as netwright.designer, not as {__name__}.")
