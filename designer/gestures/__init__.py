"""Mouse gestures of the canvas: one gesture per file, each with press, move, release and cancel."""
