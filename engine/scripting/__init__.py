"""Results and followed trainings of the Python API."""
