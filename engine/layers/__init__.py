"""Layer types, one class each, one file per family."""
