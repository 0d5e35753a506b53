"""A training: its story in `trainer`, a worker that tells it, and a package for each of its parts."""
