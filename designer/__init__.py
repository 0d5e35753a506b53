"""Designing a network on a canvas: scene, gestures, palette, forms, problems."""
