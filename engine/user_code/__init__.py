"""A user's own Python: reading its signature without running it, trust, and the sizes measured of it."""
