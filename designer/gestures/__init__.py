"""What the mouse does on the canvas: one gesture per file, each with press, move, release and cancel."""
