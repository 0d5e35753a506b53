"""Where samples come from: one file a source, and the registry that lists them."""
