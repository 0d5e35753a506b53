"""Read Keras models (`.keras`): architecture and weights, without running anything of the file."""
