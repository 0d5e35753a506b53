"""Everything that works without a screen: networks, projects, data, training, runs, the command line."""
