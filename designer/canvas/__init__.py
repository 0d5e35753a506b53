"""The canvas: what draws a network, and shows the difference when it changes."""
