"""What is kept of a run: the complete state of a training, and the best and the last network."""
