"""What lies over the canvas: zoom, minimap, search, and what is edited in its place."""
