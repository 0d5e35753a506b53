"""The project as a value and as a file: option groups, checks, presets, pipeline stages."""
