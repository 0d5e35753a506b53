"""What a machine has to train with, how fast it is, and whether it is in order."""
