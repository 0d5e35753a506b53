"""One step: forward, loss, backward, and how it is computed; what is done about losses that are no numbers."""
