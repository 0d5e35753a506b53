"""What can be placed in a network: one class per layer type, one file per family."""
