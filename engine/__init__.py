"""Everything that works without a screen: networks, projects, data, training, runs, the command line."""

if __name__ != "netwright.engine":
    raise ImportError(f"This package is imported as netwright.engine, not as {__name__}.")
